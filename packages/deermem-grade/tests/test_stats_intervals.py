"""Wilson's interval, and the interval of a paired difference: values, laws, coverage."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import integrate, special
from scipy.stats import beta, binomtest
from statsmodels.stats.proportion import proportion_confint

from deermem_grade.stats import (
    PairedTable,
    exact_mcnemar,
    paired_difference_interval,
    wilson_interval,
)

if TYPE_CHECKING:
    from deermem_grade.stats import DifferenceInterval

COUNTS = st.integers(0, 60)


def interval(wins: int, losses: int, concordant: int, alpha: float = 0.05) -> DifferenceInterval:
    return paired_difference_interval(PairedTable(concordant, 0, losses, wins), alpha=alpha)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.5])
def test_wilson_agrees_with_statsmodels(alpha: float) -> None:
    """Every count of up to 60 cases, at four levels."""
    for n in range(1, 61):
        for correct in range(n + 1):
            result = wilson_interval(correct, n, alpha=alpha)
            oracle = proportion_confint(correct, n, alpha=alpha, method="wilson")
            assert oracle == pytest.approx((result.lower, result.upper), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 45, 1000, 10**6])
def test_wilson_reaches_the_ends_exactly(n: int) -> None:
    """None correct: the lower bound is 0.0 itself; all correct: the upper one is 1.0 itself."""
    for per_mille in range(1, 1000):
        assert wilson_interval(0, n, alpha=per_mille / 1000).lower == 0.0
        assert wilson_interval(n, n, alpha=per_mille / 1000).upper == 1.0


def test_wilson_worked_by_hand() -> None:
    """8 of 10: centre (8 + z²/2)/(10 + z²), half-width z sqrt(1.6 + z²/4)/(10 + z²)."""
    z = 1.959963984540054
    centre, half = (8 + z * z / 2) / (10 + z * z), z * math.sqrt(1.6 + z * z / 4) / (10 + z * z)
    result = wilson_interval(8, 10)
    assert (result.correct, result.cases, result.alpha, result.accuracy) == (8, 10, 0.05, 0.8)
    assert (centre - half, centre + half) == pytest.approx((result.lower, result.upper), abs=1e-14)


@given(st.integers(1, 10**7), st.floats(0.0001, 0.9999), st.data())
def test_wilson_laws(n: int, alpha: float, data: st.DataObject) -> None:
    """Within 0..1, around the accuracy, never a point, mirrored for the wrong answers."""
    correct = data.draw(st.integers(0, n))
    result = wilson_interval(correct, n, alpha=alpha)
    mirror = wilson_interval(n - correct, n, alpha=alpha)
    assert 0.0 <= result.lower <= result.accuracy <= result.upper <= 1.0
    assert result.lower < result.upper
    assert (correct == 0, correct == n) == (result.lower == 0.0, result.upper == 1.0)
    assert (1.0 - result.upper, 1.0 - mirror.upper) == pytest.approx(
        (mirror.lower, result.lower), abs=1e-15
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1, 0), ValueError, "cases is 0; expected 1 or more"),
        ((-1, 3), ValueError, "correct is -1; expected 0 or more"),
        ((4, 3), ValueError, "correct is 4; expected at most cases, 3"),
        ((1.0, 3), TypeError, r"correct is 1.0 \(float\)"),
    ],
)
def test_wilson_refuses_impossible_counts(
    arguments: Any, error: type[Exception], message: str
) -> None:
    """An error names the count, what was given and what was expected."""
    with pytest.raises(error, match=message):
        wilson_interval(*arguments)


def test_difference_echoes_its_inputs() -> None:
    """The counts, the level, the difference as the published statistics subtract it, the method."""
    result = interval(13, 1, 26, alpha=0.1)
    expected = (26, 0, 1, 13, 40, 0.1, 39 / 40 - 27 / 40)
    assert expected == dataclasses.astuple(result)[:7]
    assert result.method == "fay-lumbard-2021"


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_difference_solves_its_defining_equation(alpha: float) -> None:
    """P(T (2B - 1) <= lower) is alpha/2, integrated over T instead of B, by another integrator."""
    for n in (1, 2, 3, 7, 12, 40):
        for m in sorted({1, n // 3, n // 2, n - 1} - {0, n}):
            for wins in sorted({1, m // 2, (3 * m) // 4, m} - {0}):
                lower = interval(wins, m - wins, n - m, alpha).lower
                rate = beta(m, n - m + 1) if lower > 0 else beta(m + 1, n - m)
                split = beta(wins, m - wins + 1)
                d, start = lower, abs(lower)
                inner, _ = integrate.quad(
                    lambda t: rate.pdf(t) * split.cdf((1 + d / t) / 2),  # noqa: B023
                    start,
                    1,
                    epsabs=1e-11,
                    limit=200,
                )
                total = inner + (rate.cdf(d) if d > 0 else 0.0)
                assert alpha / 2 == pytest.approx(total, abs=1e-8), (wins, m, n)


@pytest.mark.parametrize(
    ("wins", "losses", "n"),
    [
        (3000, 0, 10**4),
        (300, 10, 10**4),
        (9000, 500, 10**4),
        (6, 0, 10**4),
        (60_000, 30_000, 10**5),
    ],
)
def test_difference_solves_its_equation_for_many_cases(wins: int, losses: int, n: int) -> None:
    """Also where B, or T, is much the narrower; integrated over B here."""
    d = interval(wins, losses, n - wins - losses).lower
    rate = beta(wins + losses, n - wins - losses + 1)
    split = beta(wins, losses + 1)
    edge = (1 + d) / 2
    places = [edge, *split.ppf([1e-12, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-6]), 1.0]
    total = split.cdf(edge) + sum(
        integrate.quad(
            lambda b: split.pdf(b) * rate.cdf(d / (2 * b - 1)), start, stop, epsabs=1e-13, limit=500
        )[0]
        for start, stop in itertools.pairwise(sorted({p for p in places if p >= edge}))
    )
    assert total == pytest.approx(0.025, abs=1e-10)


def test_difference_touches_zero_where_p_is_alpha() -> None:
    """At the tie the bound is 0.0 itself, so that 0 is neither excluded nor missed by a hair."""
    for m in range(1, 16):
        for wins in range(m // 2 + 1, m + 1):
            for concordant in (0, 1, 5, 40):
                p_value = exact_mcnemar(PairedTable(concordant, 0, m - wins, wins)).p_value
                if p_value < 1.0:
                    assert interval(wins, m - wins, concordant, p_value).lower == 0.0
                    assert interval(m - wins, wins, concordant, p_value).upper == 0.0
                    just_above, just_below = (math.nextafter(p_value, to) for to in (1.0, 0.0))
                    assert interval(wins, m - wins, concordant, just_above).lower > 0.0
                    assert interval(wins, m - wins, concordant, just_below).lower <= 0.0


def test_difference_at_the_edges_is_clopper_pearson() -> None:
    """With nothing won the bound is that of the rate of losses, as the source's formula reduces."""
    for n in (1, 5, 23, 60):
        for losses in range(n + 1):
            expected = -1.0 if losses == n else -beta.ppf(0.975, losses + 1, n - losses)
            assert expected == pytest.approx(interval(0, losses, n - losses).lower, abs=1e-12)


def test_difference_where_every_case_is_discordant_is_the_binomial_interval() -> None:
    """With T = 1 the bounds are 2p - 1 of the exact interval of the wins' share."""
    for n in (4, 9, 30):
        for wins in range(n + 1):
            exact = binomtest(wins, n).proportion_ci(0.95, method="exact")
            result = interval(wins, n - wins, 0)
            # The lower bound above 0 takes T ~ Beta(n, 1) instead, and so lies a little lower.
            if result.lower <= 0:
                assert 2 * exact.low - 1 == pytest.approx(result.lower, abs=1e-10)
            else:
                assert 0 < result.lower < 2 * exact.low - 1


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.05, 0.0625, 0.1, 0.125, 0.25, 0.5, 0.9])
def test_difference_is_compatible_with_the_exact_test(alpha: float) -> None:
    """The interval excludes 0 if and only if p < alpha, in every table; ties included."""
    for m in range(15):
        for wins in range(m + 1):
            for concordant in (0, 30):
                if m + concordant:
                    result = interval(wins, m - wins, concordant, alpha)
                    p_value = exact_mcnemar(PairedTable(concordant, 0, m - wins, wins)).p_value
                    excluded = result.lower > 0.0 or result.upper < 0.0
                    assert (p_value < alpha) == excluded, (wins, m, concordant)


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(0, 3000), st.floats(0.001, 0.99))
def test_difference_laws(wins: int, losses: int, concordant: int, alpha: float) -> None:
    """Within -1..1, around the difference, no point, compatible, mirrored exactly, no NaN."""
    assume(wins + losses + concordant)
    result = interval(wins, losses, concordant, alpha)
    mirror = interval(losses, wins, concordant, alpha)
    assert -1.0 <= result.lower < result.upper <= 1.0
    if alpha <= 0.5:
        assert result.lower - 1e-12 <= result.difference <= result.upper + 1e-12
    assert (result.lower, result.upper) == (-mirror.upper, -mirror.lower)
    p_value = exact_mcnemar(PairedTable(concordant, 0, losses, wins)).p_value
    assert (p_value < alpha) == (result.lower > 0 or result.upper < 0)


@given(COUNTS, COUNTS, COUNTS, st.floats(0.01, 0.4))
def test_difference_is_wider_for_more_confidence(
    wins: int, losses: int, concordant: int, alpha: float
) -> None:
    """A smaller alpha gives an interval that holds the other."""
    assume(wins + losses + concordant)
    narrow, wide = (interval(wins, losses, concordant, a) for a in (alpha, alpha / 2))
    assert wide.lower <= narrow.lower + 1e-10
    assert narrow.upper <= wide.upper + 1e-10


@given(st.integers(1, 60), COUNTS, COUNTS)
def test_difference_rises_with_wins(discordant: int, concordant: int, at: int) -> None:
    """Of the same discordant cases, one more win moves both bounds up."""
    wins = at % discordant
    fewer = interval(wins, discordant - wins, concordant)
    more = interval(wins + 1, discordant - wins - 1, concordant)
    assert fewer.lower <= more.lower
    assert fewer.upper <= more.upper


def test_no_discordant_case_is_not_a_point() -> None:
    """Without a flip p is 1, and the interval is that of a rate of 0 of n, both ways."""
    for n in (1, 5, 40, 10_000):
        result = interval(0, 0, n)
        width = 1 - 0.025 ** (1 / n)
        assert (-width, width) == pytest.approx((result.lower, result.upper), rel=1e-9)


def test_difference_of_many_cases_approaches_the_normal_interval() -> None:
    """With 100,000 cases the bounds are Wald's to a part in a hundred of the half-width."""
    result = interval(5_200, 4_800, 90_000)
    half = 1.959963984540054 * math.sqrt((0.1 - 0.004**2) / 100_000)
    bounds = (result.lower, result.upper)
    assert (0.004 - half, 0.004 + half) == pytest.approx(bounds, abs=0.01 * half)


def side_errors(n: int, alpha: float) -> tuple[float, float]:
    """The largest error of the lower bound, and the smallest coverage, over (wins, losses) rates.

    Every table is enumerated with its multinomial probability. The coverage jumps where the true
    difference passes a bound, so the differences tried lie on both sides of every bound.
    """
    cells = [(w, lose) for w in range(n + 1) for lose in range(n + 1 - w)]
    bounds = {}
    for w, lose in cells:
        if w <= lose:
            result = interval(w, lose, n - w - lose, alpha)
            bounds[w, lose] = (result.lower, result.upper)
            bounds[lose, w] = (-result.upper, -result.lower)
    low = np.array([bounds[cell][0] for cell in cells])[:, None]
    high = np.array([bounds[cell][1] for cell in cells])[:, None]
    wins, losses = np.array(cells).T[:, :, None]
    rest = n - wins - losses
    log_ways = special.gammaln(n + 1) - sum(
        special.gammaln(count + 1) for count in (wins, losses, rest)
    )
    steps = np.concatenate([np.linspace(0, 1, 26), [0.001, 0.01, 0.98, 0.99, 0.999]])
    tried = np.unique(np.concatenate([low - 1e-8, low + 1e-8, high - 1e-8, high + 1e-8]))
    worst_error, worst_coverage = 0.0, 1.0
    # A negative difference is a positive one with the policies exchanged.
    for d in np.append(tried[(tried > 0) & (tried < 1)], 0.0):
        discordant = d + (1 - d) * steps
        p_win, p_loss = (discordant + d) / 2, np.maximum(0, (discordant - d) / 2)
        log_p = special.xlogy(wins, p_win) + special.xlogy(losses, p_loss)
        p = np.exp(log_ways + log_p + special.xlogy(rest, np.maximum(0, 1 - discordant)))
        above, below = np.where(low > d, p, 0).sum(axis=0), np.where(high < d, p, 0).sum(axis=0)
        worst_error = max(worst_error, float(above.max()), float(below.max()))
        worst_coverage = min(worst_coverage, 1.0 - float((above + below).max()))
    return worst_error, worst_coverage


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.5])
def test_coverage_of_the_difference_never_falls_below_nominal(alpha: float) -> None:
    """Enumerated over all tables: each side errs in at most alpha/2, so coverage is 1 - alpha."""
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16):
        error, coverage = side_errors(n, alpha)
        print(f"n={n} alpha={alpha}: worst coverage {coverage:.6f}, worst side {error:.6f}")
        assert error <= alpha / 2 + 1e-9
        assert coverage >= 1 - alpha - 1e-9


def test_coverage_check_would_see_an_interval_that_is_too_short() -> None:
    """The enumeration is sharp: a level 1 % higher than asked for breaks the bound."""
    error, _ = side_errors(12, 0.0505)
    assert error > 0.05 / 2


INTERVALS: list[Callable[[Any], Any]] = [
    lambda alpha: wilson_interval(0, 6, alpha=alpha),
    *(
        partial(interval, wins, losses, concordant)
        for wins, losses, concordant in [(0, 0, 6), (3, 3, 0), (6, 0, 0), (0, 6, 3), (2, 2, 2)]
    ),
]


@pytest.mark.parametrize("of", INTERVALS)
@pytest.mark.parametrize("alpha", [1e-12, 0.9999])
def test_intervals_at_the_ends_of_alpha(of: Callable[[Any], Any], alpha: float) -> None:
    """At the least and the greatest alpha that is taken an interval is still not a point."""
    result = of(alpha)
    assert -1.0 <= result.lower < result.upper <= 1.0


@pytest.mark.parametrize("of", INTERVALS)
@pytest.mark.parametrize(
    "alpha", [0.0, 5e-324, 1e-300, 9e-13, 0.99999, 1.0, 10**400, float("nan"), float("inf")]
)
def test_intervals_refuse_an_alpha_out_of_range(of: Callable[[Any], Any], alpha: float) -> None:
    """Beyond what can be computed there is an error that names alpha, never a wrong interval."""
    with pytest.raises(ValueError, match=r"^alpha is .*; expected a number from "):
        of(alpha)
