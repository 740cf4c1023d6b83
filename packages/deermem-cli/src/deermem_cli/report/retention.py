"""Retention: in how many cases each policy kept the support fact, by capacity and scenario."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from attrs import frozen

from deermem_qa import GradedRow

from .document import (
    Column,
    DataTable,
    DotPlot,
    DotRow,
    Figure,
    Number,
    Paragraph,
    Section,
)
from .numbers import count_text
from .pairs import SUITE_NAMES, SUITES, scenario_label, suite_of
from .results import UNSAID, in_order, number_cell, text_cell
from .run_files import PolicyFiles, QAFiles
from .visible import label


@frozen
class Kept:
    """In how many of how many cases the support fact was kept."""

    kept: Number
    cases: int

    @property
    def share(self) -> float:
        """The share of cases, 0 to 1."""
        return self.kept.value / self.cases


@frozen
class Retention:
    """Retention by group (suite, scenario or None for all), policy and capacity.

    Attributes:
        groups: in the order shown.
    """

    policies: tuple[str, ...]
    capacities: tuple[int, ...]
    groups: tuple[tuple[str, str | None], ...]
    cells: dict[tuple[str, str | None, str, int], Kept]

    def main_suite(self) -> str:
        """The suite that the answer is about: official, where it has cases."""
        return self.groups[0][0]

    def kept(self, suite: str, policy: str, capacity: int) -> Kept:
        """Retention over all scenarios of a suite."""
        return self.cells[suite, None, policy, capacity]


@frozen
class _Entry:
    source: str
    scenario: str
    policy: str
    capacity: int
    kept: Number
    cases: int


def retention_of_policy_run(policy: PolicyFiles) -> Retention:
    """Read the counts of `summary.json`."""
    entries = [
        _Entry(
            group.at("source").text(),
            group.at("scenario").text(),
            group.at("policy").text(),
            group.at("capacity").whole(),
            group.at("support_all_retained").count(),
            group.at("cases").whole(),
        )
        for group in policy.summary.at("groups").items()
    ]
    policies = tuple(item.text() for item in policy.run.at("policies").items())
    return _retention(entries, policies)


def retention_of_rows(qa: QAFiles) -> Retention:
    """Count the graded rows: one capacity, the one that answers were asked for at."""
    groups: defaultdict[tuple[str, str, str, int], list[GradedRow]] = defaultdict(list)
    for row in qa.rows:
        groups[row.source, row.scenario, row.policy, row.capacity].append(row)
    entries = []
    for key, rows in groups.items():
        kept = sum(row.support_all_retained for row in rows)
        entries.append(_Entry(*key, Number(count_text(kept), kept), len(rows)))
    return _retention(entries, qa.policies)


def _retention(entries: Iterable[_Entry], policies: tuple[str, ...]) -> Retention:
    cells: dict[tuple[str, str | None, str, int], Kept] = {}
    for entry in entries:
        suite = suite_of(entry.source)
        cells[suite, entry.scenario, entry.policy, entry.capacity] = Kept(entry.kept, entry.cases)
        key = (suite, None, entry.policy, entry.capacity)
        before = cells.get(key, Kept(Number("", 0), 0))
        total = int(before.kept.value + entry.kept.value)
        cells[key] = Kept(Number(count_text(total), total), before.cases + entry.cases)
    groups: list[tuple[str, str | None]] = []
    for suite in SUITES:
        scenarios = {key[1] for key in cells if key[0] == suite and key[1] is not None}
        if scenarios:
            groups.append((suite, None))
            groups += [(suite, scenario) for scenario in in_order(scenarios)]
    return Retention(policies, tuple(sorted({key[3] for key in cells})), tuple(groups), cells)


def retention_section(retention: Retention, *, from_rows: bool) -> Section:
    """The figure of retention by capacity and scenario, and its table."""
    capacities = ", ".join(map(str, retention.capacities))
    intro = (
        "A fact that was forgotten cannot be used in an answer: the first cost of a policy is how "
        "often it lets the support fact go. "
    )
    if from_rows:
        intro += (
            "There is no policy run in this folder, so only the capacity that answers were asked "
            "for at is known."
        )
    policies = tuple(map(label, retention.policies))
    figure = Figure(
        id="retention",
        title="Support fact kept, by capacity and scenario",
        description=(
            f"A dot plot. For each scenario and capacity ({capacities}) a mark per policy "
            f"({', '.join(policies)}) gives the share of cases in which the support fact was "
            "kept; the table holds the same numbers."
        ),
        plot=DotPlot(policies, tuple(_dot_rows(retention)), "cases in which it was kept"),
        table=_retention_table(retention),
    )
    return Section(
        "retention",
        "Retention",
        "Retention by capacity and scenario",
        (Paragraph((intro,)), figure),
    )


def _dot_rows(retention: Retention) -> Iterable[DotRow]:
    for suite, scenario in retention.groups:
        for index, capacity in enumerate(retention.capacities):
            found = [
                retention.cells.get((suite, scenario, policy, capacity))
                for policy in retention.policies
            ]
            yield DotRow(
                label=f"room for {capacity}",
                shares=tuple(None if kept is None else kept.share for kept in found),
                heading="" if index else _group_label(suite, scenario),
            )


def _retention_table(retention: Retention) -> DataTable:
    rows = []
    for suite, scenario in retention.groups:
        for capacity in retention.capacities:
            found = [
                retention.cells.get((suite, scenario, policy, capacity))
                for policy in retention.policies
            ]
            cases = max(kept.cases for kept in found if kept is not None)
            rows.append(
                (
                    text_cell(_group_label(suite, scenario)),
                    number_cell(Number(count_text(capacity), capacity)),
                    number_cell(Number(count_text(cases), cases)),
                    *(
                        text_cell(UNSAID, sort=-1.0) if kept is None else number_cell(kept.kept)
                        for kept in found
                    ),
                )
            )
    return DataTable(
        caption=("Cases in which the support fact was kept",),
        columns=(
            Column("Cases of"),
            Column("Room for", numeric=True),
            Column("Cases", numeric=True),
            *(Column(label(policy), numeric=True) for policy in retention.policies),
        ),
        rows=tuple(rows),
        sortable=True,
    )


def _group_label(suite: str, scenario: str | None) -> str:
    return SUITE_NAMES[suite] if scenario is None else scenario_label(scenario)
