"""A real HTTP server on loopback that answers, or fails, by script.

Each request is met by an action: a function that is given the conversation and the request, and
returns whether the connection may serve another one. A script is a list of actions, one per request
in order of arrival, the last one repeated; or a function from a request to an action.

Nothing secret is kept: of the headers only the names, of the authorization only a hash.

As a program it prints its base URL and serves until its standard input ends:

    python fault_server.py --delay 0.1 --log requests.txt [--status 503] [--answer TEXT]
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Received:
    """A request as it came in; `number` counts from 1, over all connections."""

    number: int
    method: str
    target: str
    header_names: tuple[str, ...]
    authorization_sha256: str | None
    content_type: str | None
    accept_encoding: str | None
    cookie: bool
    body: bytes


@dataclass
class Conversation:
    """One request's connection; `head` is its raw head, which only `echo` uses."""

    connection: socket.socket
    head: bytes
    closing: threading.Event

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def reset(self) -> bool:
        """Close so that the other side gets a reset rather than an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        return False

    def pause(self, seconds: float) -> bool:
        """Wait; return whether the server is still up."""
        return not self.closing.wait(seconds)


Action = Callable[[Conversation, Received], bool]
Script = Sequence[Action] | Callable[[Received], Action]


def completion(content: object, **more: object) -> dict[str, Any]:
    """The document of a chat completion with this content; `more` are top-level keys."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "model": "test-model", "choices": [choice], **more}


def answer(text: object = "an answer", *, delay: float = 0.0, **more: object) -> Action:
    """A chat completion, after `delay` seconds."""
    data = json.dumps(completion(text, **more)).encode("ascii")

    def act(conversation: Conversation, received: Received) -> bool:
        if delay and not conversation.pause(delay):
            return False
        return body(data)(conversation, received)

    return act


def body(
    data: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None, phrase: str = "X"
) -> Action:
    """Any body under any status."""

    def act(conversation: Conversation, received: Received) -> bool:
        fields = {"Content-Length": str(len(data)), **(headers or {})}
        conversation.send(_head(status, fields, phrase) + data)
        return True

    return act


def status(code: int, **headers: str) -> Action:
    """A status with a body that says nothing; `Retry_After="2"` is the header `Retry-After`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return body(b"the server's own words", status=code, headers=named)


def reset_before_headers(conversation: Conversation, received: Received) -> bool:
    """Reset the connection instead of answering."""
    return conversation.reset()


def reset_after_headers(conversation: Conversation, received: Received) -> bool:
    """Promise a body, then reset the connection."""
    conversation.send(_head(200, {"Content-Length": "1000"}) + b'{"choices"')
    conversation.pause(0.05)  # a reset may overtake what was sent just before it
    return conversation.reset()


def close_silently(conversation: Conversation, received: Received) -> bool:
    """End the connection without a byte."""
    return False


def truncated(conversation: Conversation, received: Received) -> bool:
    """Promise more of the body than is sent."""
    data = json.dumps(completion("an answer")).encode("ascii")
    conversation.send(_head(200, {"Content-Length": str(len(data) + 1)}) + data)
    return False


def hang(conversation: Conversation, received: Received) -> bool:
    """Never answer."""
    conversation.closing.wait()
    return False


def drip(interval: float, *, headers_first: bool = True) -> Action:
    """Send a byte every `interval` seconds and never end: of the body, or of the headers."""

    def act(conversation: Conversation, received: Received) -> bool:
        head = _head(200, {"Content-Length": "100000000"})
        conversation.send(head if headers_first else b"HTTP/1.1 200 OK\r\nX-Drip: ")
        while conversation.pause(interval):
            conversation.send(b" " if headers_first else b"x")
        return False

    return act


def echo(conversation: Conversation, received: Received) -> bool:
    """Send the request's own headers back wherever a reply has room for them."""
    said = conversation.head.decode("latin-1")
    secret = next(
        line.split()[-1] for line in said.split("\r\n") if line.lower().startswith("authorization:")
    )
    choice = {"message": {"content": f"you sent {secret}"}, "finish_reason": secret}
    usage = {secret: 1, "total_tokens": 1}
    document = {"model": secret, "choices": [choice], "usage": usage, "error": secret}
    fields = {"X-Echo": secret, "Set-Cookie": f"a={secret}"}
    return body(json.dumps(document).encode(), headers=fields, phrase=secret)(
        conversation, received
    )


def echo_under(code: int) -> Action:
    """As `echo`, under a status of an error or a redirect."""

    def act(conversation: Conversation, received: Received) -> bool:
        secret = conversation.head.decode("latin-1")
        line = " ".join(secret.split())
        fields = {"X-Echo": line, "Location": f"http://127.0.0.1:9/{line}", "Retry-After": line}
        return body(secret.encode(), status=code, headers=fields, phrase=line[:500])(
            conversation, received
        )

    return act


def _head(code: int, fields: Mapping[str, str], phrase: str = "X") -> bytes:
    lines = [f"HTTP/1.1 {code} {phrase}", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@dataclass
class FaultServer:
    """Serves from `start` to `close`; use it as a context.

    Attributes:
        script: what meets each request.
        tls: a context for `https`, or none for `http`.
        on_request: told of each request before it is met, in the connection's thread.
        requests: what came in, in order of arrival.
        most_at_once: the largest number of requests that were open at the same time.
    """

    script: Script
    tls: ssl.SSLContext | None = None
    on_request: Callable[[Received], object] | None = None
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._at_once = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def base_url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/v1"

    @property
    def count(self) -> int:
        """How many requests came in."""
        with self._lock:
            return len(self.requests)

    def __enter__(self) -> FaultServer:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            open_now = list(self._open)
        for connection in open_now:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)

    def _start(self, run: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)
        # A client that goes away is no fault of a server.
        with contextlib.suppress(OSError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls:
                with self.tls.wrap_socket(connection, server_side=True) as secured:
                    self._converse(secured)
            else:
                self._converse(connection)
        with self._lock:
            self._open.discard(connection)

    def _converse(self, connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        with stream:
            while not self._closing.is_set() and (head := b"".join(_head_lines(stream))):
                received = self._register(head, stream)
                try:
                    keep = self._action(received)(
                        Conversation(connection, head, self._closing), received
                    )
                finally:
                    with self._lock:
                        self._at_once -= 1
                if not keep:
                    return

    def _register(self, head: bytes, stream: Any) -> Received:
        request_line, *lines = head.decode("latin-1").strip().split("\r\n")
        method, target, _ = request_line.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        data = stream.read(int(headers.get("content-length", 0)))
        authorization = headers.get("authorization")
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            received = Received(
                number=len(self.requests) + 1,
                method=method,
                target=target,
                header_names=tuple(sorted(headers)),
                authorization_sha256=authorization and _sha256(authorization),
                content_type=headers.get("content-type"),
                accept_encoding=headers.get("accept-encoding"),
                cookie="cookie" in headers,
                body=data,
            )
            self.requests.append(received)
        if self.on_request:
            self.on_request(received)
        return received

    def _action(self, received: Received) -> Action:
        if callable(self.script):
            return self.script(received)
        return self.script[min(received.number, len(self.script)) - 1]


def _head_lines(stream: Any) -> Iterator[bytes]:
    for line in iter(stream.readline, b""):
        if line == b"\r\n":
            return
        yield line


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("latin-1")).hexdigest()


def main(arguments: Iterable[str]) -> None:
    """Serve one action for ever; see the top."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--answer", default="an answer")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--status", type=int)
    parser.add_argument("--log", type=Path, help="gets the SHA-256 of each request's body, a line")
    given = parser.parse_args(list(arguments))
    lock = threading.Lock()

    def note(received: Received) -> None:
        if given.log:
            with lock, given.log.open("a", encoding="ascii") as log:
                log.write(hashlib.sha256(received.body).hexdigest() + "\n")

    action = status(given.status) if given.status else answer(given.answer, delay=given.delay)
    with FaultServer([action], on_request=note) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
