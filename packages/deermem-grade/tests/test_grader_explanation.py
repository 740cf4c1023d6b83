"""An explanation tells the grade, what was seen, and each rule that was tried."""

from __future__ import annotations

import pytest
from hypothesis import given

from deermem_grade import Explanation, Step, explain, grade_answer
from deermem_grade.conformance import load_vectors
from deermem_grade.conformance.pairs import pairs
from deermem_grade.deterministic_overlap_v1 import RULES

ORDER = [rule for rule, _, _ in RULES]


def check(explanation: Explanation, prediction: str, reference: str) -> None:
    assert grade_answer(prediction, reference) == explanation.grade
    tried = [step.rule for step in explanation.steps]
    assert ORDER[: len(tried)] == tried
    assert explanation.grade.rule == tried[-1]
    assert [False] * (len(tried) - 1) + [True] == [step.decided for step in explanation.steps]


def test_agrees_with_every_golden_vector() -> None:
    """Worked out on its own, the last rule of every explanation is the one that decided."""
    for vector in load_vectors():
        if vector.error is None:
            explanation = explain(vector.prediction, vector.reference)
            check(explanation, vector.prediction, vector.reference)
            assert vector.rule == explanation.steps[-1].rule


@given(pairs)
def test_agrees_on_any_pair(pair: tuple[str, str]) -> None:
    """On any pair the explanation ends with the rule that decided, or the same error is raised."""
    try:
        grade_answer(*pair)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            explain(*pair)
    else:
        check(explain(*pair), *pair)


def test_what_was_seen() -> None:
    """Tokens, integers by value, words without stopwords, what is shared, and the stated range."""
    explanation = explain("The 12 red bikes, or 007?", "Red bikes ranging from five to 10")
    assert ("the", "12", "red", "bikes", "or", "007") == explanation.prediction_tokens
    assert ("red", "bikes", "ranging", "from", "5", "to", "10") == explanation.reference_tokens
    assert ("7", "12") == explanation.prediction_numbers
    assert ("5", "10") == explanation.reference_numbers
    assert ("007", "12", "bikes", "red") == explanation.prediction_words
    assert ("10", "5", "bikes", "ranging", "red") == explanation.reference_words
    assert ("bikes", "red") == explanation.shared_words
    assert ("5", "10") == explanation.range
    assert (
        Step("empty-prediction", False, "the prediction has 6 tokens"),
        Step("insufficient", False, "the prediction is not that one token"),
        Step("exact", False, "the tokens differ"),
        Step("substring", False, "neither stands in the other as one run of tokens"),
        Step("numeric-range", False, "outside 5 to 10: 12"),
        Step("numeric-conflict", True, "7 12 against 5 10"),
    ) == explanation.steps


@pytest.mark.parametrize(
    ("prediction", "reference", "reason"),
    [
        ("?", "x", "the prediction has no tokens"),
        ("insufficient", "x", "the prediction is that one token"),
        ("X", "x", "the tokens are the same"),
        ("x y", "x", "the reference stands in the prediction"),
        ("x", "x y", "the prediction stands in the reference"),
        ("7 x", "ranging from 10 to 5", "all within 5 to 10"),
        ("7 x", "y 8", "7 against 8"),
        ("the x", "x of", "1 shared of 1 and of 1 word; 3 of 5 are needed"),
        ("x", "y", "no rule accepts"),
    ],
)
def test_reason_of_what_decided(prediction: str, reference: str, reason: str) -> None:
    """Each rule says in words why it decided."""
    assert reason == explain(prediction, reference).steps[-1].reason


def test_shown_as_short_lines_of_ascii() -> None:
    """As text it is lines of printable ASCII, short also where the texts are not."""
    prediction = "\u001b[1mcaf\u00e9 " + "9" * 5000 + " word" * 5000
    lines = str(explain(prediction, "ranging from 1 to " + "9" * 4000)).splitlines()
    assert "grade              not correct, numeric-conflict" == lines[0]
    assert "* numeric-conflict 999999999999999999999... (5000 characters) against 1 " in lines[-1]
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert 400 > max(map(len, lines))
