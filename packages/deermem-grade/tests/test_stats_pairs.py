"""Paired outcomes: what is accepted, how it is counted, and what is said of anything else."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_grade.stats import (
    PairedTable,
    exact_mcnemar,
    midp_mcnemar,
    pair_outcomes,
    paired_bootstrap_difference,
    paired_difference_interval,
)

PAIRS = [(True, True), (True, False), (False, True), (False, True), (False, False), (False, True)]
OUTCOMES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def bootstrap(pairs: Any) -> Any:
    return paired_bootstrap_difference(pairs, seed=1, iterations=20, alpha=0.1)


EVERY_STATISTIC = [exact_mcnemar, midp_mcnemar, paired_difference_interval, bootstrap]


def test_counts_each_of_the_four_outcomes() -> None:
    """One pass over the pairs gives the four cells, and what follows from them."""
    table = PairedTable.from_pairs(PAIRS)
    assert dataclasses.astuple(table) == (1, 1, 1, 3)
    assert (
        table.cases,
        table.discordant,
        table.first_correct,
        table.second_correct,
    ) == (6, 4, 2, 4)


def test_difference_is_accuracy_minus_accuracy_in_floats() -> None:
    """The published 12/40 is 0.30000000000000004: 35/40 - 23/40, not 12/40."""
    assert PairedTable(22, 4, 1, 13).difference == 0.30000000000000004


@given(OUTCOMES)
def test_every_form_of_input_gives_the_same_result(pairs: list[tuple[bool, bool]]) -> None:
    """Lists, tuples, arrays, rows of arrays and numpy's scalars mean the same."""
    forms: list[Any] = [
        tuple(pairs),
        [list(pair) for pair in pairs],
        np.array(pairs),
        list(np.array(pairs)),
        [(np.bool_(first), np.bool_(second)) for first, second in pairs],
    ]
    for statistic in (exact_mcnemar, midp_mcnemar, bootstrap):
        expected = statistic(pairs)
        assert [expected] * len(forms) == [statistic(form) for form in forms]


@given(OUTCOMES)
def test_table_stands_for_its_pairs(pairs: list[tuple[bool, bool]]) -> None:
    """A statistic of counts gives the same for pairs and for their table."""
    table = PairedTable.from_pairs(pairs)
    for statistic in (exact_mcnemar, midp_mcnemar, paired_difference_interval):
        assert statistic(pairs) == statistic(table)


@given(OUTCOMES, st.randoms(use_true_random=False))
def test_order_of_cases_does_not_matter_to_counts(pairs: list[tuple[bool, bool]], rng: Any) -> None:
    """McNemar and the interval do not see the order; the bootstrap's difference does not either."""
    shuffled = pairs.copy()
    rng.shuffle(shuffled)
    assert exact_mcnemar(pairs) == exact_mcnemar(shuffled)
    assert midp_mcnemar(pairs) == midp_mcnemar(shuffled)
    assert paired_difference_interval(pairs) == paired_difference_interval(shuffled)
    assert bootstrap(pairs).mean_difference == bootstrap(shuffled).mean_difference


@pytest.mark.parametrize("statistic", EVERY_STATISTIC)
@pytest.mark.parametrize(
    ("given_pairs", "error", "message"),
    [
        ([], ValueError, "no pairs: the input is empty; expected one case at least"),
        ((), ValueError, "no pairs: the input is empty"),
        (np.empty((0, 2), dtype=bool), ValueError, "no pairs: the input is empty"),
        ([(True, True), (True,)], ValueError, "pair 1 has length 1; expected 2"),
        ([(True, True, False)], ValueError, "pair 0 has length 3; expected 2"),
        (np.ones((3, 3), bool), ValueError, r"shape \(3, 3\); expected \(n, 2\)"),
        (np.ones((2, 5), bool), ValueError, r"shape \(2, 5\); expected \(n, 2\)"),
        (np.ones(4, bool), ValueError, r"shape \(4,\); expected \(n, 2\)"),
        (np.ones((3, 2), int), TypeError, "dtype int64; expected bool"),
        (np.ones((3, 2), float), TypeError, "dtype float64; expected bool"),
        (np.array([(True, None)], object), TypeError, "dtype object; expected bool"),
        ([(True, 1)], TypeError, r"pair 0, second: 1 \(int\); expected a boolean"),
        ([(True, True), (None, True)], TypeError, r"pair 1, first: None \(NoneType\)"),
        ([("a", "b")], TypeError, r"pair 0, first: 'a' \(str\)"),
        (["ab"], TypeError, r"pair 0 is 'ab' \(str\)"),
        ([True, False], TypeError, r"pair 0 is True \(bool\)"),
        ([{True, False}], TypeError, r"pair 0 is .* \(set\)"),
        ("ab", TypeError, "pairs is of type str"),
        ({True: False}, TypeError, "pairs is of type dict"),
        (iter([(True, True)]), TypeError, "pairs is of type list_iterator"),
        (None, TypeError, "pairs is of type NoneType"),
    ],
)
def test_anything_else_is_refused_by_name(
    statistic: Any, given_pairs: Any, error: type[Exception], message: str
) -> None:
    """An error says where, what was found, and what was expected."""
    with pytest.raises(error, match=message):
        statistic(given_pairs)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ((1, 2, -1, 0), ValueError, "only_first_correct is -1; expected 0 or more"),
        ((0, 0, 0, 0), ValueError, "all four counts are 0; expected one case at least"),
        ((1, 2.0, 3, 4), TypeError, r"both_wrong is 2.0 \(float\); expected a whole number"),
        ((True, 2, 3, 4), TypeError, r"both_correct is True \(bool\)"),
    ],
)
def test_impossible_counts_are_refused(counts: Any, error: type[Exception], message: str) -> None:
    """A table holds whole numbers of cases, one case at least."""
    with pytest.raises(error, match=message):
        PairedTable(*counts)


def test_numpy_counts_become_plain_integers() -> None:
    """What is echoed can be written as JSON."""
    table = PairedTable(*np.array([1, 2, 3, 4]))
    assert [int] * 4 == [type(count) for count in dataclasses.astuple(table)]


def test_pairs_two_lists_of_outcomes() -> None:
    """Two lists in the order of cases, or two arrays, make one list of pairs."""
    expected = [(True, False), (False, False)]
    assert expected == pair_outcomes([True, False], [False, False])
    assert expected == pair_outcomes(np.array([True, False]), np.array([False, False]))


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        ([True], [True, False], ValueError, "unequal inputs: 1 outcomes in first and 2 in second"),
        ([True], [], ValueError, "unequal inputs: 1 outcomes in first and 0 in second"),
        ([], [], ValueError, "no outcomes: both inputs are empty"),
        ([1], [True], TypeError, r"first, case 0: 1 \(int\)"),
        ([True], "x", TypeError, "second is of type str"),
        (np.ones((1, 2), bool), [True], ValueError, r"first is an array of shape \(1, 2\)"),
        (np.ones(1), [True], TypeError, "first is an array of dtype float64"),
    ],
)
def test_unequal_or_empty_outcomes_are_refused(
    first: Any, second: Any, error: type[Exception], message: str
) -> None:
    """A case without a partner is never dropped silently."""
    with pytest.raises(error, match=message):
        pair_outcomes(first, second)


def test_results_are_frozen() -> None:
    """A result cannot be changed after the fact."""
    for result in (exact_mcnemar(PAIRS), paired_difference_interval(PAIRS), bootstrap(PAIRS)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, dataclasses.fields(result)[0].name, 7)
