"""Grading many pairs in one go, in constant memory."""

from __future__ import annotations

from itertools import chain, islice

from deermem_grade.deterministic_overlap_v1 import (
    SEPARATOR,
    Grade,
    decide,
    grade_answer,
    normalize_joined,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# With more pairs at once the cost per pair hardly falls; with fewer, a stream waits for less.
_AT_ONCE = 256
# Stands between texts while they are lower-cased together: it has no case.
_MARK = "\x1f"


def grade_many(pairs: Iterable[tuple[str, str]]) -> Iterator[Grade]:
    """Yield the grade of each (prediction, reference) pair, in order.

    The same grades as ``grade_answer`` gives one by one, and faster where texts are short. Takes
    256 pairs at a time from `pairs` and holds no more. Raises what ``grade_answer`` would, with the
    number of the pair (from 0), after the grades of all pairs before it.
    """
    return chain.from_iterable(_grades(pairs, raising=True))


def try_grade_many(pairs: Iterable[tuple[str, str]]) -> Iterator[Grade | TypeError | ValueError]:
    """Yield the grade of each pair as ``grade_many``, or the exception instead of raising it."""
    return chain.from_iterable(_grades(pairs, raising=False))


def _grades(pairs: Iterable[tuple[str, str]], *, raising: bool) -> Iterator[Iterable[Any]]:
    remaining = iter(pairs)
    number = 0
    while some := tuple(islice(remaining, _AT_ONCE)):
        grades: Iterable[Any]
        try:
            grades = _graded_at_once(some)
        except (TypeError, ValueError):
            grades = _graded_one_by_one(some, number, raising=raising)
        yield grades
        number += len(some)


def _graded_at_once(pairs: tuple[tuple[str, str], ...]) -> list[Grade]:
    predictions, references = zip(*pairs, strict=True)
    texts = normalize_joined(_joined(predictions + references))
    return list(map(decide, texts[: len(pairs)], texts[len(pairs) :]))


def _joined(texts: tuple[str, ...]) -> str:
    """Return the texts with ``SEPARATOR`` between, lower-cased together where that is safe.

    A neighbour changes the lower case of a final sigma alone, which is no token character.
    """
    lowered = f" {_MARK} ".join(texts).lower()
    if lowered.count(_MARK) == len(texts) - 1:
        return lowered.replace(_MARK, "X")
    return SEPARATOR.join(map(str.lower, texts))  # a text holds the mark


def _graded_one_by_one(
    pairs: tuple[tuple[str, str], ...], number: int, *, raising: bool
) -> Iterator[Any]:
    for place, (prediction, reference) in enumerate(pairs, number):
        try:
            grade: Any = grade_answer(prediction, reference)
        except (TypeError, ValueError) as error:
            if raising:
                raise type(error)(f"pair {place}: {error}") from None
            grade = error
        yield grade
