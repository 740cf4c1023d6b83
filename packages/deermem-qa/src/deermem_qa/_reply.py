"""A chat completion's body, read without trust.

Kept are the answer's text, and of the rest only what has the shape of a name or a count: nothing a
server says reaches a published file as free text but the answer itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from ._checks import is_counter, is_name, is_whole
from ._fault import Fault

# How deep usage is flattened, and how many counts are kept; real ones have two levels, about ten.
_USAGE_DEPTH = 4
_USAGE_COUNTS = 100
_TEXT_PARTS = frozenset({"text", "output_text"})


@frozen
class Reply:
    """What a body says; the attributes are those of an `Answer`."""

    text: str
    model: str | None
    finish_reason: str | None
    usage: dict[str, int]


def read_reply(body: bytes, *, accept_empty: bool = False) -> Reply | Fault:
    """Return what a body says, or the fault that it is no answer.

    The answer is a string or a list of text parts, which are joined. It is kept as it is, but for
    a lone surrogate, which UTF-8 has no bytes for: it becomes U+FFFD.

    Args:
        body: the whole body, UTF-8.
        accept_empty: whether an answer without a character that is not blank is one; a null
            answer then is the empty text.
    """
    try:
        document: Any = json.loads(body.decode("utf-8-sig"), parse_int=_integer)
    except RecursionError:
        return Fault("the body is JSON nested too deep")
    except ValueError:
        return Fault("the body is not JSON")
    choice = _choice(document)
    if choice is None:
        return Fault("the body lacks the answer")
    content = choice["message"]["content"]
    text = _text(content)
    if text is None:
        return Fault("the body's answer is neither text nor a list of text parts")
    if not text.strip() and not accept_empty:
        return Fault("the answer is empty")
    return Reply(
        text=text,
        model=_name(document.get("model")),
        finish_reason=_name(choice.get("finish_reason")),
        usage=_usage(document.get("usage")),
    )


def _integer(digits: str) -> int | None:
    """A whole number; none where it is too long to be a count (`int` refuses 4,300 digits)."""
    return int(digits) if len(digits) <= 400 else None


def _choice(document: Any) -> dict[str, Any] | None:
    choices = document.get("choices") if isinstance(document, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    return choice if isinstance(message, dict) and "content" in message else None


def _text(content: Any) -> str | None:
    if content is None:
        return ""
    if isinstance(content, str):
        return _encodable(content)
    if not isinstance(content, list):
        return None
    return _encodable("".join(_parts(content)))


def _parts(content: list[Any]) -> Iterator[str]:
    for part in content:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type", "text") in _TEXT_PARTS:
            text = part.get("text")
            if isinstance(text, str):
                yield text


def _encodable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _name(value: Any) -> str | None:
    return value if is_name(value) else None


def _usage(value: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, count in _counts(value, "", _USAGE_DEPTH):
        if len(counts) < _USAGE_COUNTS and is_counter(name) and is_whole(count):
            counts.setdefault(name, count)
    return counts


def _counts(value: Any, outer: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth:
        for key, inner in value.items():
            if isinstance(inner, dict):
                yield from _counts(inner, f"{outer}{key}.", depth - 1)
            else:
                yield f"{outer}{key}", inner
