"""Wilson's score interval for one accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from deermem_grade.stats import _checks


@dataclass(frozen=True, slots=True)
class WilsonInterval:
    """What `wilson_interval` returns: the counts, the accuracy and its bounds (0 to 1)."""

    correct: int
    cases: int
    alpha: float
    accuracy: float
    lower: float
    upper: float


def wilson_interval(correct: int, cases: int, *, alpha: float = 0.05) -> WilsonInterval:
    """Wilson's score interval for a proportion, without continuity correction.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference",
    Journal of the American Statistical Association 22 (1927), 209-212.

    Args:
        correct: how many cases were answered correctly.
        cases: how many cases there are.
        alpha: 1 minus the confidence level, from 1e-12 to 0.9999.

    Returns:
        The interval; it is never a point, also where none or all are correct.

    Raises:
        TypeError: a count is not a whole number, or `alpha` not a number.
        ValueError: there are no cases, `correct` is not within 0 to `cases`, or `alpha` is out
            of its range.
    """
    cases = _checks.whole("cases", cases, minimum=1)
    correct = _checks.whole("correct", correct, minimum=0)
    alpha = _checks.level(alpha)
    if correct > cases:
        raise ValueError(f"correct is {correct}; expected at most cases, {cases}")
    lower = _lower(correct, cases, alpha)
    # The upper bound of the right answers is the lower one of the wrong answers, seen from 1; so
    # the two bounds are exactly symmetric.
    upper = 1.0 - _lower(cases - correct, cases, alpha)
    return WilsonInterval(correct, cases, alpha, correct / cases, lower, upper)


def _lower(correct: int, cases: int, alpha: float) -> float:
    z = -NormalDist().inv_cdf(alpha / 2)
    wrong = cases - correct
    centre = correct + z * z / 2
    spread = z * math.sqrt(correct * wrong / cases + z * z / 4)
    # (centre - spread) / (cases + z * z), written so that nothing cancels.
    return correct * correct / cases / (centre + spread)
