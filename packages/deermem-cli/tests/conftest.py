"""The `deermem` command, called in a process of its own, in this one, and on a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from deermem_cli.main import main

COMMAND = [sys.executable, "-m", "deermem_cli"]


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment of a called command: what Python needs and nothing that deermem reads."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {"HOME": os.devnull, "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="session")
def made_runs(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> Callable[[Path], None]:
    """Copy what commands read into a folder: `demo-run`, and `answered`, which is not graded."""
    made = tmp_path_factory.mktemp("made")
    mini = ("--protocol", "mini-v1", "--selector", "reference")
    for arguments in (
        ("demo", "--output-dir", "demo-run"),
        ("run-qa", *mini, "--provider", "lexical-reader-v1", "--output-dir", "answered"),
    ):
        subprocess.run(
            [*COMMAND, *arguments, "-q"],
            cwd=made,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def copy(folder: Path) -> None:
        for name in ("demo-run", "answered"):
            shutil.copytree(made / name, folder / name)

    return copy


@pytest.fixture
def run(
    tmp_path: Path, environment: dict[str, str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `deermem` in a process of its own, in the test's folder; variables may be added."""

    def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run `deermem` in this process, in the test's folder; returns status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("LONGMEMEVAL_ORACLE_PATH", "DEERMEM_DEERFLOW_PATH", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run_here(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return run_here


@pytest.fixture
def on_terminal(tmp_path: Path, environment: dict[str, str]) -> Callable[..., tuple[int, str]]:
    """Run `deermem` with both streams on a terminal; returns its status and what it showed."""

    def call(*arguments: str, width: int = 100, **variables: str) -> tuple[int, str]:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment | {"TERM": "xterm-256color"} | variables,
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the other side has closed
            while chunk := os.read(master, 65536):
                shown += chunk
        os.close(master)
        return process.wait(timeout=120), shown.decode().replace("\r\n", "\n")

    return call
