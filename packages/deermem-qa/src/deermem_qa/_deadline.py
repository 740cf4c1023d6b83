"""Sockets that all obey one deadline per call.

A timeout per read never ends a body that drips: each byte comes in time. Here every operation of a
call, from connecting to the last byte, is given what is left until the call's deadline.
"""

from __future__ import annotations

import math
import ssl
import threading
from collections.abc import Callable, Iterable
from typing import Any

import httpcore


class DeadlineBackend(httpcore.NetworkBackend):
    """Connections whose operations end at the deadline of the thread that performs them.

    Looking up a host name cannot be cut short; the operation after it is.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._inner = httpcore.SyncBackend()
        self._thread = threading.local()

    def begin(self, seconds: float) -> None:
        """From now on give this thread's operations `seconds`, by the clock, altogether."""
        self._thread.deadline = self._clock() + seconds

    def left(self, timeout: float | None, error: type[httpcore.TimeoutException]) -> float | None:
        """Return an operation's timeout, in seconds, or raise `error` if no time is left."""
        left: float = getattr(self._thread, "deadline", math.inf) - self._clock()
        if left <= 0:
            raise error("the deadline has passed")
        shortest = min(left, math.inf if timeout is None else timeout)
        return None if math.isinf(shortest) else shortest

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect, in the time that is left."""
        left = self.left(timeout, httpcore.ConnectTimeout)
        stream = self._inner.connect_tcp(host, port, left, local_address, socket_options)
        return _DeadlineStream(stream, self)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, backend: DeadlineBackend) -> None:
        self._inner = inner
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._backend.left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._backend.left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._backend.left(timeout, httpcore.ConnectTimeout)
        inner = self._inner.start_tls(ssl_context, server_hostname, left)
        return _DeadlineStream(inner, self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
