"""Paired statistics: is the second policy better than the first, by how much, how surely.

Needs numpy and scipy (`pip install 'deermem-grade[stats]'`), which are imported when a statistic
that needs them is first taken from here: exact and mid-p McNemar, Wilson intervals, Holm's
adjustment and the suites work without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deermem_grade.stats._lazy import numeric_module
from deermem_grade.stats.holm import HolmAdjustment, holm_adjust
from deermem_grade.stats.mcnemar import McNemarResult, exact_mcnemar, midp_mcnemar
from deermem_grade.stats.pairs import PairedTable, pair_outcomes
from deermem_grade.stats.suites import Suite, by_suite
from deermem_grade.stats.wilson import WilsonInterval, wilson_interval

if TYPE_CHECKING:
    from deermem_grade.stats.analysis import analyse_pairs, analyse_scenarios
    from deermem_grade.stats.bootstrap import BootstrapResult, paired_bootstrap_difference
    from deermem_grade.stats.difference import DifferenceInterval, paired_difference_interval
    from deermem_grade.stats.power import (
        DetectableDifference,
        McNemarPower,
        mcnemar_power,
        smallest_detectable_difference,
    )

__all__ = [
    "BootstrapResult",
    "DetectableDifference",
    "DifferenceInterval",
    "HolmAdjustment",
    "McNemarPower",
    "McNemarResult",
    "PairedTable",
    "Suite",
    "WilsonInterval",
    "analyse_pairs",
    "analyse_scenarios",
    "by_suite",
    "exact_mcnemar",
    "holm_adjust",
    "mcnemar_power",
    "midp_mcnemar",
    "pair_outcomes",
    "paired_bootstrap_difference",
    "paired_difference_interval",
    "smallest_detectable_difference",
    "wilson_interval",
]


def __getattr__(name: str) -> object:
    """Import the module of a statistic that needs numpy or scipy."""
    match name:
        case "analyse_pairs" | "analyse_scenarios":
            module = "analysis"
        case "BootstrapResult" | "paired_bootstrap_difference":
            module = "bootstrap"
        case "DifferenceInterval" | "paired_difference_interval":
            module = "difference"
        case (
            "DetectableDifference"
            | "McNemarPower"
            | "mcnemar_power"
            | "smallest_detectable_difference"
        ):
            module = "power"
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(numeric_module(module), name)


def __dir__() -> list[str]:
    return __all__
