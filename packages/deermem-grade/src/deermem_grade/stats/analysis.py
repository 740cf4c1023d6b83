"""Everything this package can say about a list of paired outcomes, as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from deermem_grade.stats.bootstrap import paired_bootstrap_difference
from deermem_grade.stats.difference import paired_difference_interval
from deermem_grade.stats.holm import holm_adjust
from deermem_grade.stats.mcnemar import exact_mcnemar, midp_mcnemar
from deermem_grade.stats.pairs import PairedTable, read_pairs
from deermem_grade.stats.power import smallest_detectable_difference
from deermem_grade.stats.wilson import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deermem_grade.stats.pairs import Pairs


def analyse_pairs(
    pairs: Pairs, *, seed: int, iterations: int, alpha: float, power: float = 0.8
) -> dict[str, Any]:
    """Every paired statistic of `pairs`, ready for `json.dump`.

    Args:
        pairs: (first, second) booleans per case, in order: a sequence, or a boolean array of
            shape (n, 2).
        seed: seed of the bootstrap.
        iterations: resamples of the bootstrap.
        alpha: 1 minus the confidence level of every interval, and the level of the test.
        power: the probability of detection that the detectable differences are for.

    Returns:
        A dict of numbers, text and None (never NaN), with the keys `cases`; `first` and `second`
        (the accuracy of each policy, `wilson_interval`); `mcnemar` (`exact_mcnemar`);
        `midp_mcnemar`; `difference` (`paired_difference_interval`); `bootstrap`
        (`paired_bootstrap_difference`); `smallest_detectable_difference`: `one_sided`, where all
        flips favour the better policy, and `observed_losses`, where as many go against it as the
        rarer of the two flips observed; None where those are half of all cases. A `difference` in
        there is None where this many cases cannot detect any.

    Raises:
        TypeError: `pairs` is no sequence of pairs, an outcome is not a boolean, or another argument
            is not a number.
        ValueError: there are no pairs, one is not a pair, or a number is out of its range.
    """
    outcomes = read_pairs(pairs)
    table = PairedTable.from_pairs(outcomes)
    losses = min(table.only_first_correct, table.only_second_correct) / table.cases
    return {
        "cases": table.cases,
        "first": asdict(wilson_interval(table.first_correct, table.cases, alpha=alpha)),
        "second": asdict(wilson_interval(table.second_correct, table.cases, alpha=alpha)),
        "mcnemar": asdict(exact_mcnemar(table)),
        "midp_mcnemar": asdict(midp_mcnemar(table)),
        "difference": asdict(paired_difference_interval(table, alpha=alpha)),
        "bootstrap": asdict(
            paired_bootstrap_difference(outcomes, seed=seed, iterations=iterations, alpha=alpha)
        ),
        "smallest_detectable_difference": {
            "one_sided": _detectable(table.cases, 0.0, alpha, power),
            "observed_losses": _detectable(table.cases, losses, alpha, power),
        },
    }


def analyse_scenarios(
    scenarios: Mapping[str, Pairs],
    *,
    seed: int,
    iterations: int,
    alpha: float,
    power: float = 0.8,
) -> dict[str, dict[str, Any]]:
    """`analyse_pairs` of each scenario, with its exact p adjusted over all of them.

    Args:
        scenarios: the pairs of each scenario, by its name.
        seed: as for `analyse_pairs`; so are `iterations`, `alpha` and `power`.
        iterations: resamples of the bootstrap.
        alpha: 1 minus the confidence level, and the level of the test.
        power: the probability of detection.

    Returns:
        The analysis of each scenario, in the order given, with one more key: `holm_p_value`, the
        exact McNemar p after `holm_adjust` over the scenarios.

    Raises:
        TypeError, ValueError: as `analyse_pairs`; ValueError also where there is no scenario.
    """
    if not scenarios:
        raise ValueError("no scenarios: the input is empty; expected one at least")
    analyses = {
        name: analyse_pairs(pairs, seed=seed, iterations=iterations, alpha=alpha, power=power)
        for name, pairs in scenarios.items()
    }
    holm = holm_adjust(analysis["mcnemar"]["p_value"] for analysis in analyses.values())
    for analysis, adjusted in zip(analyses.values(), holm.adjusted, strict=True):
        analysis["holm_p_value"] = adjusted
    return analyses


def _detectable(cases: int, losses: float, alpha: float, power: float) -> dict[str, Any] | None:
    if losses >= 0.5:
        return None
    return asdict(smallest_detectable_difference(cases, losses=losses, alpha=alpha, power=power))
