"""The error of this package that a user can cause."""

from __future__ import annotations

from deermem_data import DeermemError


class SelectorError(DeermemError):
    """A selector cannot be bound, or what it returned cannot be right."""


def one_line(error: BaseException) -> str:
    """An exception's type and text as one short line."""
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
