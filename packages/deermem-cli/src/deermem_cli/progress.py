"""How far the work is: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from .terminal import Terminal, is_terminal

_SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Counts units of work and says on stderr how fast it goes and how long it will take.

    Args:
        terminal: where to say it; a quiet one hears nothing.
        label: what is counted, e.g. `answers`.
        total: how many there are; `None` where that is not known.
        now: the clock, in seconds; injected by tests.
    """

    def __init__(
        self,
        terminal: Terminal,
        label: str,
        total: int | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._terminal = terminal
        self._label = label
        self._total = total
        self._now = now
        self._done = self._skipped = 0
        self._begun = self._said = now()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._terminal.verbosity >= 0 and is_terminal(self._terminal.stderr):
            self._bar, self._task = _rich_bar(self._terminal, self._label, self._total)
            self._bar.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _exception: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, count: int = 1) -> None:
        """Count `count` more units as done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, rate=f"{self._rate():.1f}/s")
        elif self._now() - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = self._now()
            self._terminal.say(self.line())

    def skip(self, count: int) -> None:
        """Count `count` units that needed no work: they say nothing about its speed."""
        self._done += count
        self._skipped += count
        if self._bar is not None:
            self._bar.reset(self._task, completed=self._done)

    def _rate(self) -> float:
        return (self._done - self._skipped) / max(self._now() - self._begun, 1e-9)

    def line(self) -> str:
        """Return the state of the work as one line of plain text."""
        rate = self._rate()
        if self._total is None:
            return f"{self._label}: {self._done} done, {rate:.1f}/s"
        share = f"{self._done} of {self._total}"
        if not rate:
            return f"{self._label}: {share}"
        left = (self._total - self._done) / rate
        return f"{self._label}: {share}, {rate:.1f}/s, {left:.0f} s left"


def _rich_bar(terminal: Terminal, label: str, total: int | None) -> tuple[Any, Any]:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as RichProgress  # noqa: PLC0415

    bar = RichProgress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}" if total else "{task.completed:.0f}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(file=terminal.stderr, highlight=False, force_terminal=True),
        transient=True,
    )
    return bar, bar.add_task(label, total=total, rate="")
