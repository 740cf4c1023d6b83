"""The provider `openai-compatible`: chat completions over HTTP, one blocking call per attempt.

How a call can end (design: the runner):

- answered: any 2xx whose body holds an answer;
- tried again, `max_attempts` in all, then `CallFailed`: a broken connection, the deadline, 408,
  409, 425, 429, any 5xx, a body that is not JSON, too large, or without an answer;
- `CallFailed` at once: 413, 414, 422, 431, 451, which speak of this request alone;
- `RunStopped` at once: every other 4xx, a redirect, a certificate that does not verify, a
  `Retry-After` beyond the cap, an endpoint that sends the key back.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._deadline import DeadlineBackend
from ._fault import CALL_EXCEPTIONS, Fault, exception_fault, status_fault
from ._quiet import QuietCalls
from ._reply import Reply, read_reply
from ._retry import with_retries
from ._retry_after import retry_after_seconds
from ._transport import make_client
from .endpoint import Endpoint
from .errors import CallFailed, ProviderError, RunStopped
from .provider import Answer, provider_identity
from .settings import check_api_key
from .store import MAX_ROW_BYTES

if TYPE_CHECKING:
    from .task import Task

# Between two attempts, in seconds (design: the protocol).
PAUSE_SECONDS = 2.0
# The longest Retry-After, in seconds, that a run sits out.
LONGEST_WAIT_SECONDS = 60.0
# The largest body read, 63 MiB: answers have kilobytes, one of 10 MB escaped as \uXXXX still fits,
# and what is read fits into a row, whose JSON is never longer but for its other keys.
MAX_BODY_BYTES = MAX_ROW_BYTES - 2**20
# Shorter keys ("none", "ollama") are words that a URL or an answer may well hold.
_SECRET_LENGTH = 16


class OpenAICompatibleProvider:
    """Asks a chat-completions endpoint.

    The body sent is the task's request as JSON, the very bytes its fingerprint is taken of. The
    key is sent as a bearer token and is in no message, log, `repr` or file.
    """

    name = "openai-compatible"

    def __init__(
        self,
        endpoint: Endpoint,
        api_key: str,
        *,
        timeout_seconds: float,
        max_attempts: int,
        accept_empty: bool = False,
        trust_env: bool = False,
        stop: threading.Event | None = None,
        pause_seconds: float = PAUSE_SECONDS,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
        max_body_bytes: int = MAX_BODY_BYTES,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Check the key and prepare; nothing is called yet.

        Args:
            endpoint: from `parse_endpoint` or `settings_from_environment`.
            api_key: the bearer token.
            timeout_seconds: for one attempt, from connecting to the last byte of the body.
            max_attempts: calls for one answer, 1 or more.
            accept_empty: whether an empty or null answer is an answer.
            trust_env: whether proxies and certificates of the environment are used.
            stop: set by anyone when the run is stopping; waits end, no further call is made.
            pause_seconds: the wait between two attempts, at least.
            longest_wait_seconds: a `Retry-After` beyond it stops the run.
            max_body_bytes: a larger body is no answer.
            sleep: waits that many seconds; by default until then or until `stop` is set.
            clock: monotonic seconds, for deadlines.
            now: seconds since the epoch, for dates in `Retry-After`.

        Raises:
            ProviderError: the key cannot be sent, or stands in the URL; or the environment's
                proxy is not one that can be used.
        """
        check_api_key(api_key)
        self._secret = api_key if len(api_key) >= _SECRET_LENGTH else None
        # A host is lower-cased in a URL, and a name that is looked up is no secret any more.
        if self._secret and self._secret.lower() in endpoint.url.lower():
            raise ProviderError("base URL: it holds the API key; give the key in its own setting")
        self._endpoint = endpoint
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Authorization": f"Bearer {api_key}",
            "Content-Type": "application/json",
            "User-Agent": "deermem-qa",
        }
        self._timeout = timeout_seconds
        self._max_attempts = max_attempts
        self._accept_empty = accept_empty
        self._stop = stop or threading.Event()
        self._pause = pause_seconds
        self._longest_wait = longest_wait_seconds
        self._max_body = max_body_bytes
        self._sleep = sleep or self._stop.wait
        self._now = now
        self._backend = DeadlineBackend(clock)
        self._client = make_client(endpoint.url, self._backend, trust_env=trust_env)
        self._quiet = QuietCalls()
        self._quiet.attach()

    def __repr__(self) -> str:
        return f"OpenAICompatibleProvider({self._endpoint.shown!r})"

    def identity(self) -> dict[str, Any]:
        """Return the provider's part of `qa_run.json`."""
        return provider_identity(
            self.name, endpoint=self._endpoint.shown, endpoint_sha256=self._endpoint.sha256
        )

    def abandon(self) -> None:
        """End waits between attempts; calls in flight go on, no further one is made."""
        self._stop.set()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._quiet.detach()

    def answer(self, task: Task) -> Answer:
        """Ask for one answer, as often as allowed.

        Raises:
            CallFailed: no attempt gave an answer, or the run is stopping.
            RunStopped: the endpoint refuses every call, or asks to wait too long.
        """
        body = json.dumps(task.request, ensure_ascii=False, sort_keys=True).encode("utf-8")
        result, calls = with_retries(
            lambda: self._attempt(body),
            max_attempts=self._max_attempts,
            pause_seconds=self._pause,
            sleep=self._sleep,
            stop=self._stop,
        )
        if isinstance(result, Reply):
            return Answer(result.text, calls, result.model, result.finish_reason, result.usage)
        outcome = RunStopped if result.then == "stop" else CallFailed
        raise outcome(result.reason, calls)

    def _attempt(self, body: bytes) -> Reply | Fault:
        # Faults are returned, not raised: an exception of httpx holds the request and its headers.
        try:
            self._backend.begin(self._timeout)
            with self._quiet.silence():
                received = self._call(body)
        except CALL_EXCEPTIONS as exc:
            return exception_fault(exc, self._timeout)
        if isinstance(received, Fault):
            return received
        reply = read_reply(received, accept_empty=self._accept_empty)
        if isinstance(reply, Reply) and self._holds_key(reply):
            return Fault("the answer holds the API key: the endpoint sends back the key", "stop")
        return reply

    def _call(self, body: bytes) -> bytes | Fault:
        with self._client.stream(
            "POST",
            self._endpoint.url,
            content=body,
            headers=self._headers,
            timeout=self._timeout,
        ) as response:
            asked = retry_after_seconds(response.headers.get("Retry-After"), self._now())
            if fault := status_fault(response.status_code, asked, self._longest_wait):
                return self._explained(fault, response.status_code)
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                return Fault("the body is compressed, which was not asked for")
            received = bytearray()
            for chunk in response.iter_raw():
                received += chunk
                if len(received) > self._max_body:
                    return Fault(f"the body has more than {self._max_body} bytes")
        return bytes(received)

    def _explained(self, fault: Fault, status: int) -> Fault:
        if status in {401, 403} and self._endpoint.dropped_user_info:
            return Fault(f"{fault.reason}; the user info of the base URL is not sent", fault.then)
        return fault

    def _holds_key(self, reply: Reply) -> bool:
        said = (reply.text, reply.model or "", reply.finish_reason or "", *reply.usage)
        return self._secret is not None and any(self._secret in text for text in said)
