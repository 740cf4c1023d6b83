"""An interval for a paired difference in accuracy that agrees with the exact McNemar test."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import optimize, special

from . import _checks
from .mcnemar import exact_p
from .pairs import PairedTable

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .pairs import Pairs

    Floats: TypeAlias = npt.NDArray[np.float64]
    Function: TypeAlias = Callable[[Floats], Floats]

METHOD = "fay-lumbard-2021"

# Outside these quantiles of the split's distribution less than 1e-15 of the integral is left.
_NEGLIGIBLE = 1e-16

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
        alpha: 1 minus the confidence level.

    Returns:
        The counts, the difference and its bounds, accurate to about 1e-9.

    Raises:
        TypeError: `pairs` is no sequence of pairs, an outcome is not a boolean, or `alpha` is not a
            number.
        ValueError: there are no pairs, one is not a pair, or `alpha` is not between 0 and 1.
    """
    table = PairedTable.from_pairs(pairs)
    alpha = _checks.proportion("alpha", alpha)
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
    p_value = exact_p(wins, losses)
    if wins > losses and p_value < alpha:
        return _lower_above_zero(wins, losses, cases, alpha, p_value / 2)
    if wins > losses and p_value == alpha:
        return 0.0
    return _lower_below_zero(wins, losses, cases, alpha)


def _lower_above_zero(
    wins: int, losses: int, cases: int, alpha: float, p_one_sided: float
) -> float:
    """The d in (0, 1) with P(T (2 B - 1) <= d) = alpha / 2; at 0 that is `p_one_sided`."""
    split = _Beta(wins, losses + 1)
    rate = _Beta(wins + losses, cases - wins - losses + 1)
    nodes = _nodes(cases)

    def excess(d: float) -> float:
        if d == 0.0:
            return p_one_sided - alpha / 2
        edge = (1.0 + d) / 2
        # Below the edge T (2 B - 1) <= d whatever T is.
        return (
            split.below(edge)
            + _expect(split, edge, 1.0, nodes, lambda b: rate.cdf(d / (2.0 * b - 1.0)))
            - alpha / 2
        )

    root = float(optimize.brentq(excess, 0.0, 1.0, xtol=1e-13))
    return max(root, sys.float_info.min)


def _lower_below_zero(wins: int, losses: int, cases: int, alpha: float) -> float:
    """The d in [-1, 0] with P(T (2 B - 1) <= d) = alpha / 2."""
    discordant = wins + losses
    # Where every case is discordant, T is 1.
    rate = None if discordant == cases else _Beta(discordant + 1, cases - discordant)
    if wins == 0:  # B is 0
        return -1.0 if rate is None else -rate.quantile_above(alpha / 2)
    split = _Beta(wins, losses + 1)
    if rate is None:
        return min(0.0, 2.0 * split.quantile_below(alpha / 2) - 1.0)
    rate_above = rate.sf
    nodes = _nodes(cases)

    def excess(e: float) -> float:
        return (
            _expect(split, 0.0, (1.0 - e) / 2, nodes, lambda b: rate_above(e / (1.0 - 2.0 * b)))
            - alpha / 2
        )

    if excess(0.0) <= 0.0:  # p is alpha but for the last digits
        return 0.0
    return -float(optimize.brentq(excess, 0.0, 1.0, xtol=1e-13))


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
        probability: Floats = special.betainc(self._a, self._b, np.clip(x, 0.0, 1.0))
        return probability

    def sf(self, x: Floats) -> Floats:
        probability: Floats = special.betaincc(self._a, self._b, np.clip(x, 0.0, 1.0))
        return probability

    def below(self, x: float) -> float:
        return float(special.betainc(self._a, self._b, x))

    def quantile_below(self, probability: float) -> float:
        return float(special.betaincinv(self._a, self._b, probability))

    def quantile_above(self, probability: float) -> float:
        return float(special.betainccinv(self._a, self._b, probability))


def _nodes(cases: int) -> tuple[Floats, Floats]:
    """Nodes and weights on -1 to 1: Gauss-Legendre in panels of equal width."""
    # The rate's distribution can be narrower than the split's by a factor of sqrt(cases).
    panels = 2 + math.isqrt(cases) // 4
    nodes, weights = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
    centres = (2.0 * np.arange(panels) + 1.0) / panels - 1.0
    return (centres[:, None] + nodes / panels).ravel(), np.tile(weights / panels, panels)


def _expect(
    split: _Beta, start: float, stop: float, rule: tuple[Floats, Floats], function: Function
) -> float:
    """The integral of density times `function` from `start` to `stop`, by quadrature."""
    start = max(start, split.quantile_below(_NEGLIGIBLE))
    stop = min(stop, split.quantile_above(_NEGLIGIBLE))
    if start >= stop:
        return 0.0
    nodes, weights = rule
    half = (stop - start) / 2
    points = start + half * (nodes + 1.0)
    return half * float(np.dot(weights, split.pdf(points) * function(points)))
