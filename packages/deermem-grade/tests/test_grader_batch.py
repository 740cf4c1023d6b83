"""Grading many pairs at once: the same grades in the same order, and every error in its place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_grade import grade_answer, grade_many, normalize_answer, try_grade_many
from deermem_grade.conformance import load_vectors
from deermem_grade.conformance.pairs import pairs

PAIRS = [(vector.prediction, vector.reference) for vector in load_vectors() if vector.error is None]


def one_by_one(given_pairs: list[tuple[Any, Any]]) -> list[Any]:
    grades: list[Any] = []
    for pair in given_pairs:
        try:
            grades.append(grade_answer(*pair))
        except (TypeError, ValueError) as error:
            grades.append((type(error), str(error)))
    return grades


def comparable(grades: Iterator[Any]) -> list[Any]:
    return [(type(g), str(g)) if isinstance(g, Exception) else g for g in grades]


def test_golden_pairs_in_batches() -> None:
    """All golden pairs in one stream get their grades in order."""
    assert one_by_one(PAIRS) == list(grade_many(PAIRS))


@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 511, 512, 513, 600])
def test_any_number_of_pairs(count: int) -> None:
    """No pair is lost or doubled where one group of pairs ends and the next begins."""
    some = PAIRS[-count:] if count else []
    assert one_by_one(some) == list(grade_many(some))
    assert one_by_one(some) == list(try_grade_many(iter(some)))


@given(st.lists(pairs, max_size=12))
def test_same_as_one_by_one(some: list[tuple[str, str]]) -> None:
    """Whatever the texts beside it are, a pair gets the grade or error it gets alone."""
    assert one_by_one(some) == comparable(try_grade_many(some))


@pytest.mark.parametrize("odd", ["\x1f", " \x1f ", "X", " X ", "\u03a3", "\u0130", "\ud800", ""])
def test_texts_that_hold_what_stands_between_texts(odd: str) -> None:
    """Marks, separators and characters that lower-case by their neighbours move no boundary."""
    some = [(f"a{odd}", f"{odd}a"), (odd, "b"), (f"b{odd}c", "b c"), ("a", f"{odd}x{odd}")]
    assert one_by_one(some) == list(grade_many(some))


def test_neighbours_change_no_token_in_lower_case() -> None:
    """Any character's tokens are the same beside a capital sigma, with and without text after."""
    for code in range(0x110000):
        text = chr(code)
        if len(text.lower()) > 1 or text.lower() != text:
            beside = f"\u03a3 {text}\u03a3 \x1f {text}".lower()
            assert normalize_answer(beside) == normalize_answer(text) * 2


def test_endless_stream() -> None:
    """Pairs are taken a few at a time: an endless stream gives grades."""
    taken = itertools.count()
    stream = ((str(next(taken)), "7") for _ in itertools.repeat(None))
    assert [False] * 7 + [True] == [g.correct for g in itertools.islice(grade_many(stream), 8)]
    assert 256 == next(taken)


@pytest.mark.parametrize("place", [0, 5, 255, 256, 400])
def test_first_error_is_raised_in_its_place(place: int) -> None:
    """The grades before a bad pair come out; then its error is raised, with its number."""
    some = [("x", "x")] * 520
    some[place] = ("x", "?")
    grades = grade_many(some)
    assert [True] * place == [grade.correct for grade in itertools.islice(grades, place)]
    with pytest.raises(ValueError, match=f"^pair {place}: the reference has no token"):
        next(grades)


def test_type_error_is_raised_in_its_place() -> None:
    """A pair that holds no string is named by its number."""
    grades = grade_many([("x", "x"), ("x", None), ("x", "x")])  # type: ignore[list-item]
    assert (True, "exact") == next(grades)
    with pytest.raises(TypeError, match=r"^pair 1: expected two strings: .*NoneType"):
        next(grades)


def test_errors_in_the_place_of_grades() -> None:
    """`try_grade_many` loses no good pair: each bad one yields its exception."""
    some: list[Any] = [("x", "x"), (7, "x"), ("x", "?"), ("y", "x"), ("?", "x")] * 40
    kinds = [type(grade).__name__ for grade in try_grade_many(some)]
    assert ["Grade", "TypeError", "ValueError", "Grade", "Grade"] * 40 == kinds
    assert one_by_one(some) == comparable(try_grade_many(some))
