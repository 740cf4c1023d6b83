"""One question of the data set, checked and reduced to what a case needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import fields, frozen

from .artifacts import as_text, is_encodable
from .evidence import render_evidence

# Where a field is called otherwise in the data set's file.
_KEYS = {"record_id": "question_id"}
_HAYSTACK = ("haystack_dates", "haystack_session_ids", "haystack_sessions")


@frozen
class Record:
    """A question with its answer as text and its rendered evidence."""

    record_id: str
    question_type: str
    question: str
    answer: str
    question_date: str
    evidence: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Record:
        """Make a record of a checked row.

        Raises:
            ValueError: a text holds half a surrogate pair, which no file could hold.
        """
        record = cls(
            record_id=row["question_id"],
            question_type=row["question_type"],
            question=row["question"],
            answer=as_text(row["answer"]),
            question_date=row["question_date"],
            evidence=render_evidence(row),
        )
        for field in fields(cls):
            if not is_encodable(getattr(record, field.name)):
                key = _KEYS.get(field.name, field.name)
                raise ValueError(f"{key}: expected text, found half a surrogate pair in it")
        return record


def check_row(row: object) -> dict[str, Any]:
    """Return one row of the data set's file if it is well formed.

    Every row is held to this, also those of question types that no rule selects.

    Raises:
        ValueError: it is not; the message names the key, what was found and what was expected.
    """
    if not isinstance(row, dict):
        raise ValueError(f"expected an object, found {type(row).__name__}")
    for key in ("question_id", "question_type", "question", "question_date"):
        _require_type(row, key, str, "text")
    if not row["question_id"].strip():
        raise ValueError("question_id: expected text that is not blank")
    if "answer" not in row:
        raise ValueError("the key 'answer' is missing")
    if row["answer"] is None:
        raise ValueError("answer: expected text or a number, found null")
    _check_haystack(row)
    return row


def _check_haystack(row: dict[str, Any]) -> None:
    for key in _HAYSTACK:
        _require_type(row, key, list, "a list")
    dates, ids, sessions = (row[key] for key in _HAYSTACK)
    if not len(dates) == len(ids) == len(sessions):
        raise ValueError(
            "the haystack arrays differ in length: "
            f"{len(dates)} dates, {len(ids)} session ids, {len(sessions)} sessions"
        )
    for key, kind, expected in zip(
        _HAYSTACK, (str, str, list), ("text", "text", "a list"), strict=True
    ):
        for index, value in enumerate(row[key]):
            if not isinstance(value, kind):
                raise ValueError(
                    f"{key}[{index}]: expected {expected}, found {type(value).__name__}"
                )


def _require_type(row: dict[str, Any], key: str, kind: type, expected: str) -> None:
    if key not in row:
        raise ValueError(f"the key {key!r} is missing")
    if not isinstance(row[key], kind):
        raise ValueError(f"{key}: expected {expected}, found {type(row[key]).__name__}")
