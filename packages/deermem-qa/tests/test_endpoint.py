"""Base URLs as people write them."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_qa.endpoint import parse_endpoint
from deermem_qa.errors import ProviderError

CANARY = "canary-5b1e"


@pytest.mark.parametrize(
    ("written", "called"),
    [
        ("https://host", "https://host/v1/chat/completions"),
        ("https://host/", "https://host/v1/chat/completions"),
        ("https://host/v1", "https://host/v1/chat/completions"),
        ("https://host/v1/", "https://host/v1/chat/completions"),
        ("https://host/v1//", "https://host/v1/chat/completions"),
        ("  https://host/v1\n", "https://host/v1/chat/completions"),
        ("HTTPS://HOST:443/v1", "https://host/v1/chat/completions"),
        ("https://host:8443/v1", "https://host:8443/v1/chat/completions"),
        ("https://host/api/v3/openai", "https://host/api/v3/openai/chat/completions"),
        ("https://host/v1/chat/completions", "https://host/v1/chat/completions"),
        ("https://host/v1/chat/completions/", "https://host/v1/chat/completions"),
        ("https://host?api-version=1", "https://host/v1/chat/completions?api-version=1"),
        ("https://host/d/?api-version=1", "https://host/d/chat/completions?api-version=1"),
        (
            "https://host/v1/chat/completions?api-version=2",
            "https://host/v1/chat/completions?api-version=2",
        ),
        ("https://user:word@host/v1", "https://host/v1/chat/completions"),
        ("https://us@er:word@host", "https://host/v1/chat/completions"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
        ("http://model.localhost", "http://model.localhost/v1/chat/completions"),
        ("http://127.8.9.1:1", "http://127.8.9.1:1/v1/chat/completions"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
        ("http://[::ffff:127.0.0.1]/v1", "http://[::ffff:127.0.0.1]/v1/chat/completions"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1/chat/completions"),
    ],
)
def test_what_is_called(written: str, called: str) -> None:
    """Each way to write a base URL leads to the chat completions below it."""
    assert called == parse_endpoint(written).url


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("host/v1", "without a scheme"),
        ("localhost:8000/v1", "without a scheme"),
        (f"{CANARY}:word@host/v1", "without a scheme"),
        ("sk-canary-5b1e", "without a scheme"),
        ("", "without a scheme"),
        (f"ftp://{CANARY}@host/v1", "'ftp'"),
        (f"{CANARY}{CANARY}://host", "found another"),
        (f"https://user:{CANARY}/x@host/v1", "an @ after the host"),
        (f"https://user:{CANARY}?x@host/v1", "an @ after the host"),
        (f"https://user:{CANARY}#x@host/v1", "a fragment"),
        (f"https://user:{CANARY}@host/v1#part", "a fragment"),
        (f"https://user:{CANARY}@host /v1", "a blank"),
        (f"https://user:{CANARY}@host/v1\nx", "a blank"),
        (f"https://user:{CANARY}\\@host/v1", "a backslash"),
        (f"https://{CANARY}@", "without a host"),
        ("https:///v1", "without a host"),
        (f"https://{CANARY}@host:99999/v1", "not a URL"),
        (f"https://{CANARY}@host:port/v1", "not a URL"),
        (f"https://{CANARY}@[::1/v1", "not a URL"),
        (f"https://{CANARY}@ho<st/v1", "not a URL"),
        (f"https://{CANARY}@{'a' * 64}.example/v1", "not a URL"),
        (f"https://{CANARY}@a..b/v1", "not a URL"),
        (f"https://{CANARY}@{'.'.join(['a' * 60] * 5)}/v1", "not a URL"),
    ],
)
def test_what_is_refused(written: str, fault: str) -> None:
    """What is no URL to call is refused, named by its setting and never quoted."""
    with pytest.raises(ProviderError) as caught:
        parse_endpoint(written, setting="THE_VARIABLE")
    assert str(caught.value).startswith("THE_VARIABLE: ")
    assert fault in str(caught.value)
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "host", ["host", "0.0.0.0", "10.0.0.1", "localhost.example", "127.0.0.1.example", "[::2]"]
)
def test_plain_http_stays_on_this_machine(host: str) -> None:
    """Plain http to another machine would show the key to everyone between; it must be allowed."""
    with pytest.raises(ProviderError, match="plain http would send the key unencrypted"):
        parse_endpoint(f"http://{host}/v1")
    allowed = parse_endpoint(f"http://{host}/v1", allow_http=True)
    assert f"http://{host}/v1/chat/completions" == allowed.url


def test_user_info_is_dropped() -> None:
    """User info is neither called, nor shown, nor part of what binds a run."""
    plain = parse_endpoint("https://host/v1")
    with_user_info = parse_endpoint(f"https://user:{CANARY}@host/v1")
    assert (plain.url, plain.shown, plain.sha256) == (
        with_user_info.url,
        with_user_info.shown,
        with_user_info.sha256,
    )
    assert (plain.dropped_user_info, with_user_info.dropped_user_info) == (False, True)
    assert CANARY not in repr(with_user_info)


def test_of_a_query_only_the_version_is_shown() -> None:
    """A query may carry a key: it is called and hashed, and not shown."""
    endpoint = parse_endpoint(f"https://host/v1?api-version=2&key={CANARY}&{CANARY}")
    url = f"https://host/v1/chat/completions?api-version=2&key={CANARY}&{CANARY}"
    assert url == endpoint.url
    assert hashlib.sha256(url.encode()).hexdigest() == endpoint.sha256
    assert endpoint.shown == "https://host/v1/chat/completions?api-version=2&...&..."
    assert CANARY not in repr(endpoint)


@given(st.text(), st.sampled_from(["", "https://", "http://localhost", "https://h/"]))
def test_any_text_is_a_url_or_refused(text: str, prefix: str) -> None:
    """No text ends in another exception, and what is accepted is printable and called as shown."""
    try:
        endpoint = parse_endpoint(prefix + text)
    except ProviderError:
        return
    assert endpoint.url.isascii()
    assert endpoint.url.isprintable()
    assert endpoint == parse_endpoint(endpoint.url)
