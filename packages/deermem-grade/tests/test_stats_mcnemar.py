"""McNemar's exact and mid-p tests against independent implementations."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.contingency_tables import mcnemar

from deermem_grade.stats import PairedTable, exact_mcnemar, midp_mcnemar

SMALL = [(b, m - b) for m in range(61) for b in range(m + 1)]


def table(only_first: int, only_second: int) -> PairedTable:
    return PairedTable(3, 2, only_first, only_second)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p_value"),
    [(1, 13, 0.0018310546875), (1, 17, 0.00014495849609375), (0, 4, 0.125), (0, 0, 1.0)],
)
def test_published_p_values(only_first: int, only_second: int, p_value: float) -> None:
    """The three published p-values to the last bit, and 1.0 without a discordant case."""
    assert p_value == exact_mcnemar(table(only_first, only_second)).p_value


def test_echoes_its_counts() -> None:
    """The result names the four cells, their sums and the method."""
    result = exact_mcnemar([(True, False)] * 3 + [(False, True)] * 2 + [(True, True)])
    assert (
        result.both_correct,
        result.both_wrong,
        result.only_first_correct,
        result.only_second_correct,
    ) == (1, 0, 3, 2)
    assert (result.cases, result.discordant, result.method) == (6, 5, "exact")
    assert midp_mcnemar(table(3, 2)).method == "mid-p"


def test_exact_is_the_correctly_rounded_rational_for_every_small_table() -> None:
    """For every table of up to 60 discordant cases p is the exact rational, rounded once."""
    for b, c in SMALL:
        tail = sum(math.comb(b + c, i) for i in range(min(b, c) + 1))
        exact = min(Fraction(1), Fraction(2 * tail, 2 ** (b + c)))
        assert float(exact) == exact_mcnemar(table(b, c)).p_value, (b, c)


def test_exact_agrees_with_scipy_for_every_small_table() -> None:
    """For every table of up to 60 discordant cases p is that of scipy's binomial test."""
    for b, c in SMALL:
        oracle = binomtest(b, b + c).pvalue if b + c else 1.0
        assert oracle == pytest.approx(exact_mcnemar(table(b, c)).p_value, rel=1e-12), (b, c)


def test_exact_agrees_with_statsmodels_for_every_small_table() -> None:
    """For every table of up to 60 discordant cases p is that of statsmodels' exact McNemar."""
    for b, c in SMALL:
        oracle = float(mcnemar([[3, b], [c, 2]], exact=True).pvalue)
        assert oracle == pytest.approx(exact_mcnemar(table(b, c)).p_value, rel=1e-12), (b, c)


def test_exact_agrees_with_the_oracles_on_large_random_tables() -> None:
    """Up to 10,000 discordant cases, near the middle and in the tails, nothing overflows."""
    rng = random.Random(4789)
    for _ in range(40):
        m = rng.randrange(61, 10_001)
        b = min(m, max(0, round(rng.gauss(m / 2, 2 * math.sqrt(m)))))
        p_value = exact_mcnemar(table(b, m - b)).p_value
        assert binomtest(b, m).pvalue == pytest.approx(p_value, rel=1e-9), (b, m)
        assert float(mcnemar([[0, b], [m - b, 0]]).pvalue) == pytest.approx(p_value, rel=1e-9)


@pytest.mark.parametrize(
    ("b", "c"), [(5000, 5000), (0, 10_000), (4900, 5100), (10_000, 0), (4000, 6000)]
)
def test_ten_thousand_discordant_cases(b: int, c: int) -> None:
    """Ten thousand discordant cases give the exact rational, from 1 down to an underflow to 0."""
    tail, term = 0, 1
    for i in range(min(b, c) + 1):
        tail += term
        term = term * (b + c - i) // (i + 1)
    expected = float(min(Fraction(1), Fraction(2 * tail, 2 ** (b + c))))
    assert expected == exact_mcnemar(table(b, c)).p_value


@pytest.mark.parametrize("b", [9_800, 9_900, 10_000, 10_001, 10_100])
@pytest.mark.parametrize("test", [exact_mcnemar, midp_mcnemar])
def test_floats_take_over_from_whole_numbers_without_a_step(b: int, test: object) -> None:
    """Just above 20,000 discordant cases, where floats take over, p is still the exact one."""
    c = 20_002 - b
    fewer = min(b, c)
    at = math.comb(20_002, fewer)
    below, term = 0, at
    for i in range(fewer, 0, -1):
        term = term * i // (20_002 - i + 1)
        below += term
    if test is exact_mcnemar:
        expected = min(Fraction(1), Fraction(2 * (below + at), 2**20_002))
    elif b == c:
        expected = 1 - Fraction(at, 2**20_003)
    else:
        expected = Fraction(2 * below + at, 2**20_002)
    assert float(expected) == pytest.approx(test(table(b, c)).p_value, rel=1e-9)  # type: ignore[operator]


def test_a_million_discordant_cases() -> None:
    """Beyond whole numbers: scipy's own binomial test gives the same."""
    p_value = exact_mcnemar(table(499_000, 501_000)).p_value
    assert binomtest(499_000, 1_000_000).pvalue == pytest.approx(p_value, rel=1e-9)


def test_midp_is_the_exact_p_less_the_observed_split() -> None:
    """Fagerland et al. (2013), equations in the supplement, for every table up to 60."""
    for b, c in SMALL:
        m = b + c
        if m == 0:
            expected = 1.0
        elif b == c:
            expected = 1 - 0.5 * binom.pmf(b, m, 0.5)
        else:
            expected = 2 * binom.cdf(min(b, c), m, 0.5) - binom.pmf(b, m, 0.5)
        assert expected == pytest.approx(midp_mcnemar(table(b, c)).p_value, rel=1e-11), (b, c)


def test_midp_worked_example_of_its_source() -> None:
    """Bentur et al. in the source: 1 against 7 discordant of 21; exact 0.0703, mid-p 0.0391."""
    assert exact_mcnemar(PairedTable(1, 12, 1, 7)).p_value == 0.0703125
    assert midp_mcnemar(PairedTable(1, 12, 1, 7)).p_value == 0.0390625


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 5), st.integers(1, 5))
def test_laws(b: int, c: int, both: int, neither: int) -> None:
    """p is in 0..1, blind to which policy is first and to concordant cases; mid-p is not above."""
    for test in (exact_mcnemar, midp_mcnemar):
        p_value = test(PairedTable(both, neither, b, c)).p_value
        assert 0.0 <= p_value <= 1.0
        assert p_value == test(PairedTable(both, neither, c, b)).p_value
        assert p_value == test(PairedTable(0, 1, b, c)).p_value
    assert midp_mcnemar(table(b, c)).p_value <= exact_mcnemar(table(b, c)).p_value


@given(st.integers(1, 400), st.data())
def test_more_lopsided_is_more_significant(m: int, data: st.DataObject) -> None:
    """Of m discordant cases, a more uneven split has a smaller p."""
    fewer = data.draw(st.integers(0, (m - 1) // 2))
    for test in (exact_mcnemar, midp_mcnemar):
        uneven = test(table(fewer, m - fewer)).p_value
        assert uneven <= test(table(fewer + 1, m - fewer - 1)).p_value
