"""How the report writes numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_cli.report.numbers import (
    alpha_text,
    count_text,
    level_text,
    p_text,
    percent_text,
    points_text,
    size_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.30000000000000004, "+30.0"),
        (-0.1, "\N{MINUS SIGN}10.0"),
        (0.0, "0.0"),
        (-0.0, "0.0"),
        (0.0003, "0.0"),
        (-0.0003, "0.0"),
        (1.0, "+100.0"),
    ],
)
def test_a_difference_is_signed_in_points_and_zero_has_no_sign(value: float, text: str) -> None:
    """Also a value that rounds to zero is shown without a sign."""
    assert text == points_text(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0018310546875, "0.00183"),
        (0.00014495849609375, "0.000145"),
        (0.125, "0.125"),
        (1.0, "1.00"),
        (0.03125, "0.0312"),
        (0.00009, "< 0.0001"),
        (0.0, "< 0.0001"),
    ],
)
def test_p_has_three_significant_digits(value: float, text: str) -> None:
    """Below 0.0001 only that is said."""
    assert text == p_text(value, 0.05)


@pytest.mark.parametrize(("value", "text"), [(0.04999, "0.04999"), (0.0500001, "0.0500")])
def test_p_shows_on_which_side_of_the_level_it_lies(value: float, text: str) -> None:
    """Rounding never takes a p-value across the level of the test."""
    assert text == p_text(value, 0.05)


@given(st.floats(0.0001, 1.0), st.sampled_from([0.05, 0.01, 0.1]))
def test_no_p_is_rounded_across_the_level(p_value: float, alpha: float) -> None:
    """What is shown leads to the decision that the value leads to."""
    assert (p_value < alpha) == (float(p_text(p_value, alpha)) < alpha)


def test_shares_counts_and_levels() -> None:
    """The other forms."""
    assert "57.5%" == percent_text(0.575)
    assert "10.0" == size_text(-0.1)
    assert "12,345" == count_text(12345)
    assert ("95%", "5%") == (level_text(0.05), alpha_text(0.05))
