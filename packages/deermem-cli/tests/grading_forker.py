"""A program that grades runs in forked processes, each killed at a given step of its writing.

Called with a folder that holds a complete run of the mini protocol, it reads one JSON object a line
and answers with one:

- `{"steps": true}` grades a copy and answers `{"steps": n}`, how often it changes the file system;
- `{"copy": FOLDER, "kill": n}` grades FOLDER, killed just before its n-th change; answers
  `{"status": ...}`, the exit status or minus the signal.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import evolve

from deermem_cli.grading import grade_run
from deermem_data import build_cases, load_dataset, load_protocol
from deermem_select import bind_selector

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate"}

PROTOCOL = load_protocol("mini-v1")
# The numbers are not looked at here; with few resamples they come quickly.
RESAMPLES: Any = 20
FEW = evolve(PROTOCOL.config.statistics, bootstrap_iterations=RESAMPLES)
PROTOCOL = evolve(PROTOCOL, config=evolve(PROTOCOL.config, statistics=FEW))
assert PROTOCOL.embedded_dataset is not None
DATASET = load_dataset(PROTOCOL.embedded_dataset, PROTOCOL)
CASES = build_cases(PROTOCOL, DATASET)
SELECTOR = bind_selector("reference", protocol=PROTOCOL)


def at_each_change(folder: Path, call: Callable[[], object]) -> None:
    """Call just before each change of the file system below `folder` or beside it."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and _writes(arguments[2])):
            paths = [item for item in arguments if isinstance(item, str | Path)]
            if any(str(path).startswith(str(folder)) for path in paths):
                call()

    sys.addaudithook(hook)


def _writes(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def grade(folder: Path) -> None:
    grade_run(folder, PROTOCOL, DATASET, CASES, SELECTOR)


def forked(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def count_steps(run: Path) -> int:
    reader, writer = os.pipe()

    def work() -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(shutil.copytree(run, Path(scratch) / "run"))
            at_each_change(folder, lambda: os.write(writer, b"."))
            grade(folder)
            os.close(writer)

    assert 0 == forked(work)
    os.close(writer)
    with os.fdopen(reader, "rb") as counted:
        return len(counted.read())


def killed(folder: Path, step: int) -> int:
    left = step

    def count_down() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        at_each_change(folder, count_down)
        grade(folder)

    return forked(work)


def main() -> None:
    for line in sys.stdin:
        command = json.loads(line)
        if "steps" in command:
            answer = {"steps": count_steps(Path(sys.argv[1]))}
        else:
            answer = {"status": killed(Path(command["copy"]), command["kill"])}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
