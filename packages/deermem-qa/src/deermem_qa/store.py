"""The row store: one file for each answer, whole or absent, reused only by its own task."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from attrs import frozen

from deermem_data import write_file

from ._checks import is_id, shown
from .answer_row import AnswerRow
from .errors import RunError
from .task import Task

RESPONSES = "responses"

#: No row is larger, in bytes; a file that is belongs to something else.
MAX_ROW_BYTES = 64 << 20

# With the suffixes of temporary and set-aside files a name stays below 255 bytes.
_MAX_ROW_ID = 220

_REMEDY = "`run-qa` asks for this answer again"


@frozen
class Found:
    """What stands where a task's row belongs.

    Attributes:
        row: the task's own row, to be reused; else `None`.
        problem: what is wrong with what stands there; `None` where nothing stands there.
        set_aside: the name the file was given, where it was no row at all.
    """

    row: AnswerRow | None = None
    problem: str | None = None
    set_aside: str | None = None


@frozen
class RowStore:
    """The rows below a run's folder; `put` may be called by several threads."""

    folder: Path

    def path_of(self, row_id: str) -> Path:
        """Return the file of a row.

        Raises:
            RunError: the id cannot be a file's name.
        """
        return Path(self._path(row_id))

    def put(self, row: AnswerRow) -> None:
        """Store a row, replacing what stood there.

        Raises:
            ArtifactError: the file system refuses; nothing has changed.
            RunError: the row is larger than any row may be.
        """
        data = row.to_bytes()
        path = self.path_of(row.row_id)
        if len(data) > MAX_ROW_BYTES:
            raise RunError(f"{path}: a row of {len(data)} bytes; expected at most {MAX_ROW_BYTES}")
        write_file(path, data)

    def find(self, task: Task) -> Found:
        """Return the task's row, or what is wrong with the file that stands in its place.

        What is no row is set aside under a name ending in `.corrupt`. A sound row of another
        request stays until an answer replaces it.

        Raises:
            RunError: the id cannot be a file's name, or a file cannot be set aside.
        """
        path = self._path(task.row_id)
        try:
            row = _read(path)
        except FileNotFoundError:
            return Found()
        except ValueError as exc:
            return Found(problem=str(exc), set_aside=_set_aside(Path(path)))
        problem = row.mismatch(task)
        return Found(problem=problem) if problem else Found(row)

    def holds(self, task: Task) -> bool:
        """Whether the task's own row is stored; change nothing."""
        path = self._path(task.row_id)
        try:
            return _read(path).mismatch(task) is None
        except (FileNotFoundError, ValueError):
            return False

    def require(self, task: Task) -> AnswerRow:
        """Return the task's row; change nothing.

        Raises:
            RunError: there is none; the message names file and key.
        """
        row = self.read(task.row_id)
        if problem := row.mismatch(task):
            raise RunError(f"{self.path_of(task.row_id)}: {problem}; {_REMEDY}")
        return row

    def read(self, row_id: str) -> AnswerRow:
        """Return a stored row, whatever task it belongs to; change nothing.

        Raises:
            RunError: there is none; the message names file and key.
        """
        path = self._path(row_id)
        try:
            return _read(path)
        except FileNotFoundError:
            raise RunError(f"{path}: is not there; {_REMEDY}") from None
        except ValueError as exc:
            raise RunError(f"{path}: {exc}; {_REMEDY}") from None

    def strangers(self, row_ids: set[str]) -> list[str]:
        """Return the names of row files that are none of these rows', sorted."""
        known = {f"{row_id}.json" for row_id in row_ids}
        with os.scandir(self.folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.name.endswith(".json")
                and not entry.name.startswith(".")
                and entry.name not in known
            )

    def tidy(self) -> None:
        """Remove what a killed process left half-written."""
        for path in self.folder.glob(".*.tmp"):
            path.unlink(missing_ok=True)

    def _path(self, row_id: str) -> str:
        if not is_id(row_id) or len(row_id) > _MAX_ROW_ID:
            raise RunError(
                f"row {shown(row_id)}: its id names a file: expected 1 to {_MAX_ROW_ID} of "
                "A-Z a-z 0-9 . _ -, not only dots"
            )
        return f"{self.folder}/{row_id}.json"


def _read(path: str) -> AnswerRow:
    """Read a row's file.

    Raises:
        FileNotFoundError: there is none.
        ValueError: what stands there is no row.
    """
    try:
        # Without these two flags a link would be followed and a named pipe waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as exc:
        reason = "is a link" if exc.errno == errno.ELOOP else exc.strerror or str(exc)
        raise ValueError(f"cannot be read: {reason}") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is not a file")
        if status.st_size > MAX_ROW_BYTES:
            raise ValueError(f"{status.st_size} bytes; a row has at most {MAX_ROW_BYTES}")
        data = os.read(handle, status.st_size)
    except OSError as exc:
        raise ValueError(f"cannot be read: {exc.strerror or exc}") from None
    finally:
        os.close(handle)
    return AnswerRow.of_bytes(data)


def _set_aside(path: Path) -> str:
    """Rename a file to a free name ending in `.corrupt`, and return that name."""
    number = 1
    target = path.with_name(f"{path.name}.corrupt")
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{path.name}.{number}.corrupt")
    try:
        path.rename(target)
    except OSError as exc:
        raise RunError(
            f"{path}: cannot be set aside: {exc.strerror or exc}; remove it and run again"
        ) from exc
    return target.name
