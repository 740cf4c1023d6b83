"""Holm's adjustment of several p-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deermem_grade.stats import _checks

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class HolmAdjustment:
    """What `holm_adjust` returns: the p-values as given, and the adjusted ones, in that order."""

    p_values: tuple[float, ...]
    adjusted: tuple[float, ...]


def holm_adjust(p_values: Iterable[float]) -> HolmAdjustment:
    """Holm's step-down adjustment: keeps the family-wise error rate under any dependence.

    The i-th smallest of k p-values is multiplied by k - i + 1; an adjusted value is never below
    that of a smaller p-value, and at most 1.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
    of Statistics 6 (1979), 65-70.

    Args:
        p_values: the p-values of the family, each from 0 to 1, in any order.

    Returns:
        Both lists; `adjusted[i]` belongs to `p_values[i]`.

    Raises:
        TypeError: a p-value is not a number.
        ValueError: there are none, or one is not from 0 to 1.
    """
    given = tuple(
        _checks.probability(f"p-value {index}", value) for index, value in enumerate(p_values)
    )
    if not given:
        raise ValueError("no p-values: the input is empty; expected one at least")
    adjusted = [0.0] * len(given)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(given)), key=given.__getitem__)):
        highest = max(highest, min(1.0, (len(given) - rank) * given[index]))
        adjusted[index] = highest
    return HolmAdjustment(given, tuple(adjusted))
