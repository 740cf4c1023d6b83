"""A run's folder: locked, bound to one identity, with its row store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from deermem_data import recover_publication, write_file

from .errors import RunError, RunStopped
from .identity import RUN_FILE, RunIdentity, read_identity, require_unchanged
from .lock import run_lock
from .provider import Answer, Provider
from .runner import RunSummary, run_tasks
from .store import RESPONSES, RowStore
from .task import Task

#: The file whose presence says that a run's answers are graded and published.
ROWS_FILE = "qa.rows.jsonl"


@frozen
class RunFolder:
    """A folder held by this process.

    Attributes:
        identity: what its `qa_run.json` says.
        published: whether its answers are published, so that none may be added or replaced.
    """

    path: Path
    identity: RunIdentity
    store: RowStore
    published: bool

    def run(self, tasks: Iterable[Task], provider: Provider, **options: Any) -> RunSummary:
        """`run_tasks` with this folder's store; a published run asks for no further answer."""
        asked = _Sealed(self.path, provider) if self.published else provider
        return run_tasks(tasks, self.store, asked, **options)


@frozen
class _Sealed:
    """A provider that is not asked, because the run's answers are published."""

    folder: Path
    provider: Provider

    @property
    def name(self) -> str:
        return self.provider.name

    def identity(self) -> dict[str, Any]:
        return self.provider.identity()

    def answer(self, task: Task) -> Answer:
        raise RunStopped(
            f"{self.folder}: {ROWS_FILE} is published and {task.row_id} has no stored answer of "
            "its own; results are never overwritten: name another folder",
            attempts=0,
        )

    def close(self) -> None:
        self.provider.close()


@contextlib.contextmanager
def open_run(folder: Path, identity: RunIdentity) -> Iterator[RunFolder]:
    """Begin a run in `folder`, or go on with the one that is there; hold it meanwhile.

    Args:
        folder: made where absent; may hold other files, such as a policy run's.
        identity: the run's identity now; written where the folder has none.

    Raises:
        LockHeld: another process holds the folder.
        RunError: the folder holds a run of another identity, or is no usable folder.
        ArtifactError: the file system refuses to write.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise RunError(
            f"{folder}: cannot be made or is no folder: {exc.strerror or exc}; name another folder"
        ) from exc
    with run_lock(folder):
        recover_publication(folder)
        yield _claim(folder, identity)


@contextlib.contextmanager
def hold_run(folder: Path) -> Iterator[RunFolder]:
    """Hold the folder of a run that was begun before, to grade it; its identity is not compared.

    Raises:
        LockHeld: another process holds the folder.
        RunError: there is no run in it.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: not a folder; name the output folder of `run-qa`")
    with run_lock(folder):
        recover_publication(folder)
        yield _opened(folder, read_identity(folder))


def _claim(folder: Path, identity: RunIdentity) -> RunFolder:
    responses = folder / RESPONSES
    if (folder / RUN_FILE).exists():
        stored = read_identity(folder)
        require_unchanged(folder, stored, identity)
    elif responses.is_dir() and any(responses.iterdir()):
        raise RunError(
            f"{folder / RUN_FILE}: is not there, but {RESPONSES}/ holds answers, and nothing says "
            "what they belong to; restore it, or name another folder"
        )
    else:
        stored = identity
        write_file(folder / RUN_FILE, identity.to_bytes())
    try:
        responses.mkdir(exist_ok=True)
    except OSError as exc:
        raise RunError(f"{responses}: cannot be made: {exc.strerror or exc}") from exc
    opened = _opened(folder, stored)
    opened.store.tidy()
    return opened


def _opened(folder: Path, stored: RunIdentity) -> RunFolder:
    store = RowStore(folder / RESPONSES)
    return RunFolder(folder, stored, store, published=(folder / ROWS_FILE).exists())
