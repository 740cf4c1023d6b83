"""The provider `replay`: the predictions of a published `qa.rows.jsonl`, given again.

A prediction is found by row id and request fingerprint together: two policies that keep the same
facts ask the same request, and each has a row of its own; and a row whose request differs by a
byte answers another question.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deermem_data import read_bytes, sha256_hex

from ._checks import COUNT, ID, NAME_OR_NULL, SHA256, UNICODE, USAGE, Rule
from .errors import CallFailed, ProviderError
from .provider import Answer, provider_identity

if TYPE_CHECKING:
    from .task import Task

# The keys that are read; a row may have more.
_REQUIRED = {
    "row_id": ID,
    "request_fingerprint": SHA256,
    "prediction": UNICODE,
    "attempts": COUNT,
    "response_model": NAME_OR_NULL,
    "usage": USAGE,
}
_OPTIONAL = {"finish_reason": NAME_OR_NULL}


class Replay:
    """Answers from a file of rows; calls nothing."""

    name = "replay"

    def __init__(self, path: Path) -> None:
        """Read the file.

        Args:
            path: rows as JSONL, such as a published `qa.rows.jsonl`.

        Raises:
            ProviderError: it cannot be read, has no row, repeats a row id, or a row is malformed;
                names the line and the key.
        """
        data = read_bytes(path, ProviderError)
        self._path = path
        self._sha256 = sha256_hex(data)
        self._answers = _read_rows(path, data)

    def __repr__(self) -> str:
        return f"Replay({str(self._path)!r})"

    def identity(self) -> dict[str, Any]:
        """Return the provider's part of `qa_run.json`; it holds the file's SHA-256."""
        return provider_identity(self.name, replay_sha256=self._sha256)

    def close(self) -> None:
        """Do nothing: nothing is held open."""

    def answer(self, task: Task) -> Answer:
        """Return the published answer of the task.

        Raises:
            CallFailed: the file has no row of this id, or the row's request was another one.
        """
        if task.row_id not in self._answers:
            raise CallFailed(f"{self._path}: no row {task.row_id}", 0)
        fingerprint, answer = self._answers[task.row_id]
        if fingerprint != task.request_fingerprint:
            raise CallFailed(
                f"{self._path}: row {task.row_id}: request_fingerprint: expected "
                f"{task.request_fingerprint}, found {fingerprint}; the row answers another "
                "request: protocol, data set, selector or model differ",
                0,
            )
        return answer


def _read_rows(path: Path, data: bytes) -> dict[str, tuple[str, Answer]]:
    answers: dict[str, tuple[str, Answer]] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}: line {number}"
        row = _read_row(where, line)
        row_id = row["row_id"]
        if row_id in answers:
            raise ProviderError(
                f"{where}: row_id: {row_id} stands on line {lines[row_id]} already; "
                "remove one of the two"
            )
        lines[row_id] = number
        answer = Answer(
            prediction=row["prediction"],
            attempts=row["attempts"],
            response_model=row["response_model"],
            finish_reason=row.get("finish_reason"),
            usage=row["usage"],
        )
        answers[row_id] = (row["request_fingerprint"], answer)
    if not answers:
        raise ProviderError(f"{path}: has no row; expected a published qa.rows.jsonl")
    return answers


def _read_row(where: str, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as exc:
        raise ProviderError(f"{where}: not a JSON object of a row: {_reason(exc)}") from None
    if not isinstance(row, dict):
        raise ProviderError(f"{where}: expected a row, an object; found {_kind(row)}")
    for key, rule in _REQUIRED.items():
        if key not in row:
            raise ProviderError(f"{where}: {key}: the key is missing; expected {rule.expected}")
        _check(where, key, rule, row[key])
    for key, rule in _OPTIONAL.items():
        if key in row:
            _check(where, key, rule, row[key])
    return row


def _check(where: str, key: str, rule: Rule, value: object) -> None:
    if not rule.holds(value):
        raise ProviderError(f"{where}: {key}: expected {rule.expected}, found {_kind(value)}")


def _reason(exc: Exception) -> str:
    if isinstance(exc, RecursionError):
        return "nested too deep"
    if isinstance(exc, UnicodeDecodeError):
        return f"not UTF-8 at byte {exc.start}"
    if isinstance(exc, json.JSONDecodeError):
        return f"column {exc.colno}: {exc.msg}"
    return "a number too long"


def _kind(value: object) -> str:
    """What a value is; a text is not quoted, it may be an answer."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:80]
