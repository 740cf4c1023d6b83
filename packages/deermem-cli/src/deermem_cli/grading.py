"""Grading: from a run's stored answers to its published files.

The composition of packages that do not know each other: `deermem_qa` holds and checks the answers,
`deermem_grade` grades them and computes the statistics. All files appear together or not at all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen

from deermem_data import (
    Case,
    Dataset,
    Protocol,
    publish_new,
    require_new,
    sha256_hex,
)
from deermem_grade import GRADER_VERSION, grade_answer
from deermem_qa import (
    ROWS_FILE,
    RUN_FILE,
    GradedRow,
    RunIdentity,
    grade_answers,
    hold_run,
    require_belonging,
)
from deermem_select import Selector

from .contracts import check_grader
from .policy_run import FILES as POLICY_RUN_FILES
from .qa_documents import (
    ANALYSIS_FILE,
    STATS_FILE,
    SUMMARY_FILE,
    QASettings,
    document_bytes,
    qa_documents,
    rows_bytes,
)

MANIFEST_FILE = "MANIFEST.sha256"

#: Everything that grading may publish.
PUBLISHED_FILES = (ROWS_FILE, SUMMARY_FILE, STATS_FILE, ANALYSIS_FILE, MANIFEST_FILE)

#: What a manifest also covers where it stands in the same folder.
_COVERED_FILES = (RUN_FILE, *POLICY_RUN_FILES)


@frozen
class GradedRun:
    """What grading found and published.

    Attributes:
        rows: the graded rows, sorted by row id.
        documents: file name -> the published document (summary, statistics, analysis).
        files: file name -> the published bytes.
    """

    identity: RunIdentity
    settings: QASettings
    rows: tuple[GradedRow, ...]
    documents: dict[str, dict[str, Any]]
    files: dict[str, bytes]


def qa_settings(protocol: Protocol) -> QASettings:
    """Return what the published documents take from a protocol."""
    config = protocol.config
    return QASettings(
        protocol_id=protocol.protocol_id,
        grader_version=config.qa.grader_version,
        qa_capacity=config.pool.qa_capacity,
        policies=tuple(spec.policy for spec in config.policies.values()),
        alpha=config.statistics.alpha,
        seed=config.statistics.bootstrap_seed,
        iterations=config.statistics.bootstrap_iterations,
    )


def grade_run(
    folder: Path,
    protocol: Protocol,
    dataset: Dataset,
    cases: tuple[Case, ...],
    selector: Selector,
) -> GradedRun:
    """Grade a complete run and publish its files into its own folder, all or none.

    Raises:
        LockHeld: another process holds the folder.
        RunError: there is no run, it is of another identity, or an answer is missing or does not
            fit; each such row is named.
        ProtocolError: the protocol names another grader than the installed one.
        SelectorError: the selector fails.
        ArtifactError: the run is published already, or the folder cannot be written.
    """
    check_grader(protocol)
    with hold_run(folder) as held:
        require_belonging(folder, held.identity, protocol, dataset, selector)
        require_new(folder, PUBLISHED_FILES)
        graded = grade_answers(protocol, cases, selector, held.store, grade_answer, GRADER_VERSION)
        settings = qa_settings(protocol)
        documents = qa_documents(graded.rows, settings, graded.truncated)
        files = {
            ROWS_FILE: rows_bytes(graded.rows),
            **{name: document_bytes(document) for name, document in documents.items()},
        }
        files[MANIFEST_FILE] = manifest_bytes(folder, files)
        publish_new(folder, files)
    return GradedRun(held.identity, settings, graded.rows, documents, files)


def manifest_bytes(folder: Path, files: dict[str, bytes]) -> bytes:
    """Return a manifest, as `sha256sum` writes it, of new files and those they stand beside."""
    contents = {
        name: (folder / name).read_bytes() for name in _COVERED_FILES if (folder / name).is_file()
    }
    hashes = {name: sha256_hex(data) for name, data in {**contents, **files}.items()}
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes)).encode("ascii")
