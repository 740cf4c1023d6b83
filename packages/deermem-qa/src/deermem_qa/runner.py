"""The runner: answers tasks with several threads, stores each answer, and can stop at any point."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Literal

from attrs import define, field, frozen

from deermem_data import ArtifactError, iso_z

from .answer_row import AnswerRow
from .errors import CallFailed, RunError, RunStopped
from .provider import Provider
from .store import RowStore
from .task import Task

EventKind = Literal["reused", "answered", "failed", "set-aside", "other-task"]
StopKind = Literal["interrupted", "provider", "storage"]

_INTERRUPTED = "asked to stop; the answers under way are stored"


@frozen
class Event:
    """What happened to a task, for a progress display.

    `reused`: stored rows are the answers of `count` tasks, `row_id` the last of them. `answered`:
    an answer was got and stored. `failed`: none was got. Before a call: `set-aside`, its file was
    no row; `other-task`, its file was another request's row. `detail` says more in one line.
    """

    kind: EventKind
    row_id: str
    detail: str = ""
    count: int = 1


@frozen
class Failure:
    """A task without an answer, why, and the calls made for it."""

    row_id: str
    reason: str
    attempts: int


@frozen
class Stop:
    """Why a run ended before its tasks did.

    `interrupted`: it was asked to stop. `provider`: the provider said that no call can succeed.
    `storage`: an answer could not be stored. `row_id` is the task in hand, if there was one.
    """

    kind: StopKind
    reason: str
    row_id: str | None = None


@frozen
class RunSummary:
    """What a run did.

    Attributes:
        reused: tasks whose stored row was taken.
        answered: tasks answered and stored in this run.
        failed: tasks without an answer, in the order they failed.
        set_aside: (row id, what was wrong) of files that were no rows.
        attempts: calls made, those of failed tasks included.
        usage: the counts of this run's answers, summed by name.
        remaining: tasks that have no row because the run stopped before or while asking.
        stopped: why it stopped early; `None` where every task was tried.
        seconds: how long it took.
    """

    reused: int
    answered: int
    failed: tuple[Failure, ...]
    set_aside: tuple[tuple[str, str], ...]
    attempts: int
    usage: dict[str, int]
    remaining: int
    stopped: Stop | None
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether every task has a stored row."""
        return not self.failed and not self.remaining and self.stopped is None


def run_tasks(
    tasks: Iterable[Task],
    store: RowStore,
    provider: Provider,
    *,
    workers: int,
    stop: threading.Event | None = None,
    on_event: Callable[[Event], None] | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> RunSummary:
    """Answer every task that has no row of its own yet, and store each answer as it comes.

    At most `workers` calls are under way; an answer is stored before its thread takes the next
    task, so that a run killed at any point repeats at most those.

    Args:
        tasks: consumed one by one, by one thread at a time.
        workers: threads, 1 or more.
        stop: once set, no new call is begun; answers under way are still stored.
        on_event: called in the calling thread; what it raises ends the run as `stop` does, and is
            then raised.
        now: the clock of `created_at`.

    Returns:
        The summary, also where the run stopped early.

    Raises:
        RunError: a row's id cannot be a file's name, or a file cannot be set aside.
    """
    if workers < 1:
        raise RunError(f"workers: expected 1 or more, found {workers}")
    return _Run(iter(tasks), store, provider, stop or threading.Event(), now).run(workers, on_event)


@frozen
class _Report:
    """What a worker tells of one task, and what that adds to the sums."""

    event: Event
    attempts: int = 0
    usage: dict[str, int] = field(factory=dict)


@frozen
class _Stopped:
    """A worker ends the run."""

    stop: Stop
    attempts: int


@frozen
class _Finished:
    """A worker's last word; `error` is what it did not expect."""

    error: BaseException | None = None


_Queue = SimpleQueue[_Report | _Stopped | _Finished]


@define
class _Reused(contextlib.AbstractContextManager["_Reused"]):
    """Rows found stored, told some at a time: telling takes longer than finding."""

    reports: _Queue
    count: int = 0
    row_id: str = ""

    def add(self, row_id: str) -> None:
        self.count += 1
        self.row_id = row_id
        if self.count == 250:
            self.__exit__()

    def __exit__(self, *_: object) -> None:
        if self.count:
            self.reports.put(_Report(Event("reused", self.row_id, count=self.count)))
            self.count = 0


@frozen(eq=False)
class _Run:
    """One run: its threads report to the calling thread, which alone keeps the books."""

    tasks: Iterator[Task]
    store: RowStore
    provider: Provider
    stop: threading.Event
    now: Callable[[], datetime]
    taking: threading.Lock = field(factory=threading.Lock, init=False)
    halted: threading.Event = field(factory=threading.Event, init=False)
    reports: _Queue = field(factory=SimpleQueue, init=False)

    def run(self, workers: int, on_event: Callable[[Event], None] | None) -> RunSummary:
        begun = time.monotonic()
        for _ in range(workers):
            # Daemons: a second signal leaves without waiting for them.
            threading.Thread(target=self._work, daemon=True).start()
        books = _Books(workers)
        try:
            books.keep(self.reports, on_event)
        except BaseException:
            self.halted.set()
            books.keep(self.reports, None)
            raise
        if books.error is not None:
            raise books.error
        remaining = books.unstored
        for task in self.tasks:
            if self.store.holds(task):
                books.reused += 1
            else:
                remaining += 1
        stopped = books.stopped
        if stopped is None and remaining:
            stopped = Stop("interrupted", _INTERRUPTED)
        return books.summary(remaining, stopped, time.monotonic() - begun)

    def _work(self) -> None:
        error: BaseException | None = None
        try:
            while (task := self._next()) is not None:
                self._call(task)
        except BaseException as exc:  # noqa: BLE001  (raised again in the calling thread)
            self.halted.set()
            error = exc
        self.reports.put(_Finished(error))

    def _next(self) -> Task | None:
        """The next task that has no row of its own."""
        with self.taking, _Reused(self.reports) as reused:
            while not (self.halted.is_set() or self.stop.is_set()):
                task = next(self.tasks, None)
                if task is None:
                    return None
                found = self.store.find(task)
                if found.row is not None:
                    reused.add(task.row_id)
                    continue
                if found.set_aside:
                    self._tell("set-aside", task, f"{found.problem}; kept as {found.set_aside}")
                elif found.problem:
                    self._tell("other-task", task, found.problem)
                return task
        return None

    def _call(self, task: Task) -> None:
        try:
            answer = self.provider.answer(task)
        except CallFailed as exc:
            if self.stop.is_set() and exc.attempts == 0:
                self._end("interrupted", _INTERRUPTED, task, 0)
            else:
                self._tell("failed", task, exc.reason, exc.attempts)
            return
        except RunStopped as exc:
            self._end("provider", exc.reason, task, exc.attempts)
            return
        row = AnswerRow.of_answer(task, answer, iso_z(self.now()))
        try:
            self.store.put(row)
        except ArtifactError as exc:
            self._end("storage", str(exc), task, row.attempts)
        except RunError as exc:
            self._tell("failed", task, str(exc), row.attempts)
        else:
            self._tell("answered", task, attempts=row.attempts, usage=row.usage)

    def _tell(
        self,
        kind: EventKind,
        task: Task,
        detail: str = "",
        attempts: int = 0,
        usage: dict[str, int] | None = None,
    ) -> None:
        self.reports.put(_Report(Event(kind, task.row_id, detail), attempts, usage or {}))

    def _end(self, kind: StopKind, reason: str, task: Task, attempts: int) -> None:
        self.halted.set()
        self.reports.put(_Stopped(Stop(kind, reason, task.row_id), attempts))


@define
class _Books:
    """The sums of a run; grows with what went wrong, not with the number of rows."""

    working: int
    reused: int = 0
    answered: int = 0
    failed: list[Failure] = field(factory=list)
    set_aside: list[tuple[str, str]] = field(factory=list)
    attempts: int = 0
    usage: Counter[str] = field(factory=Counter)
    unstored: int = 0
    stopped: Stop | None = None
    error: BaseException | None = None

    def keep(self, reports: _Queue, on_event: Callable[[Event], None] | None) -> None:
        """Enter the workers' reports until the last one has finished."""
        while self.working:
            match reports.get():
                case _Finished(error):
                    self.working -= 1
                    self.error = self.error or error
                case _Stopped(stop, attempts):
                    self.stopped = self.stopped or stop
                    self.attempts += attempts
                    self.unstored += 1
                case _Report(event, attempts, usage):
                    self.attempts += attempts
                    self.usage.update(usage)
                    self._enter(event, attempts)
                    if on_event is not None:
                        on_event(event)

    def _enter(self, event: Event, attempts: int) -> None:
        match event.kind:
            case "reused":
                self.reused += event.count
            case "answered":
                self.answered += 1
            case "failed":
                self.failed.append(Failure(event.row_id, event.detail, attempts))
            case "set-aside":
                self.set_aside.append((event.row_id, event.detail))

    def summary(self, remaining: int, stopped: Stop | None, seconds: float) -> RunSummary:
        return RunSummary(
            reused=self.reused,
            answered=self.answered,
            failed=tuple(self.failed),
            set_aside=tuple(self.set_aside),
            attempts=self.attempts,
            usage=dict(sorted(self.usage.items())),
            remaining=remaining,
            stopped=stopped,
            seconds=seconds,
        )
