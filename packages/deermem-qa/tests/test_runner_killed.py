"""Runs in processes of their own, against a real server, killed and interrupted at any moment."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deermem_qa import AnswerRow

TASKS = 90
WORKERS = 3


class Forker:
    """The program `run_forker.py`; see there."""

    def __init__(self) -> None:
        program = Path(__file__).with_name("run_forker.py")
        self._process = subprocess.Popen(
            [sys.executable, str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, folder: Path, url: str, **more: Any) -> int:
        self._send({"run": {"folder": str(folder), "url": url, **more}})
        return int(self.take("pid"))

    def wait(self, pid: int) -> int:
        self._send({"wait": pid})
        return int(self.take("status"))

    def take(self, key: str) -> Any:
        """The value of the next line; which must be one of this key."""
        assert self._process.stdout is not None
        line = json.loads(self._process.stdout.readline())
        assert [key] == list(line), line
        return line[key]

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def _send(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    started = Forker()
    yield started
    started.close()


def stored(folder: Path) -> dict[str, AnswerRow]:
    """Every row file of a run; each must be a whole row."""
    return {
        path.stem: AnswerRow.of_bytes(path.read_bytes())
        for path in (folder / "responses").glob("*.json")
    }


def finish(forker: Forker, folder: Path, url: str) -> None:
    assert forker.wait(forker.start(folder, url)) == 0
    rows = stored(folder)
    assert len(rows) == TASKS
    assert {"an answer"} == {row.prediction for row in rows.values()}
    assert sorted(path.name for path in folder.iterdir()) == ["qa_run.json", "responses"]
    assert all(path.suffix == ".json" for path in (folder / "responses").iterdir())


def test_run_completes(
    forker: Forker, faults: Any, serve: Callable[..., Any], tmp_path: Path
) -> None:
    """90 tasks with 3 workers make 90 requests, 3 at once; a rerun makes none."""
    server = serve(faults.answer("an answer", delay=0.005))
    finish(forker, tmp_path / "run", server.base_url)
    assert server.count == TASKS
    assert server.most_at_once == WORKERS
    finish(forker, tmp_path / "run", server.base_url)
    assert server.count == TASKS


def test_killed_fifty_times(
    forker: Forker, faults: Any, serve: Callable[..., Any], tmp_path: Path
) -> None:
    """SIGKILL at 50 random moments costs at most the calls under way: 3 for each kill."""
    server = serve(faults.answer("an answer", delay=0.03))
    folder = tmp_path / "run"
    moment = random.Random(4789)
    before: dict[str, AnswerRow] = {}
    kills = 0
    for _ in range(50):
        pid = forker.start(folder, server.base_url)
        time.sleep(moment.uniform(0.0, 0.12))
        os.kill(pid, signal.SIGKILL)
        kills += forker.wait(pid) == -signal.SIGKILL
        now = stored(folder)
        # What was stored stays as it was.
        assert before.items() <= now.items()
        before = now
    finish(forker, folder, server.base_url)
    assert kills >= 15, "the run was over before it was killed"
    assert TASKS <= server.count <= TASKS + WORKERS * kills


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_interrupted(
    forker: Forker, faults: Any, serve: Callable[..., Any], tmp_path: Path, number: int
) -> None:
    """An interrupted run stores the answers under way and exits with 130: no call is repeated."""
    server = serve(faults.answer("an answer", delay=0.03))
    folder = tmp_path / "run"
    moment = random.Random(number)
    interrupted = 0
    for _ in range(10):
        pid = forker.start(folder, server.base_url, announce=True)
        assert pid == forker.take("ready")
        time.sleep(moment.uniform(0.0, 0.12))
        os.kill(pid, number)
        summary = forker.take("summary")
        assert len(stored(folder)) == server.count == summary["reused"] + summary["answered"]
        assert server.count + summary["remaining"] == TASKS
        status = forker.wait(pid)
        assert (130 if summary["remaining"] else 0) == status
        interrupted += status == 130
    finish(forker, folder, server.base_url)
    assert interrupted >= 5, "the run was over before it was interrupted"
    assert server.count == TASKS


def test_second_signal_leaves_at_once(
    forker: Forker, faults: Any, serve: Callable[..., Any], tmp_path: Path
) -> None:
    """A second signal ends the process with 130 while its calls are still waiting."""
    asked, release = threading.Semaphore(0), threading.Event()

    def never(conversation: Any, received: Any) -> bool:
        asked.release()
        release.wait(60)
        return False

    server = serve(never)
    folder = tmp_path / "run"
    pid = forker.start(folder, server.base_url, announce=True)
    assert pid == forker.take("ready")
    for _ in range(WORKERS):
        assert asked.acquire(timeout=30)
    os.kill(pid, signal.SIGINT)
    time.sleep(0.1)  # the two must not meet as one
    os.kill(pid, signal.SIGINT)
    assert forker.wait(pid) == 130
    assert server.count == WORKERS
    release.set()
    server.script = [faults.answer("an answer")]
    finish(forker, folder, server.base_url)
    assert server.count == TASKS + WORKERS


def test_two_processes_at_once(
    forker: Forker, faults: Any, serve: Callable[..., Any], tmp_path: Path
) -> None:
    """The second process on a folder exits with 3 without a call: 90 requests, not 180."""
    server = serve(faults.answer("an answer", delay=0.01))
    folder = tmp_path / "run"
    first = forker.start(folder, server.base_url, announce=True)
    assert first == forker.take("ready")
    second = forker.start(folder, server.base_url)
    assert forker.wait(second) == 3
    assert forker.take("summary")["answered"] == TASKS
    assert forker.wait(first) == 0
    assert server.count == TASKS


def test_no_room_for_an_answer(
    forker: Forker, faults: Any, serve: Callable[..., Any], tmp_path: Path
) -> None:
    """A row the file system refuses stops the run with a clear error; stored rows are intact."""
    small, large = faults.answer("an answer"), faults.answer("x" * 100_000)
    server = serve(*[small] * 30, large)
    folder = tmp_path / "run"
    pid = forker.start(folder, server.base_url, announce=True, file_limit=50_000)
    assert pid == forker.take("ready")
    summary = forker.take("summary")
    assert forker.wait(pid) == 2
    kind, reason = summary["stopped"]
    assert kind == "storage"
    assert "cannot be written" in reason
    assert 30 == summary["answered"] == len(stored(folder))
    assert summary["remaining"] == TASKS - 30
    # At most the calls under way followed the one that could not be stored.
    assert 30 < server.count <= 30 + WORKERS
    server.script = [small]
    finish(forker, folder, server.base_url)
