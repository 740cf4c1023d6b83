"""McNemar's test on paired outcomes: exact and mid-p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from deermem_grade.stats._lazy import numeric_module
from deermem_grade.stats.pairs import PairedTable

if TYPE_CHECKING:
    from deermem_grade.stats.pairs import Pairs

# Up to here the tail is summed in whole numbers, so that the float is the correctly rounded one;
# beyond it that would take seconds.
_WHOLE_NUMBERS_UP_TO = 20_000


@dataclass(frozen=True, slots=True)
class McNemarResult:
    """What `exact_mcnemar` and `midp_mcnemar` return: the counts they were given, and p.

    `p_value` is two-sided. `method` is `exact` or `mid-p`.
    """

    both_correct: int
    both_wrong: int
    only_first_correct: int
    only_second_correct: int
    p_value: float
    method: Literal["exact", "mid-p"]

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return self.both_correct + self.both_wrong + self.discordant

    @property
    def discordant(self) -> int:
        """How many cases the two policies disagree on."""
        return self.only_first_correct + self.only_second_correct


def exact_mcnemar(pairs: Pairs | PairedTable) -> McNemarResult:
    """McNemar's exact conditional test, two-sided.

    Given the m discordant cases, the number that only one policy answered correctly is
    Binomial(m, 1/2) where both are equally accurate; p is twice the probability of a count as
    small as the smaller one, at most 1. With no discordant case, p is 1.0.

    Source: McNemar, "Note on the sampling error of the difference between correlated proportions
    or percentages", Psychometrika 12 (1947), 153-157; in the exact form of Mosteller, "Some
    statistical problems in measuring the subjective response to drugs", Biometrics 8 (1952),
    220-226.

    Args:
        pairs: (first, second) booleans per case: a sequence, or a boolean array of shape (n, 2);
            or their `PairedTable`.

    Returns:
        The four counts and p. Up to 20,000 discordant cases p is the exact rational number,
        rounded once; nothing overflows.

    Raises:
        TypeError: `pairs` is no sequence of pairs, or an outcome is not a boolean.
        ValueError: there are no pairs, or one is not a pair.
    """
    table = PairedTable.from_pairs(pairs)
    return _result(table, exact_p(table.only_first_correct, table.only_second_correct), "exact")


def midp_mcnemar(pairs: Pairs | PairedTable) -> McNemarResult:
    """McNemar's mid-p test, two-sided: less conservative than the exact one.

    The exact p less the probability of the observed split of the m discordant cases; where the
    split is even, 1 less half that probability. With no discordant case, p is 1.0. Unlike the
    exact test it does not guarantee its level, though it seldom exceeds it.

    Source: Fagerland, Lydersen & Laake, "The McNemar test for binary matched-pairs data: mid-p and
    asymptotic are better than exact conditional", BMC Medical Research Methodology 13 (2013), 91.

    Args:
        pairs: (first, second) booleans per case: a sequence, or a boolean array of shape (n, 2);
            or their `PairedTable`.

    Returns:
        The four counts and p.

    Raises:
        TypeError: `pairs` is no sequence of pairs, or an outcome is not a boolean.
        ValueError: there are no pairs, or one is not a pair.
    """
    table = PairedTable.from_pairs(pairs)
    return _result(table, _midp(table.only_first_correct, table.only_second_correct), "mid-p")


def exact_p(only_first: int, only_second: int) -> float:
    """The two-sided exact p of a split of the discordant cases."""
    fewer, discordant = min(only_first, only_second), only_first + only_second
    if only_first == only_second:
        return 1.0
    if discordant > _WHOLE_NUMBERS_UP_TO:
        below, at = numeric_module("_binomial").half_tail(fewer, discordant)
        return min(1.0, 2.0 * float(below + at))
    below_whole, at_whole = _tail(fewer, discordant)
    return min(1.0, (2 * (below_whole + at_whole)) / (1 << discordant))


def _midp(only_first: int, only_second: int) -> float:
    fewer, discordant = min(only_first, only_second), only_first + only_second
    if discordant == 0:
        return 1.0
    if discordant > _WHOLE_NUMBERS_UP_TO:
        below, at = numeric_module("_binomial").half_tail(fewer, discordant)
        if only_first == only_second:
            return 1.0 - 0.5 * float(at)
        return min(1.0, float(2.0 * below + at))
    below_whole, at_whole = _tail(fewer, discordant)
    whole = 1 << discordant
    if only_first == only_second:
        return (2 * whole - at_whole) / (2 * whole)
    return (2 * below_whole + at_whole) / whole


def _tail(fewer: int, discordant: int) -> tuple[int, int]:
    """The subsets of `discordant` things with less than, and with exactly, `fewer` of them."""
    below, at = 0, 1
    for size in range(1, fewer + 1):
        below += at
        at = at * (discordant - size + 1) // size
    return below, at


def _result(table: PairedTable, p_value: float, method: Literal["exact", "mid-p"]) -> McNemarResult:
    return McNemarResult(
        both_correct=table.both_correct,
        both_wrong=table.both_wrong,
        only_first_correct=table.only_first_correct,
        only_second_correct=table.only_second_correct,
        p_value=p_value,
        method=method,
    )
