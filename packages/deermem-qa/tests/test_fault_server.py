"""The server of the other tests, as a program of its own."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deermem_qa.task import Task


def test_it_runs_as_a_program(ask: Callable[..., Any], task: Task, tmp_path: Path) -> None:
    """It prints its base URL, answers, notes each request, and ends with its input."""
    log = tmp_path / "requests.txt"
    program = [sys.executable, str(Path(__file__).with_name("fault_server.py")), "--log", str(log)]
    with subprocess.Popen(
        [*program, "--answer", "five"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        provider = ask(server.stdout.readline().strip())
        answers = [provider.answer(task).prediction for _ in range(3)]
        server.communicate(timeout=30)
    assert answers == ["five"] * 3
    assert log.read_text().split() == [task.request_fingerprint] * 3
    assert server.returncode == 0


def test_it_counts_what_is_open_at_once(
    serve: Callable[..., Any], faults: Any, ask: Callable[..., Any], task: Task, canary_key: str
) -> None:
    """It tells how many requests were open together, and keeps no secret of them."""
    server = serve(faults.answer())
    ask(server.base_url).answer(task)
    assert server.most_at_once == 1
    assert canary_key not in repr(server.requests)
    assert hashlib.sha256(server.requests[0].body).hexdigest() == task.request_fingerprint
