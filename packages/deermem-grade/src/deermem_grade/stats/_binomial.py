"""Binomial probabilities on arrays, in floats that neither overflow nor cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]


def pmf(k: Integers | int, n: Integers | int, p: float) -> Floats:
    """P(X = k) for X ~ Binomial(n, p), elementwise; 0 where k is not within 0..n."""
    inside = (np.asarray(k) >= 0) & (np.asarray(k) <= n)
    hits = np.where(inside, k, 0)
    log_choose = -np.log1p(n) - special.betaln(hits + 1.0, n - hits + 1.0)
    log_pmf = log_choose + special.xlogy(hits, p) + special.xlog1py(n - hits, -p)
    probabilities: Floats = np.where(inside, np.exp(log_pmf), 0.0)
    return probabilities


def cdf(k: Integers | int, n: Integers | int, p: float) -> Floats:
    """P(X <= k) for X ~ Binomial(n, p), elementwise; 0 below k = 0, 1 from k = n.

    The regularised incomplete beta function I_{1-p}(n - k, k + 1) (Abramowitz & Stegun 26.5.24).
    """
    low, high = np.asarray(k) < 0, np.asarray(k) >= n
    hits = np.where(low | high, 0, k)
    failures = np.where(low | high, 1, np.asarray(n) - hits)
    inside = special.betaincc(hits + 1.0, failures, p)
    probabilities: Floats = np.where(low, 0.0, np.where(high, 1.0, inside))
    return probabilities


def half_tail(k: int, n: int) -> tuple[float, float]:
    """P(X < k) and P(X = k) for X ~ Binomial(n, 1/2)."""
    return float(cdf(k - 1, n, 0.5)), float(pmf(k, n, 0.5))
