"""An interval for a paired difference in accuracy that agrees with the exact McNemar test."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import optimize, special

from deermem_grade.stats import _checks
from deermem_grade.stats.mcnemar import exact_p
from deermem_grade.stats.pairs import PairedTable

if TYPE_CHECKING:
    import numpy.typing as npt

    from deermem_grade.stats.pairs import Pairs

    Floats: TypeAlias = npt.NDArray[np.float64]

METHOD = "fay-lumbard-2021"

# What is left out of the integral at either end.
_NEGLIGIBLE = 1e-20

_PRECISION = 1e-13

_NODES_PER_PANEL = 32


@dataclass(frozen=True, slots=True)
class DifferenceInterval:
    """What `paired_difference_interval` returns: the counts, the difference and its bounds.

    `difference`, `lower`, `upper` are accuracies subtracted, second minus first, from -1 to 1.
    """

    both_correct: int
    both_wrong: int
    only_first_correct: int
    only_second_correct: int
    cases: int
    alpha: float
    difference: float
    lower: float
    upper: float
    method: str = METHOD


def paired_difference_interval(
    pairs: Pairs | PairedTable, *, alpha: float = 0.05
) -> DifferenceInterval:
    """Interval for the second accuracy minus the first, compatible with `exact_mcnemar`.

    Compatible: it excludes 0 if and only if the exact two-sided p is below `alpha`. It is never a
    point: where no case is discordant, or all of them flip one way, it still has the width that so
    few cases warrant.

    With m of n cases discordant, x of them for the second policy, the difference is
    theta * (2 pi - 1), where theta is the rate of discordant cases and pi the share of them that
    favours the second policy. The two are replaced by independent confidence variables, melded:
    the lower bound is the alpha / 2 quantile of T (2 B - 1) with B ~ Beta(x, m - x + 1), and T ~
    Beta(m, n - m + 1) where the bound is above 0, Beta(m + 1, n - m) where it is below; the upper
    bound is the same with the policies exchanged. Each side errs with a probability of at most
    alpha / 2. That is the authors' conjecture, supported by their calculations and by the
    enumeration in this package's tests; it is not proved.

    Source: Fay & Lumbard, "Confidence intervals for difference in proportions for matched pairs
    compatible with exact McNemar's or sign tests", Statistics in Medicine 40 (2021), 1147-1159;
    melding: Fay, Proschan & Brittain, Biometrics 71 (2015), 146-156.

    Args:
        pairs: (first, second) booleans per case: a sequence, or a boolean array of shape (n, 2);
            or their `PairedTable`.
        alpha: 1 minus the confidence level, from 1e-12 to 0.9999.

    Returns:
        The counts, the difference and its bounds, accurate to about 1e-9.

    Raises:
        TypeError: `pairs` is no sequence of pairs, an outcome is not a boolean, or `alpha` is not a
            number.
        ValueError: there are no pairs, one is not a pair, or `alpha` is out of its range.
    """
    table = PairedTable.from_pairs(pairs)
    alpha = _checks.level(alpha)
    wins, losses, cases = table.only_second_correct, table.only_first_correct, table.cases
    return DifferenceInterval(
        both_correct=table.both_correct,
        both_wrong=table.both_wrong,
        only_first_correct=losses,
        only_second_correct=wins,
        cases=cases,
        alpha=alpha,
        difference=table.difference,
        lower=_lower(wins, losses, cases, alpha),
        upper=0.0 - _lower(losses, wins, cases, alpha),
    )


def _lower(wins: int, losses: int, cases: int, alpha: float) -> float:
    """The alpha / 2 quantile of T (2 B - 1)."""
    discordant, p_value = wins + losses, exact_p(wins, losses)
    at_zero = p_value / 2  # P(T (2 B - 1) <= 0), where there are more wins than losses
    if wins > losses and p_value == alpha:
        return 0.0
    if wins > losses and p_value < alpha:
        melded = _Melded(_Beta(discordant, cases - discordant + 1), _Beta(wins, losses + 1), cases)
        root = optimize.brentq(
            lambda d: (melded.cdf(d) if d else at_zero) - alpha / 2, 0.0, 1.0, xtol=_PRECISION
        )
        return max(float(root), sys.float_info.min)
    # Where no case is won, B is 0; where every case is discordant, T is 1.
    if wins == 0:
        if discordant == cases:
            return -1.0
        return -_Beta(discordant + 1, cases - discordant).quantile_above(alpha / 2)
    split = _Beta(wins, losses + 1)
    if discordant == cases:
        return min(0.0, 2.0 * split.quantile_below(alpha / 2) - 1.0)
    melded = _Melded(_Beta(discordant + 1, cases - discordant), split, cases)
    if melded.cdf(0.0) <= alpha / 2:  # p is alpha but for the last digits
        return 0.0
    return float(optimize.brentq(lambda d: melded.cdf(d) - alpha / 2, -1.0, 0.0, xtol=_PRECISION))


class _Beta:
    """A Beta(a, b) distribution with a, b >= 1."""

    def __init__(self, a: int, b: int) -> None:
        self._a, self._b = float(a), float(b)
        self._log_norm = float(special.betaln(self._a, self._b))

    def pdf(self, x: Floats) -> Floats:
        log_density = special.xlogy(self._a - 1.0, x) + special.xlog1py(self._b - 1.0, -x)
        density: Floats = np.exp(log_density - self._log_norm)
        return density

    def cdf(self, x: Floats) -> Floats:
        probability: Floats = special.betainc(self._a, self._b, x)
        return probability

    def below(self, x: float) -> float:
        return float(special.betainc(self._a, self._b, x))

    def quantile_below(self, probability: float) -> float:
        return float(special.betaincinv(self._a, self._b, probability))

    def quantile_above(self, probability: float) -> float:
        return float(special.betainccinv(self._a, self._b, probability))


class _Melded:
    """T (2 B - 1), for independent T ~ `rate` and B ~ `split`."""

    def __init__(self, rate: _Beta, split: _Beta, cases: int) -> None:
        self._rate, self._split = rate, split
        self._start, self._stop = (
            rate.quantile_below(_NEGLIGIBLE),
            rate.quantile_above(_NEGLIGIBLE),
        )
        # Gauss-Legendre in panels: seen over T, the split's distribution can be narrower than that
        # of T by a factor that grows with sqrt(cases).
        panels = 2 + math.isqrt(cases) // 16
        nodes, weights = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
        places = (2.0 * np.arange(panels)[:, None] + 1.0 + nodes) / (2.0 * panels)
        self._nodes, self._weights = places.ravel(), np.tile(weights, panels) / (2.0 * panels)

    def cdf(self, d: float) -> float:
        """P(T (2 B - 1) <= d): the integral over t of the density of T times P(B <= (1 + d/t)/2).

        Below t = |d| that probability is 1 or 0, as d is positive or negative.
        """
        start, stop = max(abs(d), self._start), self._stop
        certain = self._rate.below(d) if d > 0.0 else 0.0
        if start >= stop:
            return certain
        t = start + (stop - start) * self._nodes
        integrand = self._rate.pdf(t) * self._split.cdf(np.clip((1.0 + d / t) / 2.0, 0.0, 1.0))
        return certain + (stop - start) * float(np.dot(self._weights, integrand))
