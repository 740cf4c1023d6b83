"""What went wrong with one call, in words of our own, and what follows from it.

A reason never quotes the server: no header, no phrase, no body.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from http import HTTPStatus
from typing import Literal

import httpcore
import httpx
from attrs import frozen

# What a call may raise; anything else is a fault of ours and keeps its traceback.
CALL_EXCEPTIONS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpx.HTTPError,
    OSError,
    UnicodeError,
)

# Client errors that another attempt may not meet (design: the runner).
_TRANSIENT = frozenset({408, 409, 425, 429})
# Client errors about this one request's content: the other rows may well be answered.
_ROW_ONLY = frozenset({413, 414, 422, 431, 451})
_REMEDIES = {
    400: "check the model and the parameters of the request",
    401: "check the API key",
    402: "check the balance of the account",
    403: "check the API key and what it may use",
    404: "check the base URL and the model",
}


@frozen
class Fault:
    """Why a call gave no answer.

    Attributes:
        reason: one line, safe to show and to store.
        then: `retry` while attempts are left; `fail` this row; `stop` the run.
        wait_seconds: what the server asked to wait, at least, before the next attempt.
    """

    reason: str
    then: Literal["retry", "fail", "stop"] = "retry"
    wait_seconds: float = 0.0


def status_fault(status: int, wait_seconds: float, longest_wait: float) -> Fault | None:
    """Return the fault that an HTTP status states, `None` for a success.

    Args:
        status: the status code.
        wait_seconds: what `Retry-After` asks for, 0 where it asks for nothing.
        longest_wait: the longest wait, in seconds, that a run sits out.
    """
    if 200 <= status < 300:
        return None
    said = f"HTTP {status}{_phrase(status)}"
    if 300 <= status < 400:
        remedy = "redirects are not followed; give the final URL as the base URL"
        return Fault(f"{said}: {remedy}", "stop")
    if status in _TRANSIENT or not 400 <= status < 500:
        if wait_seconds > longest_wait:
            asked = _seconds(wait_seconds)
            too_long = f"the server asks to wait {asked}, longer than {longest_wait:g} s"
            return Fault(f"{said}: {too_long}; resume the run later", "stop")
        return Fault(said, wait_seconds=wait_seconds)
    if status in _ROW_ONLY:
        return Fault(said, "fail")
    return Fault(f"{said}: {_REMEDIES.get(status, 'check the base URL')}", "stop")


def exception_fault(exc: BaseException, timeout_seconds: float) -> Fault:
    """Return the fault that an exception of a call states."""
    chain = list(_chain(exc))
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            why = link.verify_message
            return Fault(f"the server's certificate does not verify: {why}", "stop")
    if isinstance(exc, httpcore.TimeoutException | httpx.TimeoutException):
        return Fault(f"no complete answer within {timeout_seconds:g} s")
    if isinstance(exc, httpcore.ProxyError | httpx.ProxyError):
        return Fault("the proxy refused the connection")
    if isinstance(exc, httpcore.ProtocolError | httpx.ProtocolError):
        return Fault("the server broke off the answer, or did not speak HTTP")
    where = "connect" if isinstance(exc, httpcore.ConnectError) else "go on with the call"
    return Fault(f"cannot {where}: {_system_reason(chain)}")


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 1e9 else "for years"


def _chain(exc: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        yield exc
        exc = exc.__cause__ or exc.__context__


def _system_reason(chain: list[BaseException]) -> str:
    for link in chain:
        if isinstance(link, socket.gaierror | UnicodeError):
            return "the host name is not known"
        if isinstance(link, ssl.SSLError):
            return "TLS failed; does the server speak https at this address?"
        if isinstance(link, OSError) and link.errno:
            return os.strerror(link.errno)
    return "the connection broke"
