"""What an importer of the grader relies on: names, types, errors, identity, cost of the import."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import subprocess
import sys

import pytest

import deermem_grade
from deermem_grade import (
    GRADER_VERSION,
    Grade,
    get_grader,
    grade_answer,
    grade_many,
    normalize_answer,
)
from deermem_grade.deterministic_overlap_v1 import NUMBER_WORDS, RULES, SEPARATOR, STOPWORDS


@pytest.mark.parametrize(
    ("prediction", "reference", "correct", "rule"),
    [
        ("Seven WEEKS!", "7 weeks", True, "exact"),
        ("70-200mm zoom lens", "70 200mm zoom lens", True, "exact"),
        ("under my bed", "under the bed", True, "overlap-accept"),
        ("5", "25", False, "numeric-conflict"),
        ("no", "north", False, "overlap-reject"),
        ("7", "ranging from 5 to x to 10", True, "numeric-range"),
        ("7", "ranging from 5 to about 10", False, "numeric-conflict"),
        (
            "About one week.",
            "One week. Any stay ranging from 7 nights to 10 nights will do.",
            False,
            "numeric-conflict",
        ),
        ("INSUFFICIENT", "7 weeks", False, "insufficient"),
        ("...", "7 weeks", False, "empty-prediction"),
        ("It was Paris", "paris", True, "substring"),
    ],
)
def test_examples_of_the_design(prediction: str, reference: str, correct: bool, rule: str) -> None:
    """The examples that the design gives come out as it says."""
    grade = grade_answer(prediction, reference)
    assert (correct, rule) == (grade.correct, grade.rule)


def test_normalised_tokens() -> None:
    """Normalising gives a list of lower-case tokens, with digits for the number words."""
    assert ["7", "weeks"] == normalize_answer("Seven WEEKS!")
    assert ["70", "200mm", "zoom", "lens"] == normalize_answer("70-200mm zoom lens")
    assert [] == normalize_answer("?! \u65e5\u672c")
    assert ["a", "x", "b"] == normalize_answer("a X b")
    assert ["x"] == normalize_answer("\0X\0")


def test_thousands_of_digits_are_graded() -> None:
    """An integer longer than Python's own limit is compared like any other."""
    digits = "9" * 5000
    assert (True, "exact") == grade_answer(digits, digits)
    assert (False, "numeric-conflict") == grade_answer(digits, digits[:-1] + "8")


@pytest.mark.parametrize("reference", ["", "...", "\u00e9", "\u65e5\u672c\u8a9e"])
def test_reference_without_a_token(reference: str) -> None:
    """A reference that nothing could equal is refused, with the reason."""
    with pytest.raises(ValueError, match="the reference has no token: expected an ASCII letter"):
        grade_answer("x", reference)


@pytest.mark.parametrize("other", [None, 7, 7.5, True, b"x", ["x"], object()])
def test_not_a_string(other: object) -> None:
    """What is no string is refused in either place, naming its type; nothing is converted."""
    with pytest.raises(TypeError, match=type(other).__name__):
        grade_answer(other, "x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=type(other).__name__):
        grade_answer("x", other)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=type(other).__name__):
        normalize_answer(other)  # type: ignore[arg-type]


def test_subclass_of_str_counts_as_its_text() -> None:
    """A subclass of str is graded by its characters, whatever its methods say."""

    class Odd(str):
        __slots__ = ()

        def lower(self) -> str:
            return "something else"

        def __str__(self) -> str:
            return "something else"

    assert (True, "exact") == grade_answer(Odd("Paris"), Odd("PARIS"))
    assert [(True, "exact")] == list(grade_many([(Odd("Paris"), Odd("PARIS"))]))


def test_grade_is_an_immutable_pair() -> None:
    """A grade unpacks, compares, copies and pickles as a pair, shows its parts, cannot be set."""
    grade = grade_answer("Paris", "paris")
    correct, rule = grade
    assert (True, "exact") == (correct, rule)
    assert "Grade(correct=True, rule='exact')" == repr(grade)
    assert (
        Grade((True, "exact")) == grade == copy.deepcopy(grade) == pickle.loads(pickle.dumps(grade))
    )
    assert type(pickle.loads(pickle.dumps(grade))) is Grade
    with pytest.raises(AttributeError):
        grade.correct = False  # type: ignore[misc]
    with pytest.raises(AttributeError):
        grade.other = 1  # type: ignore[attr-defined]


def test_stopwords_are_the_published_ones() -> None:
    """The stopwords, sorted and one a line, have the published SHA-256."""
    text = "".join(f"{word}\n" for word in sorted(STOPWORDS))
    assert 126 == len(STOPWORDS)
    assert (
        "ab983815104460c52dda1321d58ec5c0bf73e5742a002255a6704ce4590b07eb"
        == hashlib.sha256(text.encode()).hexdigest()
    )


def test_identity_covers_the_tables() -> None:
    """The identity is version and digest; another stopword, number word or rule changes the digest.

    The digest is pinned: it stands beside published scores.
    """
    grader = get_grader()
    assert "deterministic-overlap-v1@dccae4f58850" == grader.identity
    assert {"normalization", "number_words", "rules", "stopwords", "version"} == set(
        grader.definition
    )
    assert sorted(STOPWORDS) == grader.definition["stopwords"]
    assert NUMBER_WORDS == grader.definition["number_words"]
    assert RULES == grader.definition["rules"]
    document = json.dumps(grader.definition, ensure_ascii=False, sort_keys=True)
    assert hashlib.sha256(document.encode()).hexdigest()[:12] == grader.digest


def test_graders_by_version() -> None:
    """A grader is found by its version; an unknown one is an error that lists those there are."""
    grader = get_grader("deterministic-overlap-v1")
    assert GRADER_VERSION == grader.version == "deterministic-overlap-v1"
    assert get_grader() is grader
    assert (True, "exact") == grader.grade_answer("Paris", "paris")
    assert [(True, "exact")] == list(grader.grade_many([("Paris", "paris")]))
    assert ["7"] == grader.normalize_answer("seven")
    assert "<Grader deterministic-overlap-v1>" == repr(grader)
    with pytest.raises(
        ValueError, match="no grader 'v9': expected one of deterministic-overlap-v1"
    ):
        get_grader("v9")


def test_public_names() -> None:
    """`__all__` is sorted, constants first, and all of it is there; else an AttributeError."""
    names = deermem_grade.__all__
    assert sorted(names, key=lambda name: (not name.isupper(), name)) == names
    assert all(hasattr(deermem_grade, name) for name in deermem_grade.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        deermem_grade.nothing  # noqa: B018


def test_no_lower_case_holds_the_separator() -> None:
    """No character, lower-cased, yields the capital that stands between texts in a batch."""
    between = SEPARATOR.strip()
    assert 1 == len(between)
    assert [] == [code for code in range(0x110000) if between in chr(code).lower()]


def test_only_two_characters_outside_ascii_become_ascii_letters() -> None:
    """Lower-casing yields ASCII from U+0130 and U+212A alone: no other character can matter."""
    found = [code for code in range(0x80, 0x110000) if any(c < "\x80" for c in chr(code).lower())]
    assert [0x130, 0x212A] == found


def test_import_loads_no_third_party_module() -> None:
    """Importing the package loads nothing but itself and two that cost nothing."""
    code = (
        "import sys; before = set(sys.modules); import deermem_grade; "
        "print(sorted(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(json.loads(run.stdout.replace("'", '"')))
    own = {name for name in loaded if name.split(".")[0] == "deermem_grade"}
    assert {"__future__", "itertools"} >= loaded - own
    assert {
        "deermem_grade",
        "deermem_grade.batch",
        "deermem_grade.deterministic_overlap_v1",
        "deermem_grade.graders",
    } == own


@pytest.mark.parametrize("seed", ["0", "1", "4789"])
def test_no_dependence_on_hash_seed(seed: str) -> None:
    """Verdicts, rules and identity are the same with any hash seed."""
    code = (
        "from deermem_grade import *; from deermem_grade.conformance import *;"
        "assert not check_vectors(grade_answer); print(get_grader().identity)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin"},
    )
    assert "deterministic-overlap-v1@dccae4f58850\n" == run.stdout
