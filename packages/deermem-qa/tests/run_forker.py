"""A program that forks real runs, so that a test can kill each of them without waiting for imports.

It reads one JSON object a line and answers with one:

- `{"run": {"folder": ..., "url": ..., "announce": bool, "file_limit": bytes or null}}` forks a run
  of the mini protocol with three workers; answers `{"pid": ...}`. With `announce` the run itself
  prints `{"ready": pid}` once its signal handlers stand, and `{"summary": ...}` at its end.
- `{"wait": pid}` waits for one; answers `{"status": ...}`: its exit status, or minus its signal.

A run exits as the command does: 0 complete, 1 calls failed, 2 an error, 3 the folder is held,
130 interrupted.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from deermem_data import DeermemError, build_cases, load_dataset, load_protocol
from deermem_qa import LockHeld, RunIdentity, build_tasks, open_run, run_identity, stop_on_signals
from deermem_qa.endpoint import parse_endpoint
from deermem_qa.openai_compatible import OpenAICompatibleProvider
from deermem_select import bind_selector

PROTOCOL = load_protocol("mini-v1")
assert PROTOCOL.embedded_dataset is not None
DATASET = load_dataset(PROTOCOL.embedded_dataset, PROTOCOL)
SELECTOR = bind_selector("reference", protocol=PROTOCOL)
TASKS = build_tasks(PROTOCOL, build_cases(PROTOCOL, DATASET), SELECTOR)


def say(document: dict[str, Any]) -> None:
    os.write(1, json.dumps(document).encode() + b"\n")


def identity(provider: OpenAICompatibleProvider) -> RunIdentity:
    return run_identity(
        PROTOCOL,
        DATASET,
        SELECTOR,
        provider.identity(),
        created_at="2026-08-13T00:00:00Z",
        packages={},
        git=None,
    )


def run(given: dict[str, Any]) -> int:
    stop = threading.Event()
    provider = OpenAICompatibleProvider(
        parse_endpoint(given["url"]),
        "a-key-of-no-account",
        timeout_seconds=60,
        max_attempts=1,
        stop=stop,
    )
    if given.get("file_limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (given["file_limit"],) * 2)
    try:
        with (
            stop_on_signals(stop),
            open_run(Path(given["folder"]), identity(provider)) as opened,
        ):
            if given.get("announce"):
                say({"ready": os.getpid()})
            summary = opened.run(TASKS, provider, workers=3, stop=stop)
    except LockHeld:
        return 3
    except DeermemError as exc:
        say({"error": str(exc)})
        return 2
    if given.get("announce"):
        stopped = summary.stopped and [summary.stopped.kind, summary.stopped.reason]
        counts = {"reused": summary.reused, "answered": summary.answered}
        say({"summary": {**counts, "remaining": summary.remaining, "stopped": stopped}})
    if summary.complete:
        return 0
    return {"interrupted": 130, "storage": 2}.get(
        summary.stopped.kind if summary.stopped else "", 1
    )


def main() -> None:
    for line in sys.stdin:
        command = json.loads(line)
        if "wait" in command:
            _, status = os.waitpid(command["wait"], 0)
            say({"status": os.waitstatus_to_exitcode(status)})
            continue
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                code = run(command["run"])
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        say({"pid": pid})


if __name__ == "__main__":
    main()
