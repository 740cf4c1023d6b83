"""Verification of a run against its inputs: the protocol, and with the data set every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from deermem_data import OFFICIAL_SOURCE, SYNTHETIC_SOURCE, Case, Dataset, Protocol
from deermem_grade import GRADER_VERSION, grade_answer
from deermem_qa import (
    ROWS_FILE,
    RUN_FILE,
    GradedRow,
    RunIdentity,
    build_task,
    protocol_part,
    qa_decisions,
    row_id_of,
)
from deermem_select import Selector

from .verification_report import Findings, shown

_PUBLISHED_PARTS = ("protocol_id", "artifacts", "dataset", "qa")


@frozen
class RunInputs:
    """What a run is checked against beyond its own files."""

    protocol: Protocol
    dataset: Dataset
    cases: tuple[Case, ...]
    selector: Selector


def check_protocol(
    identity: RunIdentity, rows: Sequence[GradedRow], protocol: Protocol, findings: Findings
) -> None:
    """Check that the run states this protocol, and that its rows are this protocol's cases."""
    expected = protocol_part(protocol)
    if identity.policies is None:  # schema 2 does not state the others
        expected = {key: expected[key] for key in _PUBLISHED_PARTS}
    for key, value in _flat(expected):
        findings.expect(RUN_FILE, key, value, identity.at(key))
    placed: dict[str, tuple[str, str]] = {
        case_id: (OFFICIAL_SOURCE, scenario)
        for scenario, group in protocol.official.scenarios.items()
        for case_id in group
    }
    placed |= {
        case.case_id: (SYNTHETIC_SOURCE, protocol.synthetic.scenario)
        for case in protocol.synthetic.cases
    }
    there = {row.row_id for row in rows}
    policies = [spec.policy for spec in protocol.config.policies.values()]
    for case_id in placed:
        for policy in policies:
            if row_id_of(case_id, policy) not in there:
                message = "the row of a case of the protocol is missing"
                findings.wrong(ROWS_FILE, message, row=row_id_of(case_id, policy))
    for row in rows:
        if row.case_id not in placed:
            message = f"{row.case_id} is no case of {protocol.protocol_id}"
            findings.wrong(ROWS_FILE, message, row=row.row_id, key="case_id")
            continue
        source, scenario = placed[row.case_id]
        findings.expect(ROWS_FILE, "source", source, row.source, row.row_id)
        findings.expect(ROWS_FILE, "scenario", scenario, row.scenario, row.row_id)
    findings.did("protocol", f"{protocol.protocol_id}: hashes, settings, {len(placed)} cases")


def check_inputs(
    identity: RunIdentity, rows: Sequence[GradedRow], inputs: RunInputs, findings: Findings
) -> bool:
    """Make every decision, task and grade again, and compare each row with them.

    Returns:
        Whether the selector is the run's own, by its hash.
    """
    dataset = inputs.dataset
    stated = identity.at("artifacts.dataset_sha256")
    findings.expect(RUN_FILE, "artifacts.dataset_sha256", dataset.sha256, stated)
    findings.did("selection", f"{len(inputs.cases)} cases, selected again from the data set")
    by_id = {row.row_id: row for row in rows}
    for case, decision in qa_decisions(inputs.protocol, inputs.cases, inputs.selector):
        task = build_task(inputs.protocol, case, decision)
        row = by_id.get(task.row_id)
        if row is None:
            continue  # named by the check of the protocol
        expected: dict[str, Any] = {
            "kept_fact_ids": task.kept_fact_ids,
            "request_fingerprint": task.request_fingerprint,
            "question_type": decision.question_type,
            "support_all_retained": decision.support_all_retained,
            "support_recall": decision.support_recall,
        }
        if row.grader_version == GRADER_VERSION:
            grade = grade_answer(row.prediction, case.answer)
            expected |= {"grade_correct": grade.correct, "grade_rule": grade.rule}
        for key, value in expected.items():
            findings.expect(ROWS_FILE, key, value, getattr(row, key), row.row_id)
    findings.did("kept facts", f"{len(rows)} rows, decided again by {inputs.selector.name}")
    findings.did("fingerprints", f"{len(rows)} requests, made again")
    if all(row.grader_version == GRADER_VERSION for row in rows):
        findings.did("grades", f"{len(rows)} answers, graded again by {GRADER_VERSION}")
    else:
        findings.skipped("grades", f"the rows are not of {GRADER_VERSION}, the grader here")
    return _is_own_selector(identity, inputs.selector, findings)


def _is_own_selector(identity: RunIdentity, selector: Selector, findings: Findings) -> bool:
    """Say whether the selector is the run's own; another one may decide the same."""
    stated = identity.at("selector.sha256")
    if stated is None:
        findings.skipped("selector", "the run does not say which selector it was made with")
    elif stated != selector.provenance.sha256:
        run = f"{identity.at('selector.name')} of SHA-256 {shown(stated)}"
        findings.skipped("selector", f"the run was made with {run}, which is not here")
    else:
        findings.did("selector", f"{selector.name}, the run's own, by its SHA-256")
        return True
    return False


def _flat(document: dict[str, Any], path: str = "") -> list[tuple[str, Any]]:
    flat = []
    for key, value in document.items():
        if isinstance(value, dict):
            flat += _flat(value, f"{path}{key}.")
        else:
            flat.append((f"{path}{key}", value))
    return flat
