"""How numbers are written: the same value gives the same text everywhere."""

from __future__ import annotations

MINUS = "\N{MINUS SIGN}"


def count_text(value: int) -> str:
    """Return a whole number, such as `12,345`."""
    return f"{value:,}"


def percent_text(share: float) -> str:
    """Return a share from 0 to 1 as per cent, such as `57.5%`."""
    return f"{100 * share:.1f}%"


def points_text(difference: float) -> str:
    """Return a difference of two shares in percentage points, signed, such as `+30.0`."""
    text = f"{100 * difference:+.1f}"
    if float(text) == 0.0:
        text = "0.0"
    return text.replace("-", MINUS)


def size_text(difference: float) -> str:
    """Return a difference of two shares in percentage points, without its sign."""
    return f"{abs(100 * difference):.1f}"


def p_text(p_value: float, alpha: float) -> str:
    """Return a p-value with three significant digits, or as many as tell it from `alpha`."""
    if p_value < 0.0001:
        return "< 0.0001"
    for digits in range(3, 18):
        text = _significant(p_value, digits)
        if (float(text) < alpha) == (p_value < alpha):
            return text
    return repr(p_value)


def level_text(alpha: float) -> str:
    """Return the confidence level of intervals of `alpha`, such as `95%`."""
    return f"{100 * (1 - alpha):.10g}%"


def alpha_text(alpha: float) -> str:
    """Return the level of a test, such as `5%`."""
    return f"{100 * alpha:.10g}%"


def _significant(value: float, digits: int) -> str:
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:.{max(0, digits - 1 - exponent)}f}"
