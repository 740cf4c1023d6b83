"""Published rows, given again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from deermem_qa.errors import CallFailed, ProviderError
from deermem_qa.provider import Answer
from deermem_qa.replay import Replay
from deermem_qa.task import Task

CANARY = "canary answer"


def _row(**changes: Any) -> dict[str, Any]:
    return {
        "row_id": "case__hybrid-v1",
        "request_fingerprint": "a" * 64,
        "prediction": CANARY,
        "attempts": 2,
        "response_model": "a-model",
        "usage": {"prompt_tokens": 7},
        **changes,
    }


def _write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return tmp_path / "qa.rows.jsonl"


def _ask(path: Path, task: Task, **changes: Any) -> Answer:
    given = {"request_fingerprint": "a" * 64, **changes}
    return Replay(path).answer(attrs.evolve(task, **given))


def test_the_published_answer_is_given(rows: Path, task: Task) -> None:
    """Prediction, attempts, model and usage are the row's; its other keys do not matter."""
    _write(rows, _row(grade_correct=True, schema_version=1))
    expected = Answer(CANARY, 2, "a-model", None, {"prompt_tokens": 7})
    assert expected == _ask(rows, task)


def test_an_answer_row_is_given_with_its_finish_reason(rows: Path, task: Task) -> None:
    """Rows that state why they ended keep it."""
    _write(rows, _row(finish_reason="length", response_model=None, usage={}))
    assert Answer(CANARY, 2, None, "length", {}) == _ask(rows, task)


def test_two_rows_of_one_request_are_two_answers(rows: Path, task: Task) -> None:
    """Two policies may ask the same request: each row gives its own prediction."""
    _write(rows, _row(row_id="c__a", prediction="one"), _row(row_id="c__b", prediction="two"))
    found = [_ask(rows, task, row_id=row_id).prediction for row_id in ("c__a", "c__b")]
    assert found == ["one", "two"]


def test_a_task_without_a_row_fails_by_name(rows: Path, task: Task) -> None:
    """A row that the file lacks is named, and no call is counted."""
    _write(rows, _row(row_id="other__hybrid-v1"))
    with pytest.raises(CallFailed) as caught:
        _ask(rows, task)
    assert (f"{rows}: no row case__hybrid-v1", 0) == (caught.value.reason, caught.value.attempts)


def test_a_row_of_another_request_is_no_answer(rows: Path, task: Task) -> None:
    """A row with another fingerprint answers another request; both are named."""
    _write(rows, _row(request_fingerprint="b" * 64))
    with pytest.raises(CallFailed) as caught:
        _ask(rows, task)
    assert (
        f"{rows}: row case__hybrid-v1: request_fingerprint: expected {'a' * 64}, "
        f"found {'b' * 64}; "
        "the row answers another request: protocol, data set, selector or model differ"
    ) == caught.value.reason
    assert caught.value.attempts == 0


def test_identity_is_the_file(rows: Path) -> None:
    """The run is bound to the SHA-256 of what is replayed."""
    _write(rows, _row())
    assert {
        "name": "replay",
        "endpoint": None,
        "endpoint_sha256": None,
        "replay_sha256": hashlib.sha256(rows.read_bytes()).hexdigest(),
    } == Replay(rows).identity()


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (_row(row_id="../x"), "row_id: expected an id of A-Z a-z 0-9 . _ -, found text"),
        (_row(row_id=7), "row_id: expected an id of A-Z a-z 0-9 . _ -, found 7"),
        (_row(request_fingerprint="A" * 64), "request_fingerprint: expected a SHA-256"),
        (_row(prediction=None), "prediction: expected text without lone surrogates, found null"),
        (_row(prediction="a\ud800"), "prediction: expected text without lone surrogates"),
        (_row(attempts=0), "attempts: expected a whole number of 1 or more, found 0"),
        (_row(attempts=True), "attempts: expected a whole number of 1 or more, found true"),
        (_row(attempts=1.0), "attempts: expected a whole number of 1 or more, found 1.0"),
        (_row(response_model=[1]), "response_model: expected a name or null, found a list"),
        (_row(response_model=f"a {CANARY}"), "response_model: expected a name or null, found text"),
        (_row(usage=None), "usage: expected an object of names"),
        (_row(usage={"n": 1.5}), "usage: expected an object of names"),
        (_row(usage={CANARY: 1}), "usage: expected an object of names"),
        (_row(finish_reason=7), "finish_reason: expected a name or null, found 7"),
        ([CANARY], "expected a row, an object; found a list"),
        (CANARY, "expected a row, an object; found text"),
        *(
            ({key: value for key, value in _row().items() if key != gone}, f"{gone}: the key is ")
            for gone in _row()
        ),
    ],
)
def test_a_malformed_row_is_named(rows: Path, row: Any, fault: str) -> None:
    """File, line and key of a malformed row are named; no text of the file is quoted."""
    _write(rows, _row(row_id="good__a"), row)
    with pytest.raises(ProviderError) as caught:
        Replay(rows)
    assert str(caught.value).startswith(f"{rows}: line 2: {fault}")
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"row_id": ', "not a JSON object of a row: column 12: "),
        (b'{"row_id": "\xff"}', "not a JSON object of a row: not UTF-8 at byte 12"),
        (b"[" * 100_000, "not a JSON object of a row: nested too deep"),
        (b'{"attempts": ' + b"1" * 5000 + b"}", "not a JSON object of a row: a number too long"),
    ],
)
def test_a_line_that_is_no_json_is_named(rows: Path, line: bytes, fault: str) -> None:
    """What cannot be read as JSON is named by its line."""
    rows.write_bytes(b"\n" + line + b"\n")
    with pytest.raises(ProviderError) as caught:
        Replay(rows)
    assert str(caught.value).startswith(f"{rows}: line 2: {fault}")


def test_a_row_that_stands_twice_is_named(rows: Path) -> None:
    """Of two rows with one id none is taken for the right one."""
    _write(rows, _row(), _row(row_id="other__a"), _row(prediction="another"))
    with pytest.raises(ProviderError) as caught:
        Replay(rows)
    assert (
        f"{rows}: line 3: row_id: case__hybrid-v1 stands on line 1 already; remove one of the two"
    ) == str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_file_without_rows_is_refused(rows: Path, content: bytes) -> None:
    """An empty file would fail each task; it is refused at once."""
    rows.write_bytes(content)
    with pytest.raises(ProviderError, match=r"has no row; expected a published qa\.rows\.jsonl"):
        Replay(rows)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file is named with the system's reason."""
    with pytest.raises(ProviderError, match=r"absent\.jsonl: cannot be read: No such file"):
        Replay(tmp_path / "absent.jsonl")


def test_the_published_run_is_replayed(upstream_path: Path, task: Task) -> None:
    """Each of the 90 published rows is given as it was published."""
    path = upstream_path / "results" / "pr4789-reproduction-v1" / "qa.rows.jsonl"
    replay = Replay(path)
    published = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert len(published) == 90
    for row in published:
        keys = ("row_id", "request_fingerprint")
        answer = replay.answer(attrs.evolve(task, **{key: row[key] for key in keys}))
        assert row["prediction"] == answer.prediction
        assert (row["attempts"], row["response_model"]) == (answer.attempts, answer.response_model)
        assert row["usage"] == answer.usage
