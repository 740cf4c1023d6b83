"""Retention: in how many cases the support fact stayed, per group of decisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from .decision import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable


@frozen
class RetentionGroup:
    """The decisions of one source, scenario, capacity and policy.

    `support_all_retained` counts the cases in which every support fact stayed; the rate is its
    share of `cases` and `mean_support_recall` the mean share of support facts kept, both 0 to 1.
    """

    source: str
    scenario: str
    capacity: int
    policy: str
    cases: int
    support_all_retained: int
    support_all_retained_rate: float
    mean_support_recall: float

    def to_row(self) -> dict[str, Any]:
        """The group as it stands in `summary.json`."""
        return asdict(self)


def summarise(rows: Iterable[Decision | Mapping[str, Any]]) -> list[RetentionGroup]:
    """Count retention per source, scenario, capacity and policy, sorted by these four.

    Args:
        rows: decisions, or rows of `policy.raw.jsonl`.
    """
    groups: defaultdict[tuple[str, str, int, str], list[tuple[bool, float]]] = defaultdict(list)
    for row in rows:
        key, outcome = _of_decision(row) if isinstance(row, Decision) else _of_row(row)
        groups[key].append(outcome)
    return [_group(key, groups[key]) for key in sorted(groups)]


_Entry = tuple[tuple[str, str, int, str], tuple[bool, float]]


def _of_decision(row: Decision) -> _Entry:
    key = (row.source, row.scenario, row.capacity, row.policy)
    return key, (row.support_all_retained, row.support_recall)


def _of_row(row: Mapping[str, Any]) -> _Entry:
    key = (row["source"], row["scenario"], row["capacity"], row["policy"])
    return key, (row["support_all_retained"], row["support_recall"])


def _group(key: tuple[str, str, int, str], outcomes: list[tuple[bool, float]]) -> RetentionGroup:
    cases = len(outcomes)
    retained = sum(all_retained for all_retained, _ in outcomes)
    recall = sum(recall for _, recall in outcomes)
    return RetentionGroup(*key, cases, retained, retained / cases, recall / cases)
