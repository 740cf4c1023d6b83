"""The artifacts of a folder, read strictly: a policy run, a graded QA run, or both."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from attrs import field, frozen

from deermem_data import ArtifactError, read_bytes
from deermem_qa import RESPONSES, ROWS_FILE, RUN_FILE, GradedRow, RunIdentity, read_identity

from ..grading import MANIFEST_FILE
from ..policy_run import RAW_FILE, SUMMARY_FILE
from ..policy_run import RUN_FILE as POLICY_RUN_FILE
from ..qa_documents import (
    ANALYSIS_FILE,
    STATS_FILE,
    QASettings,
    analysis_document,
)
from ..qa_documents import SUMMARY_FILE as QA_SUMMARY_FILE
from .node import Node

_POLICY_FILES = (POLICY_RUN_FILE, SUMMARY_FILE, RAW_FILE)
_QA_FILES = (RUN_FILE, ROWS_FILE, QA_SUMMARY_FILE, STATS_FILE, ANALYSIS_FILE)


@frozen
class PolicyFiles:
    """What a policy run left: its record, and its retention counts."""

    run: Node
    summary: Node


@frozen
class QAFiles:
    """What a graded QA run left.

    Attributes:
        run: `qa_run.json`, of schema 3 or 2.
        rows: `qa.rows.jsonl`.
        analysis: `qa.analysis.json`; made from the rows where the run was published without one.
        analysis_is_computed: whether it was.
        stats: `qa.stats.json`, where there is one.
    """

    identity: RunIdentity
    run: Node
    rows: tuple[GradedRow, ...]
    analysis: Node
    analysis_is_computed: bool
    stats: Node | None

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, in the protocol's order."""
        return tuple(item.text() for item in self.analysis.at("policies").items())

    def row(self, case_id: str, policy: str) -> GradedRow:
        """Return the row of a case under a policy.

        Raises:
            ArtifactError: there is none.
        """
        try:
            return self._index[case_id, policy]
        except KeyError:
            path = self.run.path.with_name(ROWS_FILE)
            raise ArtifactError(
                f"{path}: no row of case {case_id} under {policy}, which {self.analysis.name} "
                "names; grade the run again"
            ) from None

    _index: dict[tuple[str, str], GradedRow] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        index = {(row.case_id, row.policy): row for row in self.rows}
        object.__setattr__(self, "_index", index)


@frozen
class RunFiles:
    """A folder's artifacts.

    Attributes:
        hashes: name -> SHA-256 of each file that is there, in a fixed order.
        manifest: name -> SHA-256 that `MANIFEST.sha256` states; None where there is no manifest.
        ungraded: whether it holds a QA run whose answers are not graded.
    """

    folder: Path
    policy: PolicyFiles | None
    qa: QAFiles | None
    hashes: dict[str, str]
    manifest: dict[str, str] | None
    ungraded: bool


def read_run(folder: Path) -> RunFiles:
    """Read the artifacts of a folder.

    Raises:
        ArtifactError: there is nothing to report, or a file is missing, torn or not what its name
            says; the message names it.
        RunError: `qa_run.json` is no run's identity.
    """
    if not folder.is_dir():
        raise ArtifactError(f"{folder}: not a folder; name the output folder of a run")
    has_policy = any((folder / name).exists() for name in (POLICY_RUN_FILE, SUMMARY_FILE))
    has_rows = (folder / ROWS_FILE).exists()
    ungraded = not has_rows and ((folder / RUN_FILE).exists() or (folder / RESPONSES).exists())
    if not has_policy and not has_rows:
        remedy = (
            "its answers are not graded: run `deermem grade-qa` on it first"
            if ungraded
            else f"expected {SUMMARY_FILE} of `run-policy` or {ROWS_FILE} of `grade-qa`"
        )
        raise ArtifactError(f"{folder}: nothing to report; {remedy}")
    files = (*(_POLICY_FILES if has_policy else ()), *(_QA_FILES if has_rows else (RUN_FILE,)))
    return RunFiles(
        folder=folder,
        policy=_read_policy(folder) if has_policy else None,
        qa=_read_qa(folder) if has_rows else None,
        hashes={name: _sha256(folder / name) for name in files if (folder / name).exists()},
        manifest=_read_manifest(folder / MANIFEST_FILE),
        ungraded=ungraded,
    )


def _read_policy(folder: Path) -> PolicyFiles:
    return PolicyFiles(_read_json(folder / POLICY_RUN_FILE), _read_json(folder / SUMMARY_FILE))


def _read_qa(folder: Path) -> QAFiles:
    identity = read_identity(folder)
    rows = read_rows(folder / ROWS_FILE)
    stats = _read_json(folder / STATS_FILE) if (folder / STATS_FILE).exists() else None
    computed = not (folder / ANALYSIS_FILE).exists()
    analysis = (
        _computed_analysis(folder, identity, rows, stats)
        if computed
        else _read_json(folder / ANALYSIS_FILE)
    )
    run = Node(folder / RUN_FILE, RUN_FILE, identity.document)
    return QAFiles(identity, run, rows, analysis, computed, stats)


def _computed_analysis(
    folder: Path, identity: RunIdentity, rows: tuple[GradedRow, ...], stats: Node | None
) -> Node:
    """Make the analysis of a run that was published without one, with its own settings."""
    if stats is None:
        raise ArtifactError(
            f"{folder / STATS_FILE}: is not there, nor is {ANALYSIS_FILE}; nothing states the "
            "settings of the statistics: grade the run again"
        )
    suite = next(iter(stats.at("suites").keys()), "overall")
    bootstrap = stats.at("suites", suite, "bootstrap")
    settings = QASettings(
        protocol_id=identity.protocol_id,
        grader_version=stats.at("grader_version").text(),
        qa_capacity=rows[0].capacity,
        policies=tuple(item.text() for item in stats.at("policies").items()),
        alpha=bootstrap.at("alpha").real(),
        seed=bootstrap.at("seed").whole(),
        iterations=bootstrap.at("iterations").whole(),
    )
    named = {row.policy for row in rows}
    if named != set(settings.policies):
        raise ArtifactError(
            f"{folder / ROWS_FILE}: rows of {', '.join(sorted(named))}, but {STATS_FILE} compares "
            f"{', '.join(settings.policies)}; restore the two files"
        )
    try:
        document = analysis_document(rows, settings, frozenset())
    except (KeyError, ValueError) as exc:
        raise ArtifactError(
            f"{folder / ROWS_FILE}: not one row of each case under each policy: {exc}; "
            "restore the file"
        ) from exc
    return Node(folder / ROWS_FILE, ANALYSIS_FILE, document)


def read_rows(path: Path) -> tuple[GradedRow, ...]:
    """Read `qa.rows.jsonl`.

    Raises:
        ArtifactError: it cannot be read, or a line is no graded row.
    """
    rows = []
    for number, line in enumerate(read_bytes(path, ArtifactError).splitlines(), 1):
        try:
            rows.append(GradedRow.of_document(json.loads(line)))
        except (RecursionError, ValueError) as exc:
            raise ArtifactError(
                f"{path}: line {number}: not a graded row: {exc}; grade the run again"
            ) from exc
    if not rows:
        raise ArtifactError(f"{path}: holds no row; grade the run again")
    return tuple(rows)


def _read_json(path: Path) -> Node:
    data = read_bytes(path, ArtifactError)
    try:
        document: Any = json.loads(data)
    except (RecursionError, ValueError) as exc:
        raise ArtifactError(f"{path}: not JSON: {exc}; make the file again") from exc
    return Node(path, path.name, document)


def _read_manifest(path: Path) -> dict[str, str] | None:
    if not path.exists():
        return None
    stated = {}
    try:
        lines = read_bytes(path, ArtifactError).decode("utf-8").splitlines()
    except UnicodeDecodeError as exc:
        raise ArtifactError(f"{path}: not text: {exc}; grade the run again") from exc
    for number, line in enumerate(lines, 1):
        sha256, separator, name = line.partition("  ")
        if not separator:
            raise ArtifactError(f"{path}: line {number}: expected SHA-256, two spaces, name")
        stated[name] = sha256
    return stated


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as exc:
        raise ArtifactError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
