"""What the exact McNemar test can detect: its power, and the smallest detectable difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deermem_grade.stats import _binomial, _checks

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_PRECISION = 1e-9


@dataclass(frozen=True, slots=True)
class McNemarPower:
    """What `mcnemar_power` returns: the power (0 to 1) and what it was computed for."""

    cases: int
    wins: float
    losses: float
    alpha: float
    power: float

    @property
    def difference(self) -> float:
        """The true difference in accuracy: `wins` minus `losses`."""
        return self.wins - self.losses


@dataclass(frozen=True, slots=True)
class DetectableDifference:
    """What `smallest_detectable_difference` returns.

    `difference` is None where this many cases reach the power with no difference at all; `reached`
    is the power at `difference`, or else at the largest possible one.
    """

    cases: int
    losses: float
    alpha: float
    power: float
    difference: float | None
    reached: float


def mcnemar_power(
    cases: int, *, wins: float, losses: float = 0.0, alpha: float = 0.05
) -> McNemarPower:
    """Power of `exact_mcnemar`: the probability that p comes out below `alpha`.

    The cases are taken to be independent, each with the same probabilities: `wins` that only the
    second policy is correct, `losses` that only the first one is. The number of discordant cases m
    is then Binomial(cases, wins + losses), and given m the number of wins Binomial(m, wins /
    (wins + losses)); the power is summed over all tables. A rejection in either direction counts.

    Source: the unconditional power of Duffy, "Asymptotic and exact power for the McNemar test and
    its analogue with R controls per case", Biometrics 40 (1984), 1005-1015.

    Args:
        cases: how many cases.
        wins: probability that only the second policy answers a case correctly.
        losses: probability that only the first one does.
        alpha: the level of the test; it rejects where p < alpha.

    Returns:
        The power and the arguments.

    Raises:
        TypeError: an argument is not a number.
        ValueError: there are no cases, a probability is not from 0 to 1 or both together exceed 1,
            or `alpha` is not between 0 and 1.
    """
    cases = _checks.whole("cases", cases, minimum=1)
    wins = _checks.probability("wins", wins)
    losses = _checks.probability("losses", losses)
    alpha = _checks.proportion("alpha", alpha)
    if wins + losses > 1.0:
        raise ValueError(f"wins + losses is {wins + losses!r}; expected at most 1")
    return McNemarPower(cases, wins, losses, alpha, _power(_critical(cases, alpha), wins, losses))


def smallest_detectable_difference(
    cases: int, *, losses: float = 0.0, alpha: float = 0.05, power: float = 0.8
) -> DetectableDifference:
    """The smallest true difference that `exact_mcnemar` detects with probability `power`.

    The assumptions are those of `mcnemar_power`, with `losses`, the rate of flips against the
    better policy, held fixed: the answer is the least d such that wins = losses + d reaches the
    power. With `losses` 0, the default, every flip is in favour of the better policy, which is the
    easiest case: no smaller difference can be detected with more losses.

    Source: as `mcnemar_power`, solved for the difference by bisection.

    Args:
        cases: how many cases.
        losses: probability that only the worse policy answers a case correctly, below 1/2.
        alpha: the level of the test; it rejects where p < alpha.
        power: the probability wanted.

    Returns:
        The difference, from 0 to 1 and accurate to 1e-9, or None where even the largest one
        possible, 1 - 2 `losses`, is detected less often; and the arguments.

    Raises:
        TypeError: an argument is not a number.
        ValueError: there are no cases, `losses` is not from 0 to below 1/2, or `alpha` or `power`
            is not between 0 and 1.
    """
    cases = _checks.whole("cases", cases, minimum=1)
    losses = _checks.probability("losses", losses)
    alpha = _checks.proportion("alpha", alpha)
    power = _checks.proportion("power", power)
    if losses >= 0.5:
        raise ValueError(f"losses is {losses!r}; expected less than 0.5, or wins cannot exceed it")
    critical = _critical(cases, alpha)
    lowest, highest = 0.0, 1.0 - 2.0 * losses
    reached = _power(critical, 1.0 - losses, losses)
    if reached < power:
        return DetectableDifference(cases, losses, alpha, power, None, reached)
    while highest - lowest > _PRECISION:
        middle = (lowest + highest) / 2
        at_middle = _power(critical, losses + middle, losses)
        if at_middle >= power:
            highest, reached = middle, at_middle
        else:
            lowest = middle
    return DetectableDifference(cases, losses, alpha, power, highest, reached)


def _critical(cases: int, alpha: float) -> Integers:
    """Per number of discordant cases, 0 to `cases`, the largest smaller count with p < alpha.

    -1 where no table of that many discordant cases is rejected. In whole numbers, so that it
    agrees with `exact_mcnemar` in every table.
    """
    critical = [-1]
    tail, at, count = 0, 0, -1  # subsets of m things with at most, and with exactly, `count`
    for m in range(1, cases + 1):
        # Pascal's rule, summed: each subset of m - 1 things with or without the m-th.
        tail = 2 * tail - at
        at = at * m // (m - count) if count >= 0 else 0
        following = at * (m - count) // (count + 1) if count >= 0 else 1
        if 2 * (count + 1) < m and (2 * (tail + following)) / (1 << m) < alpha:
            count += 1
            tail, at = tail + following, following
        critical.append(count)
    return np.array(critical, dtype=np.int64)


def _power(critical: Integers, wins: float, losses: float) -> float:
    discordant = min(1.0, wins + losses)
    if discordant == 0.0:
        return 0.0
    cases = len(critical) - 1
    # By Bernstein's inequality less than 1e-20 lies further from the mean than this.
    reach = 10.0 * math.sqrt(cases * discordant * (1.0 - discordant)) + 40.0
    first = max(0, math.floor(cases * discordant - reach))
    last = min(cases, math.ceil(cases * discordant + reach))
    m = np.arange(first, last + 1)
    share = min(1.0, wins / (wins + losses))
    fewer = critical[first : last + 1]
    rejected = _binomial.cdf(fewer, m, 1.0 - share) + _binomial.cdf(fewer, m, share)
    weights = _binomial.pmf(m, cases, discordant)
    return min(1.0, math.fsum((weights * rejected)[fewer >= 0].tolist()))
