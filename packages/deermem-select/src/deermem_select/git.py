"""The git state of one file, for provenance."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_SECONDS = 30


def git_state(file: Path) -> tuple[str | None, bool | None]:
    """The commit that `file` is checked out from, and whether its checkout has tracked changes.

    Both are None where git is missing or does not track the file: a commit that does not hold the
    file says nothing about it (an environment inside some other project's checkout).
    """
    if _git(file, "ls-files", "--error-unmatch", "--", file.name) is None:
        return None, None
    head = _git(file, "rev-parse", "--verify", "HEAD")
    status = _git(file, "status", "--porcelain", "--untracked-files=no")
    if head is None or status is None:
        return None, None
    return head.strip(), bool(status.strip())


def _git(file: Path, *arguments: str) -> str | None:
    # GIT_DIR and its kin would answer for another repository than the file's.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # Nothing is written into the user's checkout, and no hook of it is started.
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=file.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
