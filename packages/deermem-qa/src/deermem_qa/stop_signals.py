"""Ctrl-C and SIGTERM: the first asks a run to stop, the second leaves at once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

EXIT_INTERRUPTED = 130


@contextlib.contextmanager
def stop_on_signals(stop: threading.Event) -> Iterator[None]:
    """Set `stop` at the first SIGINT or SIGTERM; at a second one end the process with 130.

    Ending at once is safe: a row's file is there whole or not at all, and the system releases
    the folder's lock. Only the main thread may enter; the handlers before are restored.
    """

    def handle(_signal: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(EXIT_INTERRUPTED)
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
