"""`deermem run-qa`: ask for every answer, resumably."""

from __future__ import annotations

import argparse
import contextlib
import os
import threading
from pathlib import Path

from attrs import asdict

from deermem_data import DeermemError, Protocol, build_cases
from deermem_qa import ROWS_FILE, LockHeld, Provider
from deermem_qa.lexical_reader import LexicalReader
from deermem_qa.openai_compatible import OpenAICompatibleProvider
from deermem_qa.replay import Replay
from deermem_qa.settings import settings_from_environment

from ..contracts import check_grader
from ..inputs import read_dataset, read_protocol, read_selector
from ..model import with_model
from ..parser import EXIT_LOCKED
from ..qa_run import exit_status, run_qa, summary_lines
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run or resume; print what was done."""
    protocol = with_model(read_protocol(arguments), arguments.model)
    check_grader(protocol)
    stop = threading.Event()
    with contextlib.closing(_provider(arguments, protocol, stop)) as provider:
        selector = read_selector(arguments, protocol)
        dataset = read_dataset(arguments, protocol)
        cases = build_cases(protocol, dataset)
        folder = Path(arguments.output_dir)
        try:
            summary = run_qa(
                folder, protocol, dataset, cases, selector, provider, terminal, stop=stop
            )
        except LockHeld as exc:
            terminal.error(f"deermem: error: {exc}")
            return EXIT_LOCKED
    document = {
        "output_dir": str(folder),
        "provider": provider.identity(),
        "complete": summary.complete,
        **asdict(summary),
    }
    # Once its answers are published a run takes no further one.
    resumable = not (folder / ROWS_FILE).exists()
    terminal.result(document, *summary_lines(summary, resumable=resumable))
    return exit_status(summary)


def _provider(arguments: argparse.Namespace, protocol: Protocol, stop: threading.Event) -> Provider:
    if arguments.provider != "replay" and arguments.replay:
        raise DeermemError("run-qa: --replay goes with --provider replay")
    if arguments.provider == "lexical-reader-v1":
        return LexicalReader()
    if arguments.provider == "replay":
        if not arguments.replay:
            raise DeermemError("run-qa: --provider replay needs --replay ROWS.jsonl")
        return Replay(Path(arguments.replay))
    qa = protocol.config.qa
    settings = settings_from_environment(os.environ, qa, allow_http=arguments.allow_http)
    return OpenAICompatibleProvider(
        settings.endpoint,
        settings.api_key,
        timeout_seconds=qa.timeout_seconds,
        max_attempts=qa.max_attempts,
        accept_empty=arguments.accept_empty,
        trust_env=arguments.trust_env,
        stop=stop,
    )
