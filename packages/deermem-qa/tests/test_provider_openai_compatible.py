"""Calls to a real server on loopback that fails in every way it can."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import socket
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import httpcore
import pytest
from attrs import frozen

from deermem_qa._deadline import DeadlineBackend
from deermem_qa.endpoint import parse_endpoint
from deermem_qa.errors import CallFailed, ProviderError, RunStopped
from deermem_qa.openai_compatible import OpenAICompatibleProvider
from deermem_qa.provider import Answer
from deermem_qa.task import Task

Ask = Callable[..., OpenAICompatibleProvider]
Serve = Callable[..., Any]

# 2026-08-13T00:00:00Z, a Thursday.
NOW = 1786579200.0


@frozen
class Ends:
    """How an answer ended: in an answer's text or a reason, after so many calls and these waits."""

    kind: type[Answer] | type[CallFailed] | type[RunStopped]
    said: str
    calls: int
    waits: list[float]


def answered(text: str = "an answer", *, waits: list[float] | None = None) -> Ends:
    return Ends(Answer, text, 1 + len(waits or []), waits or [])


def failed(reason: str, *, waits: list[float] | None = None) -> Ends:
    waits = [2.0, 2.0] if waits is None else waits
    return Ends(CallFailed, reason, 1 + len(waits), waits)


def stopped(reason: str) -> Ends:
    return Ends(RunStopped, reason, 1, [])


def _gone(code: int, phrase: str) -> Any:
    return pytest.param(
        lambda faults: [faults.status(code)], failed(f"HTTP {code} ({phrase})"), id=str(code)
    )


def _asked(seconds: str, ends: Ends) -> Any:
    return pytest.param(
        lambda faults: [faults.status(429, Retry_After=seconds), faults.answer()],
        ends,
        id=f"429-{seconds}",
    )


def _said(content: Any, ends: Ends, name: str) -> Any:
    return pytest.param(lambda faults: [faults.answer(content)], ends, id=name)


FAULTS = [
    _said("five", answered("five"), "answer"),
    _said(
        [{"type": "text", "text": "fi"}, {"type": "text", "text": "ve"}], answered("five"), "parts"
    ),
    _said("x" * 10_000_000, answered("x" * 10_000_000), "10-MB"),
    _said("\x1b]0;title\x07\x1b[2J", answered("\x1b]0;title\x07\x1b[2J"), "escape-codes"),
    _said("a\ud800b", answered("a\ufffdb"), "lone-surrogate"),
    _said("a\0b", answered("a\0b"), "NUL"),
    _said("{{QUESTION}}", answered("{{QUESTION}}"), "placeholder"),
    _said("", failed("the answer is empty"), "empty"),
    _said(None, failed("the answer is empty"), "null"),
    pytest.param(
        lambda faults: [faults.status(400)],
        stopped("HTTP 400 (Bad Request): check the model and the parameters of the request"),
        id="400",
    ),
    pytest.param(
        lambda faults: [faults.status(401)],
        stopped(
            "HTTP 401 (Unauthorized): check the API key; the user info of the base URL is not sent"
        ),
        id="401",
    ),
    pytest.param(
        lambda faults: [faults.status(402)],
        stopped("HTTP 402 (Payment Required): check the balance of the account"),
        id="402",
    ),
    pytest.param(
        lambda faults: [faults.status(403)],
        stopped(
            "HTTP 403 (Forbidden): check the API key and what it may use; "
            "the user info of the base URL is not sent"
        ),
        id="403",
    ),
    pytest.param(
        lambda faults: [faults.status(404)],
        stopped("HTTP 404 (Not Found): check the base URL and the model"),
        id="404",
    ),
    pytest.param(
        lambda faults: [faults.status(405)],
        stopped("HTTP 405 (Method Not Allowed): check the base URL"),
        id="405",
    ),
    _gone(408, "Request Timeout"),
    _gone(409, "Conflict"),
    _gone(425, "Too Early"),
    _gone(429, "Too Many Requests"),
    _gone(500, "Internal Server Error"),
    _gone(503, "Service Unavailable"),
    pytest.param(lambda faults: [faults.status(799)], failed("HTTP 799"), id="799"),
    pytest.param(
        lambda faults: [faults.status(422)],
        failed(f"HTTP 422 ({HTTPStatus(422).phrase})", waits=[]),
        id="422",
    ),
    pytest.param(
        lambda faults: [faults.status(413)],
        failed(f"HTTP 413 ({HTTPStatus(413).phrase})", waits=[]),
        id="413",
    ),
    pytest.param(
        lambda faults: [faults.status(500), faults.status(503), faults.answer()],
        answered(waits=[2.0, 2.0]),
        id="500-503-answer",
    ),
    _asked("0", answered(waits=[2.0])),
    _asked("2", answered(waits=[2.0])),
    _asked("7", answered(waits=[7.0])),
    _asked("60", answered(waits=[60.0])),
    _asked("nan", answered(waits=[2.0])),
    _asked("-1", answered(waits=[2.0])),
    _asked("Thu, 13 Aug 2026 00:00:30 GMT", answered(waits=[30.0])),
    _asked("Wed, 12 Aug 2026 00:00:30 GMT", answered(waits=[2.0])),
    _asked(
        "3600",
        stopped(
            "HTTP 429 (Too Many Requests): the server asks to wait 3600 s, longer than 60 s; "
            "resume the run later"
        ),
    ),
    _asked(
        "Thu, 13 Aug 2026 01:00:00 GMT",
        stopped(
            "HTTP 429 (Too Many Requests): the server asks to wait 3600 s, longer than 60 s; "
            "resume the run later"
        ),
    ),
    pytest.param(
        lambda faults: [faults.status(302, Location="/v1/elsewhere"), faults.answer()],
        stopped("HTTP 302 (Found): redirects are not followed; give the final URL as the base URL"),
        id="redirect",
    ),
    pytest.param(
        lambda faults: [faults.reset_before_headers],
        failed("cannot go on with the call: Connection reset by peer"),
        id="reset-before-headers",
    ),
    pytest.param(
        lambda faults: [faults.reset_after_headers],
        failed("cannot go on with the call: Connection reset by peer"),
        id="reset-after-headers",
    ),
    pytest.param(
        lambda faults: [faults.close_silently],
        failed("the server broke off the answer, or did not speak HTTP"),
        id="closed",
    ),
    pytest.param(
        lambda faults: [faults.truncated],
        failed("the server broke off the answer, or did not speak HTTP"),
        id="truncated",
    ),
    pytest.param(
        lambda faults: [lambda talk, _: talk.send(b"SSH-2.0-x\r\n")],
        failed("the server broke off the answer, or did not speak HTTP"),
        id="not-HTTP",
    ),
    pytest.param(
        lambda faults: [faults.body(b"<html>busy</html>"), faults.answer()],
        answered(waits=[2.0]),
        id="HTML-once",
    ),
    pytest.param(
        lambda faults: [faults.body(b"<html>busy</html>")],
        failed("the body is not JSON"),
        id="HTML",
    ),
    pytest.param(
        lambda faults: [faults.body(b"[" * 100_000 + b"]" * 100_000)],
        failed("the body is JSON nested too deep"),
        id="deep-JSON",
    ),
    pytest.param(
        lambda faults: [faults.body(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})],
        failed("the body is compressed, which was not asked for"),
        id="compressed",
    ),
    pytest.param(
        lambda faults: [faults.body(b"", status=204)], failed("the body is not JSON"), id="204"
    ),
    pytest.param(
        lambda faults: [faults.echo],
        stopped("the answer holds the API key: the endpoint sends back the key"),
        id="echo",
    ),
    pytest.param(
        lambda faults: [faults.echo_under(500)],
        failed("HTTP 500 (Internal Server Error)"),
        id="echo-500",
    ),
    pytest.param(
        lambda faults: [faults.echo_under(404)],
        stopped("HTTP 404 (Not Found): check the base URL and the model"),
        id="echo-404",
    ),
    pytest.param(
        lambda faults: [faults.echo_under(307)],
        stopped(
            "HTTP 307 (Temporary Redirect): redirects are not followed; "
            "give the final URL as the base URL"
        ),
        id="echo-307",
    ),
]


def _outcome(provider: OpenAICompatibleProvider, task: Task) -> Answer | CallFailed | RunStopped:
    try:
        return provider.answer(task)
    except (CallFailed, RunStopped) as exc:
        return exc


@pytest.mark.parametrize(("script", "ends"), FAULTS)
def test_how_a_call_ends(
    faults: Any,
    serve: Serve,
    ask: Ask,
    task: Task,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    canary_key: str,
    canary_user: str,
    script: Callable[[Any], list[Any]],
    ends: Ends,
) -> None:
    """Each fault has its outcome, calls and waits, and shows neither key nor user info.

    Looked through are the exception with its whole chain, every log record at the finest level,
    both output streams, the answer, `repr` and identity.
    """
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(("http", "tenacity")):
            caplog.set_level(logging.DEBUG, logger=name)
    server = serve(*script(faults))
    waits: list[float] = []
    provider = ask(server.base_url, waits=waits, now=lambda: NOW)
    shown = [repr(provider), json.dumps(provider.identity())]
    outcome = _outcome(provider, task)
    if isinstance(outcome, Answer):
        found = Ends(Answer, outcome.prediction, outcome.attempts, waits)
    else:
        found = Ends(type(outcome), str(outcome), outcome.attempts, waits)
        shown += traceback.format_exception(outcome)
        assert (outcome.__cause__, outcome.__context__) == (None, None)
    shown.append(repr(outcome))
    assert ends == found
    assert ends.calls == server.count
    shown += [record.getMessage() + str(record.__dict__) for record in caplog.records]
    shown += capfd.readouterr()
    assert [text for text in shown if canary_key in text or canary_user in text] == []
    assert [text for text in shown if "the server's own words" in text] == []


def test_the_request_is_the_fingerprinted_bytes(
    serve: Serve, faults: Any, ask: Ask, task: Task, canary_key: str
) -> None:
    """What is sent is the request whose fingerprint the task has, with the key as bearer token."""
    server = serve(faults.answer("five", usage={"prompt_tokens": 7, "d": {"cached": 3}}))
    expected = Answer("five", 1, "test-model", "stop", {"prompt_tokens": 7, "d.cached": 3})
    assert expected == ask(server.base_url).answer(task)
    (received,) = server.requests
    assert (received.method, received.target) == ("POST", "/v1/chat/completions")
    assert task.request_fingerprint == hashlib.sha256(received.body).hexdigest()
    bearer = hashlib.sha256(f"Bearer {canary_key}".encode()).hexdigest()
    assert bearer == received.authorization_sha256
    assert received.content_type == "application/json"
    assert received.accept_encoding == "identity"


def test_a_query_is_sent(serve: Serve, faults: Any, ask: Ask, task: Task) -> None:
    """The query of the base URL is part of the call."""
    server = serve(faults.answer())
    ask(f"{server.base_url}?api-version=2026-08-13").answer(task)
    assert server.requests[0].target == "/v1/chat/completions?api-version=2026-08-13"


def test_nothing_is_carried_from_call_to_call(
    serve: Serve, faults: Any, ask: Ask, task: Task
) -> None:
    """A cookie that a server sets is not sent back; the connection is used again."""
    data = json.dumps(faults.completion("five")).encode()
    cookie = {"Set-Cookie": "session=1; Path=/"}
    server = serve(faults.body(data, headers=cookie))
    provider = ask(server.base_url)
    for _ in range(3):
        provider.answer(task)
    assert [received.cookie for received in server.requests] == [False, False, False]
    assert server.connections == 1


def test_an_empty_answer_can_be_accepted(serve: Serve, faults: Any, ask: Ask, task: Task) -> None:
    """With `accept_empty`, a null answer is stored as the empty text, after one call."""
    server = serve(faults.answer(None))
    answer = ask(server.base_url, accept_empty=True).answer(task)
    assert (answer.prediction, answer.attempts, server.count) == ("", 1, 1)


def test_a_body_beyond_the_cap_is_no_answer(
    serve: Serve, faults: Any, ask: Ask, task: Task
) -> None:
    """A body of more bytes than the cap is given up; one that just fits is read."""
    data = json.dumps(faults.completion("five")).encode()
    server = serve(faults.body(data))
    assert ask(server.base_url, max_body_bytes=len(data)).answer(task).prediction == "five"
    with pytest.raises(CallFailed) as caught:
        ask(server.base_url, max_body_bytes=len(data) - 1).answer(task)
    assert f"the body has more than {len(data) - 1} bytes" == caught.value.reason


def test_a_refused_connection(ask: Ask, task: Task) -> None:
    """Nobody listening is a broken connection: tried again, then failed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    waits: list[float] = []
    with pytest.raises(CallFailed) as caught:
        ask(f"http://127.0.0.1:{port}/v1", waits=waits).answer(task)
    assert (caught.value.reason, caught.value.attempts) == ("cannot connect: Connection refused", 3)
    assert waits == [2.0, 2.0]


class TickingClock:
    """A monotonic clock on which each look takes a second."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1.0
        return self.seconds


@pytest.mark.parametrize("headers_first", [True, False])
def test_a_drip_ends_at_the_deadline(
    serve: Serve, faults: Any, ask: Ask, task: Task, headers_first: bool
) -> None:
    """A byte a second, of the body or the headers, is ended by the deadline of the whole call."""
    server = serve(faults.drip(0.001, headers_first=headers_first))
    provider = ask(server.base_url, timeout_seconds=20, max_attempts=2, clock=TickingClock())
    with pytest.raises(CallFailed) as caught:
        provider.answer(task)
    assert caught.value.reason == "no complete answer within 20 s"
    assert (caught.value.attempts, server.count) == (2, 2)


def test_silence_ends_at_the_deadline(serve: Serve, faults: Any, ask: Ask, task: Task) -> None:
    """A server that never answers is a timeout; the next attempt gets the whole time again."""
    server = serve(faults.hang, faults.answer("late"))
    provider = ask(server.base_url, timeout_seconds=0.5)
    answer = provider.answer(task)
    assert (answer.prediction, answer.attempts) == ("late", 2)


def test_each_call_has_the_whole_time(serve: Serve, faults: Any, ask: Ask, task: Task) -> None:
    """A deadline belongs to one call: many calls on one connection may take longer together."""
    server = serve(faults.answer())
    provider = ask(server.base_url, timeout_seconds=100, clock=(clock := TickingClock()))
    while clock.seconds < 500:
        provider.answer(task)


def test_threads_have_deadlines_of_their_own() -> None:
    """A call that another thread begins later gives this thread's call no more time."""
    seconds = 0.0
    backend = DeadlineBackend(lambda: seconds)
    backend.begin(10)
    seconds = 5.0
    assert backend.left(100, httpcore.ReadTimeout) == 5.0
    thread = threading.Thread(target=lambda: backend.begin(10))
    thread.start()
    thread.join()
    seconds = 10.0
    with pytest.raises(httpcore.ReadTimeout):
        backend.left(100, httpcore.ReadTimeout)


def test_one_providers_threads_do_not_disturb_each_other(
    serve: Serve, faults: Any, ask: Ask, task: Task
) -> None:
    """Three threads at once get their answers, each over a connection of its own."""
    together = threading.Barrier(3)
    server = serve(faults.answer(), on_request=lambda _: together.wait(30))
    provider = ask(server.base_url)
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(provider.answer, [task] * 6))
    assert [answer.prediction for answer in answers] == ["an answer"] * 6
    assert (server.count, server.most_at_once) == (6, 3)


class NoticedEvent(threading.Event):
    """An event that tells when someone begins to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.awaited = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.awaited.set()
        return super().wait(timeout)


def test_stopping_ends_a_wait_between_attempts(
    serve: Serve, faults: Any, ask: Ask, task: Task
) -> None:
    """A wait of a minute ends when the run stops, and no further call is made."""
    stop = NoticedEvent()
    server = serve(faults.status(503, Retry_After="60"))
    provider = ask(server.base_url, stop=stop, sleep=None)
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(_outcome, provider, task)
        assert stop.awaited.wait(30)
        provider.abandon()
        found = outcome.result(30)
    assert isinstance(found, CallFailed)
    assert (found.reason, found.attempts) == ("given up: the run is stopping", 1)
    assert server.count == 1


def test_a_fault_while_stopping_is_not_waited_for(
    serve: Serve, faults: Any, ask: Ask, task: Task
) -> None:
    """A call that fails while the run is stopping ends with its own reason, without a wait."""
    stop = threading.Event()
    server = serve(faults.status(503), on_request=lambda _: stop.set())
    waits: list[float] = []
    found = _outcome(ask(server.base_url, stop=stop, waits=waits), task)
    assert isinstance(found, CallFailed)
    assert (found.reason, found.attempts) == ("HTTP 503 (Service Unavailable)", 1)
    assert waits == []


def test_no_call_after_stopping(serve: Serve, faults: Any, ask: Ask, task: Task) -> None:
    """Once the run stops, an answer that was not begun is given up without a call."""
    server = serve(faults.answer())
    provider = ask(server.base_url)
    provider.abandon()
    with pytest.raises(CallFailed) as caught:
        provider.answer(task)
    assert (caught.value.reason, caught.value.attempts) == ("given up: the run is stopping", 0)
    assert server.count == 0


def test_a_call_in_flight_is_not_given_up(serve: Serve, faults: Any, ask: Ask, task: Task) -> None:
    """An answer that comes while the run is stopping is still an answer."""
    stop = threading.Event()
    server = serve(faults.answer(), on_request=lambda _: stop.set())
    provider = ask(server.base_url, stop=stop)
    assert provider.answer(task).prediction == "an answer"


@pytest.mark.parametrize(
    "url", ["https://host/{}/v1", "https://{}.example/v1", "https://host/?k={}"]
)
def test_a_key_in_the_url_is_refused(canary_key: str, url: str) -> None:
    """A key pasted into the URL too would be stored with the run's identity; any case of it."""
    key = canary_key.upper()
    endpoint = parse_endpoint(url.format(key))
    with pytest.raises(ProviderError) as caught:
        OpenAICompatibleProvider(endpoint, key, timeout_seconds=1, max_attempts=1)
    assert str(caught.value) == "base URL: it holds the API key; give the key in its own setting"


def test_a_key_that_is_a_plain_word_is_not_looked_for(
    serve: Serve, faults: Any, task: Task
) -> None:
    """Local servers take any key: a short one may stand in URL and answer."""
    server = serve(faults.answer("the none of it"))
    endpoint = parse_endpoint(server.base_url.replace("/v1", "/none/v1"))
    provider = OpenAICompatibleProvider(endpoint, "none", timeout_seconds=10, max_attempts=1)
    with contextlib.closing(provider):
        assert provider.answer(task).prediction == "the none of it"


@pytest.mark.parametrize("key", ["", "canary\n", "can ary", "canäry"])
def test_a_key_that_cannot_be_sent_is_refused(key: str) -> None:
    """The provider itself refuses such a key, also where no environment was read."""
    with pytest.raises(ProviderError, match=r"^API key: the key ") as caught:
        OpenAICompatibleProvider(
            parse_endpoint("https://host"), key, timeout_seconds=1, max_attempts=1
        )
    assert "ary" not in str(caught.value)


def test_identity_binds_to_the_endpoint() -> None:
    """Two spellings of one endpoint are one; a hidden query still tells two apart."""

    def identity(base_url: str) -> dict[str, Any]:
        provider = OpenAICompatibleProvider(
            parse_endpoint(base_url), "k", timeout_seconds=1, max_attempts=1
        )
        provider.close()
        return provider.identity()

    url = "https://host/v1/chat/completions"
    expected = {
        "name": "openai-compatible",
        "endpoint": url,
        "endpoint_sha256": hashlib.sha256(url.encode()).hexdigest(),
        "replay_sha256": None,
    }
    assert expected == identity("https://host") == identity("https://u:p@HOST:443/v1/")
    first, second = identity("https://host?key=1"), identity("https://host?key=2")
    assert first["endpoint"] == second["endpoint"] == f"{url}?..."
    assert first["endpoint_sha256"] != second["endpoint_sha256"]


def test_other_users_of_the_loggers_are_heard(
    serve: Serve, faults: Any, ask: Ask, task: Task, caplog: pytest.LogCaptureFixture
) -> None:
    """Only records of our calls are dropped; closing leaves the loggers as they were."""
    caplog.set_level(logging.DEBUG, logger="httpx")
    caplog.set_level(logging.DEBUG, logger="httpcore.http11")
    before = [list(logging.getLogger(name).filters) for name in ("httpx", "httpcore.http11")]
    provider = ask(serve(faults.answer()).base_url)
    provider.answer(task)
    assert [record for record in caplog.records if record.name.startswith("http")] == []
    logging.getLogger("httpx").info("someone else's")
    assert [record.getMessage() for record in caplog.records] == ["someone else's"]
    provider.close()
    after = [list(logging.getLogger(name).filters) for name in ("httpx", "httpcore.http11")]
    assert before == after
