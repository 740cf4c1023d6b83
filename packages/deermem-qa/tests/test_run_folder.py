"""A run's folder: claimed by one identity, held by one process, sealed by publication."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from deermem_data import Dataset, Protocol, build_cases, load_dataset, load_protocol
from deermem_qa import (
    Answer,
    LockHeld,
    RunError,
    RunIdentity,
    Task,
    build_tasks,
    hold_run,
    open_run,
    provider_identity,
    run_identity,
    run_lock,
)
from deermem_select import Selector, bind_selector


class Canned:
    """A stand-in for a provider: answers at once, and counts."""

    name = "canned"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def identity(self) -> dict[str, Any]:
        return provider_identity(self.name)

    def answer(self, task: Task) -> Answer:
        self.asked.append(task.row_id)
        return Answer("yes")

    def close(self) -> None:
        pass


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def made() -> tuple[Protocol, Dataset, Selector, tuple[Task, ...]]:
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    dataset = load_dataset(protocol.embedded_dataset, protocol)
    selector = bind_selector("reference", protocol=protocol)
    return (
        protocol,
        dataset,
        selector,
        build_tasks(protocol, build_cases(protocol, dataset), selector),
    )


@pytest.fixture
def identity(made: tuple[Protocol, Dataset, Selector, tuple[Task, ...]]) -> RunIdentity:
    protocol, dataset, selector, _ = made
    return run_identity(
        protocol,
        dataset,
        selector,
        Canned().identity(),
        created_at="2026-08-13T00:00:00Z",
        packages={},
        git=None,
    )


@pytest.fixture
def tasks(made: tuple[Protocol, Dataset, Selector, tuple[Task, ...]]) -> tuple[Task, ...]:
    return made[3]


def test_begun_and_resumed(identity: RunIdentity, tasks: tuple[Task, ...], tmp_path: Path) -> None:
    """A new folder gets the identity; the same run goes on with the rows that are there."""
    folder, provider = tmp_path / "new" / "run", Canned()
    with open_run(folder, identity) as opened:
        assert not opened.published
        assert opened.run(tasks[:10], provider, workers=2).answered == 10
    assert identity.to_bytes() == (folder / "qa_run.json").read_bytes()
    with open_run(folder, identity) as opened:
        summary = opened.run(tasks, provider, workers=2)
    assert (summary.reused, summary.answered) == (10, 80)
    assert sorted(task.row_id for task in tasks) == sorted(provider.asked)
    assert names(folder) == ["qa_run.json", "responses"]


def test_another_identity_is_refused(identity: RunIdentity, tmp_path: Path) -> None:
    """A folder of another run is not touched."""
    with open_run(tmp_path, identity):
        pass
    before = (tmp_path / "qa_run.json").read_bytes()
    other = RunIdentity.of_document(
        identity.document | {"qa": identity.document["qa"] | {"model": "other"}}
    )
    with pytest.raises(RunError, match="another model"), open_run(tmp_path, other):
        pass
    assert before == (tmp_path / "qa_run.json").read_bytes()


def test_rows_without_identity_are_refused(identity: RunIdentity, tmp_path: Path) -> None:
    """Rows that nothing says the origin of are not taken over."""
    (tmp_path / "responses").mkdir()
    (tmp_path / "responses" / "x.json").write_text("{}", encoding="ascii")
    with (
        pytest.raises(RunError, match="nothing says what they belong to"),
        open_run(tmp_path, identity),
    ):
        pass
    assert not (tmp_path / "qa_run.json").exists()


def test_a_folder_of_other_files_is_shared(identity: RunIdentity, tmp_path: Path) -> None:
    """A policy run's files in the same folder stay."""
    (tmp_path / "summary.json").write_text("{}", encoding="ascii")
    with open_run(tmp_path, identity):
        pass
    assert names(tmp_path) == ["qa_run.json", "responses", "summary.json"]


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_no_folder(identity: RunIdentity, tmp_path: Path, name: str) -> None:
    """A path that cannot be a folder is named."""
    (tmp_path / "file").write_text("", encoding="ascii")
    with (
        pytest.raises(RunError, match="cannot be made or is no folder"),
        open_run(tmp_path / name, identity),
    ):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that cannot be written")
def test_read_only(identity: RunIdentity) -> None:
    """A folder on a file system that takes no files gives a clear error."""
    with (
        pytest.raises(RunError, match=r"/proc/self: |/proc/self/\.lock: cannot be locked"),
        open_run(Path("/proc/self"), identity),
    ):
        pass


def test_half_written_files_are_removed(
    identity: RunIdentity, tasks: tuple[Task, ...], tmp_path: Path
) -> None:
    """What a killed process left half-written goes; rows and set-aside files stay."""
    with open_run(tmp_path, identity) as opened:
        opened.run(tasks[:1], Canned(), workers=1)
    row = f"{tasks[0].row_id}.json"
    for name in (f".{row}.abc123.tmp", f"{row}.corrupt"):
        (tmp_path / "responses" / name).write_text("half", encoding="ascii")
    with open_run(tmp_path, identity):
        pass
    assert [row, f"{row}.corrupt"] == names(tmp_path / "responses")


def test_published_run_asks_nothing(
    identity: RunIdentity, tasks: tuple[Task, ...], tmp_path: Path
) -> None:
    """Where answers are published, rows are reused, but none is added."""
    with open_run(tmp_path, identity) as opened:
        opened.run(tasks[:5], Canned(), workers=1)
    (tmp_path / "qa.rows.jsonl").write_text("", encoding="ascii")
    provider = Canned()
    with open_run(tmp_path, identity) as opened:
        assert opened.published
        complete = opened.run(tasks[:5], provider, workers=1)
        more = opened.run(tasks, provider, workers=1)
    assert complete.complete
    assert (more.reused, more.remaining) == (5, 85)
    assert more.stopped is not None
    assert "is published" in more.stopped.reason
    assert provider.asked == []


def test_held_folder(identity: RunIdentity, tmp_path: Path) -> None:
    """A second holder is refused and told which process holds the folder; then it is free."""
    with open_run(tmp_path, identity):
        for again in (open_run(tmp_path, identity), hold_run(tmp_path)):
            with pytest.raises(LockHeld, match=rf"another run holds it \(process {os.getpid()}\)"):
                again.__enter__()
    with hold_run(tmp_path) as held:
        assert identity == held.identity
    assert not (tmp_path / ".lock").exists()


def test_lock_left_behind(tmp_path: Path) -> None:
    """The file of a holder that was killed does not hold the folder."""
    (tmp_path / ".lock").write_text("1\n", encoding="ascii")
    with run_lock(tmp_path):
        assert f"{os.getpid()}\n" == (tmp_path / ".lock").read_text(encoding="ascii")


def test_lock_is_exclusive_under_contention(tmp_path: Path) -> None:
    """However often it changes hands, no two hold it at once."""
    inside, most, turns = 0, 0, 0
    counting = threading.Lock()

    def contend() -> None:
        nonlocal inside, most, turns
        for _ in range(200):
            try:
                with run_lock(tmp_path):
                    with counting:
                        inside += 1
                        most = max(most, inside)
                        turns += 1
                    with counting:
                        inside -= 1
            except LockHeld:
                pass

    threads = [threading.Thread(target=contend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert turns >= 200 / 4


def test_grading_needs_a_run(tmp_path: Path) -> None:
    """A folder without a run, or no folder, is named."""
    with pytest.raises(RunError, match="not a folder"), hold_run(tmp_path / "none"):
        pass
    with pytest.raises(RunError, match=r"qa_run\.json: cannot be read"), hold_run(tmp_path):
        pass
