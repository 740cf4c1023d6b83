"""Graded rows: what is published of an answer, and how answers become graded rows.

The grader is an argument, `grade(prediction, reference)`, so that this package does not depend on
one: the command passes `deermem_grade.grade_answer` and its version. It sees two strings and never
a policy; its verdicts are joined to the rows by row id afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from attrs import asdict, frozen

import deermem_data
from deermem_data import Case
from deermem_select import Decision, Selector

from ._checks import BOOLEAN, FRACTION, TEXT, check_object
from .answer_row import SCHEMA_VERSION, SHARED_RULES, AnswerRow
from .errors import RunError
from .store import RowStore
from .task import build_task, qa_decisions

_RULES = {
    **SHARED_RULES,
    "question_type": TEXT,
    "support_all_retained": BOOLEAN,
    "support_recall": FRACTION,
    "grade_correct": BOOLEAN,
    "grade_rule": TEXT,
    "grader_version": TEXT,
}


class Grade(Protocol):
    """What a grader returns."""

    @property
    def correct(self) -> bool:
        """Whether the prediction is correct."""

    @property
    def rule(self) -> str:
        """The rule that decided."""


GradeFunction = Callable[[str, str], Grade]


@frozen
class GradedRow:
    """One row of `qa.rows.jsonl`; `support_recall` is a share, 0 to 1."""

    row_id: str
    case_id: str
    source: str
    scenario: str
    question_type: str
    policy: str
    capacity: int
    kept_fact_ids: tuple[str, ...]
    support_all_retained: bool
    support_recall: float
    prediction: str
    attempts: int
    request_fingerprint: str
    response_model: str | None
    usage: dict[str, int]
    grade_correct: bool
    grade_rule: str
    grader_version: str

    @classmethod
    def of_answer(
        cls, row: AnswerRow, decision: Decision, grade: Grade, grader_version: str
    ) -> GradedRow:
        """Join an answer with its decision and its grade."""
        return cls(
            row_id=row.row_id,
            case_id=row.case_id,
            source=row.source,
            scenario=row.scenario,
            question_type=decision.question_type,
            policy=row.policy,
            capacity=row.capacity,
            kept_fact_ids=row.kept_fact_ids,
            support_all_retained=decision.support_all_retained,
            support_recall=decision.support_recall,
            prediction=row.prediction,
            attempts=row.attempts,
            request_fingerprint=row.request_fingerprint,
            response_model=row.response_model,
            usage=row.usage,
            grade_correct=grade.correct,
            grade_rule=grade.rule,
            grader_version=grader_version,
        )

    @classmethod
    def of_document(cls, document: object) -> GradedRow:
        """Read a published row strictly.

        Raises:
            ValueError: it is none; the message begins with the key.
        """
        row = check_object(document, _RULES)
        values = {key: row[key] for key in _RULES if key != "schema_version"}
        values["kept_fact_ids"] = tuple(values["kept_fact_ids"])
        return cls(**values)

    def to_document(self) -> dict[str, Any]:
        """The row as JSON values, as it stands in `qa.rows.jsonl`."""
        return {
            "schema_version": SCHEMA_VERSION,
            **asdict(self),
            "kept_fact_ids": list(self.kept_fact_ids),
        }


@frozen
class GradedAnswers:
    """The graded rows of a run, sorted by row id, and which of their answers were cut off."""

    rows: tuple[GradedRow, ...]
    truncated: frozenset[str]


def grade_answers(
    protocol: deermem_data.Protocol,
    cases: Iterable[Case],
    selector: Selector,
    store: RowStore,
    grade: GradeFunction,
    grader_version: str,
) -> GradedAnswers:
    """Grade the stored answers of a complete run.

    Each row's kept facts and fingerprint are checked against its task, made again now.

    Raises:
        RunError: a row is missing, torn, or another task's, or `responses/` holds a row of none;
            every such row is named.
        SelectorError: the selector fails.
    """
    answers: dict[str, AnswerRow] = {}
    decisions: dict[str, Decision] = {}
    references: dict[str, str] = {}
    faults = []
    for case, decision in qa_decisions(protocol, cases, selector):
        task = build_task(protocol, case, decision)
        decisions[task.row_id], references[task.row_id] = decision, case.answer
        try:
            answers[task.row_id] = store.require(task)
        except RunError as exc:
            faults.append(str(exc))
    faults += [
        f"{store.folder / name}: a row of no task of this run; move it elsewhere"
        for name in store.strangers(set(decisions))
    ]
    if faults:
        raise RunError("\n".join(faults))
    grades = {row_id: grade(row.prediction, references[row_id]) for row_id, row in answers.items()}
    return GradedAnswers(
        rows=tuple(
            GradedRow.of_answer(answers[row_id], decisions[row_id], grades[row_id], grader_version)
            for row_id in sorted(answers)
        ),
        truncated=frozenset(row_id for row_id, row in answers.items() if row.truncated),
    )
