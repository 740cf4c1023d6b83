"""Which records are official, and which may be distractors: every clause, at its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from deermem_data import Record, load_dataset, load_protocol
from deermem_data._structure import Text
from deermem_data.selection import FirstById, is_bank_candidate, is_official_candidate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import World

RULE = load_protocol().official.selection
POOL = load_protocol().config.pool


def record(**changes: Any) -> Record:
    """A record that every clause admits, but for the changes."""
    kept = Record("abcd1234", "knowledge-update", "q?", "Lisbon", "2026/03/02", "USER: x")
    return evolve(kept, **changes)


PILOTS = [
    "0f05491a",
    "dfde3500",
    "4b24c848",
    "7e974930",
    "8077ef71",
    "bcbe585f",
    "gpt4_85da3956",
    "gpt4_af6db32f",
]


@pytest.mark.parametrize(
    ("changes", "admitted"),
    [
        ({}, True),
        ({"question_type": "temporal-reasoning"}, True),
        ({"question_type": "multi-session"}, False),
        *[({"record_id": pilot}, False) for pilot in PILOTS],
        ({"record_id": "0f05491a1"}, True),
        ({"record_id": "abcd1234_abs"}, False),
        ({"record_id": "abcd_abs_1"}, True),
        ({"answer": ""}, False),
        ({"answer": " \n "}, False),
        ({"answer": "x"}, True),
        ({"answer": "x" * 100}, True),
        ({"answer": "  " + "x" * 100 + "\n"}, True),
        ({"answer": "x" * 101}, False),
        ({"answer": "There is Not Enough said."}, False),
        ({"answer": "you ONLY MENTIONED tea"}, False),
        ({"answer": "not  enough"}, True),
        ({"answer": "only"}, True),
        ({"evidence": ""}, False),
        ({"evidence": "x"}, True),
        ({"evidence": "é" * 2000}, True),
        ({"evidence": "x" * 2001}, False),
    ],
)
def test_official_candidate(changes: dict[str, Any], admitted: bool) -> None:
    """Types, pilots, abstentions, answers and lengths, bounds inclusive."""
    assert admitted == is_official_candidate(record(**changes), RULE)


@pytest.mark.parametrize("stated", ["NOT SURE", "not sure", "Not Sure"])
def test_excluded_substring_in_any_case(stated: str) -> None:
    """The case a manifest writes an excluded text in does not matter either."""
    rule = evolve(RULE, answer_excluded_substrings=(Text("never"), Text(stated)))
    assert not is_official_candidate(record(answer="I am nOt sUre"), rule)
    assert is_official_candidate(record(answer="I am sure, not"), rule)


@pytest.mark.parametrize(
    ("question_type", "length", "admitted"),
    [
        ("single-session-user", 39, False),
        ("single-session-user", 40, True),
        ("single-session-preference", 700, True),
        ("single-session-preference", 701, False),
        ("single-session-assistant", 300, False),
        ("knowledge-update", 300, False),
    ],
)
def test_bank_candidate(question_type: str, length: int, admitted: bool) -> None:
    """Two types, 40 to 700 characters, both inclusive, whatever answer and id are."""
    tried = record(question_type=question_type, evidence="ü" * length, record_id="x_abs", answer="")
    assert admitted == is_bank_candidate(tried, POOL)


def test_first_by_id() -> None:
    """The first ones by id are kept, in order, whatever the order of the offers."""
    first = FirstById(3)
    for name in ["d", "b", "e", "a", "c", "B"]:
        first.offer(record(record_id=name))
    assert [kept.record_id for kept in first.records()] == ["B", "a", "b"]


def test_the_first_by_id_are_selected(
    world: Callable[..., World], row: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """More candidates than the rule takes: the first ones of each type by id, and of the bank."""
    extra = [row("zz", "knowledge-update"), row("a00001"), row("pilot", "temporal-reasoning")]
    made = world(tmp_path / "data.json", extra_rows=extra)
    dataset = load_dataset(made.path, made.protocol)
    ids = {kind: [r.record_id for r in records] for kind, records in dataset.selected.items()}
    assert ids == {
        "knowledge-update": ["kn0000", "kn0001", "kn0002", "kn0003"],
        "temporal-reasoning": ["te0000", "te0001", "te0002", "te0003"],
    }
    assert ["a00001", *(f"b{i:05x}" for i in range(39))] == [r.record_id for r in dataset.bank]
    assert dataset.record_count == 4 + 4 + 40 + 3
