"""The frozen grader against its laws and against the naive one, and what the random pairs reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from deermem_grade import grade_answer
from deermem_grade.conformance.laws import LAWS, Law, check_laws
from deermem_grade.conformance.outcome import observe
from deermem_grade.conformance.pairs import pairs
from deermem_grade.deterministic_overlap_v1 import RULES


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_law_holds(law: Law) -> None:
    """The frozen grader breaks no law."""
    assert [] == check_laws(grade_answer, examples=60, laws=[law])


@given(pairs)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_same_as_naive(naive_grade: Callable[[Any, Any], Any], pair: tuple[str, str]) -> None:
    """On any pair the naive grader gives the same verdict and rule, or refuses it as well."""
    expected, found = observe(naive_grade, *pair), observe(grade_answer, *pair)
    assert expected.partition(":")[0] == found.partition(":")[0]


def test_random_pairs_reach_every_rule() -> None:
    """As many pairs as the kit takes reach each rule and the refusal, none of them rarely.

    How often differs with the modules that happen to be loaded, whose constants hypothesis tries.
    """
    outcomes: Counter[str] = Counter()

    @settings(max_examples=1000, derandomize=True, database=None)
    @given(pairs)
    def collect(pair: tuple[str, str]) -> None:
        outcomes[observe(grade_answer, *pair).partition(":")[0]] += 1

    collect()
    graded = {f"{'correct' if correct else 'not correct'}, {rule}" for rule, correct, _ in RULES}
    assert graded | {"raised ValueError"} == set(outcomes)
    assert 5 <= min(outcomes.values())


def test_three_fifths_are_exact() -> None:
    """Up to 400 words, 5 * shared >= 3 * side says what the fraction and the float say."""
    for side in range(1, 401):
        for shared in range(side + 1):
            exact = Fraction(shared, side) >= Fraction(3, 5)
            assert exact is (5 * shared >= 3 * side)
            assert exact is (shared / side >= 0.6)
