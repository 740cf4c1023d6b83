"""The QA run as the command does it: provider, identity, folder, signals, progress."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from deermem_data import Case, Dataset, Protocol
from deermem_qa import (
    Event,
    Provider,
    RunSummary,
    build_tasks,
    open_run,
    run_identity,
    stop_on_signals,
)
from deermem_select import Selector

from .parser import EXIT_DONE, EXIT_INTERRUPTED, EXIT_NO, EXIT_WRONG_INPUT
from .progress import Progress
from .provenance import created_at, git_document, package_versions
from .terminal import Terminal

_PACKAGES = ("deermem-cli", "deermem-data", "deermem-qa", "deermem-select")


def run_qa(
    folder: Path,
    protocol: Protocol,
    dataset: Dataset,
    cases: tuple[Case, ...],
    selector: Selector,
    provider: Provider,
    terminal: Terminal,
    *,
    stop: threading.Event,
) -> RunSummary:
    """Answer every task that has no stored answer of its own yet.

    Raises:
        LockHeld: another process holds the folder.
        RunError: the folder belongs to another run.
        SelectorError: the selector fails.
        ArtifactError: the folder cannot be written.
    """
    tasks = build_tasks(protocol, cases, selector)
    identity = run_identity(
        protocol,
        dataset,
        selector,
        provider.identity(),
        created_at=created_at(),
        packages=package_versions(*_PACKAGES),
        git=git_document(),
    )
    with (
        stop_on_signals(stop),
        open_run(folder, identity) as held,
        Progress(terminal, "answers", len(tasks)) as progress,
        _announced(stop, terminal),
    ):

        def on_event(event: Event) -> None:
            if event.detail:
                terminal.say(f"{event.row_id}: {event.kind}: {event.detail}")
            if event.kind == "reused":
                progress.skip(event.count)
            elif event.kind in {"answered", "failed"}:
                progress.advance(event.count)

        return held.run(
            tasks, provider, workers=protocol.config.qa.workers, stop=stop, on_event=on_event
        )


@contextlib.contextmanager
def _announced(stop: threading.Event, terminal: Terminal) -> Iterator[None]:
    """Say it once when the run is asked to stop: the calls under way may take minutes.

    By a thread, because a signal may come while something else is being printed.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            if stop.is_set():
                terminal.say("stopping: waiting for the answers under way; again to leave at once")
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def exit_status(summary: RunSummary) -> int:
    """Return the command's exit status after a run."""
    if summary.complete:
        return EXIT_DONE
    stopped = summary.stopped.kind if summary.stopped else ""
    return {"interrupted": EXIT_INTERRUPTED, "storage": EXIT_WRONG_INPUT}.get(stopped, EXIT_NO)


def summary_lines(summary: RunSummary, *, resumable: bool = True) -> list[str]:
    """Return what a run did, for a person.

    Args:
        resumable: whether the same command can go on with an incomplete run.
    """
    usage = ", ".join(f"{count} {name}" for name, count in summary.usage.items())
    counts = (
        f"{summary.reused} reused, {summary.answered} new, {len(summary.failed)} failed, "
        f"{summary.remaining} left; {summary.seconds:.1f} s"
    )
    calls = f"{summary.attempts} ({usage})" if usage else str(summary.attempts)
    lines = [f"{'answers':<12}{counts}", f"{'calls':<12}{calls}"]
    lines += [f"failed      {failure.row_id}: {failure.reason}" for failure in summary.failed]
    if summary.stopped is not None:
        lines.append(f"{'stopped':<12}{summary.stopped.reason}")
    if resumable and not summary.complete:
        lines.append("the same command goes on from here: answers that are stored are kept")
    return lines
