"""The answers of two runs, case by case: accuracies, their difference, and each flip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from deermem_grade.stats import (
    PairedTable,
    by_suite,
    exact_mcnemar,
    holm_adjust,
    midp_mcnemar,
    paired_difference_interval,
    wilson_interval,
)
from deermem_qa import GradedRow

from .grid import Key

if TYPE_CHECKING:
    from deermem_grade.stats import DifferenceInterval, McNemarResult, WilsonInterval


@frozen
class SuiteAnswers:
    """A suite's cases under one policy; the difference is the second run minus the first.

    Attributes:
        name: `official`, `synthetic` or `overall`.
        holm_p_value: the exact p adjusted for the number of policies that are compared.
    """

    name: str
    cases: int
    first: WilsonInterval
    second: WilsonInterval
    exact: McNemarResult
    midp: McNemarResult
    interval: DifferenceInterval
    holm_p_value: float


@frozen
class AnswerFlip:
    """A case that one run answers correctly and the other does not."""

    first: GradedRow
    second: GradedRow


@frozen
class PolicyAnswers:
    """The answers of two runs under one policy.

    Attributes:
        same_predictions: in how many cases both predictions are the same text.
        suites: `official`, `synthetic`, `overall`, each where it has cases.
        flips: sorted by case id.
    """

    policy: str
    cases: int
    same_predictions: int
    suites: tuple[SuiteAnswers, ...]
    flips: tuple[AnswerFlip, ...]


@frozen
class AnswerComparison:
    """The answers of two runs.

    Attributes:
        same_rows: whether all rows of the policies that are compared are the same in both runs.
    """

    same_rows: bool
    policies: tuple[PolicyAnswers, ...]


def compare_answers(
    first: Mapping[Key, GradedRow],
    second: Mapping[Key, GradedRow],
    policies: Sequence[str],
    alpha: float,
) -> AnswerComparison:
    """Compare the graded rows of two runs of the same cases.

    Args:
        policies: those to compare; both runs have them.
        alpha: 1 minus the confidence level of the intervals.
    """
    pairs = {
        policy: [(row, second[key]) for key, row in sorted(first.items()) if key[1] == policy]
        for policy in policies
    }
    tables = {
        policy: {
            name: PairedTable.from_pairs(suite.pairs)
            for name, suite in by_suite(
                (one.source, one.case_id, one.grade_correct, other.grade_correct)
                for one, other in rows
            ).items()
        }
        for policy, rows in pairs.items()
    }
    holm = _adjusted(tables)
    return AnswerComparison(
        same_rows=all(one == other for rows in pairs.values() for one, other in rows),
        policies=tuple(
            PolicyAnswers(
                policy=policy,
                cases=len(rows),
                same_predictions=sum(one.prediction == other.prediction for one, other in rows),
                suites=tuple(
                    _suite(name, table, alpha, holm[policy, name])
                    for name, table in tables[policy].items()
                ),
                flips=tuple(
                    AnswerFlip(one, other)
                    for one, other in rows
                    if one.grade_correct != other.grade_correct
                ),
            )
            for policy, rows in pairs.items()
        ),
    )


def _adjusted(tables: Mapping[str, Mapping[str, PairedTable]]) -> dict[tuple[str, str], float]:
    """Holm's adjustment over the policies, for each suite by itself."""
    adjusted: dict[tuple[str, str], float] = {}
    policies = list(tables)
    for suite in tables[policies[0]]:
        holm = holm_adjust(exact_mcnemar(tables[policy][suite]).p_value for policy in policies)
        adjusted |= {(policy, suite): p for policy, p in zip(policies, holm.adjusted, strict=True)}
    return adjusted


def _suite(name: str, table: PairedTable, alpha: float, holm_p_value: float) -> SuiteAnswers:
    return SuiteAnswers(
        name=name,
        cases=table.cases,
        first=wilson_interval(table.first_correct, table.cases, alpha=alpha),
        second=wilson_interval(table.second_correct, table.cases, alpha=alpha),
        exact=exact_mcnemar(table),
        midp=midp_mcnemar(table),
        interval=paired_difference_interval(table, alpha=alpha),
        holm_p_value=holm_p_value,
    )
