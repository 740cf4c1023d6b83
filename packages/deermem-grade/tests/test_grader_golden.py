"""The golden vectors: what they cover, that they never change, and that two graders give them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deermem_grade.conformance
from deermem_grade import grade_answer, normalize_answer
from deermem_grade.conformance import check_vectors, expand, load_vectors
from deermem_grade.deterministic_overlap_v1 import NUMBER_WORDS, RULES, STOPWORDS

VECTORS = load_vectors()
FOLDER = Path(deermem_grade.conformance.__file__).parent / "vectors"
FILE = FOLDER / "deterministic-overlap-v1.jsonl"


# The mutation run asks these three, which look at the golden vectors alone.


def test_frozen_grader_gives_every_verdict() -> None:
    """The grader in use gives every golden verdict and rule, and shows it."""
    assert [] == check_vectors(grade_answer, VECTORS)
    for vector in VECTORS:
        if vector.rule:
            correct = vector.expected.startswith("correct")
            shown = repr(grade_answer(vector.prediction, vector.reference))
            assert f"Grade(correct={correct}, rule={vector.rule!r})" == shown


def test_frozen_grader_says_why_it_refuses() -> None:
    """A refused pair is told what is missing."""
    reasons = {
        "empty-reference": (ValueError, "^the reference has no token: expected an ASCII letter"),
        "not-a-string": (TypeError, "^expected two strings: .*(NoneType|int|bool|list)"),
    }
    for vector in VECTORS:
        if vector.error:
            error, reason = reasons[vector.error]
            with pytest.raises(error, match=reason):
                grade_answer(vector.prediction, vector.reference)


def test_same_tokens_are_what_is_exact() -> None:
    """Normalised, the two texts of a vector are equal if it is exact, else not, or it abstains."""
    for vector in VECTORS:
        if vector.error == "empty-reference":
            assert [] == normalize_answer(vector.reference)
        elif vector.error is None and vector.rule != "insufficient":
            same = normalize_answer(vector.prediction) == normalize_answer(vector.reference)
            assert same is (vector.rule == "exact")


def test_naive_grader_gives_every_verdict(naive_grade: Callable[[Any, Any], Any]) -> None:
    """A second grader, written from the table of rules alone, gives every golden verdict."""
    assert [] == check_vectors(naive_grade)


def test_vectors_never_change() -> None:
    """The lines there are now stay as they are for ever; lines after them may be added."""
    lines = FILE.read_bytes().splitlines(keepends=True)[:1366]
    assert (
        "117b2e1e8550c19393420a0a562cf04c76f66e01f9a65f8206f73320185280f7"
        == hashlib.sha256(b"".join(lines)).hexdigest()
    )


def test_file_is_for_any_language() -> None:
    """ASCII, one object a line, sorted keys, no key but the documented ones, each id once."""
    keys = {"id", "pins", "prediction", "reference", "why"}
    for line in FILE.read_text("ascii").splitlines():
        vector = json.loads(line)
        assert line == json.dumps(vector, sort_keys=True)
        outcome = {"error"} if "error" in vector else {"correct", "rule"}
        assert keys | outcome == set(vector)
        assert vector["pins"]
        assert vector["why"]
    assert [1] * len(VECTORS) == list(Counter(vector.id for vector in VECTORS).values())


def test_pairs_differ() -> None:
    """No pair stands twice in the file."""
    pairs = Counter((repr(vector.prediction), repr(vector.reference)) for vector in VECTORS)
    assert [] == [pair for pair, times in pairs.items() if times > 1]


def test_verdict_goes_with_rule() -> None:
    """`correct` in the file is the verdict that belongs to the rule."""
    verdicts = {rule: correct for rule, correct, _ in RULES}
    for line in FILE.read_text("ascii").splitlines():
        vector = json.loads(line)
        if "rule" in vector:
            assert verdicts[vector["rule"]] is vector["correct"]


def test_every_rule_and_error_is_pinned() -> None:
    """There are ten vectors and more for each rule, and some for each error."""
    outcomes = Counter(vector.rule or vector.error for vector in VECTORS)
    assert {rule for rule, _, _ in RULES} | {"empty-reference", "not-a-string"} == set(outcomes)
    assert 8 <= min(outcomes.values())
    assert 500 <= len(VECTORS)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("stopword", STOPWORDS),
        ("number word", NUMBER_WORDS),
        ("separator", {f"U+{c:04X}" for c in range(128) if not chr(c).isalnum()}),
        ("token character", set("0123456789abcdefghijklmnopqrstuvwxyz")),
        ("capital", set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")),
    ],
)
def test_every_member_is_pinned(kind: str, members: set[str]) -> None:
    """Each stopword, number word, ASCII separator and token character has a vector of its own."""
    pinned = {vector.pins for vector in VECTORS}
    assert [] == sorted({f"{kind} {member}" for member in members} - pinned)


@pytest.mark.parametrize(
    ("described", "text"),
    [
        ("plain", "plain"),
        ({"repeat": ["ab ", 3]}, "ab ab ab "),
        ({"concat": ["a", {"repeat": ["b", 2]}, ""]}, "abb"),
        ({"sequence": ["w", 9, 11]}, "w9 w10 w11"),
        ({"concat": []}, ""),
        (None, None),
        (7, 7),
        (["x"], ["x"]),
    ],
)
def test_described_texts(described: Any, text: Any) -> None:
    """A text is written out as its description says; what is no text stays what it is."""
    assert text == expand(described)


def test_unknown_description_is_refused() -> None:
    """A description of another kind is an error, not a text."""
    with pytest.raises(ValueError, match="expected repeat, concat or sequence"):
        expand({"reverse": ["x"]})


def test_format_is_documented_beside_the_file() -> None:
    """The file's README names each key, error and description."""
    text = (FOLDER / "README.md").read_text("utf-8")
    for name in (
        "id",
        "prediction",
        "reference",
        "correct",
        "rule",
        "error",
        "pins",
        "why",
        "empty-reference",
        "not-a-string",
    ):
        assert f"`{name}`" in text
    for name in ("repeat", "concat", "sequence"):
        assert f'{{"{name}"' in text
