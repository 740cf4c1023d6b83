"""Verification of the rows among themselves: what must agree without protocol or data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deermem_data import support_fact_id
from deermem_grade import GRADER_VERSION, grade_answer
from deermem_qa import RESPONSES, ROWS_FILE, AnswerRow, GradedRow, RowStore, RunError, row_id_of

from ._verify_files import RunFiles, row_name
from .verification_report import Findings

_CORRECT_RULES = {"exact", "substring", "numeric-range", "overlap-accept"}
# These two are decided by the prediction alone, so that they can be checked without a reference.
_BLIND_RULES = {"empty-prediction", "insufficient"}
_SHARED = (
    "row_id",
    "case_id",
    "source",
    "scenario",
    "policy",
    "capacity",
    "kept_fact_ids",
    "prediction",
    "attempts",
    "request_fingerprint",
    "response_model",
    "usage",
)


def check_rows(
    files: RunFiles, policies: Sequence[str], findings: Findings
) -> tuple[GradedRow, ...] | None:
    """Check every row and the set of them.

    Returns:
        The rows, or `None` where they are too broken to compute anything from: one is no row, is
        missing, repeated or of an unknown policy or source.
    """
    before = len(findings.discrepancies)
    rows = _structured(files, findings)
    if not files.rows:
        findings.wrong(ROWS_FILE, "holds no row")
    complete = len(rows) == len(files.rows) and bool(rows)
    complete &= _check_set(rows, policies, findings)
    for row in rows:
        _check_row(row, files, findings)
    by_case: dict[str, list[GradedRow]] = {}
    for row in rows:
        by_case.setdefault(row.case_id, []).append(row)
    for group in by_case.values():
        _check_case(group, findings)
    found = len(findings.discrepancies) - before
    findings.did("rows", f"{len(files.rows)} rows, {len(by_case)} cases; {found} discrepancies")
    return tuple(rows) if complete else None


def read_answers(
    folder: Path, rows: Sequence[GradedRow], findings: Findings
) -> dict[str, AnswerRow] | None:
    """Read the stored answers and compare each with its published row.

    Returns:
        row id -> answer; `None` where the folder has none.
    """
    store = RowStore(folder / RESPONSES)
    if not store.folder.is_dir():
        findings.skipped("stored answers", f"the folder has no {RESPONSES}/")
        return None
    answers = {}
    for row in rows:
        file = f"{RESPONSES}/{row.row_id}.json"
        try:
            answer = answers[row.row_id] = store.read(row.row_id)
        except RunError as exc:
            findings.wrong(file, str(exc))
            continue
        for key in _SHARED:
            findings.expect(file, key, getattr(row, key), getattr(answer, key), row.row_id)
    for name in store.strangers({row.row_id for row in rows}):
        findings.wrong(f"{RESPONSES}/{name}", f"is the answer of no row of {ROWS_FILE}")
    findings.did("stored answers", f"{len(answers)} answers against {ROWS_FILE}")
    return answers


def _structured(files: RunFiles, findings: Findings) -> list[GradedRow]:
    rows = []
    for number, document in enumerate(files.rows, start=1):
        if document is None:
            continue
        try:
            rows.append(GradedRow.of_document(document))
        except ValueError as exc:
            findings.keyed(ROWS_FILE, exc, row_name(document, number))
    return rows


def _check_set(rows: list[GradedRow], policies: Sequence[str], findings: Findings) -> bool:
    ids = [row.row_id for row in rows]
    complete = True
    for row_id, count in Counter(ids).items():
        if count > 1:
            findings.wrong(ROWS_FILE, f"the row stands {count} times", row=row_id)
            complete = False
    if ids != sorted(ids):
        findings.wrong(ROWS_FILE, "the rows are not sorted by row_id")
    for row in rows:
        if row.policy not in policies:
            expected = ", ".join(policies)
            message = f"expected one of {expected}, found {row.policy}"
            findings.wrong(ROWS_FILE, message, row=row.row_id, key="policy")
            complete = False
        if row.source not in {"longmemeval", "synthetic"}:
            complete = False
    there = {(row.case_id, row.policy) for row in rows}
    for case_id in sorted({row.case_id for row in rows}):
        for policy in policies:
            if (case_id, policy) not in there:
                row_id = row_id_of(case_id, policy)
                findings.wrong(ROWS_FILE, "the row is missing", row=row_id)
                complete = False
    return complete


def _check_row(row: GradedRow, files: RunFiles, findings: Findings) -> None:
    def expect(key: str, expected: object) -> None:
        findings.expect(ROWS_FILE, key, expected, getattr(row, key), row.row_id)

    expect("row_id", row_id_of(row.case_id, row.policy))
    if files.identity is not None:
        expect("capacity", files.identity.at("qa.capacity"))
        expect("grader_version", files.identity.at("qa.grader_version"))
    if len(row.kept_fact_ids) > row.capacity:
        message = f"{len(row.kept_fact_ids)} facts, more than the capacity of {row.capacity}"
        findings.wrong(ROWS_FILE, message, row=row.row_id, key="kept_fact_ids")
    support, distractor = support_fact_id(row.case_id), f"d_{row.case_id}_"
    for fact_id in row.kept_fact_ids:
        if fact_id != support and not fact_id.startswith(distractor):
            message = f"{fact_id} is no fact of this case"
            findings.wrong(ROWS_FILE, message, row=row.row_id, key="kept_fact_ids")
    kept = support in row.kept_fact_ids
    expect("support_all_retained", kept)
    expect("support_recall", float(kept))
    expect("grade_correct", row.grade_rule in _CORRECT_RULES)
    if row.grader_version == GRADER_VERSION:
        blind = grade_answer(row.prediction, "reference").rule
        if blind in _BLIND_RULES:
            expect("grade_rule", blind)
        elif row.grade_rule in _BLIND_RULES:
            message = f"{row.grade_rule}, but the prediction is an answer"
            findings.wrong(ROWS_FILE, message, row=row.row_id, key="grade_rule")


def _check_case(rows: list[GradedRow], findings: Findings) -> None:
    """Check what the rows of one case must share; the first one is what the others meet."""
    first = rows[0]
    positions: dict[str, str] = {}
    for row in rows:
        for key in ("source", "scenario", "question_type"):
            findings.expect(ROWS_FILE, key, getattr(first, key), getattr(row, key), row.row_id)
        for fact_id in row.kept_fact_ids:
            prefix = fact_id.removeprefix(f"d_{row.case_id}_")
            position, separator, _ = prefix.partition("_")
            if prefix != fact_id and separator:
                known = positions.setdefault(position, fact_id)
                if known != fact_id:
                    message = f"distractor {position} is {fact_id} here and {known} elsewhere"
                    findings.wrong(ROWS_FILE, message, row=row.row_id, key="kept_fact_ids")
    for index, row in enumerate(rows):
        for other in rows[:index]:
            # A request shows the kept facts sorted by id, so the same facts make the same request.
            same_facts = set(row.kept_fact_ids) == set(other.kept_fact_ids)
            if same_facts != (row.request_fingerprint == other.request_fingerprint):
                relation = "the same" if same_facts else "other"
                message = f"keeps {relation} facts as {other.row_id}, but the request is not"
                findings.wrong(ROWS_FILE, message, row=row.row_id, key="request_fingerprint")
