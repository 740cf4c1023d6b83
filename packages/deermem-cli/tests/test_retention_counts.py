"""The retention table's numbers, from the groups of a summary."""

from __future__ import annotations

from deermem_cli.retention_table import retention_counts, retention_table
from deermem_select import RetentionGroup


def group(source: str, scenario: str, capacity: int, policy: str, kept: int) -> RetentionGroup:
    """A group of four cases."""
    return RetentionGroup(source, scenario, capacity, policy, 4, kept, kept / 4, kept / 4)


GROUPS = [
    group("longmemeval", "access_help", 2, "new", 3),
    group("longmemeval", "access_help", 10, "new", 4),
    group("longmemeval", "noisy", 2, "new", 1),
    group("longmemeval", "noisy", 10, "new", 2),
    group("synthetic", "guards", 2, "new", 0),
    group("synthetic", "guards", 10, "new", 1),
]


def test_counts_are_summed_over_scenarios() -> None:
    """Official and synthetic cases are counted apart, and once more together."""
    counts = retention_counts(GROUPS)
    assert counts["official"]["new"] == {2: (4, 8), 10: (6, 8)}
    assert counts["synthetic"]["new"] == {2: (0, 4), 10: (1, 4)}
    assert counts["overall"]["new"] == {2: (4, 12), 10: (7, 12)}


def test_table_has_any_number_of_policies_and_capacities() -> None:
    """Rows follow the suites and the order of policies, columns the capacities by value."""
    old = [group("longmemeval", "noisy", capacity, "old", 2) for capacity in (10, 2)]
    table = retention_table([*GROUPS[:4], *old], ["old", "new"])
    assert table.columns == ("suite", "cases", "policy", "keep 2", "keep 10")
    assert table.rows[0] == ("overall", 4, "old", 2, 2)
    assert table.rows[1] == ("overall", 8, "new", 4, 6)
    assert [row[0] for row in table.rows] == ["overall", "overall", "official", "official"]
