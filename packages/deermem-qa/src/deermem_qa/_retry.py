"""Attempts at one answer: which faults are tried again, how often, and after what wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt
from tenacity.stop import stop_when_event_set
from tenacity.wait import wait_base

from ._fault import Fault

T = TypeVar("T")
INTERRUPTED = Fault("given up: the run is stopping", "fail")


class wait_as_asked(wait_base):  # noqa: N801  (named as tenacity names its own)
    """Wait what the last fault asks for, and never less than the pause, in seconds."""

    def __init__(self, pause_seconds: float) -> None:
        self.pause_seconds = pause_seconds

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the wait after the attempt that `retry_state` describes."""
        return max(self.pause_seconds, _last_result(retry_state).wait_seconds)


def with_retries(
    attempt: Callable[[], T | Fault],
    *,
    max_attempts: int,
    pause_seconds: float,
    sleep: Callable[[float], object],
    stop: threading.Event,
) -> tuple[T | Fault, int]:
    """Return the answer, or the last fault, and how many calls were made.

    Once `stop` is set no further call is made: a wait that `sleep` ends early is followed by none.
    """
    calls = 0

    def once() -> T | Fault:
        nonlocal calls
        if stop.is_set():
            return INTERRUPTED
        calls += 1
        return attempt()

    retrying = Retrying(
        retry=retry_if_result(lambda result: isinstance(result, Fault) and result.then == "retry"),
        stop=stop_after_attempt(max_attempts) | stop_when_event_set(stop),
        wait=wait_as_asked(pause_seconds),
        sleep=lambda seconds: _discard(sleep(seconds)),
        retry_error_callback=_last_result,
    )
    return retrying(once), calls


def _last_result(retry_state: RetryCallState) -> Fault:
    assert retry_state.outcome is not None
    fault: Fault = retry_state.outcome.result()
    return fault


def _discard(_: object) -> None:
    return None
