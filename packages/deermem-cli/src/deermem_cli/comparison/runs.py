"""The runs of a comparison: each folder's artifacts, and its decisions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from attrs import frozen

from deermem_data import ArtifactError, DeermemError, read_bytes

from ..policy_run import RAW_FILE
from ..report import RunFiles, read_run
from ..report.node import Node

#: Runs are called A, B, C and so on.
MAX_RUNS = len(ascii_uppercase)


@frozen
class Decided:
    """What is compared of a row of `policy.raw.jsonl`; `kept_fact_ids` are best first."""

    case_id: str
    source: str
    scenario: str
    question_type: str
    policy: str
    capacity: int
    kept_fact_ids: tuple[str, ...]
    support_all_retained: bool


@frozen
class Run:
    """A run to compare.

    Attributes:
        label: what it is called beside the others: A for the first one, B, C and so on.
        decided: the rows of its policy run; `None` where the folder has none.
    """

    label: str
    files: RunFiles
    decided: tuple[Decided, ...] | None

    @property
    def folder(self) -> Path:
        """Its folder, as it was named."""
        return self.files.folder

    @property
    def records(self) -> Iterator[Node]:
        """What it says of itself: `qa_run.json`, then `run.json`, each where it is."""
        if self.files.qa is not None:
            yield self.files.qa.run
        if self.files.policy is not None:
            yield self.files.policy.run

    def __str__(self) -> str:
        return f"{self.label} ({self.folder})"


def read_runs(folders: Sequence[Path]) -> tuple[Run, ...]:
    """Read the runs in these folders; one folder may be named more than once.

    Raises:
        ArtifactError: a folder holds no run, or a file of it is missing, torn or not what its name
            says; the message names file, row and key.
        DeermemError: there are fewer than two folders, or more than there are names for.
        RunError: a `qa_run.json` is no run's identity.
    """
    if not 2 <= len(folders) <= MAX_RUNS:
        raise DeermemError(f"compare: expected 2 to {MAX_RUNS} runs, found {len(folders)}")
    return tuple(_read(*named) for named in zip(ascii_uppercase, folders, strict=False))


def _read(label: str, folder: Path) -> Run:
    files = read_run(folder)
    decided = None if files.policy is None else tuple(_decided(folder / RAW_FILE))
    return Run(label, files, decided)


def _decided(path: Path) -> Iterator[Decided]:
    lines = read_bytes(path, ArtifactError).splitlines()
    if not lines:
        raise ArtifactError(f"{path}: holds no row; make the file again")
    for number, line in enumerate(lines, 1):
        row = Node(path, path.name, _parse(path, number, line), f"line {number}")
        yield Decided(
            case_id=row.at("case_id").text(),
            source=row.at("source").text(),
            scenario=row.at("scenario").text(),
            question_type=row.at("question_type").text(),
            policy=row.at("policy").text(),
            capacity=row.at("capacity").whole(),
            kept_fact_ids=tuple(item.text() for item in row.at("kept_fact_ids").items()),
            support_all_retained=row.at("support_all_retained").boolean(),
        )


def _parse(path: Path, number: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except (RecursionError, ValueError) as exc:
        raise ArtifactError(f"{path}: line {number}: not JSON: {exc}; make the file again") from exc
