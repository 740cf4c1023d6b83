"""What two runs kept, side by side; a selector is deterministic, so nothing is tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import frozen

from deermem_qa import GradedRow

from ..report.pairs import SUITES, suite_of
from .grid import Key
from .runs import Decided

Keeping: TypeAlias = Decided | GradedRow


@frozen
class SuiteRetention:
    """In how many of a suite's cases the support fact was kept, under one policy and capacity.

    Attributes:
        name: `official`, `synthetic` or `overall`.
        only_first: cases in which only the first run kept it; so for `only_second`.
        other_facts: cases in which the runs kept different facts, whether or not the support fact
            is among them.
    """

    name: str
    policy: str
    capacity: int
    cases: int
    first_kept: int
    second_kept: int
    only_first: int
    only_second: int
    other_facts: int


@frozen
class RetentionFlip:
    """A case whose support fact one run kept and the other evicted."""

    case_id: str
    source: str
    scenario: str
    policy: str
    capacity: int
    kept_by_first: bool


@frozen
class RetentionComparison:
    """What two runs kept.

    Attributes:
        same_decisions: whether every decision kept the same facts, best first.
        suites: by policy, capacity and suite.
        flips: by policy, capacity and case id.
    """

    same_decisions: bool
    suites: tuple[SuiteRetention, ...]
    flips: tuple[RetentionFlip, ...]


def compare_retention(
    first: Mapping[Key, Keeping], second: Mapping[Key, Keeping], policies: Sequence[str]
) -> RetentionComparison:
    """Compare what two runs of the same cases and capacities kept under these policies."""
    keys = sorted(
        (key for key in first if key[1] in policies),
        key=lambda key: (policies.index(key[1]), key[2], key[0]),
    )
    groups: dict[tuple[str, int], list[tuple[Keeping, Keeping]]] = {}
    for key in keys:
        groups.setdefault(key[1:], []).append((first[key], second[key]))
    return RetentionComparison(
        same_decisions=all(first[key].kept_fact_ids == second[key].kept_fact_ids for key in keys),
        suites=tuple(
            _suite(name, policy, capacity, members)
            for (policy, capacity), rows in groups.items()
            for name in SUITES
            if (members := [pair for pair in rows if name in {"overall", suite_of(pair[0].source)}])
        ),
        flips=tuple(
            RetentionFlip(
                case_id=one.case_id,
                source=one.source,
                scenario=one.scenario,
                policy=one.policy,
                capacity=one.capacity,
                kept_by_first=one.support_all_retained,
            )
            for rows in groups.values()
            for one, other in rows
            if one.support_all_retained != other.support_all_retained
        ),
    )


def _suite(
    name: str, policy: str, capacity: int, pairs: Sequence[tuple[Keeping, Keeping]]
) -> SuiteRetention:
    kept = [(one.support_all_retained, other.support_all_retained) for one, other in pairs]
    return SuiteRetention(
        name=name,
        policy=policy,
        capacity=capacity,
        cases=len(kept),
        first_kept=sum(one for one, _ in kept),
        second_kept=sum(other for _, other in kept),
        only_first=kept.count((True, False)),
        only_second=kept.count((False, True)),
        other_facts=sum(set(one.kept_fact_ids) != set(other.kept_fact_ids) for one, other in pairs),
    )
