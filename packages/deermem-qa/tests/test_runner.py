"""The runner in one process, with stand-ins for the provider: what is called, kept and reported."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deermem_qa import (
    Answer,
    CallFailed,
    Event,
    RowStore,
    RunError,
    RunStopped,
    Task,
    provider_identity,
    run_tasks,
)

NOW = datetime(2026, 8, 13, 12, 0, 0, tzinfo=UTC)


def make_task(number: int) -> Task:
    case_id = f"c{number:03}"
    return Task(
        row_id=f"{case_id}__confidence",
        case_id=case_id,
        source="longmemeval",
        scenario="access_help",
        policy="confidence",
        capacity=7,
        kept_fact_ids=(f"gold_{case_id}",),
        question="Q",
        memory=(),
        messages=(),
        request={},
        request_fingerprint=f"{number:064x}",
    )


TASKS = tuple(make_task(number) for number in range(20))


class Scripted:
    """A stand-in for a provider: calls a function, and notes who was asked and how many at once."""

    name = "scripted"

    def __init__(self, answer: Callable[[Task], Answer] = lambda task: Answer("yes")) -> None:
        self._answer = answer
        self._lock = threading.Lock()
        self._at_once = 0
        self.most_at_once = 0
        self.asked: list[str] = []

    def identity(self) -> dict[str, Any]:
        return provider_identity(self.name)

    def answer(self, task: Task) -> Answer:
        with self._lock:
            self.asked.append(task.row_id)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return self._answer(task)
        finally:
            with self._lock:
                self._at_once -= 1

    def close(self) -> None:
        pass


@pytest.fixture
def store(tmp_path: Path) -> RowStore:
    return RowStore(tmp_path)


def stored(store: RowStore) -> set[str]:
    return {path.stem for path in store.folder.glob("*.json")}


def test_all_answered(store: RowStore) -> None:
    """Each task is asked once and stored with the time; attempts and usage are summed."""
    provider = Scripted(lambda task: Answer("yes", attempts=2, usage={"b": 1, "a": 3}))
    events: list[Event] = []
    summary = run_tasks(TASKS, store, provider, workers=3, on_event=events.append, now=lambda: NOW)
    assert (0, 20, ()) == (summary.reused, summary.answered, summary.failed)
    assert (40, {"a": 60, "b": 20}) == (summary.attempts, summary.usage)
    assert ["a", "b"] == list(summary.usage)
    assert (0, None, True) == (summary.remaining, summary.stopped, summary.complete)
    assert sorted(provider.asked) == [task.row_id for task in TASKS]
    assert {"2026-08-13T12:00:00Z"} == {store.require(task).created_at for task in TASKS}
    assert {("answered", task.row_id) for task in TASKS} == {(e.kind, e.row_id) for e in events}


def test_stored_rows_are_reused(store: RowStore) -> None:
    """A second run asks for what the first did not store, and says what it reuses."""
    run_tasks(TASKS[:12], store, Scripted(), workers=2)
    provider = Scripted()
    events: list[Event] = []
    summary = run_tasks(TASKS, store, provider, workers=2, on_event=events.append)
    assert (12, 8, 8) == (summary.reused, summary.answered, summary.attempts)
    assert sorted(provider.asked) == [task.row_id for task in TASKS[12:]]
    assert 12 == sum(event.count for event in events if event.kind == "reused")


@pytest.mark.parametrize("workers", [1, 3, 7])
def test_workers(store: RowStore, workers: int) -> None:
    """As many calls are under way as there are workers, and never more."""
    barrier = threading.Barrier(workers)

    def meet(task: Task) -> Answer:
        if int(task.case_id[1:]) < workers:
            barrier.wait(30)
        return Answer("yes")

    provider = Scripted(meet)
    run_tasks(TASKS, store, provider, workers=workers)
    assert workers == provider.most_at_once


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers(store: RowStore, workers: int) -> None:
    """A run without a worker is refused."""
    with pytest.raises(RunError, match="workers: expected 1 or more"):
        run_tasks(TASKS, store, Scripted(), workers=workers)


def test_failed_rows(store: RowStore) -> None:
    """A failed row is listed with its reason, not stored, and asked for again by the next run."""

    def fail(task: Task) -> Answer:
        if task in TASKS[3:5]:
            raise CallFailed("503, three times", attempts=3)
        return Answer("yes")

    summary = run_tasks(TASKS, store, Scripted(fail), workers=1)
    assert [
        (TASKS[3].row_id, "503, three times", 3),
        (TASKS[4].row_id, "503, three times", 3),
    ] == [(f.row_id, f.reason, f.attempts) for f in summary.failed]
    assert (18, 24, 0, None) == (
        summary.answered,
        summary.attempts,
        summary.remaining,
        summary.stopped,
    )
    assert not summary.complete
    assert {task.row_id for task in TASKS} - {f.row_id for f in summary.failed} == stored(store)
    provider = Scripted()
    assert run_tasks(TASKS, store, provider, workers=1).complete
    assert [TASKS[3].row_id, TASKS[4].row_id] == provider.asked


def test_provider_stops_the_run(store: RowStore) -> None:
    """One refusal of the whole run is one call: no other begins, those under way are stored."""
    refused = threading.Event()

    def refuse(task: Task) -> Answer:
        if task is TASKS[1]:
            refused.set()
            raise RunStopped("401: the key is refused", attempts=1)
        assert refused.wait(30)
        return Answer("yes")

    provider = Scripted(refuse)
    summary = run_tasks(TASKS, store, provider, workers=3)
    assert summary.stopped is not None
    assert ("provider", TASKS[1].row_id) == (summary.stopped.kind, summary.stopped.row_id)
    assert "401: the key is refused" == summary.stopped.reason
    assert len(provider.asked) <= 3 + 2  # a worker may be between the answer and the halt
    assert summary.answered == len(stored(store)) == len(provider.asked) - 1
    assert 20 - summary.answered == summary.remaining
    assert len(provider.asked) == summary.attempts


def test_asked_to_stop(store: RowStore) -> None:
    """Once asked to stop, no call begins; the answers under way are stored."""
    stop, under_way = threading.Event(), threading.Barrier(3)

    def wait(task: Task) -> Answer:
        under_way.wait(30)
        stop.set()
        return Answer("yes")

    provider = Scripted(wait)
    summary = run_tasks(TASKS, store, provider, workers=3, stop=stop)
    assert summary.stopped is not None
    assert "interrupted" == summary.stopped.kind
    assert (3, 3, 17) == (len(provider.asked), summary.answered, summary.remaining)
    assert set(provider.asked) == stored(store)


def test_stopped_before_it_begins(store: RowStore) -> None:
    """A run asked to stop beforehand calls nothing, and still counts what is stored."""
    run_tasks(TASKS[10:], store, Scripted(), workers=1)
    stop, provider = threading.Event(), Scripted()
    stop.set()
    summary = run_tasks(TASKS, store, provider, workers=3, stop=stop)
    assert ([], 10, 10) == (provider.asked, summary.reused, summary.remaining)
    nothing_left = run_tasks(TASKS[10:], store, provider, workers=3, stop=stop)
    assert nothing_left.complete


def test_given_up_because_of_the_stop(store: RowStore) -> None:
    """A task given up before its first call is not a failed one."""
    stop = threading.Event()

    def give_up(task: Task) -> Answer:
        stop.set()
        raise CallFailed("given up: the run is stopping", attempts=0)

    summary = run_tasks(TASKS, store, Scripted(give_up), workers=1, stop=stop)
    assert ((), 20) == (summary.failed, summary.remaining)
    assert summary.stopped is not None
    assert "interrupted" == summary.stopped.kind


def test_spoilt_and_foreign_rows(store: RowStore) -> None:
    """A torn row is set aside, said and asked for again; so is another request's, but kept."""
    run_tasks(TASKS, store, Scripted(), workers=1)
    store.path_of(TASKS[4].row_id).write_text("{", encoding="ascii")
    other = store.path_of(TASKS[5].row_id)
    other.write_bytes(other.read_bytes().replace(b'"capacity": 7', b'"capacity": 5'))
    events: list[Event] = []
    provider = Scripted()
    summary = run_tasks(TASKS, store, provider, workers=1, on_event=events.append)
    assert [TASKS[4].row_id, TASKS[5].row_id] == provider.asked
    assert [TASKS[4].row_id] == [row_id for row_id, _ in summary.set_aside]
    told = {event.kind: event.detail for event in events}
    assert "kept as c004__confidence.json.corrupt" in told["set-aside"]
    assert "capacity: expected 7, found 5" == told["other-task"]
    assert (18, 2) == (summary.reused, summary.answered)
    assert summary.complete


def test_answer_too_large_for_a_row(store: RowStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that no row can hold fails its row; the run goes on."""
    monkeypatch.setattr("deermem_qa.store.MAX_ROW_BYTES", 10_000)
    provider = Scripted(lambda task: Answer("x" * (20_000 if task is TASKS[0] else 1)))
    summary = run_tasks(TASKS, store, provider, workers=1)
    assert [TASKS[0].row_id] == [failure.row_id for failure in summary.failed]
    assert 19 == summary.answered


@pytest.mark.parametrize("where", ["provider", "callback"])
def test_what_nobody_expects(store: RowStore, where: str) -> None:
    """An unforeseen exception ends the run as a stop does, and is raised where it was called."""

    def burst(task: Task) -> Answer:
        if where == "provider" and task is TASKS[5]:
            raise ZeroDivisionError
        return Answer("yes")

    def on_event(event: Event) -> None:
        if where == "callback" and event.row_id == TASKS[5].row_id:
            raise ZeroDivisionError

    provider = Scripted(burst)
    with pytest.raises(ZeroDivisionError):
        run_tasks(TASKS, store, provider, workers=1, on_event=on_event)
    answered = set(provider.asked) - ({TASKS[5].row_id} if where == "provider" else set())
    assert answered == stored(store)
    assert run_tasks(TASKS, store, Scripted(), workers=1).complete


def test_bad_row_id(store: RowStore) -> None:
    """An id that cannot name a file is refused before its call."""
    from attrs import evolve

    provider = Scripted()
    with pytest.raises(RunError, match="its id names a file"):
        run_tasks([evolve(TASKS[0], row_id="../x")], store, provider, workers=1)
    assert [] == provider.asked


def test_events_come_in_the_calling_thread(store: RowStore) -> None:
    """A progress display needs no lock."""
    threads: set[int] = set()
    run_tasks(
        TASKS,
        store,
        Scripted(),
        workers=3,
        on_event=lambda event: threads.add(threading.get_ident()),
    )
    assert {threading.get_ident()} == threads


def test_order_of_completion_changes_no_byte(tmp_path: Path) -> None:
    """However the answers come in, the same rows are stored with the same bytes."""
    contents = []
    for seed in range(3):
        wait = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()

        def dawdle(task: Task, wait: random.Random = wait) -> Answer:
            time.sleep(wait.uniform(0, 0.005))
            return Answer(f"answer to {task.row_id}")

        shuffled = list(TASKS)
        wait.shuffle(shuffled)
        run_tasks(shuffled, RowStore(folder), Scripted(dawdle), workers=4, now=lambda: NOW)
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert 20 == len(contents[0])
    assert contents[0] == contents[1] == contents[2]
