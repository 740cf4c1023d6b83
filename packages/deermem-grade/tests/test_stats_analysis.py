"""The whole analysis as plain data: complete, consistent with its parts, writable as JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deermem_grade.stats import (
    analyse_pairs,
    analyse_scenarios,
    exact_mcnemar,
    holm_adjust,
    midp_mcnemar,
    paired_bootstrap_difference,
    paired_difference_interval,
    smallest_detectable_difference,
    wilson_interval,
)

PAIRS = [(True, True)] * 9 + [(False, True)] * 8 + [(True, False)] + [(False, False)] * 2


def analyse(pairs: Any) -> dict[str, Any]:
    return analyse_pairs(pairs, seed=4789, iterations=200, alpha=0.1, power=0.7)


def test_holds_every_statistic_with_the_arguments_given() -> None:
    """Each part is the public function's result for the same pairs and arguments."""
    expected = {
        "cases": 20,
        "first": dataclasses.asdict(wilson_interval(10, 20, alpha=0.1)),
        "second": dataclasses.asdict(wilson_interval(17, 20, alpha=0.1)),
        "mcnemar": dataclasses.asdict(exact_mcnemar(PAIRS)),
        "midp_mcnemar": dataclasses.asdict(midp_mcnemar(PAIRS)),
        "difference": dataclasses.asdict(paired_difference_interval(PAIRS, alpha=0.1)),
        "bootstrap": dataclasses.asdict(
            paired_bootstrap_difference(PAIRS, seed=4789, iterations=200, alpha=0.1)
        ),
        "smallest_detectable_difference": {
            "one_sided": dataclasses.asdict(
                smallest_detectable_difference(20, alpha=0.1, power=0.7)
            ),
            "observed_losses": dataclasses.asdict(
                smallest_detectable_difference(20, losses=0.05, alpha=0.1, power=0.7)
            ),
        },
    }
    assert expected == analyse(PAIRS)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return [value]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=70))
@settings(max_examples=30)
def test_is_plain_json_without_nan(pairs: list[tuple[bool, bool]]) -> None:
    """Any pairs, also all alike: numbers, text and null, never NaN, and no interval is a point."""
    analysis = analyse(pairs)
    assert analysis == json.loads(json.dumps(analysis, allow_nan=False))
    assert {type(leaf) for leaf in leaves(analysis)} <= {int, float, str, type(None)}
    for part in ("first", "second", "difference"):
        assert analysis[part]["lower"] < analysis[part]["upper"]


def test_no_case_at_all_flips() -> None:
    """Equal outcomes: p is 1 both ways, the difference 0 within an interval that has a width."""
    analysis = analyse([(True, True)] * 12 + [(False, False)] * 8)
    assert (analysis["mcnemar"]["p_value"], analysis["midp_mcnemar"]["p_value"]) == (1.0, 1.0)
    difference = analysis["difference"]
    assert difference["lower"] < 0.0 == difference["difference"] < difference["upper"]


def test_half_of_the_cases_lost_leaves_nothing_to_detect() -> None:
    """One win and one loss in two cases: no wins rate exceeds the losses, so there is no answer."""
    detectable = analyse([(True, False), (False, True)])["smallest_detectable_difference"]
    assert None is detectable["observed_losses"]
    assert None is detectable["one_sided"]["difference"]


def test_scenarios_are_adjusted_together() -> None:
    """Each scenario's own analysis, in the order given, and Holm's p over all of them."""
    scenarios = {
        "loses_a_case": [(False, True)] * 6 + [(True, False)],
        "all_gain": [(False, True)] * 9,
        "all_alike": [(True, True)] * 5,
    }
    analyses = analyse_scenarios(scenarios, seed=1, iterations=50, alpha=0.05)
    assert list(scenarios) == list(analyses)
    p_values = [exact_mcnemar(pairs).p_value for pairs in scenarios.values()]
    expected = list(holm_adjust(p_values).adjusted)
    assert expected == [analyses[name].pop("holm_p_value") for name in scenarios]
    assert expected == [0.25, 3 / 256, 1.0]
    for name, pairs in scenarios.items():
        assert analyse_pairs(pairs, seed=1, iterations=50, alpha=0.05) == analyses[name]


def test_no_scenarios_is_an_error() -> None:
    """An empty family is named, not returned empty."""
    with pytest.raises(ValueError, match="no scenarios: the input is empty"):
        analyse_scenarios({}, seed=1, iterations=50, alpha=0.05)


def test_empty_scenario_is_an_error() -> None:
    """A scenario without pairs is refused as pairs are."""
    with pytest.raises(ValueError, match="no pairs: the input is empty"):
        analyse_scenarios({"empty": []}, seed=1, iterations=50, alpha=0.05)
