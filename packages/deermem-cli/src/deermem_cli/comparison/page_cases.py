"""The cases of a comparison that differ, as blocks of its page: flipped grades, kept facts."""

from __future__ import annotations

from collections.abc import Iterator

from deermem_qa import GradedRow

from ..report.cases import answer_cell, prediction_limit
from ..report.document import (
    Block,
    Cell,
    Code,
    Column,
    DataTable,
    Paragraph,
    Text,
)
from ..report.pairs import SUITE_NAMES, scenario_label, suite_of
from ..report.results import number_cell, text_cell
from ..report.visible import name
from . import words
from .answers import PolicyAnswers
from .compare import Comparison, Pairing
from .retention import RetentionFlip


def flip_blocks(comparison: Comparison) -> Iterator[Block]:
    """Every flipped case, with both answers."""
    flips = [
        len(policy.flips)
        for pairing in comparison.pairings
        if pairing.answers is not None
        for policy in pairing.answers.policies
    ]
    limit = prediction_limit(2 * sum(flips))
    for pairing in comparison.pairings:
        assert pairing.answers is not None
        if pairing.answers.same_rows:
            yield Paragraph(words.answer_sentences(comparison, pairing).__next__())
            continue
        for policy in pairing.answers.policies:
            yield from _policy_flips(pairing, policy, limit)


def _policy_flips(pairing: Pairing, policy: PolicyAnswers, limit: int) -> Iterator[Block]:
    of = f"under {name(policy.policy)}, {words.label(pairing)}"
    same: Text = (
        "In ",
        words.count(policy.same_predictions),
        f" of {words.cases(policy.cases)} both predictions are the same text.",
    )
    if not policy.flips:
        yield Paragraph((f"No case flips {of}. ", *same))
        return
    yield DataTable(
        caption=("Flipped cases: ", words.count(len(policy.flips)), f", {of}"),
        columns=(
            Column("Case"),
            Column("Scenario"),
            Column(f"Answer in {pairing.first.label}", width=26),
            Column(f"Answer in {pairing.second.label}", width=26),
        ),
        rows=tuple(
            (
                *_case_cells(flip.first),
                answer_cell(flip.first, limit),
                answer_cell(flip.second, limit),
            )
            for flip in policy.flips
        ),
        note=same,
        sortable=True,
        stacked=True,
    )


def retention_blocks(comparison: Comparison) -> Iterator[Block]:
    """What was kept, side by side, and each support fact that one run alone kept."""
    yield Paragraph(
        (
            (
                "A selector is deterministic: what it keeps is counted here, and there is nothing "
                "to test. Read from "
            ),
            Code(comparison.retention_file),
            ".",
        )
    )
    for pairing in comparison.pairings:
        yield from map(Paragraph, words.retention_sentences(pairing))
        yield _retention_table(pairing)
        if pairing.retention.flips:
            yield _retention_flips(pairing)


def _retention_table(pairing: Pairing) -> DataTable:
    first, second = pairing.first.label, pairing.second.label
    return DataTable(
        caption=(f"Cases in which the support fact was kept, {words.label(pairing)}",),
        columns=(
            Column("Policy"),
            Column("Cases of"),
            Column("Room for", numeric=True),
            Column("Cases", numeric=True),
            Column(first, numeric=True),
            Column(second, numeric=True),
            Column(f"Only {first}", numeric=True),
            Column(f"Only {second}", numeric=True),
            Column("Other facts kept", numeric=True),
        ),
        rows=tuple(
            (
                text_cell(name(suite.policy)),
                text_cell(SUITE_NAMES[suite.name]),
                *(
                    number_cell(words.count(value))
                    for value in (
                        suite.capacity,
                        suite.cases,
                        suite.first_kept,
                        suite.second_kept,
                        suite.only_first,
                        suite.only_second,
                        suite.other_facts,
                    )
                ),
            )
            for suite in words.shown_suites(pairing.retention.suites)
        ),
        sortable=True,
    )


def _retention_flips(pairing: Pairing) -> DataTable:
    flips = pairing.retention.flips
    return DataTable(
        caption=(
            "Support facts that one run kept and the other evicted: ",
            words.count(len(flips)),
            f", {words.label(pairing)}",
        ),
        columns=(
            Column("Case"),
            Column("Scenario"),
            Column("Policy"),
            Column("Room for", numeric=True),
            Column("Kept by"),
        ),
        rows=tuple(
            (
                *_case_cells(flip),
                text_cell(name(flip.policy)),
                number_cell(words.count(flip.capacity)),
                text_cell((pairing.first if flip.kept_by_first else pairing.second).label),
            )
            for flip in flips
        ),
        sortable=True,
    )


def _case_cells(row: GradedRow | RetentionFlip) -> tuple[Cell, Cell]:
    return (
        text_cell(Code(name(row.case_id))),
        text_cell(f"{scenario_label(row.scenario)}, {suite_of(row.source)}"),
    )
