"""The error of this package that a user can cause."""

from __future__ import annotations

from deermem_data import DeermemError


class SelectorError(DeermemError):
    """A selector cannot be bound, or what it returned cannot be right."""


# What a selector's code may raise and a run survives: `SystemExit` is no reason to end in silence.
RAISED = (Exception, SystemExit)


def one_line(error: BaseException) -> str:
    """An exception's type and text as one short line."""
    text = shortened(str(error), 200)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def shortened(text: str, length: int) -> str:
    """A text on one line, cut where it is longer than `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 3]}..."
