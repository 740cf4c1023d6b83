"""Pairs on which a careful reader disagrees with ``deterministic-overlap-v1``.

The grader is frozen, so these stay; whoever imports it should know them. As a command,
``python -m deermem_grade.conformance.disagreements`` writes them as DISAGREEMENTS.md has them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from deermem_grade import GRADER_VERSION, grade_answer


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair, what a careful reader says of it (correct or not), and why the grader does not."""

    kind: str
    prediction: str
    reference: str
    reader: bool
    why: str


_NEGATION = "negation"
_NUMBERS = "numbers"
_ORDER = "order"
_WORDING = "wording"
_HEDGING = "hedging"
_WRITING = "writing"

DISAGREEMENTS = (
    Disagreement(_NEGATION, "I have no idea", "NO", False, "*no* stands in the prediction"),
    Disagreement(_NEGATION, "not 25", "25", False, "*25* stands in the prediction"),
    Disagreement(_NEGATION, "It is not in Paris", "Paris", False, "*paris* stands in it"),
    Disagreement(
        _NEGATION,
        "You do not like red mountain bikes",
        "You like mountain bikes, red ones",
        False,
        "one word more: 4 of 5 are shared both ways",
    ),
    Disagreement(_NEGATION, "nope", "no", True, "another word"),
    Disagreement(_NUMBERS, "1000", "1,000", True, "the comma splits: {1000} against {1, 0}"),
    Disagreement(_NUMBERS, "3.5 hours", "3", False, "the point splits: *3* stands in it"),
    Disagreement(_NUMBERS, "5.3", "3.5", False, "the point splits: the same set {3, 5}"),
    Disagreement(_NUMBERS, "-5", "5", False, "signs are dropped"),
    Disagreement(_NUMBERS, "12", "twelve", True, "only one to ten and fifteen become digits"),
    Disagreement(_NUMBERS, "5 kg", "5kg", True, "digits glued to letters are another word"),
    Disagreement(_NUMBERS, "$5k", "$5000", True, "*5k* is no integer"),
    Disagreement(_NUMBERS, "about 24", "25", True, "integers must be equal"),
    Disagreement(_NUMBERS, "25 (on May 3)", "the 25", True, "{25, 3} against {25}"),
    Disagreement(_NUMBERS, "7", "ranging from 5 to about 10", True, "*to* needs the integer next"),
    Disagreement(_NUMBERS, "1 week", "7 days", True, "units are not converted"),
    Disagreement(_NUMBERS, "2023-05-01", "2023-01-05", False, "the same set of numbers"),
    Disagreement(_ORDER, "Bob beat Alice", "Alice beat Bob", False, "sets have no order"),
    Disagreement(_ORDER, "from Rome to Paris", "from Paris to Rome", False, "sets have no order"),
    Disagreement(_WORDING, "every week", "Weekly", True, "no stemming, no synonyms"),
    Disagreement(_WORDING, "a car", "an automobile", True, "no synonyms"),
    Disagreement(_WORDING, "two bike", "the bikes", True, "a plural is another word"),
    Disagreement(_WORDING, "the bicycel", "a bicycle", True, "no tolerance for spelling"),
    Disagreement(_WORDING, "It is me", "Me, it is", True, "nothing but stopwords"),
    Disagreement(_HEDGING, "Paris or London", "Paris", False, "*paris* stands in it"),
    Disagreement(_HEDGING, "yes and no", "no", False, "*no* stands in it"),
    Disagreement(_HEDGING, "the", "the red bike", False, "*the* stands in the reference"),
    Disagreement(
        _HEDGING, "insufficient", "Insufficient", True, "the one word insufficient abstains"
    ),
    Disagreement(
        _HEDGING,
        "Insufficient. Perhaps Paris.",
        "Paris",
        False,
        "more than the one word is an answer",
    ),
    Disagreement(_WRITING, "cafe", "caf\u00e9", True, "letters outside ASCII are dropped"),
    Disagreement(_WRITING, "caf", "caf\u00e9", False, "letters outside ASCII are dropped"),
    Disagreement(_WRITING, "Strasse", "Stra\u00dfe", True, "letters outside ASCII are dropped"),
    Disagreement(_WRITING, "istanbul", "\u0130stanbul", True, "a dotted capital I splits the word"),
    Disagreement(_WRITING, "\u4e1c\u4eac", "Tokyo", True, "no token is left of the prediction"),
    Disagreement(_WRITING, "e-mail", "email", True, "a hyphen splits the word"),
)


def markdown() -> str:
    """Return the table of all disagreements, with the verdicts that the grader gives now."""
    rows = [
        "# Where a careful reader disagrees",
        "",
        f"`{GRADER_VERSION}` is frozen: it compares words, not meanings, and these verdicts stay.",
        "Know them before you rely on a single row. This file is written by",
        "`python -m deermem_grade.conformance.disagreements`; a test keeps it true.",
        "",
        "| kind | prediction | reference | grader | rule | a reader | why |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in DISAGREEMENTS:
        grade = grade_answer(row.prediction, row.reference)
        rows.append(
            f"| {row.kind} | `{row.prediction}` | `{row.reference}` | {_word(grade.correct)} "
            f"| `{grade.rule}` | {_word(row.reader)} | {row.why} |"
        )
    return "\n".join(rows) + "\n"


def _word(correct: bool) -> str:
    return "correct" if correct else "not correct"


if __name__ == "__main__":
    sys.stdout.buffer.write(markdown().encode())
