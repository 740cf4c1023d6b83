"""Evidence: the text of a record that answers it, rendered (design: the protocol)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def render_evidence(row: Mapping[str, Any]) -> str:
    """Return the evidence of one row of the data set; empty where no turn is usable.

    In a session the turns marked `has_answer` count, else the user's; a session without such a
    turn is left out.
    """
    sessions = zip(
        row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True
    )
    rendered = (_render(session_id, date, turns) for session_id, date, turns in sessions)
    return "\n\n".join(filter(None, rendered))


def _render(session_id: str, date: str, turns: list[Any]) -> str:
    usable = [
        turn for turn in turns if isinstance(turn, dict) and isinstance(turn.get("content"), str)
    ]
    # Exactly `true`: a truthy number or text does not mark an answer.
    chosen = [turn for turn in usable if turn.get("has_answer") is True]
    chosen = chosen or [turn for turn in usable if _role(turn).lower() == "user"]
    if not chosen:
        return ""
    return "\n".join([f"SESSION {session_id} AT {date}", *_lines(chosen)])


def _lines(turns: list[dict[str, Any]]) -> Iterator[str]:
    for turn in turns:
        yield f"{_role(turn).upper() or 'UNKNOWN'}: {turn['content']}"


def _role(turn: dict[str, Any]) -> str:
    role = turn.get("role")
    return role if isinstance(role, str) else ""
