"""Checks of the plain numbers that every statistic takes."""

from __future__ import annotations

import operator
import sys
from numbers import Real

_LOWEST_LEVEL, _HIGHEST_LEVEL = 1e-12, 0.9999


def proportion(name: str, value: object) -> float:
    """`value` as a float strictly between 0 and 1.

    Raises:
        TypeError: it is not a real number.
        ValueError: it is not between 0 and 1, or not a number at all (NaN).
    """
    number = _real(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} is {number!r}; expected a number between 0 and 1, both excluded")
    return number


def level(value: object) -> float:
    """`value`, the alpha of an interval, as a float from 1e-12 to 0.9999.

    Beyond that the quantiles an interval is made of are lost in rounding.

    Raises:
        TypeError: it is not a real number.
        ValueError: it is outside that range, or not a number at all (NaN).
    """
    number = _real("alpha", value)
    if not _LOWEST_LEVEL <= number <= _HIGHEST_LEVEL:
        expected = f"a number from {_LOWEST_LEVEL} to {_HIGHEST_LEVEL}"
        raise ValueError(f"alpha is {number!r}; expected {expected}")
    return number


def probability(name: str, value: object) -> float:
    """`value` as a float from 0 to 1, both included.

    Raises:
        TypeError: it is not a real number.
        ValueError: it is outside 0 to 1, or not a number at all (NaN).
    """
    number = _real(name, value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} is {number!r}; expected a number from 0 to 1")
    return number


def whole(name: str, value: object, minimum: int | None = None) -> int:
    """`value` as an int (numpy integers are converted, booleans are refused).

    Raises:
        TypeError: it is not a whole number.
        ValueError: it is below `minimum`.
    """
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value!r} (bool); expected a whole number")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        found = f"{value!r} ({type(value).__name__})"
        raise TypeError(f"{name} is {found}; expected a whole number") from None
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} is {number}; expected {minimum} or more")
    return number


def boolean(where: str, value: object) -> bool:
    """`value` as a Python boolean; numpy's are converted, numbers are refused.

    Raises:
        TypeError: it is not a boolean; the message begins with `where`.
    """
    if value is True or value is False:
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.bool_):
        return bool(value)
    raise TypeError(f"{where}: {value!r} ({type(value).__name__}); expected a boolean")


def _real(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r} ({type(value).__name__}); expected a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large; expected a number from 0 to 1") from None
