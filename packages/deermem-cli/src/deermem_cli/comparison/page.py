"""A comparison as a document, to be rendered as HTML or Markdown like a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deermem_qa import GradedRow

from ..report import Document
from ..report.cases import answer_cell, prediction_limit
from ..report.document import (
    Block,
    Cell,
    Code,
    Column,
    DataTable,
    Figure,
    ForestPlot,
    ForestRow,
    Heading,
    Paragraph,
    Section,
    Terms,
    Text,
)
from ..report.numbers import alpha_text, level_text
from ..report.pairs import SUITE_NAMES, scenario_label, suite_of
from ..report.results import interval_cell, number_cell, text_cell
from ..report.visible import name
from . import words
from .answers import PolicyAnswers, SuiteAnswers
from .compare import Comparison, Pairing
from .lines import value_text
from .retention import RetentionFlip
from .runs import Run

_FOLDER_LIMIT = 200


def comparison_page(comparison: Comparison) -> Document:
    """Return the comparison's page."""
    first, *others = comparison.runs
    return Document(
        kind="comparison",
        title=f"{_listed([run.label for run in others])} against {first.label}",
        subject=name(comparison.protocol_id),
        answer=tuple(_answer(comparison)),
        facts=Terms(tuple(_facts(comparison))),
        sections=tuple(_sections(comparison)),
        warnings=tuple((f"{of}: ", *note) for of, note in words.notes(comparison)),
    )


def _answer(comparison: Comparison) -> Iterator[Text]:
    for pairing in comparison.pairings:
        if pairing.answers is not None:
            yield from words.answer_sentences(comparison, pairing)
        else:
            yield from words.retention_sentences(pairing)


def _facts(comparison: Comparison) -> Iterator[tuple[str, Text]]:
    for run in comparison.runs:
        yield f"Run {run.label}", (Code(name(str(run.folder), _FOLDER_LIMIT)),)
    yield "Policies", (", ".join(map(name, comparison.policies)),)
    yield "Cases", (words.count(comparison.cases),)


def _sections(comparison: Comparison) -> Iterator[Section]:
    yield Section(
        "identity",
        "What differs",
        "What differs between the runs",
        tuple(_identity_blocks(comparison)),
    )
    if any(pairing.answers for pairing in comparison.pairings):
        yield Section(
            "results",
            "Accuracy",
            "Accuracy, official and synthetic apart",
            tuple(_accuracy_blocks(comparison)),
        )
        yield Section(
            "flips",
            "Flipped cases",
            "Every case whose grade flips",
            tuple(_flip_blocks(comparison)),
        )
    yield Section(
        "retention",
        "Retention",
        "What the runs kept",
        tuple(_retention_blocks(comparison)),
    )
    yield Section("provenance", "Provenance", "Provenance", (_files_table(comparison.runs),))


def _identity_blocks(comparison: Comparison) -> Iterator[Block]:
    if comparison.differences:
        yield DataTable(
            caption=("What the runs record of themselves, where it is not the same in all",),
            columns=(Column("What"), *(Column(f"Run {run.label}") for run in comparison.runs)),
            rows=tuple(
                (
                    text_cell(name(difference.name)),
                    *(text_cell(value_text(difference, run.label)) for run in comparison.runs),
                )
                for difference in comparison.differences
            ),
            stacked=True,
        )
    else:
        yield Paragraph(("Nothing differs in what the runs record of themselves.",))
    for remark in words.remarks(comparison):
        yield Paragraph((remark,))


def _accuracy_blocks(comparison: Comparison) -> Iterator[Block]:
    for index, pairing in enumerate(comparison.pairings):
        assert pairing.answers is not None
        if len(comparison.pairings) > 1:
            yield Heading((_label(pairing),))
            for sentence in words.answer_sentences(comparison, pairing):
                yield Paragraph(sentence)
        lines = [
            (policy, suite)
            for policy in pairing.answers.policies
            for suite in words.shown_suites(policy.suites)
        ]
        yield _accuracy_table(comparison, pairing, lines)
        yield _forest(comparison, pairing, lines, index)
    yield _reading(comparison)


def _accuracy_table(
    comparison: Comparison, pairing: Pairing, lines: Sequence[tuple[PolicyAnswers, SuiteAnswers]]
) -> DataTable:
    first, second = pairing.first.label, pairing.second.label
    level = level_text(comparison.alpha)
    return DataTable(
        caption=(f"Correct answers by policy and suite, {_label(pairing)}",),
        columns=(
            Column("Policy"),
            Column("Cases of"),
            Column("Cases", numeric=True),
            Column(f"{first} correct", numeric=True),
            Column(f"{second} correct", numeric=True),
            Column(f"Only {first}", numeric=True),
            Column(f"Only {second}", numeric=True),
            Column(f"{first}, {level} Wilson interval", numeric=True),
            Column(f"{second}, {level} Wilson interval", numeric=True),
        ),
        rows=tuple(
            (
                text_cell(name(policy.policy)),
                text_cell(SUITE_NAMES[suite.name]),
                number_cell(words.count(suite.cases)),
                _share_cell(suite.first.correct, suite.first.accuracy),
                _share_cell(suite.second.correct, suite.second.accuracy),
                number_cell(words.count(suite.exact.only_first_correct)),
                number_cell(words.count(suite.exact.only_second_correct)),
                interval_cell(words.percent(suite.first.lower), words.percent(suite.first.upper)),
                interval_cell(words.percent(suite.second.lower), words.percent(suite.second.upper)),
            )
            for policy, suite in lines
        ),
        sortable=True,
    )


def _forest(
    comparison: Comparison,
    pairing: Pairing,
    lines: Sequence[tuple[PolicyAnswers, SuiteAnswers]],
    index: int,
) -> Figure:
    first, second = pairing.first.label, pairing.second.label
    alpha = comparison.alpha
    level = level_text(alpha)
    return Figure(
        id=f"forest-{index}",
        title=f"Differences in accuracy, {_label(pairing)}",
        description=(
            f"A forest plot. Each line gives the accuracy of run {second} minus that of run "
            f"{first}, in percentage points, with its {level} exact-compatible interval; the table "
            "holds the same numbers."
        ),
        plot=ForestPlot(
            tuple(
                ForestRow(
                    f"{name(policy.policy)}, {SUITE_NAMES[suite.name].lower()}",
                    suite.interval.difference,
                    suite.interval.lower,
                    suite.interval.upper,
                )
                for policy, suite in lines
            ),
            left=f"{first} better",
            right=f"{second} better",
        ),
        table=DataTable(
            caption=(f"{second} minus {first}, by policy and suite",),
            columns=(
                Column("Policy, cases of"),
                Column("Difference, points", numeric=True),
                Column(f"{level} interval", numeric=True),
                Column("Exact p", numeric=True),
                Column("Holm p", numeric=True),
                Column("Mid-p", numeric=True),
            ),
            rows=tuple(
                (
                    text_cell(f"{name(policy.policy)}, {SUITE_NAMES[suite.name].lower()}"),
                    number_cell(words.points(suite.interval.difference)),
                    interval_cell(
                        words.points(suite.interval.lower), words.points(suite.interval.upper)
                    ),
                    number_cell(words.p_value(suite.exact.p_value, alpha)),
                    number_cell(words.p_value(suite.holm_p_value, alpha)),
                    number_cell(words.p_value(suite.midp.p_value, alpha)),
                )
                for policy, suite in lines
            ),
            sortable=True,
        ),
    )


def _reading(comparison: Comparison) -> Terms:
    alpha, level = alpha_text(comparison.alpha), level_text(comparison.alpha)
    return Terms(
        (
            (
                f"{level} interval",
                (
                    (
                        f"Fay and Lumbard (2021). It excludes zero exactly where the exact p is "
                        f"below {alpha}, and never shrinks to a point."
                    ),
                ),
            ),
            (
                "Exact p",
                (
                    (
                        "McNemar: how often a split of the flipped cases at least this uneven "
                        "would come about if each were as likely to flip one way as the other."
                    ),
                ),
            ),
            ("Holm p", ("The exact p, adjusted within a suite for the number of policies.",)),
            (
                "What a difference can come from",
                (
                    (
                        "Anything that differs between the runs, and also from asking again: each "
                        "run holds one answer per question and policy."
                    ),
                ),
            ),
        )
    )


def _flip_blocks(comparison: Comparison) -> Iterator[Block]:
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
    of = f"under {name(policy.policy)}, {_label(pairing)}"
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


def _case_cells(row: GradedRow | RetentionFlip) -> tuple[Cell, Cell]:
    return (
        text_cell(Code(name(row.case_id))),
        text_cell(f"{scenario_label(row.scenario)}, {suite_of(row.source)}"),
    )


def _retention_blocks(comparison: Comparison) -> Iterator[Block]:
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
        caption=(f"Cases in which the support fact was kept, {_label(pairing)}",),
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
            f", {_label(pairing)}",
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


def _files_table(runs: Sequence[Run]) -> DataTable:
    return DataTable(
        caption=("The files this page was made from",),
        columns=(Column("File"), Column("Run"), Column("SHA-256", width=50)),
        rows=tuple(
            (text_cell(Code(file)), text_cell(run.label), text_cell(Code(sha256)))
            for run in runs
            for file, sha256 in run.files.hashes.items()
        ),
        stacked=True,
    )


def _share_cell(correct: int, accuracy: float) -> Cell:
    return Cell((words.count(correct), " (", words.percent(accuracy), ")"), sort=correct)


def _label(pairing: Pairing) -> str:
    return f"{pairing.second.label} against {pairing.first.label}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
