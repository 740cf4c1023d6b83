"""Making a generated pool smaller while something about it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from .generated import GeneratedPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Without a clock the current time would count, and without these two there is no call.
_NEEDED = ("max_facts", "policy", "now")


def size(pool: GeneratedPool) -> tuple[int, int]:
    """How large a pool is: the number of facts, then of everything stated about them."""
    usage = pool.arguments.get("usage", {})
    stated = len(pool.arguments) + sum(map(len, pool.facts)) + sum(map(len, usage.values()))
    return len(pool.facts), stated + len(usage)


def shrink(pool: GeneratedPool, holds: Callable[[GeneratedPool], bool]) -> GeneratedPool:
    """Take away one thing after another, as long as `holds` stays true; deterministic."""
    while True:
        smaller = next((item for item in _smaller(pool) if holds(item)), None)
        if smaller is None:
            return pool
        pool = smaller


def _smaller(pool: GeneratedPool) -> Iterator[GeneratedPool]:
    facts, arguments = pool.facts, pool.arguments
    for index in range(len(facts)):
        yield evolve(pool, facts=facts[:index] + facts[index + 1 :])
    for name in arguments:
        if name not in _NEEDED:
            yield evolve(pool, arguments=_without(arguments, name))
    for index, fact in enumerate(facts):
        for key in fact:
            if key != "id":  # a fact that can be named is easier to read than one key less
                fewer = (_without(fact, key),)
                yield evolve(pool, facts=facts[:index] + fewer + facts[index + 1 :])
    usage = arguments.get("usage", {})
    for fact_id, entry in usage.items():
        yield evolve(pool, arguments=arguments | {"usage": _without(usage, fact_id)})
        for key in entry:
            fewer_usage = usage | {fact_id: _without(entry, key)}
            yield evolve(pool, arguments=arguments | {"usage": fewer_usage})
    # Towards 0 from either side.
    capacity = arguments["max_facts"]
    for simpler in range(capacity) if capacity > 0 else range(capacity and 1):
        yield evolve(pool, arguments=arguments | {"max_facts": simpler})


def _without(mapping: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key != name}
