"""The row store: whole rows or none, reused by their own task only, nothing ever lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from deermem_data import load_schema
from deermem_qa import MAX_ROW_BYTES, Answer, AnswerRow, RowStore, RunError, Task

NOW = "2026-08-13T00:00:00Z"


def make_task(case_id: str = "c1", policy: str = "confidence", **more: Any) -> Task:
    given: dict[str, Any] = {
        "row_id": f"{case_id}__{policy}",
        "case_id": case_id,
        "source": "longmemeval",
        "scenario": "access_help",
        "policy": policy,
        "capacity": 7,
        "kept_fact_ids": (f"gold_{case_id}", f"d_{case_id}_0_r1"),
        "question": "Q",
        "memory": (),
        "messages": (),
        "request": {},
        "request_fingerprint": "0" * 64,
    }
    return Task(**given | more)


def make_row(task: Task, **answer: Any) -> AnswerRow:
    return AnswerRow.of_answer(task, Answer(**{"prediction": "yes"} | answer), NOW)


def names(store: RowStore) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir())


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(load_schema("answer_row"))


@pytest.fixture
def store(tmp_path: Path) -> RowStore:
    return RowStore(tmp_path)


def test_put_and_found(store: RowStore, schema: jsonschema.Draft202012Validator) -> None:
    """A stored row is found by its task, and its file fits the schema."""
    task = make_task()
    row = make_row(task, prediction="dö\n", attempts=2, finish_reason="length", usage={"a.b": 3})
    store.put(row)
    assert store.find(task).row == row == store.require(task) == store.read(task.row_id)
    assert store.holds(task)
    document = json.loads(store.path_of(task.row_id).read_bytes())
    schema.validate(document)
    assert 15 == len(document)
    assert ["c1__confidence.json"] == names(store)


def test_absent(store: RowStore) -> None:
    """Where nothing stands, nothing is wrong; a row that is required is named."""
    found = store.find(make_task())
    assert (found.row, found.problem, found.set_aside) == (None, None, None)
    assert not store.holds(make_task())
    with pytest.raises(RunError, match=r"c1__confidence\.json: is not there"):
        store.require(make_task())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("case_id", "c2"),
        ("source", "synthetic"),
        ("scenario", "confirmation_help"),
        ("policy", "hybrid-v1"),
        ("capacity", 5),
        ("kept_fact_ids", ("d_c1_0_r1", "gold_c1")),
        ("request_fingerprint", "1" * 64),
    ],
)
def test_row_of_another_task(store: RowStore, key: str, value: Any) -> None:
    """A row is reused only where all of these equal the task's; else it stays until replaced."""
    task = make_task()
    row = evolve(make_row(task), **{key: value})
    store.put(row)
    before = store.path_of(task.row_id).read_bytes()
    found = store.find(task)
    assert found.row is None
    assert found.set_aside is None
    assert found.problem is not None
    assert found.problem.startswith(f"{key}: expected ")
    assert not store.holds(task)
    with pytest.raises(RunError, match=rf"c1__confidence\.json: {key}: expected "):
        store.require(task)
    assert before == store.path_of(task.row_id).read_bytes()


def test_row_in_another_place(store: RowStore) -> None:
    """A file copied to another row's name is not that row."""
    one, two = make_task("c1"), make_task("c2")
    store.put(make_row(one))
    store.path_of(two.row_id).write_bytes(store.path_of(one.row_id).read_bytes())
    assert store.find(two).row is None


def _edit(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    def spoil(data: bytes) -> bytes:
        document = json.loads(data)
        change(document)
        return json.dumps(document).encode()

    return spoil


SPOILT = {
    "empty": lambda data: b"",
    "torn": lambda data: data[: len(data) // 2],
    "torn by a byte": lambda data: data[:-3],
    "doubled": lambda data: data + data,
    "not UTF-8": lambda data: data.replace(b"yes", b"\xff\xfe"),
    "another list": lambda data: b"[]",
    "nested deep": lambda data: b"[" * 100_000,
    "huge number": lambda data: data.replace(b'"attempts": 1', b'"attempts": ' + b"9" * 5000),
    "NaN": lambda data: data.replace(b'"attempts": 1', b'"attempts": NaN'),
    "a key missing": _edit(lambda row: row.pop("usage")),
    "a key more": _edit(lambda row: row.update(note="x")),
    "version": _edit(lambda row: row.update(schema_version=2)),
    "attempts true": _edit(lambda row: row.update(attempts=True)),
    "attempts 0": _edit(lambda row: row.update(attempts=0)),
    "attempts 1.0": _edit(lambda row: row.update(attempts=1.0)),
    "prediction null": _edit(lambda row: row.update(prediction=None)),
    "lone surrogate": _edit(lambda row: row.update(prediction="\ud800")),
    "usage of text": _edit(lambda row: row.update(usage={"a": "b"})),
    "usage of a sentence": _edit(lambda row: row.update(usage={"I live in a blue house": 1})),
    "usage below 0": _edit(lambda row: row.update(usage={"a": -1})),
    "a sentence as model": _edit(lambda row: row.update(response_model="I live in a house")),
    "time without zone": _edit(lambda row: row.update(created_at="2026-08-13T00:00:00")),
    "fact twice": _edit(lambda row: row.update(kept_fact_ids=["a", "a"])),
    "fingerprint": _edit(lambda row: row.update(request_fingerprint="ABC")),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_no_row(store: RowStore, spoil: Callable[[bytes], bytes]) -> None:
    """A file that is no row is set aside, byte by byte as it was, and the row is free."""
    task = make_task()
    store.put(make_row(task))
    path = store.path_of(task.row_id)
    data = spoil(path.read_bytes())
    path.write_bytes(data)
    with pytest.raises(RunError, match=r"c1__confidence\.json: "):
        store.require(task)
    assert not store.holds(task)
    assert path.exists()
    found = store.find(task)
    assert found.row is None
    assert found.problem
    assert "c1__confidence.json.corrupt" == found.set_aside
    assert data == (store.folder / found.set_aside).read_bytes()
    assert store.find(task).problem is None


def _make_folder(path: Path) -> None:
    path.mkdir()
    (path / "kept").write_text("", encoding="ascii")


def _make_large(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(MAX_ROW_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (_make_folder, "is not a file"),
        (os.mkfifo, "is not a file"),
        (lambda path: path.symlink_to("elsewhere"), "is a link"),
        (_make_large, "bytes; a row has at most"),
    ],
    ids=["folder", "pipe", "link", "large"],
)
def test_foreign_things(store: RowStore, make: Callable[[Path], object], problem: str) -> None:
    """What is no plain file, or too large for a row, is set aside without being read."""
    task = make_task()
    make(store.path_of(task.row_id))
    found = store.find(task)
    assert problem in str(found.problem)
    assert [found.set_aside] == names(store)
    store.put(make_row(task))
    assert store.find(task).row == make_row(task)


def test_set_aside_never_overwrites(store: RowStore) -> None:
    """Every file set aside keeps its bytes."""
    task = make_task()
    aside = []
    for number in range(3):
        store.path_of(task.row_id).write_text(f"torn {number}", encoding="ascii")
        aside.append(store.find(task).set_aside)
    row = task.row_id
    assert [f"{row}.json.corrupt", f"{row}.json.2.corrupt", f"{row}.json.3.corrupt"] == aside
    kept = [(store.folder / str(name)).read_text(encoding="ascii") for name in aside]
    assert ["torn 0", "torn 1", "torn 2"] == kept


@pytest.mark.parametrize(
    "row_id", ["", ".", "..", "a/b", "../a", "a b", "a\n", "ä", "a\\b", "a:b", "\0", "a" * 221]
)
def test_no_file_name(store: RowStore, row_id: str) -> None:
    """An id that cannot be a file's name is refused before anything is read or written."""
    task = make_task(row_id=row_id)
    for use in (store.find, store.require, store.holds):
        with pytest.raises(RunError, match="its id names a file"):
            use(task)
    with pytest.raises(RunError, match="its id names a file"):
        store.put(make_row(task))
    assert [] == names(store)


def test_longest_name(store: RowStore) -> None:
    """The longest id that is taken can be stored and set aside."""
    task = make_task(row_id="a" * 220)
    store.put(make_row(task))
    store.path_of(task.row_id).write_text("", encoding="ascii")
    assert store.find(task).set_aside


def test_row_too_large(store: RowStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that could not be read again is not written."""
    monkeypatch.setattr("deermem_qa.store.MAX_ROW_BYTES", 10_000)
    with pytest.raises(RunError, match="expected at most 10000"):
        store.put(make_row(make_task(), prediction="x" * 10_000))
    assert [] == names(store)


def test_strangers(store: RowStore) -> None:
    """Row files of no task are named; files set aside, hidden or of another kind are not."""
    store.put(make_row(make_task("c1")))
    store.put(make_row(make_task("c2")))
    for name in ("c1__confidence.json.corrupt", ".hidden.json", "notes.txt"):
        (store.folder / name).write_text("", encoding="ascii")
    assert ["c2__confidence.json"] == store.strangers({"c1__confidence"})


def test_tidy(store: RowStore) -> None:
    """Only half-written files are removed."""
    store.put(make_row(make_task()))
    (store.folder / ".c2__confidence.json.x1.tmp").write_text("", encoding="ascii")
    store.tidy()
    assert ["c1__confidence.json"] == names(store)


@given(
    prediction=st.text(st.characters(codec=None)),
    model=st.one_of(st.none(), st.text(st.characters(codec=None))),
    usage=st.dictionaries(st.text(), st.integers() | st.booleans(), max_size=4),
)
def test_any_answer_becomes_a_row(
    schema: jsonschema.Draft202012Validator,
    prediction: str,
    model: str | None,
    usage: dict[str, int],
) -> None:
    """Whatever a provider gives, the row can be written, read again, and fits the schema."""
    task = make_task()
    row = AnswerRow.of_answer(
        task, Answer(prediction, response_model=model, finish_reason=model, usage=usage), NOW
    )
    assert row == AnswerRow.of_bytes(row.to_bytes())
    assert row.mismatch(task) is None
    schema.validate(row.to_document())
    if not any("\ud800" <= character <= "\udfff" for character in prediction):
        assert prediction == row.prediction


def test_what_a_row_leaves_out() -> None:
    """Text where a name belongs, counts that are none, and lone surrogates are not stored."""
    row = make_row(
        make_task(),
        prediction="a\ud800b\U0001f600\x00",
        response_model="I live in a house",
        finish_reason="I live in a house",
        usage={"I live in": 1, "ok": 2, "true": True, "minus": -1, "vast": 2**60},
    )
    assert "a\ufffdb\U0001f600\x00" == row.prediction
    assert (None, None) == (row.response_model, row.finish_reason)
    assert {"ok": 2} == row.usage


TASKS = (make_task("c1"), make_task("c1", "hybrid-v1"), make_task("c2"))
# The same rows asked for with another request: what a changed memory or prompt makes.
ASKED_ANEW = tuple(evolve(task, request_fingerprint="1" * 64) for task in TASKS)


class StoreMachine(RuleBasedStateMachine):
    """The store against a model of it: path -> the row that stands there, or its spoilt bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, AnswerRow | bytes] = {}
        self.aside: dict[str, bytes] = {}

    @initialize(folder=st.builds(object))
    def begin(self, folder: object) -> None:
        import tempfile

        self.holder = tempfile.TemporaryDirectory()
        self.store = RowStore(Path(self.holder.name))

    def teardown(self) -> None:
        if hasattr(self, "holder"):
            self.holder.cleanup()

    @rule(task=st.sampled_from(TASKS + ASKED_ANEW), text=st.sampled_from(["yes", "no", "ö\n"]))
    def put(self, task: Task, text: str) -> None:
        row = make_row(task, prediction=text)
        self.store.put(row)
        self.rows[task.row_id] = row

    @rule(task=st.sampled_from(TASKS), part=st.floats(0, 0.99))
    def tear(self, task: Task, part: float) -> None:
        path = self.store.path_of(task.row_id)
        if path.exists():
            data = path.read_bytes().rstrip()
            path.write_bytes(data[: int(len(data) * part)])
            self.rows[task.row_id] = path.read_bytes()

    @rule(task=st.sampled_from(TASKS), spoil=st.sampled_from(sorted(SPOILT)))
    def spoil(self, task: Task, spoil: str) -> None:
        if isinstance(self.rows.get(task.row_id), AnswerRow):
            path = self.store.path_of(task.row_id)
            data = SPOILT[spoil](path.read_bytes())
            if data != path.read_bytes():
                path.write_bytes(data)
                self.rows[task.row_id] = data

    @rule(
        task=st.sampled_from(TASKS),
        edit=st.sampled_from([("capacity", 5), ("policy", "x"), ("scenario", "y")]),
    )
    def edit(self, task: Task, edit: tuple[str, Any]) -> None:
        row = self.rows.get(task.row_id)
        if isinstance(row, AnswerRow):
            edited = evolve(row, **{edit[0]: edit[1]})
            self.store.path_of(task.row_id).write_bytes(edited.to_bytes())
            self.rows[task.row_id] = edited

    @rule(one=st.sampled_from(TASKS), two=st.sampled_from(TASKS))
    def copy(self, one: Task, two: Task) -> None:
        if one.row_id in self.rows:
            data = self.store.path_of(one.row_id).read_bytes()
            self.store.path_of(two.row_id).write_bytes(data)
            self.rows[two.row_id] = self.rows[one.row_id]

    @rule(task=st.sampled_from(TASKS))
    def remove(self, task: Task) -> None:
        self.store.path_of(task.row_id).unlink(missing_ok=True)
        self.rows.pop(task.row_id, None)

    @rule(task=st.sampled_from(TASKS))
    def half_write(self, task: Task) -> None:
        (self.store.folder / f".{task.row_id}.json.x.tmp").write_bytes(b"half")

    @rule()
    def reload(self) -> None:
        self.store = RowStore(self.store.folder)
        self.store.tidy()

    @rule(task=st.sampled_from(TASKS + ASKED_ANEW))
    def resume(self, task: Task) -> None:
        """A row is reused only if it is this task's; else its bytes are kept."""
        stands = self.rows.get(task.row_id)
        found = self.store.find(task)
        own = isinstance(stands, AnswerRow) and all(
            getattr(stands, key) == getattr(task, key)
            for key in (
                "row_id",
                "case_id",
                "source",
                "scenario",
                "policy",
                "capacity",
                "kept_fact_ids",
                "request_fingerprint",
            )
        )
        assert (stands if own else None) == found.row
        assert (stands is None or own) == (found.problem is None)
        assert isinstance(stands, bytes) == (found.set_aside is not None)
        if isinstance(stands, bytes):
            assert found.set_aside not in self.aside
            self.aside[str(found.set_aside)] = stands
            del self.rows[task.row_id]

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "store"):
            return
        expected = {
            f"{row_id}.json": row if isinstance(row, bytes) else row.to_bytes()
            for row_id, row in self.rows.items()
        } | self.aside
        there = {
            path.name: path.read_bytes()
            for path in self.store.folder.iterdir()
            if not path.name.endswith(".tmp")
        }
        assert expected == there


def test_store_as_a_state_machine() -> None:
    """Put, tear, spoil, edit, copy, remove, reload, resume in any order."""
    run_state_machine_as_test(
        StoreMachine, settings=settings(max_examples=40, stateful_step_count=25)
    )
