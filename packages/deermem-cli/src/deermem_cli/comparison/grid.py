"""A run's rows by case, policy and capacity: one of each, or the run is not whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from deermem_data import OFFICIAL_SOURCE, SYNTHETIC_SOURCE, ArtifactError
from deermem_qa import ROWS_FILE, GradedRow

from ..policy_run import RAW_FILE
from .runs import Decided, Run

_SOURCES = (OFFICIAL_SOURCE, SYNTHETIC_SOURCE)

#: Case id, policy, capacity.
Key = tuple[str, str, int]


class CaseRow(Protocol):
    """What every row of a run says: its case, policy and capacity."""

    @property
    def case_id(self) -> str:
        """The case."""

    @property
    def source(self) -> str:
        """`longmemeval` or `synthetic`."""

    @property
    def policy(self) -> str:
        """The policy."""

    @property
    def capacity(self) -> int:
        """How many facts may stay."""


Row = TypeVar("Row", bound=CaseRow)


def answers_of(run: Run) -> dict[Key, GradedRow]:
    """Return the graded rows of a run.

    Raises:
        ArtifactError: they are not one row of each case under each policy, or one is not of the
            capacity and the grader that the run names.
    """
    assert run.files.qa is not None
    path, record = run.folder / ROWS_FILE, run.files.qa.run
    capacity, grader = record.at("qa", "capacity"), record.at("qa", "grader_version")
    for row in run.files.qa.rows:
        for key, stated in (("capacity", capacity), ("grader_version", grader)):
            if getattr(row, key) != stated.value:
                raise ArtifactError(
                    f"{path}: row {row.row_id}: {key}: expected {stated.value} as {record.name} "
                    f"says, found {getattr(row, key)}; grade the run again"
                )
    return _grid(str(path), run.files.qa.rows)


def decisions_of(run: Run) -> dict[Key, Decided]:
    """Return the decisions of a policy run.

    Raises:
        ArtifactError: they are not one row of each case under each policy at each capacity.
    """
    assert run.decided is not None
    return _grid(str(run.folder / RAW_FILE), run.decided)


def _grid(path: str, rows: Iterable[Row]) -> dict[Key, Row]:
    grid: dict[Key, Row] = {}
    for row in rows:
        key = (row.case_id, row.policy, row.capacity)
        if key in grid:
            raise ArtifactError(f"{path}: {_named(key)} stands twice; restore the file")
        if row.source not in _SOURCES:
            raise ArtifactError(
                f"{path}: {_named(key)}: source: expected {' or '.join(_SOURCES)}, found "
                f"{row.source!a}; restore the file"
            )
        grid[key] = row
    cases, policies, capacities = (sorted(set(values)) for values in zip(*grid, strict=True))
    for case_id in cases:
        for policy in policies:
            for capacity in capacities:
                key = (str(case_id), str(policy), int(capacity))
                if key not in grid:
                    raise ArtifactError(f"{path}: {_named(key)} is missing; restore the file")
    return grid


def _named(key: Key) -> str:
    case_id, policy, capacity = key
    return f"the row of case {case_id} under {policy} at capacity {capacity}"
