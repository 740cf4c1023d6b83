"""Evidence is rendered clause by clause as the design says (design: the protocol)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deermem_data import Record, as_text, render_evidence

if TYPE_CHECKING:
    from collections.abc import Callable


def evidence(*sessions: list[Any]) -> str:
    """The evidence of sessions called s0, s1, ... of days 0, 1, ..."""
    return render_evidence(
        {
            "haystack_session_ids": [f"s{i}" for i in range(len(sessions))],
            "haystack_dates": [f"day {i}" for i in range(len(sessions))],
            "haystack_sessions": list(sessions),
        }
    )


USER = {"role": "user", "content": "I moved to Lisbon."}
ASSISTANT = {"role": "assistant", "content": "Lisbon is lovely."}


def test_user_turns_without_a_mark() -> None:
    """Without a marked turn the user's turns count, the assistant's do not."""
    second = {"role": "user", "content": "It rains."}
    assert (
        evidence([USER, ASSISTANT, second])
        == "SESSION s0 AT day 0\nUSER: I moved to Lisbon.\nUSER: It rains."
    )


def test_marked_turns_alone() -> None:
    """With a marked turn only marked ones count, whoever speaks."""
    assert (
        evidence([USER, {**ASSISTANT, "has_answer": True}])
        == "SESSION s0 AT day 0\nASSISTANT: Lisbon is lovely."
    )


@pytest.mark.parametrize("mark", [1, "true", "True", False, None, [True], 1.0])
def test_mark_is_exactly_true(mark: object) -> None:
    """Only JSON's `true` marks a turn."""
    assert (
        evidence([USER, {**ASSISTANT, "has_answer": mark}])
        == "SESSION s0 AT day 0\nUSER: I moved to Lisbon."
    )


def test_each_session_on_its_own() -> None:
    """A mark in one session does not silence the user in another; a blank line parts them."""
    assert evidence([USER, {**ASSISTANT, "has_answer": True}], [USER, ASSISTANT]) == (
        "SESSION s0 AT day 0\nASSISTANT: Lisbon is lovely.\n\nSESSION s1 AT day 1\nUSER: I moved "
        "to Lisbon."
    )


@pytest.mark.parametrize("role", ["user", "User", "USER", "uSeR"])
def test_role_in_any_case(role: str) -> None:
    """The user is recognised in any case, and written in capitals."""
    assert evidence([{**USER, "role": role}]) == "SESSION s0 AT day 0\nUSER: I moved to Lisbon."


@pytest.mark.parametrize(
    "turn",
    [
        {"content": "x"},
        {"content": "x", "role": None},
        {"content": "x", "role": ""},
        {"content": "x", "role": 7},
    ],
)
def test_absent_role(turn: dict[str, Any]) -> None:
    """A marked turn without a role is UNKNOWN; an unmarked one is no user's."""
    assert evidence([{**turn, "has_answer": True}]) == "SESSION s0 AT day 0\nUNKNOWN: x"
    assert evidence([turn]) == ""


def test_other_roles_are_written_in_capitals() -> None:
    """Any role may be marked."""
    turn = {"role": "system", "content": "x", "has_answer": True}
    assert evidence([turn]) == "SESSION s0 AT day 0\nSYSTEM: x"


@pytest.mark.parametrize(
    "turn",
    [
        "text",
        None,
        7,
        ["user", "x"],
        {},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": 7},
        {"role": "user", "content": ["x"]},
    ],
)
def test_turn_that_does_not_count(turn: object) -> None:
    """A turn counts only if it is an object with a string `content`, marked or not."""
    assert evidence([turn, USER]) == "SESSION s0 AT day 0\nUSER: I moved to Lisbon."
    assert evidence([turn]) == ""
    if isinstance(turn, dict):
        marked = {**turn, "has_answer": True}
        assert evidence([marked, USER]) == "SESSION s0 AT day 0\nUSER: I moved to Lisbon."


def test_session_without_a_usable_turn_is_left_out() -> None:
    """Neither its line nor a blank one remains."""
    assert evidence([ASSISTANT], [USER], [], [USER], [{"role": "user", "content": None}]) == (
        "SESSION s1 AT day 1\nUSER: I moved to Lisbon.\n\nSESSION s3 AT day 3\nUSER: I moved to "
        "Lisbon."
    )
    assert evidence([ASSISTANT], []) == ""
    assert evidence() == ""


def test_content_is_not_touched() -> None:
    """Blank, many-lined and odd content stands as it is."""
    content = "  two\n\nlines\t{{QUESTION}} \r\n é\u2028 "
    assert f"SESSION s0 AT day 0\nUSER: {content}" == evidence([{**USER, "content": content}])
    assert evidence([{**USER, "content": ""}]) == "SESSION s0 AT day 0\nUSER: "


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("  as it is ", "  as it is "),
        (3, "3"),
        (2.50, "2.5"),
        (True, "true"),
        (["é", 1], '["é", 1]'),
        ({"b": 1, "a": "ü"}, '{"a": "ü", "b": 1}'),
    ],
)
def test_answer_as_text(row: Callable[..., dict[str, Any]], answer: object, text: str) -> None:
    """A string stays, anything else is JSON with sorted keys and its own characters."""
    assert text == as_text(answer)
    assert text == Record.from_row(row("a", answer=answer)).answer
