"""Verification of the policy run that lies beside a QA run, where one does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from deermem_qa import RUN_FILE as QA_RUN_FILE
from deermem_qa import GradedRow
from deermem_select import decisions, summarise

from ._verify_documents import differences
from ._verify_files import RunFiles, row_name
from ._verify_inputs import RunInputs
from .policy_run import RAW_FILE, RUN_FILE, SUMMARY_FILE
from .verification_report import Findings


def check_policy_run(
    files: RunFiles,
    rows: Sequence[GradedRow] | None,
    inputs: RunInputs | None,
    findings: Findings,
) -> None:
    """Make the retention again from the decisions, and with the inputs every decision.

    The decisions at the QA capacity must keep what the answers were asked with.
    """
    there = [name for name in (RAW_FILE, SUMMARY_FILE, RUN_FILE) if name in files.data]
    if not there:
        return
    for name in (RAW_FILE, SUMMARY_FILE, RUN_FILE):
        if name not in there:
            findings.wrong(name, f"is not there, but {there[0]} is")
    if RAW_FILE in files.broken:
        findings.skipped("retention", f"{RAW_FILE} does not hold together")
        return
    _check_retention(files, findings)
    _check_kept(files.decisions, rows or (), findings)
    if inputs is not None:
        _check_decisions(files.decisions, inputs, findings)


def _check_retention(files: RunFiles, findings: Findings) -> None:
    identity, sound = files.identity, files.documents.keys() - files.broken
    if identity is None or not {SUMMARY_FILE, RUN_FILE} <= sound:
        return
    run = files.documents[RUN_FILE]
    for key in ("protocol_id", "artifacts", "policies"):
        stated = identity.at(key)
        for path, message in differences(stated, run[key], key) if stated else ():
            findings.wrong(RUN_FILE, f"not as in {QA_RUN_FILE}: {message}", key=path)
    expected = {
        "schema_version": 1,
        "protocol_id": identity.protocol_id,
        "groups": [group.to_row() for group in summarise(files.decisions)],
    }
    for key, message in differences(expected, files.documents[SUMMARY_FILE]):
        findings.wrong(SUMMARY_FILE, message, key=key)
    findings.did("retention", f"{SUMMARY_FILE}, made again from {len(files.decisions)} rows")


def _check_kept(stated: Sequence[Any], rows: Sequence[GradedRow], findings: Findings) -> None:
    kept = {
        (row["case_id"], row["policy"], row["capacity"]): row["kept_fact_ids"] for row in stated
    }
    for row in rows:
        expected = kept.get((row.case_id, row.policy, row.capacity))
        if expected != list(row.kept_fact_ids):
            message = f"the answer to {row.row_id} was asked with other facts"
            findings.wrong(RAW_FILE, message, row=row.row_id, key="kept_fact_ids")


def _check_decisions(stated: Sequence[Any], inputs: RunInputs, findings: Findings) -> None:
    made = [
        decision.to_row() for decision in decisions(inputs.protocol, inputs.cases, inputs.selector)
    ]
    expected = {_about(row): row for row in made}
    found = {_about(row): row for row in stated}
    for about in sorted(expected.keys() - found.keys()):
        findings.wrong(RAW_FILE, "the row is missing", row=row_name(expected[about], 0))
    for about in sorted(found.keys() - expected.keys()):
        findings.wrong(RAW_FILE, "is no decision of this protocol", row=row_name(found[about], 0))
    for number, row in enumerate(stated, start=1):
        if _about(row) in expected:
            # As JSON, so that tuples are lists.
            wanted = json.loads(json.dumps(expected[_about(row)]))
            for key, message in differences(wanted, row):
                findings.wrong(RAW_FILE, message, row=row_name(row, number), key=key)
    if expected.keys() == found.keys() and [*map(_about, made)] != [*map(_about, stated)]:
        repeated = len(stated) != len(made)
        message = "a row stands more than once" if repeated else "the rows are in another order"
        findings.wrong(RAW_FILE, message)
    findings.did("decisions", f"{len(made)} rows, decided again by {inputs.selector.name}")


def _about(row: Any) -> tuple[str, str, int]:
    return row["case_id"], row["policy"], row["capacity"]
