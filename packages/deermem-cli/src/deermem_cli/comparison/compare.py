"""The comparison as a whole: which runs, what differs, and each run beside the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from deermem_qa import ROWS_FILE, GradedRow

from ..policy_run import RAW_FILE
from .answers import AnswerComparison, compare_answers
from .comparable import (
    NotComparableError,
    require_one_protocol,
    require_one_selector,
    require_same_cases,
    require_same_qa,
    shared_policies,
)
from .grid import Key, answers_of, decisions_of
from .identity import IdentityDifference, identity_differences
from .retention import Keeping, RetentionComparison, compare_retention
from .runs import Run, read_runs

# The level of the intervals where the first run does not state one (design: the protocol).
_ALPHA = 0.05


@frozen
class Pairing:
    """A run beside the first one.

    Attributes:
        answers: `None` where a run of the comparison holds no graded answers.
    """

    first: Run
    second: Run
    answers: AnswerComparison | None
    retention: RetentionComparison


@frozen
class Comparison:
    """Runs of the same cases, compared.

    Attributes:
        runs: in the order they were named.
        cases: how many cases each of them has.
        alpha: 1 minus the confidence level of the intervals, as the first run states it.
        policies: those that all runs have, in the first run's order.
        other_policies: each policy that only some runs have, and their labels.
        differences: what differs in the runs' identity.
        unrecorded: by label, what a run does not record, though another one does.
        retention_file: the file that retention was read from.
        pairings: each further run beside the first.
    """

    runs: tuple[Run, ...]
    protocol_id: str
    cases: int
    alpha: float
    policies: tuple[str, ...]
    other_policies: dict[str, tuple[str, ...]]
    differences: tuple[IdentityDifference, ...]
    unrecorded: dict[str, tuple[str, ...]]
    retention_file: str
    pairings: tuple[Pairing, ...]


def compare_runs(folders: Sequence[Path]) -> Comparison:
    """Compare the runs in these folders, each with the first.

    Answers are compared where all of them hold graded answers; retention as all policy runs state
    it, else as all graded rows do.

    Raises:
        ArtifactError: a folder's artifacts cannot be read or are malformed; the message names file,
            row and key.
        DeermemError: fewer than two folders, or too many.
        NotComparableError: two of the runs cannot be compared; the message says why.
        RunError: a `qa_run.json` is no run's identity.
    """
    runs = read_runs(folders)
    require_one_protocol(runs)
    answers, decisions = _answers(runs), _decisions(runs)
    kept: Sequence[Mapping[Key, Keeping]] | None = decisions or answers
    if kept is None:
        raise NotComparableError(
            "compare: the runs have nothing in common: "
            + ", ".join(f"{run} holds no {_absent(run)}" for run in runs if _absent(run))
        )
    grids = [grid for part in (answers, decisions) if part for grid in part]
    owners = [run for part in (answers, decisions) if part for run in runs]
    order = _order(runs[0], kept[0])
    policies = shared_policies(owners, grids, order)
    differences, unrecorded = identity_differences(runs)
    alpha = _alpha(runs)
    return Comparison(
        runs=runs,
        protocol_id=next(runs[0].records).at("protocol_id").text(),
        cases=len({case_id for case_id, _, _ in kept[0]}),
        alpha=alpha,
        policies=policies,
        other_policies=_others(owners, grids, policies),
        differences=differences,
        unrecorded=unrecorded,
        retention_file=RAW_FILE if decisions else ROWS_FILE,
        pairings=tuple(
            Pairing(
                runs[0],
                run,
                compare_answers(answers[0], answers[index], policies, alpha) if answers else None,
                compare_retention(kept[0], kept[index], policies),
            )
            for index, run in enumerate(runs[1:], 1)
        ),
    )


def _answers(runs: Sequence[Run]) -> list[dict[Key, GradedRow]] | None:
    if any(run.files.qa is None for run in runs):
        return None
    require_same_qa(runs)
    grids = [answers_of(run) for run in runs]
    require_same_cases(runs, grids)
    return grids


def _decisions(runs: Sequence[Run]) -> Sequence[Mapping[Key, Keeping]] | None:
    if any(run.decided is None for run in runs):
        return None
    for run in runs:
        require_one_selector(run)
    grids = [decisions_of(run) for run in runs]
    require_same_cases(runs, grids)
    return grids


def _absent(run: Run) -> str:
    if run.files.qa is None:
        return "graded answers"
    return "policy run" if run.decided is None else ""


def _order(first: Run, grid: Mapping[Key, Keeping]) -> list[str]:
    """The first run's policies as its record orders them; by name where it does not say."""
    stated = {
        policy: None
        for record in first.records
        if isinstance(record.value.get("policies"), list)
        for policy in record.value["policies"]
    }
    there = sorted({policy for _, policy, _ in grid})
    return [policy for policy in {**stated, **dict.fromkeys(there)} if policy in there]


def _others(
    runs: Sequence[Run], grids: Sequence[Mapping[Key, Keeping]], shared: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    others: dict[str, dict[str, None]] = {}
    for run, grid in zip(runs, grids, strict=True):
        for policy in sorted({policy for _, policy, _ in grid}):
            if policy not in shared:
                others.setdefault(policy, {})[run.label] = None
    return {policy: tuple(labels) for policy, labels in others.items()}


def _alpha(runs: Sequence[Run]) -> float:
    """What the first run states, or the first one after it that states anything."""
    for run in runs:
        qa = run.files.qa
        if qa is not None:
            stated = qa.analysis.at("settings", "alpha")
            if not 0 < stated.real() < 1:
                raise stated.fault("a number between 0 and 1")
            return stated.real()
    return _ALPHA
