"""Holm's adjustment against statsmodels, and its laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from deermem_grade.stats import holm_adjust

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_worked_by_hand() -> None:
    """0.01, 0.04, 0.03, 0.005 times 3, 1, 2, 4; the 0.04 rises to the 0.06 before it."""
    result = holm_adjust([0.01, 0.04, 0.03, 0.005])
    assert result.p_values == (0.01, 0.04, 0.03, 0.005)
    assert result.adjusted == (0.03, 0.06, 0.06, 0.02)


@given(P_VALUES)
@settings(max_examples=20)  # the oracle takes its time
def test_agrees_with_statsmodels(p_values: list[float]) -> None:
    """Any family of p-values, ties included."""
    oracle = multipletests(p_values, method="holm")[1]
    assert oracle.tolist() == pytest.approx(holm_adjust(p_values).adjusted, abs=1e-15)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_laws(p_values: list[float], rng: Any) -> None:
    """Never below the p-value nor above 1, in its order, and blind to the order given."""
    result = holm_adjust(p_values)
    assert all(p <= q <= 1.0 for p, q in zip(p_values, result.adjusted, strict=True))
    by_p = [q for _, q in sorted(zip(p_values, result.adjusted, strict=True))]
    assert sorted(result.adjusted) == by_p
    order = list(range(len(p_values)))
    rng.shuffle(order)
    shuffled = holm_adjust([p_values[i] for i in order])
    assert tuple(result.adjusted[i] for i in order) == shuffled.adjusted


def test_one_p_value_stays() -> None:
    """A family of one needs no adjustment; numpy's numbers become plain ones."""
    result = holm_adjust(np.array([0.125]))
    assert (result.p_values, result.adjusted) == ((0.125,), (0.125,))
    assert float is type(result.adjusted[0])


@pytest.mark.parametrize(
    ("p_values", "error", "message"),
    [
        ([], ValueError, "no p-values: the input is empty"),
        ([0.5, 1.5], ValueError, "p-value 1 is 1.5; expected a number from 0 to 1"),
        ([math.nan], ValueError, "p-value 0 is nan"),
        (["0.5"], TypeError, r"p-value 0 is '0.5' \(str\)"),
        ([True], TypeError, r"p-value 0 is True \(bool\)"),
    ],
)
def test_impossible_p_values_are_refused(
    p_values: Any, error: type[Exception], message: str
) -> None:
    """An error says which p-value, what it is and what was expected."""
    with pytest.raises(error, match=message):
        holm_adjust(p_values)
