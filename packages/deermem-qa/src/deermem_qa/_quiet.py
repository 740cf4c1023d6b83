"""Keep what `httpx` and `httpcore` would log of our calls out of every log.

At DEBUG they log response headers and the server's own words, at INFO whole URLs. Their loggers
belong to the process, so nothing is switched off: records made by a thread during a call of ours
are dropped, all others pass.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator

# A filter on a logger does not see what its children log, hence each by its name.
_LOGGERS = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
)


class QuietCalls(logging.Filter):
    """Drops the records of threads that are inside `silence`, from `attach` to `detach`."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record may pass."""
        del record
        return not getattr(self._thread, "silent", False)

    @contextlib.contextmanager
    def silence(self) -> Iterator[None]:
        """Drop what this thread logs in the meantime."""
        self._thread.silent = True
        try:
            yield
        finally:
            self._thread.silent = False

    def attach(self) -> None:
        """Begin to filter."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def detach(self) -> None:
        """Leave the loggers as they were."""
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self)
