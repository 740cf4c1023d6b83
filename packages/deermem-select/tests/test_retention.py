"""The retention summary, on rows written by hand and on decisions."""

from __future__ import annotations

from typing import Any

from deermem_data import Case, Protocol
from deermem_select import bind_selector, decisions, summarise


def row(source: str, scenario: str, capacity: int, policy: str, recall: float) -> dict[str, Any]:
    return {
        "source": source,
        "scenario": scenario,
        "capacity": capacity,
        "policy": policy,
        "support_all_retained": recall == 1.0,
        "support_recall": recall,
    }


def test_groups_are_sorted_and_counted() -> None:
    """One group per source, scenario, capacity and policy, sorted by these four."""
    rows = [
        row("synthetic", "s", 5, "confidence", 1.0),
        row("longmemeval", "t", 10, "confidence", 1.0),
        row("longmemeval", "t", 9, "hybrid-v1", 1.0),
        row("longmemeval", "t", 9, "confidence", 0.0),
        row("longmemeval", "t", 9, "confidence", 1.0),
        row("longmemeval", "t", 9, "confidence", 0.5),
        row("longmemeval", "t", 9, "confidence", 0.5),
        row("longmemeval", "s", 10, "hybrid-v1", 0.0),
    ]

    def group(*values: Any) -> dict[str, Any]:
        keys = ("source", "scenario", "capacity", "policy", "cases", "support_all_retained")
        rates = ("support_all_retained_rate", "mean_support_recall")
        return dict(zip((*keys, *rates), values, strict=True))

    expected = [
        group("longmemeval", "s", 10, "hybrid-v1", 1, 0, 0.0, 0.0),
        group("longmemeval", "t", 9, "confidence", 4, 1, 0.25, 0.5),
        group("longmemeval", "t", 9, "hybrid-v1", 1, 1, 1.0, 1.0),
        group("longmemeval", "t", 10, "confidence", 1, 1, 1.0, 1.0),
        group("synthetic", "s", 5, "confidence", 1, 1, 1.0, 1.0),
    ]
    found = [item.to_row() for item in summarise(rows)]
    assert expected == found
    assert all(isinstance(item["mean_support_recall"], float) for item in found)
    assert all(isinstance(item["support_all_retained_rate"], float) for item in found)
    assert all(type(item["support_all_retained"]) is int for item in found)


def test_no_rows() -> None:
    """Nothing decided, no groups."""
    assert summarise([]) == []


def test_decisions_and_their_rows_are_alike(protocol: Protocol, cases: tuple[Case, ...]) -> None:
    """Decisions and the rows written of them give the same summary."""
    found = list(decisions(protocol, cases, bind_selector("reference", protocol=protocol)))
    groups = summarise(found)
    assert groups == summarise(item.to_row() for item in found)
    assert sum(item.cases for item in groups) == len(found)
    scenarios = {case.scenario for case in cases}
    capacities, policies = protocol.config.pool.capacities, protocol.config.policies
    assert len(groups) == len(scenarios) * len(capacities) * len(policies)
