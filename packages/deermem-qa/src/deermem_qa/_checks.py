"""What the keys of rows and identities may hold: one table per kind of object, checked strictly.

What comes from a provider and is not a prediction is kept to the shape of a name: text with spaces
has no place there, so that nothing a provider echoes can be published by accident.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from deermem_data.artifacts import is_encodable

_ID = re.compile(r"[A-Za-z0-9._-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_NAME = re.compile(r"[A-Za-z0-9._:/@+-]{1,200}")
_COUNTER = re.compile(r"[A-Za-z0-9_.-]{1,100}")
# Beyond it a number is no count, and other readers of JSON would round it.
MAX_COUNT = 2**53 - 1


@frozen
class Rule:
    """What a value must be, and how a message words it."""

    holds: Callable[[Any], bool]
    expected: str


def is_text(value: object) -> bool:
    """Whether it is text that is not empty."""
    return type(value) is str and value != ""


def is_unicode(value: object) -> bool:
    """Whether it is text that UTF-8 has bytes for."""
    return isinstance(value, str) and is_encodable(value)


def is_whole(value: object) -> bool:
    """Whether it is a whole number of 0 or more; a boolean is none."""
    return type(value) is int and 0 <= value <= MAX_COUNT


def is_name(value: object) -> bool:
    """Whether it has the shape of a model's or a state's name."""
    return type(value) is str and _NAME.fullmatch(value) is not None


def is_counter(value: object) -> bool:
    """Whether it has the shape of a key of `usage`."""
    return type(value) is str and _COUNTER.fullmatch(value) is not None


def is_id(value: object) -> bool:
    """Whether it may become part of a file name (design: the runner)."""
    return type(value) is str and _ID.fullmatch(value) is not None and value.strip(".") != ""


def _is_text_list(value: object) -> bool:
    return type(value) is list and all(map(is_text, value)) and len(set(value)) == len(value)


def _is_usage(value: object) -> bool:
    return (
        type(value) is dict and all(map(is_counter, value)) and all(map(is_whole, value.values()))
    )


ID = Rule(is_id, "an id of A-Z a-z 0-9 . _ -")
TEXT = Rule(is_text, "text")
UNICODE = Rule(is_unicode, "text without lone surrogates")
WHOLE = Rule(is_whole, "a whole number of 0 or more")
COUNT = Rule(lambda value: is_whole(value) and value > 0, "a whole number of 1 or more")
NUMBER = Rule(lambda value: type(value) is float and math.isfinite(value), "a number")
FRACTION = Rule(lambda value: type(value) is float and 0 <= value <= 1, "a number from 0 to 1")
BOOLEAN = Rule(lambda value: type(value) is bool, "true or false")
SHA256 = Rule(
    lambda value: type(value) is str and _SHA256.fullmatch(value) is not None,
    "a SHA-256 of 64 lower-case hex digits",
)
UTC_TIME = Rule(
    lambda value: type(value) is str and _UTC.fullmatch(value) is not None,
    "a UTC time such as 2026-08-13T00:00:00Z",
)
NAME_OR_NULL = Rule(lambda value: value is None or is_name(value), "a name or null")
TEXTS = Rule(_is_text_list, "a list of texts, each once")
USAGE = Rule(_is_usage, "an object of names (A-Z a-z 0-9 _ . -) and whole numbers")


def exactly(constant: object) -> Rule:
    """The rule that a value is this one, of the same type."""
    return Rule(lambda value: type(value) is type(constant) and value == constant, repr(constant))


def optional(rule: Rule) -> Rule:
    """The rule that a value is null or follows `rule`."""
    return Rule(lambda value: value is None or rule.holds(value), f"{rule.expected}, or null")


def check_object(document: object, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Return `document` if it is an object with these keys and no other, each as its rule says.

    Raises:
        ValueError: it is not; the message names the key, what was found and what was expected.
    """
    if type(document) is not dict:
        raise ValueError(f"expected an object, found {type(document).__name__}")
    if document.keys() != rules.keys():
        missing = sorted(rules.keys() - document.keys())
        if missing:
            raise ValueError(f"{missing[0]}: the key is missing")
        unknown = sorted(document.keys() - rules.keys())
        raise ValueError(f"{shown(unknown[0])}: unknown key; known: {', '.join(sorted(rules))}")
    for key, rule in rules.items():
        if not rule.holds(document[key]):
            raise ValueError(f"{key}: expected {rule.expected}, found {shown(document[key])}")
    return document


def shown(value: object) -> str:
    """A value for a message: short, on one line, ASCII."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
