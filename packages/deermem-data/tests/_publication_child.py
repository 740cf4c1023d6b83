"""Run by the tests in a process of its own: publish, and be killed or refused on the way.

    python _publication_child.py count FOLDER
    python _publication_child.py kill FOLDER STEP
    python _publication_child.py refuse FOLDER WAY

`count` prints how many file-system steps a publication takes; `kill` kills itself just before
step STEP (from 0); `refuse` lets the system refuse (`size`: no file may grow; `user`: an
unprivileged user; `appear`: the folder appears, with a file in it, just before it would be made;
`take`: one of the names is taken just before the folder, which is there, is locked;
`write`: as `size`, for one file) and prints the error.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

from deermem_data import ArtifactError, publish_new, write_file

FILES = {"a.json": b"first " * 3000, "b.jsonl": b"second " * 3000, "c.json": b"third\n" * 3000}
# What changes a folder or a file; reading does not.
STEPS = {"os.mkdir", "os.rename", "os.symlink", "os.remove", "os.rmdir", "os.truncate"}


def publish_in_steps(folder: Path, kill_at: int | None) -> int:
    """Publish, and return the number of steps, unless killed before one."""
    steps = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        writes = event == "open" and bool(int(arguments[2]) & (os.O_WRONLY | os.O_RDWR))  # type: ignore[call-overload]
        if writes or event in STEPS:
            if steps == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            steps += 1

    sys.addaudithook(watch)
    publish_new(folder, FILES)
    return steps


def refuse(folder: Path, way: str) -> None:
    """Publish where the system refuses; print the error."""
    if way == "appear":

        def appear(event: str, arguments: tuple[object, ...]) -> None:
            if event == "os.rename" and str(arguments[1]) == str(folder):
                folder.mkdir()
                (folder / "other").touch()

        sys.addaudithook(appear)
    if way == "take":

        def take(event: str, _arguments: tuple[object, ...]) -> None:
            if event == "fcntl.flock":
                (folder / "b.jsonl").write_bytes(b"mine")

        sys.addaudithook(take)
    if way in {"size", "write"}:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (7000, 7000))
    if way == "user" and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        if way == "write":
            write_file(folder, FILES["a.json"])
        publish_new(folder, FILES)
    except ArtifactError as exc:
        print(exc)
    else:
        sys.exit("published")


def main() -> None:
    """Read the command line."""
    command, folder, *rest = sys.argv[1:]
    if command == "count":
        print(publish_in_steps(Path(folder), None))
    elif command == "kill":
        # One process for all steps: each child is a copy that is really killed.
        template, steps = Path(folder), int(rest[0])
        for step in range(steps):
            child = os.fork()
            if child == 0:
                publish_in_steps(Path(f"{template}{step}"), step)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else "ended")
    else:
        refuse(Path(folder), rest[0])


if __name__ == "__main__":
    main()
