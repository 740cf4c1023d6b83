"""The accuracies of a comparison, as blocks of its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..report.document import (
    Block,
    Cell,
    Column,
    DataTable,
    Figure,
    ForestPlot,
    ForestRow,
    Heading,
    Paragraph,
    Terms,
)
from ..report.numbers import alpha_text, level_text
from ..report.pairs import SUITE_NAMES
from ..report.results import interval_cell, number_cell, text_cell
from ..report.visible import name
from . import words
from .answers import PolicyAnswers, SuiteAnswers
from .compare import Comparison, Pairing


def accuracy_blocks(comparison: Comparison) -> Iterator[Block]:
    """Each run beside the first: its accuracies, and the differences drawn and listed."""
    for index, pairing in enumerate(comparison.pairings):
        assert pairing.answers is not None
        if len(comparison.pairings) > 1:
            yield Heading((words.label(pairing),))
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
        caption=(f"Correct answers by policy and suite, {words.label(pairing)}",),
        columns=(
            Column("Policy"),
            Column("Cases of"),
            Column("Cases", numeric=True),
            Column(f"{first} correct", numeric=True),
            Column(f"{second} correct", numeric=True),
            Column(f"Only {first}", numeric=True),
            Column(f"Only {second}", numeric=True),
            Column(f"{first}, {level} Wilson", numeric=True),
            Column(f"{second}, {level} Wilson", numeric=True),
            Column("Mid-p", numeric=True),
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
                number_cell(words.p_value(suite.midp.p_value, comparison.alpha)),
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
        title=f"Differences in accuracy, {words.label(pairing)}",
        description=(
            f"A forest plot. Each line gives the accuracy of run {second} minus that of run "
            f"{first}, in percentage points, with its {level} exact-compatible interval; the table "
            "holds the same numbers."
        ),
        plot=ForestPlot(
            tuple(
                ForestRow(
                    _line_label(policy, suite),
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
            ),
            rows=tuple(
                (
                    text_cell(_line_label(policy, suite)),
                    number_cell(words.points(suite.interval.difference)),
                    interval_cell(
                        words.points(suite.interval.lower), words.points(suite.interval.upper)
                    ),
                    number_cell(words.p_value(suite.exact.p_value, alpha)),
                    number_cell(words.p_value(suite.holm_p_value, alpha)),
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
            (
                "Mid-p",
                ("The same, less conservative; it does not guarantee its level.",),
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


def _share_cell(correct: int, accuracy: float) -> Cell:
    return Cell((words.count(correct), " (", words.percent(accuracy), ")"), sort=correct)


def _line_label(policy: PolicyAnswers, suite: SuiteAnswers) -> str:
    """Short enough to stand whole beside a plot."""
    return f"{name(policy.policy)}, {'both' if suite.name == 'overall' else suite.name}"
