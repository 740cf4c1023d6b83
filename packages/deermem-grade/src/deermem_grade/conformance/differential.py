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
    """Return the smallest random pair that `grade` decides unlike the frozen grader, if any."""

    def differs(pair: tuple[str, str]) -> Failure | None:
        expected, found = observe(grade_answer, *pair), observe(grade, *pair)
        if agree(expected, found):
            return None
        return Failure("differential check", *pair, expected.partition(":")[0], found)

    failure = find_failure(pairs, differs, examples)
    return [failure] if failure else []
