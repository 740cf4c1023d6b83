"""The errors of this package, and how a call to a provider can end without an answer.

- `deermem_data.DeermemError`: a wrong input, named; the command prints it and exits with 2
    - `ProviderError`: a provider's settings or its file
    - `RunError`: a run's folder, or its fit to what is asked now
- `CallFailed`: one row has no answer; the run goes on
- `RunStopped`: every further call would end the same way; the run stops, resumable

Their texts hold no key, no user info, and nothing a server sent.
"""

from __future__ import annotations

from deermem_data import DeermemError


class ProviderError(DeermemError):
    """A provider cannot be set up: a setting is missing or wrong, or a file is malformed."""


class RunError(DeermemError):
    """A run cannot begin or go on: its folder, its identity or its rows do not fit."""


class _NoAnswer(Exception):  # noqa: N818  (an outcome, not an error of the caller's)
    """A call that gave no answer.

    Attributes:
        reason: one line, safe to show and to store.
        attempts: the calls made for this answer, 0 where it was given up before the first.
    """

    def __init__(self, reason: str, attempts: int) -> None:
        super().__init__(reason, attempts)
        self.reason = reason
        self.attempts = attempts

    def __str__(self) -> str:
        return self.reason


class CallFailed(_NoAnswer):
    """This row has no answer. It is listed, not stored, and asked for again by the next run."""


class RunStopped(_NoAnswer):
    """The endpoint refuses the whole run, or asks to wait longer than the run will."""
