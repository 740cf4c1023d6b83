"""Comparing any grader with the frozen one on random pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deermem_grade import grade_answer
from deermem_grade.conformance.outcome import Failure, agree, observe
from deermem_grade.conformance.pairs import pairs
from deermem_grade.conformance.search import find_failure

if TYPE_CHECKING:
    from collections.abc import Callable


def check_differential(grade: Callable[[str, str], Any], examples: int = 1000) -> list[Failure]:
    """Return a random pair that `grade` decides unlike the frozen grader, if one is found.

    The pair is made as small as can be: no character can be left out of it.
    """

    def differs(pair: tuple[str, str]) -> Failure | None:
        expected, found = observe(grade_answer, *pair), observe(grade, *pair)
        if agree(expected, found):
            return None
        return Failure("differential check", *pair, expected.partition(":")[0], found)

    failure = find_failure(pairs, differs, examples, shrink=False)
    return [_reduced(failure, differs)] if failure else []


def _reduced(failure: Failure, differs: Callable[[tuple[str, str]], Failure | None]) -> Failure:
    """Leave out of either text what the failure does not need: halves first, characters last."""
    size = -1
    while size != failure.size:
        size = failure.size
        for side in (0, 1):
            width = len((failure.prediction, failure.reference)[side])
            while width:
                start = 0
                while start < len((failure.prediction, failure.reference)[side]):
                    pair = [failure.prediction, failure.reference]
                    pair[side] = pair[side][:start] + pair[side][start + width :]
                    smaller = differs((pair[0], pair[1]))
                    if smaller:
                        failure = smaller
                    else:
                        start += width
                width //= 2
    return failure
