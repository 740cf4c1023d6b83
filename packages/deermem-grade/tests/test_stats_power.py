"""Power and smallest detectable difference, against enumeration of every table."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from deermem_grade.stats import (
    PairedTable,
    exact_mcnemar,
    mcnemar_power,
    smallest_detectable_difference,
)


@functools.cache
def oracle_p(w: int, lose: int) -> float:
    return float(binomtest(w, w + lose).pvalue) if w + lose else 1.0


def enumerated_power(n: int, wins: float, losses: float, alpha: float) -> float:
    """The probability of all tables of n cases that scipy's binomial test rejects."""
    total = 0.0
    for w in range(n + 1):
        for lose in range(n + 1 - w):
            if oracle_p(w, lose) < alpha - 1e-12:
                ways = math.comb(n, w) * math.comb(n - w, lose)
                total += ways * wins**w * losses**lose * (1 - wins - losses) ** (n - w - lose)
    return total


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.0625, 0.125, 0.3])
@pytest.mark.parametrize(
    ("wins", "losses"), [(0.3, 0.0), (0.3, 0.1), (0.0, 0.4), (0.5, 0.5), (1.0, 0.0), (0.05, 0.02)]
)
def test_power_is_the_sum_over_all_tables(wins: float, losses: float, alpha: float) -> None:
    """Every number of cases up to 14, also where p equals alpha exactly."""
    for n in range(1, 15):
        expected = enumerated_power(n, wins, losses, alpha)
        result = mcnemar_power(n, wins=wins, losses=losses, alpha=alpha)
        assert expected == pytest.approx(result.power, abs=1e-10), n


def test_power_of_the_published_size() -> None:
    """45 cases and the rates observed there."""
    expected = enumerated_power(45, 17 / 45, 1 / 45, 0.05)
    result = mcnemar_power(45, wins=17 / 45, losses=1 / 45)
    assert expected == pytest.approx(result.power, abs=1e-10)


@pytest.mark.parametrize(("wins", "losses"), [(0.05, 0.02), (0.0005, 0.0), (0.52, 0.45)])
def test_power_of_many_cases(wins: float, losses: float) -> None:
    """Of 1,500 cases, with all numbers of discordant ones summed by scipy's distributions."""
    m = np.arange(1501)
    lower_tail = binom.cdf(np.arange(1501)[:, None], m, 0.5)  # [k, m]
    fewer = (2 * lower_tail < 0.05).sum(axis=0) - 1  # the largest k that is rejected, or -1
    share = wins / (wins + losses)
    rejected = binom.cdf(fewer, m, share) + binom.cdf(fewer, m, 1 - share)
    expected = float(np.sum(binom.pmf(m, 1500, wins + losses) * rejected))
    result = mcnemar_power(1500, wins=wins, losses=losses)
    assert expected == pytest.approx(result.power, abs=1e-10)


def test_power_echoes_its_arguments() -> None:
    """The result says what it was computed for."""
    result = mcnemar_power(20, wins=0.3, losses=0.1, alpha=0.1)
    assert (result.cases, result.wins, result.losses, result.alpha) == (20, 0.3, 0.1, 0.1)
    assert result.difference == 0.3 - 0.1


def test_no_flips_no_power() -> None:
    """Where no case can flip, nothing is ever rejected."""
    assert mcnemar_power(100, wins=0.0).power == 0.0


@given(
    st.integers(1, 80),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0.001, 0.9),
)
def test_power_laws(n: int, wins: float, losses: float, alpha: float) -> None:
    """A probability; blind to which policy is first; at the null at most alpha."""
    assume(wins + losses <= 1)
    power = mcnemar_power(n, wins=wins, losses=losses, alpha=alpha).power
    assert 0.0 <= power <= 1.0
    exchanged = mcnemar_power(n, wins=losses, losses=wins, alpha=alpha).power
    assert power == pytest.approx(exchanged, abs=1e-12)
    null = (wins + losses) / 2
    assert mcnemar_power(n, wins=null, losses=null, alpha=alpha).power <= alpha + 1e-12


@given(st.integers(1, 80), st.floats(0, 0.4), st.floats(0, 1), st.floats(0, 1))
def test_power_rises_with_the_difference(n: int, losses: float, a: float, b: float) -> None:
    """With the losses held fixed, more wins are detected more often."""
    less, more = (losses + (1 - 2 * losses) * share for share in sorted((a, b)))
    low = mcnemar_power(n, wins=less, losses=losses).power
    assert low <= mcnemar_power(n, wins=min(more, 1 - losses), losses=losses).power + 1e-12


@pytest.mark.parametrize(("n", "losses"), [(6, 0.0), (12, 0.0), (12, 0.05), (20, 0.1)])
def test_smallest_detectable_difference_is_where_enumerated_power_crosses(
    n: int, losses: float
) -> None:
    """A hair below it the enumerated power is below 80 %, at it it is not."""
    found = smallest_detectable_difference(n, losses=losses).difference
    assert found is not None
    assert enumerated_power(n, losses + found - 1e-6, losses, 0.05) < 0.8
    assert enumerated_power(n, losses + found + 1e-9, losses, 0.05) >= 0.8


def test_six_one_sided_flips_are_the_least_that_can_be_significant() -> None:
    """Of 6 cases all must flip: 0.8 = d**6; of 5 no difference is detectable, p is 1/16 at best."""
    six = smallest_detectable_difference(6)
    assert pytest.approx(six.difference, abs=1e-8) == 0.8 ** (1 / 6)
    five = smallest_detectable_difference(5)
    assert (five.difference, five.reached) == (None, 0.0)
    assert exact_mcnemar(PairedTable(0, 0, 0, 5)).p_value == 0.0625


def test_unreachable_power_is_none_with_what_is_reached() -> None:
    """Where losses keep the power below what is asked, the result says how far it gets."""
    result = smallest_detectable_difference(8, losses=0.3)
    assert result.difference is None
    assert enumerated_power(8, 0.7, 0.3, 0.05) == pytest.approx(result.reached, abs=1e-10)


def test_detectable_difference_echoes_its_arguments() -> None:
    """The result says what it was computed for."""
    result = smallest_detectable_difference(30, losses=0.02, alpha=0.1, power=0.9)
    assert (result.cases, result.losses, result.alpha, result.power) == (30, 0.02, 0.1, 0.9)
    assert 0.9 <= result.reached < 0.9001


def test_more_cases_detect_smaller_differences() -> None:
    """Monotone in the number of cases, up to 10,000 of them, without overflow."""
    for losses in (0.0, 0.02):
        found = [
            smallest_detectable_difference(n, losses=losses).difference
            for n in (8, 20, 40, 45, 100, 1_000, 10_000)
        ]
        assert None not in found
        assert found == sorted(found, reverse=True)  # type: ignore[type-var]
        assert len(set(found)) == len(found)


def test_more_losses_hide_more() -> None:
    """One-sided flips are the easiest case, as the documentation says."""
    for n in (12, 40, 45, 200):
        found = [
            smallest_detectable_difference(n, losses=losses).difference
            for losses in (0.0, 0.01, 0.02, 0.05, 0.08)
        ]
        assert None not in found
        assert found == sorted(found)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (mcnemar_power, {"cases": 0, "wins": 0.1}, ValueError, "cases is 0"),
        (mcnemar_power, {"cases": 5, "wins": 1.1}, ValueError, "wins is 1.1; expected a number"),
        (mcnemar_power, {"cases": 5, "wins": 0.6, "losses": 0.6}, ValueError, "wins . losses is"),
        (mcnemar_power, {"cases": 5, "wins": math.nan}, ValueError, "wins is nan"),
        (mcnemar_power, {"cases": 5, "wins": True}, TypeError, r"wins is True \(bool\)"),
        (smallest_detectable_difference, {"cases": 2.5}, TypeError, "cases is 2.5"),
        (smallest_detectable_difference, {"cases": 9, "losses": 0.5}, ValueError, "losses is 0.5"),
        (smallest_detectable_difference, {"cases": 9, "power": 1.0}, ValueError, "power is 1.0"),
        (smallest_detectable_difference, {"cases": 9, "alpha": 0}, ValueError, "alpha is 0.0"),
    ],
)
def test_impossible_arguments_are_refused(
    function: Any, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    """An error names the argument, what was given and what was expected."""
    with pytest.raises(error, match=message):
        function(**arguments)
