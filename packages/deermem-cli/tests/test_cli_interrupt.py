"""A run that is interrupted: status 130, and nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

# A shell that starts a job in the background has it ignore SIGINT; this process may be such a job.
RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from deermem_cli.main import main
sys.exit(main(sys.argv[1:]))
"""

# A user's policy that waits in the middle of the run, when ten decisions are made.
SLOW_DECISION = """
import pathlib, time
from deermem_select.reference import select_facts_for_capacity
calls = []
def select(facts, **arguments):
    calls.append(1)
    if len(calls) == 10:
        pathlib.Path("waiting").touch()
        time.sleep(100)
    return select_facts_for_capacity(facts, **arguments)
"""

# A disk that waits at the second file it is asked to flush: one is written, the set is not.
SLOW_DISK = """
import os, pathlib, time
from deermem_select.reference import select_facts_for_capacity
flush, calls = os.fsync, []
def fsync(descriptor):
    calls.append(1)
    if len(calls) == 2:
        pathlib.Path("waiting").touch()
        time.sleep(100)
    flush(descriptor)
os.fsync = fsync
def select(facts, **arguments):
    return select_facts_for_capacity(facts, **arguments)
"""

ARGUMENTS = (
    *("run-policy", "--protocol", "mini-v1"),
    *("--selector", "waiting_policy:select", "--output-dir", "out/run"),
)


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Callable[[str], subprocess.Popen[str]]:
    """Start a run with a policy that waits; returns the process once it does."""

    def begin(policy: str) -> subprocess.Popen[str]:
        (tmp_path / "waiting_policy.py").write_text(policy, encoding="utf-8")
        paths = [str(tmp_path), *filter(None, [environment.get("PYTHONPATH")])]
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *ARGUMENTS],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while not (tmp_path / "waiting").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return process

    return begin


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("policy", [SLOW_DECISION, SLOW_DISK], ids=["deciding", "writing"])
def test_interrupted_run_leaves_nothing(
    start: Callable[[str], subprocess.Popen[str]],
    tmp_path: Path,
    policy: str,
    number: signal.Signals,
) -> None:
    """Ctrl-C and SIGTERM end a run with 130 and one line; not even a part of a file stays."""
    process = start(policy)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "deermem: interrupted\n")
    left = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    expected = ["waiting", "waiting_policy.py"]
    assert expected == sorted(name for name in left if "__pycache__" not in name)
    assert not (tmp_path / "out/run").exists()
