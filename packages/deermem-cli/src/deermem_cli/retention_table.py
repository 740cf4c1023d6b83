"""The retention table: in how many cases the fact that answers the question was kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deermem_data import SYNTHETIC_SOURCE
from deermem_select import RetentionGroup

from .table import Table

SUITES = ("overall", "official", "synthetic")


def retention_counts(
    groups: Iterable[RetentionGroup],
) -> dict[str, dict[str, dict[int, tuple[int, int]]]]:
    """Return suite -> policy -> capacity -> (cases kept, cases)."""
    counts: dict[str, dict[str, dict[int, tuple[int, int]]]] = {}
    for group in groups:
        suite = "synthetic" if group.source == SYNTHETIC_SOURCE else "official"
        for name in ("overall", suite):
            cells = counts.setdefault(name, {}).setdefault(group.policy, {})
            kept, cases = cells.get(group.capacity, (0, 0))
            cells[group.capacity] = (kept + group.support_all_retained, cases + group.cases)
    return counts


def retention_table(groups: Iterable[RetentionGroup], policies: Sequence[str]) -> Table:
    """Return the table: a row per suite and policy, a column per capacity."""
    counts = retention_counts(groups)
    suites = [suite for suite in SUITES if suite in counts]
    capacities = sorted(next(iter(counts["overall"].values())))
    rows: list[tuple[str | int, ...]] = []
    for suite in suites:
        for policy in policies:
            cells = counts[suite][policy]
            cases = cells[capacities[0]][1]
            rows.append((suite, cases, policy, *(cells[capacity][0] for capacity in capacities)))
    return Table(
        title="Cases in which the fact that answers the question was kept, by capacity",
        columns=("suite", "cases", "policy", *(f"keep {capacity}" for capacity in capacities)),
        rows=tuple(rows),
        named_by=("suite", "policy"),
    )
