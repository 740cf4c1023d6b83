"""Whether runs can be compared: the same cases, references, grader and capacity.

A difference between runs of other cases or references is no difference between what answered them,
so nothing is compared then, and the message says what is in the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from deermem_data import DeermemError

from ..report.node import Node
from .grid import CaseRow, Key
from .runs import Run

# What makes the cases and their references: the same in every record of every run.
_REFERENCES = (
    (("protocol_id",), "protocol"),
    (("artifacts", "official_manifest_sha256"), "official manifest"),
    (("artifacts", "synthetic_manifest_sha256"), "synthetic manifest"),
    (("artifacts", "dataset_sha256"), "data set"),
)
_CASE_KEYS = ("source", "scenario", "question_type")
_NAMED_AT_MOST = 10


class NotComparableError(DeermemError):
    """Two runs that cannot be compared; the message names them and every reason."""


def require_one_protocol(runs: Sequence[Run]) -> None:
    """Check that every record of every run names the same protocol, manifests and data set.

    Raises:
        NotComparableError: one does not; each difference is named.
    """
    first = runs[0]
    expected = next(first.records)
    for run in runs:
        for record in run.records:
            reasons = [
                f"another {name}: {expected.name} of {first.label} has "
                f"{_shown(expected.at(*keys))}, {record.name} of {run.label} has "
                f"{_shown(record.at(*keys))}"
                for keys, name in _REFERENCES
                if expected.at(*keys).text() != record.at(*keys).text()
            ]
            if reasons:
                raise _refusal(first, run, reasons)


def require_one_selector(run: Run) -> None:
    """Check that a folder's policy run and QA run were decided by one selector.

    Raises:
        NotComparableError: they were not, so that it is not one run.
    """
    hashes = {
        record.name: record.at("selector", "sha256").text()
        for record in run.records
        if "selector" in record.keys()  # noqa: SIM118 - a place, not a mapping
    }
    if len(set(hashes.values())) > 1:
        raise NotComparableError(
            f"{run}: its {' and '.join(hashes)} name different selectors (selector.sha256); "
            "move one of the two runs into a folder of its own"
        )


def require_same_qa(runs: Sequence[Run]) -> None:
    """Check that answers were asked for at one capacity and graded by one grader.

    Raises:
        NotComparableError: they were not.
    """
    first, *others = runs
    for run in others:
        assert first.files.qa is not None
        assert run.files.qa is not None
        expected, found = first.files.qa.run, run.files.qa.run
        reasons = [
            f"another {name}: {first.label} has {_shown(expected.at('qa', key))}, "
            f"{run.label} has {_shown(found.at('qa', key))}"
            for key, name in (("capacity", "capacity"), ("grader_version", "grader"))
            if expected.at("qa", key).value != found.at("qa", key).value
        ]
        if reasons:
            raise _refusal(first, run, reasons)


def require_same_cases(runs: Sequence[Run], grids: Sequence[Mapping[Key, CaseRow]]) -> None:
    """Check that runs have the same cases, at the same capacities.

    Raises:
        NotComparableError: they have not; the cases or capacities are named.
    """
    first, expected = runs[0], _cases(grids[0])
    capacities = {capacity for _, _, capacity in grids[0]}
    for run, grid in zip(runs[1:], grids[1:], strict=True):
        found = _cases(grid)
        reasons = [
            *_missing(run, first, expected.keys() - found.keys()),
            *_missing(first, run, found.keys() - expected.keys()),
            *_changed(first, run, expected, found),
        ]
        others = {capacity for _, _, capacity in grid}
        if others != capacities:
            reasons.append(
                f"other capacities: {first.label} has {_listed(sorted(capacities))}, "
                f"{run.label} has {_listed(sorted(others))}"
            )
        if reasons:
            raise _refusal(first, run, reasons)


def shared_policies(
    runs: Sequence[Run], grids: Sequence[Mapping[Key, CaseRow]], order: Sequence[str]
) -> tuple[str, ...]:
    """Return the policies that every run has, in the first run's order.

    Raises:
        NotComparableError: a run has none of them.
    """
    shared = set(order)
    for run, grid in zip(runs, grids, strict=True):
        policies = {policy for _, policy, _ in grid}
        if not shared & policies:
            has = _listed(sorted(shared))
            raise _refusal(
                runs[0], run, [f"no policy in common: {has}, and {_listed(sorted(policies))}"]
            )
        shared &= policies
    return tuple(policy for policy in order if policy in shared)


def _cases(grid: Mapping[Key, CaseRow]) -> dict[str, CaseRow]:
    return {case_id: row for (case_id, _, _), row in grid.items()}


def _missing(run: Run, other: Run, cases: Iterable[str]) -> Iterator[str]:
    named = sorted(cases)
    if named:
        plural = "" if len(named) == 1 else "s"
        yield (
            f"other cases: {run.label} has no row of {len(named)} case{plural} that {other.label} "
            f"has: {_listed(named)}"
        )


def _changed(
    first: Run, second: Run, expected: Mapping[str, CaseRow], found: Mapping[str, CaseRow]
) -> Iterator[str]:
    for case_id in sorted(expected.keys() & found.keys()):
        for key in _CASE_KEYS:
            one, other = getattr(expected[case_id], key), getattr(found[case_id], key)
            if one != other:
                yield (
                    f"case {case_id} is another one: {key} is {one} in {first.label} and {other} "
                    f"in {second.label}"
                )


def _refusal(first: Run, second: Run, reasons: Sequence[str]) -> NotComparableError:
    subject = f"{first} and {second}" if first is not second else f"the two records of {first}"
    left = len(reasons) - _NAMED_AT_MOST
    lines = [*reasons[:_NAMED_AT_MOST], *([f"and {left} more reasons"] if left > 0 else [])]
    return NotComparableError(f"compare: {subject} are not comparable:\n" + "\n".join(lines))


def _shown(node: Node) -> str:
    text = str(node.value)
    return text if len(text) <= 40 else f"{text[:16]}..."


def _listed(items: Sequence[object]) -> str:
    left = len(items) - _NAMED_AT_MOST
    named = ", ".join(map(str, items[:_NAMED_AT_MOST]))
    return f"{named} and {left} more" if left > 0 else named
