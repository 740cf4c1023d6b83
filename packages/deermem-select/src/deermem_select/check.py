"""Does a selector decide as the reference does? Compared on generated pools."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from ._errors import RAISED, one_line
from ._result import copy_mapping, read
from ._shrink import shrink, size
from .generated import GeneratedPool, generate_pool
from .reference import select_facts_for_capacity

if TYPE_CHECKING:
    from collections.abc import Callable

    from .selector import Selector

DEFAULT_POOLS = 1000


@frozen
class Difference:
    """A pool on which a selector and the reference part, and how: one line for each part."""

    pool: GeneratedPool
    lines: tuple[str, ...]


@frozen
class CheckReport:
    """What `check_selector` found.

    `pools` is how many were compared, `differing` on how many the two parted, and `smallest` the
    smallest of these, shrunk until nothing more can be taken away.
    """

    selector: str
    seed: int
    overflow: bool
    pools: int
    differing: int
    smallest: Difference | None

    @property
    def agrees(self) -> bool:
        """Whether the selector decided as the reference on every pool."""
        return self.differing == 0


def check_selector(
    selector: Selector, *, seed: int = 0, pools: int = DEFAULT_POOLS, overflow: bool = False
) -> CheckReport:
    """Compare a selector with the reference on generated pools.

    Kept facts and their order, evictions, scores, components, policy and slots must be equal, and
    floats exactly so (NaN equals NaN). Where the reference raises, the selector must raise the
    same type.

    Args:
        seed: another seed gives other pools.
        pools: how many pools to generate.
        overflow: also try what makes production overflow and counts as not finite or unreadable
            in the reference.
    """

    def differs(pool: GeneratedPool) -> bool:
        return bool(_compare(selector.function, pool))

    generated = (generate_pool(seed, index, overflow=overflow) for index in range(pools))
    differing = [pool for pool in generated if differs(pool)]
    smallest = None
    if differing:
        pool = shrink(min(differing, key=size), differs)
        smallest = Difference(pool, _compare(selector.function, pool))
    return CheckReport(selector.name, seed, overflow, pools, len(differing), smallest)


@frozen
class _Outcome:
    """What came of one call: an exception, or the parts of the result by name."""

    raised: BaseException | None = None
    parts: dict[str, Any] = field(factory=dict)


def _compare(function: Callable[..., Any], pool: GeneratedPool) -> tuple[str, ...]:
    found, expected = _call(function, pool), _call(select_facts_for_capacity, pool)
    if found.raised is not None or expected.raised is not None:
        return _compare_raised(found.raised, expected.raised)
    try:
        return tuple(
            f"{name}: {found.parts[name]!r}, the reference: {value!r}"
            for name, value in expected.parts.items()
            if not _same(found.parts[name], value)
        )
    except RAISED as error:  # the values may be of the selector's own classes
        return (f"returns what cannot be compared: {one_line(error)}",)


def _compare_raised(found: BaseException | None, expected: BaseException | None) -> tuple[str, ...]:
    if found is None:
        assert expected is not None
        return (f"returns a result where the reference raises {type(expected).__name__}",)
    if expected is not None:
        if type(found) is type(expected):
            return ()
        return (f"raises {one_line(found)} where the reference raises {type(expected).__name__}",)
    if isinstance(found, OverflowError):
        return (
            "raises OverflowError where the reference takes the value as not finite or unreadable",
        )
    return (f"raises {one_line(found)} where the reference returns a result",)


def _call(function: Callable[..., Any], pool: GeneratedPool) -> _Outcome:
    facts = [copy_mapping(fact) for fact in pool.facts]
    arguments = dict(pool.arguments)
    if "usage" in arguments:
        arguments["usage"] = {key: copy_mapping(item) for key, item in arguments["usage"].items()}
    try:
        parts = _parts(function(facts, **arguments))
    except RAISED as error:  # whatever it raises is the outcome
        return _Outcome(raised=error)
    unchanged = (tuple(facts), arguments) == (pool.facts, pool.arguments)
    return _Outcome(parts=parts | {"input unchanged": unchanged})


def _parts(result: Any) -> dict[str, Any]:
    return {
        "kept": list(read(result, "kept")),
        "evicted": [
            {name: read(item, name) for name in ("fact_id", "category", "score", "components")}
            for item in read(result, "evicted")
        ],
        "scores": {
            key: {name: read(item, name) for name in ("value", "components")}
            for key, item in read(result, "scores").items()
        },
        "policy": read(result, "policy"),
        "reserved_correction_slots": read(result, "reserved_correction_slots"),
    }


def _same(left: Any, right: Any) -> bool:
    """Equality in which NaN equals NaN and a boolean is no number."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
