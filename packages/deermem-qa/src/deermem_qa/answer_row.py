"""Answer rows: the stored outcome of one task, and what makes it this task's."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any

from attrs import asdict, frozen

from deermem_data import json_bytes

from ._checks import (
    COUNT,
    ID,
    NAME_OR_NULL,
    SHA256,
    TEXT,
    TEXTS,
    UNICODE,
    USAGE,
    UTC_TIME,
    Rule,
    check_object,
    exactly,
    is_counter,
    is_name,
    is_whole,
    shown,
)
from .provider import Answer
from .task import Task

SCHEMA_VERSION = 1

# A row is reused only where these equal the task's (design: the runner).
_TASK_KEYS = (
    "row_id",
    "case_id",
    "source",
    "scenario",
    "policy",
    "capacity",
    "kept_fact_ids",
    "request_fingerprint",
)
_BELONGING = attrgetter(*_TASK_KEYS)

#: The keys that an answer row shares with a published one.
SHARED_RULES: dict[str, Rule] = {
    "schema_version": exactly(SCHEMA_VERSION),
    "row_id": ID,
    "case_id": ID,
    "source": TEXT,
    "scenario": TEXT,
    "policy": ID,
    "capacity": COUNT,
    "kept_fact_ids": TEXTS,
    "prediction": UNICODE,
    "attempts": COUNT,
    "request_fingerprint": SHA256,
    "response_model": NAME_OR_NULL,
    "usage": USAGE,
}
_RULES = {**SHARED_RULES, "finish_reason": NAME_OR_NULL, "created_at": UTC_TIME}


@frozen
class AnswerRow:
    """What is stored of an answer; `created_at` is UTC, ISO with `Z`."""

    row_id: str
    case_id: str
    source: str
    scenario: str
    policy: str
    capacity: int
    kept_fact_ids: tuple[str, ...]
    prediction: str
    attempts: int
    request_fingerprint: str
    response_model: str | None
    finish_reason: str | None
    usage: dict[str, int]
    created_at: str

    @classmethod
    def of_answer(cls, task: Task, answer: Answer, created_at: str) -> AnswerRow:
        """Make the row of an answer.

        What cannot be stored is left out rather than let it lose the answer: a model's or a
        state's name that is none becomes null, a count that is none is dropped, and what is not
        a character (a lone surrogate) becomes U+FFFD.
        """
        prediction = answer.prediction.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return cls(
            row_id=task.row_id,
            case_id=task.case_id,
            source=task.source,
            scenario=task.scenario,
            policy=task.policy,
            capacity=task.capacity,
            kept_fact_ids=task.kept_fact_ids,
            prediction=prediction,
            attempts=answer.attempts,
            request_fingerprint=task.request_fingerprint,
            response_model=answer.response_model if is_name(answer.response_model) else None,
            finish_reason=answer.finish_reason if is_name(answer.finish_reason) else None,
            usage={
                key: count
                for key, count in answer.usage.items()
                if is_counter(key) and is_whole(count)
            },
            created_at=created_at,
        )

    @classmethod
    def of_bytes(cls, data: bytes) -> AnswerRow:
        """Read a row strictly.

        Raises:
            ValueError: it is torn, or not a row; the message names the key.
        """
        try:
            document = json.loads(data.decode("utf-8"))
        except RecursionError:
            raise ValueError("not JSON of a row: nested too deep") from None
        except ValueError as exc:
            raise ValueError(f"not JSON: {exc}") from None
        row = check_object(document, _RULES)
        values = {key: row[key] for key in _RULES if key != "schema_version"}
        values["kept_fact_ids"] = tuple(values["kept_fact_ids"])
        return cls(**values)

    @property
    def truncated(self) -> bool:
        """Whether the provider cut the answer off at its length limit."""
        return self.finish_reason == "length"

    def to_document(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {
            "schema_version": SCHEMA_VERSION,
            **asdict(self),
            "kept_fact_ids": list(self.kept_fact_ids),
        }

    def to_bytes(self) -> bytes:
        """The row as a file's bytes."""
        return json_bytes(self.to_document())

    def mismatch(self, task: Task) -> str | None:
        """Say what makes the row another task's, or return `None` where it is this task's."""
        if _BELONGING(self) == _BELONGING(task):
            return None
        for key in _TASK_KEYS:
            found, expected = getattr(self, key), getattr(task, key)
            if found != expected:
                return f"{key}: expected {shown(expected)}, found {shown(found)}"
        return None
