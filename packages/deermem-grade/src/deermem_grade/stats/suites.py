"""The suites a set of cases falls into: official, synthetic, and both together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deermem_grade.stats import _checks

if TYPE_CHECKING:
    from collections.abc import Iterable

OFFICIAL, SYNTHETIC, OVERALL = "official", "synthetic", "overall"

# design, artifacts: the sources that rows name, and the suite each belongs to.
_SUITE_OF_SOURCE = {"longmemeval": OFFICIAL, "synthetic": SYNTHETIC}


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of one suite, sorted by id: `pairs[i]` is the outcome of case `case_ids[i]`."""

    name: str
    case_ids: tuple[str, ...]
    pairs: tuple[tuple[bool, bool], ...]


def by_suite(rows: Iterable[tuple[str, str, bool, bool]]) -> dict[str, Suite]:
    """Group paired outcomes into suites; cases of two sources meet in `overall` only.

    Args:
        rows: (source, case id, first, second) per case, in any order; the source is `longmemeval`
            (suite `official`) or `synthetic`, the outcomes are booleans.

    Returns:
        The suites `official`, `synthetic`, `overall`, in this order, each with its cases sorted by
        id; a suite without a case is left out.

    Raises:
        TypeError: an outcome is not a boolean.
        ValueError: there are no rows, a source is unknown, or a case comes twice.
    """
    sources: dict[str, str] = {}
    outcomes: dict[str, tuple[bool, bool]] = {}
    for source, case_id, first, second in rows:
        if source not in _SUITE_OF_SOURCE:
            known = ", ".join(_SUITE_OF_SOURCE)
            raise ValueError(f"case {case_id}: unknown source {source!r}; expected one of {known}")
        if case_id in sources:
            raise ValueError(
                f"case {case_id} comes twice ({sources[case_id]}, {source});"
                " expected one row per case"
            )
        sources[case_id] = source
        outcomes[case_id] = (
            _checks.boolean(f"case {case_id}, first", first),
            _checks.boolean(f"case {case_id}, second", second),
        )
    if not sources:
        raise ValueError("no rows: the input is empty; expected one case at least")
    ids = sorted(sources)
    members = {
        OFFICIAL: [i for i in ids if _SUITE_OF_SOURCE[sources[i]] == OFFICIAL],
        SYNTHETIC: [i for i in ids if _SUITE_OF_SOURCE[sources[i]] == SYNTHETIC],
        OVERALL: ids,
    }
    return {
        name: Suite(name, tuple(cases), tuple(outcomes[case_id] for case_id in cases))
        for name, cases in members.items()
        if cases
    }
