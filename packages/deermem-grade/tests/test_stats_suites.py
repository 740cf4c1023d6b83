"""The suites: official and synthetic cases meet in `overall` only, everything sorted by id."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_grade.stats import by_suite

ROWS: list[tuple[str, str, bool, bool]] = [
    ("longmemeval", "b", True, False),
    ("synthetic", "aa", False, True),
    ("longmemeval", "a", True, True),
    ("synthetic", "c", False, False),
]


def test_groups_and_sorts_by_id() -> None:
    """Each suite has its own cases, `overall` all of them, sorted by id across sources."""
    suites = by_suite(ROWS)
    assert list(suites) == ["official", "synthetic", "overall"]
    assert [suite.name for suite in suites.values()] == list(suites)
    assert suites["official"].case_ids == ("a", "b")
    assert suites["official"].pairs == ((True, True), (True, False))
    assert suites["synthetic"].case_ids == ("aa", "c")
    assert suites["synthetic"].pairs == ((False, True), (False, False))
    assert suites["overall"].case_ids == ("a", "aa", "b", "c")
    expected = ((True, True), (False, True), (True, False), (False, False))
    assert expected == suites["overall"].pairs


@given(st.permutations(ROWS))
def test_order_of_rows_does_not_matter(rows: list[tuple[str, str, bool, bool]]) -> None:
    """Rows may come in any order; the bootstrap sees the same cases in the same order."""
    assert by_suite(ROWS) == by_suite(rows)


def test_a_suite_without_cases_is_left_out() -> None:
    """One source alone gives its own suite and `overall`, not an empty one."""
    assert list(by_suite([ROWS[0]])) == ["official", "overall"]
    assert list(by_suite([ROWS[1]])) == ["synthetic", "overall"]


def test_outcomes_become_plain_booleans() -> None:
    """numpy's booleans are accepted."""
    suites = by_suite([("synthetic", "a", np.bool_(True), np.bool_(False))])  # type: ignore[list-item]
    first, second = suites["overall"].pairs[0]
    assert first is True
    assert second is False


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([], ValueError, "no rows: the input is empty"),
        (
            [("locomo", "x", True, True)],
            ValueError,
            "case x: unknown source 'locomo'; expected one of longmemeval, synthetic",
        ),
        ([ROWS[0], ROWS[0]], ValueError, r"case b comes twice \(longmemeval, longmemeval\)"),
        (
            [ROWS[0], ("synthetic", "b", True, True)],
            ValueError,
            r"case b comes twice \(longmemeval, synthetic\)",
        ),
        ([("synthetic", "a", True, None)], TypeError, r"case a, second: None \(NoneType\)"),
        ([("synthetic", "a", 1, True)], TypeError, r"case a, first: 1 \(int\)"),
    ],
)
def test_anything_else_is_refused_by_name(rows: Any, error: type[Exception], message: str) -> None:
    """A case is counted once, in a suite that is known."""
    with pytest.raises(error, match=message):
        by_suite(rows)
