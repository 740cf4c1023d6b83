"""The tables of a comparison, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.numbers import MINUS, level_text, p_text, points_text
from ..report.visible import name
from ..table import Table
from . import words
from .answers import PolicyAnswers
from .compare import Comparison, Pairing

# The columns that say what a row is about.
_NAMING = ("policy", "suite")


def accuracy_table(comparison: Comparison, pairing: Pairing, policy: PolicyAnswers) -> Table:
    """The accuracies of two runs under one policy: a row for each suite."""
    first, second = pairing.first.label, pairing.second.label
    alpha = comparison.alpha
    several = len(comparison.policies) > 1
    rows = tuple(
        (
            suite.name,
            suite.cases,
            f"{suite.first.correct} ({suite.first.accuracy:.3f})",
            f"{suite.second.correct} ({suite.second.accuracy:.3f})",
            ascii_minus(points_text(suite.interval.difference)),
            (
                f"{ascii_minus(points_text(suite.interval.lower))} to "
                f"{ascii_minus(points_text(suite.interval.upper))}"
            ),
            f"{suite.exact.only_first_correct} / {suite.exact.only_second_correct}",
            p_text(suite.exact.p_value, alpha),
            *((p_text(suite.holm_p_value, alpha),) if several else ()),
            p_text(suite.midp.p_value, alpha),
        )
        for suite in words.shown_suites(policy.suites)
    )
    return Table(
        title=(
            f"Accuracy under {name(policy.policy)}: {second} against {first} "
            f"(difference in points, {level_text(alpha)} intervals)"
        ),
        columns=(
            "suite",
            "cases",
            first,
            second,
            "difference",
            "interval",
            "only one right",
            "exact p",
            *(("Holm p",) if several else ()),
            "mid p",
        ),
        rows=rows,
    )


def retention_table(comparison: Comparison, pairing: Pairing) -> Table:
    """What two runs kept: a row for each policy, capacity and suite."""
    first, second = pairing.first.label, pairing.second.label
    return Table(
        title=(
            f"Cases in which the support fact was kept: {second} against {first} "
            f"(from {comparison.retention_file})"
        ),
        columns=(
            "policy",
            "suite",
            "room for",
            "cases",
            first,
            second,
            f"only {first}",
            f"only {second}",
            "other facts",
        ),
        rows=tuple(
            (
                name(suite.policy),
                suite.name,
                suite.capacity,
                suite.cases,
                suite.first_kept,
                suite.second_kept,
                suite.only_first,
                suite.only_second,
                suite.other_facts,
            )
            for suite in words.shown_suites(pairing.retention.suites)
        ),
    )


def stacked_lines(table: Table, width: int) -> Iterator[str]:
    """A table that is too wide: each row as a line of its names, and lines of its numbers."""
    yield table.title
    for row in table.rows:
        cells = list(zip(table.columns, map(str, row), strict=True))
        yield "  " + ", ".join(cell for column, cell in cells if column in _NAMING)
        line = ""
        for column, cell in cells:
            if column in _NAMING:
                continue
            pair = f"{column}: {cell}"
            if line and len(f"    {line}, {pair},") > width:
                yield f"    {line},"
                line = pair
            else:
                line = f"{line}, {pair}" if line else pair
        yield f"    {line}"


def ascii_minus(text: str) -> str:
    """Write minus signs as every terminal can."""
    return text.replace(MINUS, "-")
