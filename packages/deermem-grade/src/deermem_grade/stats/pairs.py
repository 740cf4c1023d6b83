"""Paired outcomes: what every paired statistic is given, read and counted in one place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from deermem_grade.stats import _checks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Pairs: TypeAlias = Sequence[tuple[bool, bool]] | npt.NDArray[np.bool_]
    Outcomes: TypeAlias = Sequence[bool] | npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PairedTable:
    """The 2x2 table of paired outcomes: how many cases each policy answered correctly.

    Every statistic that depends on the counts alone takes a `PairedTable` in the place of pairs.

    Args:
        both_correct: cases that both policies answered correctly.
        both_wrong: cases that neither did.
        only_first_correct: cases that only the first one did.
        only_second_correct: cases that only the second one did.

    Raises:
        TypeError: a count is not a whole number.
        ValueError: a count is negative, or there are no cases.
    """

    both_correct: int
    both_wrong: int
    only_first_correct: int
    only_second_correct: int

    def __post_init__(self) -> None:
        for field in fields(self):
            count = _checks.whole(field.name, getattr(self, field.name), minimum=0)
            object.__setattr__(self, field.name, count)
        if self.cases == 0:
            raise ValueError("all four counts are 0; expected one case at least")

    @classmethod
    def from_pairs(cls, pairs: Pairs | PairedTable) -> PairedTable:
        """Count `pairs`; a table is returned as it is.

        Raises:
            TypeError: `pairs` is no sequence of pairs, or an outcome is not a boolean.
            ValueError: there are no pairs, or one is not a pair.
        """
        if isinstance(pairs, PairedTable):
            return pairs
        outcomes = read_pairs(pairs)
        return cls(
            both_correct=outcomes.count((True, True)),
            both_wrong=outcomes.count((False, False)),
            only_first_correct=outcomes.count((True, False)),
            only_second_correct=outcomes.count((False, True)),
        )

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return self.both_correct + self.both_wrong + self.discordant

    @property
    def discordant(self) -> int:
        """How many cases the two policies disagree on."""
        return self.only_first_correct + self.only_second_correct

    @property
    def first_correct(self) -> int:
        """How many cases the first policy answered correctly."""
        return self.both_correct + self.only_first_correct

    @property
    def second_correct(self) -> int:
        """How many cases the second policy answered correctly."""
        return self.both_correct + self.only_second_correct

    @property
    def difference(self) -> float:
        """The second policy's accuracy minus the first's, subtracted as floats."""
        return self.second_correct / self.cases - self.first_correct / self.cases


def pair_outcomes(first: Outcomes, second: Outcomes) -> list[tuple[bool, bool]]:
    """Pair two lists of outcomes that are in the same order of cases.

    Args:
        first: the first policy's outcomes, one boolean per case: a sequence, or a numpy array of
            shape (n,).
        second: the second policy's outcomes, likewise.

    Returns:
        One (first, second) pair per case.

    Raises:
        TypeError: an argument is no sequence, or an outcome is not a boolean.
        ValueError: there are no outcomes, or the two lengths differ.
    """
    firsts = _read_outcomes("first", first)
    seconds = _read_outcomes("second", second)
    if len(firsts) != len(seconds):
        raise ValueError(
            f"unequal inputs: {len(firsts)} outcomes in first and {len(seconds)} in second;"
            " expected one of each per case"
        )
    if not firsts:
        raise ValueError("no outcomes: both inputs are empty; expected one case at least")
    return list(zip(firsts, seconds, strict=True))


def read_pairs(pairs: Pairs) -> list[tuple[bool, bool]]:
    """`pairs` as a list of tuples of Python booleans, in the order given.

    Raises:
        TypeError: `pairs` is no sequence of pairs, or an outcome is not a boolean.
        ValueError: there are no pairs, or one is not a pair.
    """
    given: Any = pairs
    if _is_array(given):
        if given.ndim != 2 or given.shape[1] != 2:
            raise ValueError(
                f"pairs is an array of shape {given.shape}; expected (n, 2), one row per case"
            )
        given = _booleans_of_array("pairs", given)
    elif isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise TypeError(
            f"pairs is of type {type(given).__name__};"
            " expected a sequence of (first, second) booleans or a boolean array of shape (n, 2)"
        )
    if len(given) == 0:
        raise ValueError("no pairs: the input is empty; expected one case at least")
    return [_read_pair(index, pair) for index, pair in enumerate(given)]


def _read_pair(index: int, pair: Any) -> tuple[bool, bool]:
    if isinstance(pair, str | bytes) or not (isinstance(pair, Sequence) or _is_array(pair)):
        raise TypeError(
            f"pair {index} is {pair!r} ({type(pair).__name__}); expected (first, second) booleans"
        )
    if len(pair) != 2:
        raise ValueError(f"pair {index} has length {len(pair)}; expected 2: (first, second)")
    first, second = pair
    return _checks.boolean(f"pair {index}, first", first), _checks.boolean(
        f"pair {index}, second", second
    )


def _read_outcomes(name: str, outcomes: Any) -> list[bool]:
    if _is_array(outcomes):
        if outcomes.ndim != 1:
            raise ValueError(f"{name} is an array of shape {outcomes.shape}; expected (n,)")
        outcomes = _booleans_of_array(name, outcomes)
    elif isinstance(outcomes, str | bytes) or not isinstance(outcomes, Sequence):
        raise TypeError(
            f"{name} is of type {type(outcomes).__name__}; expected a sequence of booleans"
        )
    return [_checks.boolean(f"{name}, case {index}", value) for index, value in enumerate(outcomes)]


def _is_array(value: object) -> bool:
    # An array can only be there if its owner has imported numpy; so this module need not.
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _booleans_of_array(name: str, array: Any) -> list[Any]:
    if array.dtype.kind != "b":
        raise TypeError(f"{name} is an array of dtype {array.dtype}; expected bool")
    values: list[Any] = array.tolist()
    return values
