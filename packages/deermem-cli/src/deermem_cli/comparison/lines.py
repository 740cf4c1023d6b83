"""A comparison for a terminal or a pipe: lines and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deermem_qa import GradedRow

from ..clean import clean
from ..report.document import Text, text_of
from ..report.pairs import scenario_label, suite_of
from ..report.visible import name
from ..table import Table
from . import words
from .answers import AnswerFlip
from .compare import Comparison, Pairing
from .identity import IdentityDifference
from .retention import RetentionFlip
from .tables import accuracy_table, ascii_minus, retention_table, stacked_lines

# How much of a prediction and of a recorded value is shown, in characters; JSON holds the whole.
_PREDICTION_LIMIT = 300
_VALUE_LIMIT = 80


def comparison_lines(comparison: Comparison, width: int | None) -> list[str | Table]:
    """Return what a person is shown.

    Args:
        width: columns of the terminal that lines are folded at; `None` folds nothing.
    """
    parts: list[str | Table] = []
    for part in _parts(comparison):
        if isinstance(part, str):
            parts += _folded(part, width)
        elif width is not None and part.rich_width > width:
            for line in stacked_lines(part, width):
                parts += _folded(line, width)
        else:
            parts.append(part)
    return parts


def _parts(comparison: Comparison) -> Iterator[str | Table]:
    for run in comparison.runs:
        yield f"{run.label}  {run.folder}"
    yield from (f"note: {of}: {text_of(note)}" for of, note in words.notes(comparison))
    yield f"protocol {name(comparison.protocol_id)}, {words.cases(comparison.cases)}"
    yield ""
    yield from _identity(comparison)
    yield from (f"note: {remark}" for remark in words.remarks(comparison))
    for pairing in comparison.pairings:
        if pairing.answers is not None:
            yield from _answers(comparison, pairing)
    for pairing in comparison.pairings:
        yield from _retention(comparison, pairing)


def _identity(comparison: Comparison) -> Iterator[str]:
    if not comparison.differences:
        yield "Nothing differs in what the runs record of themselves."
        return
    yield "What differs in what the runs record of themselves"
    for difference in comparison.differences:
        yield f"  {name(difference.name)}"
        yield from (f"    {label}  {value_text(difference, label)}" for label in difference.values)


def value_text(difference: IdentityDifference, label: str) -> str:
    """A recorded value as shown: short, on one line."""
    value: Any = difference.values[label]
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join("unnamed" if item is None else name(str(item)) for item in value)
    return name(str(value), _VALUE_LIMIT)


def _answers(comparison: Comparison, pairing: Pairing) -> Iterator[str | Table]:
    assert pairing.answers is not None
    yield ""
    for policy in pairing.answers.policies:
        yield accuracy_table(comparison, pairing, policy)
    yield from map(_plain, words.answer_sentences(comparison, pairing))
    if pairing.answers.same_rows:
        return
    for policy in pairing.answers.policies:
        yield ""
        same = f"{policy.same_predictions} of {words.cases(policy.cases)} have the same prediction"
        label = f"under {name(policy.policy)}, {words.label(pairing)}"
        yield f"Flips {label}: {len(policy.flips) or 'none'} ({same})"
        for flip in policy.flips:
            yield from _flip(pairing, flip)


def _flip(pairing: Pairing, flip: AnswerFlip) -> Iterator[str]:
    yield f"  {_case(flip.first)}"
    for run, row in ((pairing.first, flip.first), (pairing.second, flip.second)):
        verdict = "correct" if row.grade_correct else "wrong"
        kept = "kept" if row.support_all_retained else "evicted"
        yield f"    {run.label}  {verdict}, {name(row.grade_rule)}, support fact {kept}"
        yield f"       {_prediction(row.prediction)}"


def _prediction(text: str) -> str:
    shown = " ".join(text[:_PREDICTION_LIMIT].split())
    omitted = len(text) - _PREDICTION_LIMIT
    if not shown:
        return "(an empty answer)"
    return f"{shown} ... and {omitted:,} more characters" if omitted > 0 else shown


def _case(row: GradedRow | RetentionFlip) -> str:
    return f"{name(row.case_id)}  {suite_of(row.source)}, {scenario_label(row.scenario)}"


def _retention(comparison: Comparison, pairing: Pairing) -> Iterator[str | Table]:
    yield ""
    retention = pairing.retention
    if pairing.answers is None or not retention.same_decisions:
        yield retention_table(comparison, pairing)
    if retention.same_decisions:
        yield from map(_plain, words.retention_sentences(pairing))
        return
    found = len(retention.flips) or "none"
    yield f"Support facts kept by one run only, {words.label(pairing)}: {found}"
    for flip in retention.flips:
        keeper = pairing.first if flip.kept_by_first else pairing.second
        yield (
            f"  {_case(flip)}: kept by {keeper.label} only, {name(flip.policy)} with room for "
            f"{flip.capacity}"
        )


def _plain(text: Text) -> str:
    return ascii_minus(text_of(text))


def _folded(line: str, width: int | None) -> list[str]:
    """Fold a line under its own indentation."""
    line = clean(line)
    if width is None or len(line.encode()) <= width:
        return [line]
    # Only where someone is looking, for whom tables are drawn with it anyway; it knows which
    # characters take two columns.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text as RichText  # noqa: PLC0415

    rest = line.lstrip()
    indent = min(len(line) - len(rest), width // 2)
    hanging = min(indent + 2, width // 2)
    rows = RichText(rest).wrap(Console(width=width), width - hanging, overflow="fold")
    return [
        " " * (hanging if number else indent) + row.plain.rstrip()
        for number, row in enumerate(rows)
    ]
