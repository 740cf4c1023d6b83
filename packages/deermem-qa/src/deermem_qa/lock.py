"""The lock on a run's folder: one writer at a time, released by the system when it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from .errors import RunError

LOCK_FILE = ".lock"


class LockHeld(RunError):  # noqa: N818  (a state of the folder)
    """Another process holds the folder. The command exits with 3."""


@contextlib.contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the folder exclusively; the lock is the system's, so that a killed holder loses it.

    Raises:
        LockHeld: another process holds it.
        RunError: the folder cannot be written, or its file system has no locks.
    """
    path = folder / LOCK_FILE
    try:
        handle = _acquire(path)
    except BlockingIOError:
        raise LockHeld(
            f"{folder}: another run holds it{_holder(path)}; wait for it, or name another folder"
        ) from None
    except OSError as exc:
        raise RunError(f"{path}: cannot be locked: {exc.strerror or exc}") from exc
    try:
        with contextlib.suppress(OSError):  # a full disk; the number is a courtesy
            os.truncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode("ascii"))
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


def _acquire(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder before may have removed the file between our opening and locking it.
            if os.fstat(handle).st_ino == path.stat().st_ino:
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _holder(path: Path) -> str:
    try:
        number = int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return ""
    return f" (process {number})"
