"""Bodies of chat completions, read without trust."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_qa._fault import Fault
from deermem_qa._reply import Reply, read_reply


def _read(content: Any, **more: Any) -> Reply | Fault:
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    return read_reply(json.dumps({"choices": [choice], **more}).encode())


def _reply(content: Any, **more: Any) -> Reply:
    reply = _read(content, **more)
    assert isinstance(reply, Reply)
    return reply


def _reason(body: bytes) -> str:
    fault = read_reply(body)
    assert isinstance(fault, Fault)
    assert fault.then == "retry"
    return fault.reason


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("five", "five"),
        (" five\n", " five\n"),
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("a\0b", "a\0b"),
        ("\ud83d\ude00", "😀"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ([{"type": "text", "text": "fi"}, {"type": "text", "text": "ve"}], "five"),
        (["fi", {"text": "ve"}], "five"),
        ([{"type": "output_text", "text": "five"}], "five"),
        ([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "five"}, 7], "five"),
        ([{"type": "text", "text": "\ud83d"}, {"type": "text", "text": "\ude00"}], "😀"),
    ],
)
def test_text_of_an_answer(content: Any, text: str) -> None:
    """Text and text parts are kept as they are; a lone surrogate becomes U+FFFD."""
    assert text == _reply(content).text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "the body is not JSON"),
        (b"<html>canary</html>", "the body is not JSON"),
        (b'{"choices": [', "the body is not JSON"),
        (b'"\xff"', "the body is not JSON"),
        (b"1" * 5000, "the body lacks the answer"),
        (b"[" * 100_000 + b"]" * 100_000, "the body is JSON nested too deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "the body is JSON nested too deep"),
        (b"null", "the body lacks the answer"),
        (b"[]", "the body lacks the answer"),
        (b'{"error": "canary"}', "the body lacks the answer"),
        (b'{"choices": []}', "the body lacks the answer"),
        (b'{"choices": {"0": 1}}', "the body lacks the answer"),
        (b'{"choices": [7]}', "the body lacks the answer"),
        (b'{"choices": [{"text": "canary"}]}', "the body lacks the answer"),
        (b'{"choices": [{"message": {"role": "x"}}]}', "the body lacks the answer"),
        (b'{"choices": [{"message": {"content": null}}]}', "the answer is empty"),
        (b'{"choices": [{"message": {"content": ""}}]}', "the answer is empty"),
        (b'{"choices": [{"message": {"content": " \\n"}}]}', "the answer is empty"),
        (b'{"choices": [{"message": {"content": []}}]}', "the answer is empty"),
        (
            b'{"choices": [{"message": {"content": 7}}]}',
            "the body's answer is neither text nor a list of text parts",
        ),
    ],
)
def test_what_is_no_answer(body: bytes, reason: str) -> None:
    """What is not JSON, lacks an answer or has an empty one is a fault that is tried again."""
    assert reason == _reason(body)


def test_a_byte_order_mark_does_not_matter() -> None:
    """A body that begins with a byte order mark is read."""
    body = b'\xef\xbb\xbf{"choices": [{"message": {"content": "five"}}]}'
    assert Reply("five", None, None, {}) == read_reply(body)


@pytest.mark.parametrize(("content", "text"), [(None, ""), ("", ""), (" ", " "), ([], "")])
def test_an_empty_answer_can_be_accepted(content: Any, text: str) -> None:
    """With `accept_empty`, an empty or null answer is one."""
    body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
    assert Reply(text, None, None, {}) == read_reply(body, accept_empty=True)


def test_usage_is_whole_numbers_by_flat_names() -> None:
    """Counts are kept, nested ones under a dotted name; whatever is no count is left out."""
    usage = {
        "prompt_tokens": 881,
        "completion_tokens_details": {"reasoning_tokens": 7, "audio": {"seconds": 0}},
        "zero": 0,
        "true": True,
        "float": 1.0,
        "text": "1",
        "negative": -1,
        "huge": 10**30,
        "null": None,
        "list": [1],
        "a sentence as a name": 1,
        "": 1,
        "x" * 101: 1,
        "deep": {"a": {"b": {"c": {"d": 1}}}},
    }
    expected = {
        "prompt_tokens": 881,
        "completion_tokens_details.reasoning_tokens": 7,
        "completion_tokens_details.audio.seconds": 0,
        "zero": 0,
    }
    assert expected == _reply("five", usage=usage).usage


def test_a_number_too_long_to_read_loses_no_answer() -> None:
    """A count of more digits than Python reads is no count; the answer beside it is kept."""
    body = json.dumps({"choices": [{"message": {"content": "five"}}], "usage": {"n": 0, "m": 7}})
    reply = read_reply(body.replace('"n": 0', '"n": ' + "9" * 5000).encode("ascii"))
    assert isinstance(reply, Reply)
    assert ("five", {"m": 7}) == (reply.text, reply.usage)


def test_usage_is_bounded() -> None:
    """A thousand counters do not reach a row."""
    assert len(_reply("five", usage={f"n{i}": i for i in range(1000)}).usage) == 100


@pytest.mark.parametrize("usage", [None, [], "x", 7])
def test_usage_that_is_no_object_is_none(usage: Any) -> None:
    """A usage of another type counts nothing."""
    assert _reply("five", usage=usage).usage == {}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("deepseek-v4-flash", "deepseek-v4-flash"),
        ("org/model:free@1.2", "org/model:free@1.2"),
        ("a whole sentence", None),
        ("x" * 201, None),
        ("\x1b[0m", None),
        ("a\ud800", None),
        ("", None),
        (7, None),
        (None, None),
    ],
)
def test_names_have_the_shape_of_names(said: Any, kept: str | None) -> None:
    """Model and finish reason are kept if they look like names: no text hides in them."""
    body = {"choices": [{"message": {"content": "five"}, "finish_reason": said}], "model": said}
    reply = read_reply(json.dumps(body).encode())
    assert Reply("five", kept, kept, {}) == reply


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "usage", "model", "text", "type", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.binary() | _JSON.map(lambda document: json.dumps(document).encode()))
def test_any_body_is_a_reply_or_a_fault(body: bytes) -> None:
    """No body ends in an exception."""
    assert isinstance(read_reply(body, accept_empty=True), Reply | Fault)


@given(_JSON, _JSON)
def test_what_is_kept_can_be_written(content: Any, usage: Any) -> None:
    """Every text kept has bytes in UTF-8, and every count is a whole number."""
    reply = _read(content, usage=usage)
    if isinstance(reply, Reply):
        reply.text.encode("utf-8")
        assert all(type(count) is int and count >= 0 for count in reply.usage.values())
