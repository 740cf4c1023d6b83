"""Pools and cases: laws that hold for every protocol and data set, and literals by hand."""

from __future__ import annotations

import hashlib
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deermem_data import (
    SCENARIOS,
    Case,
    Record,
    build_cases,
    build_pool,
    distractor_offset,
    draw_distractors,
    iso_z,
    load_dataset,
    load_protocol,
    support_fact_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import World

NAMES = st.text("0123456789abcdefghijklmnopqrstuvwxyzABC._-", min_size=1, max_size=10).filter(
    lambda name: name.strip(".") != ""
)


def cases_of(made: World) -> tuple[Case, ...]:
    """The cases of a world."""
    return build_cases(made.protocol, load_dataset(made.path, made.protocol))


def drawn_ids(case: Case) -> list[str]:
    """The record ids of a case's distractors, in draw order, read from the facts' sources."""
    prefix = f"d_{case.case_id}_"
    found = {}
    for fact in case.facts:
        if fact["id"].startswith(prefix) and fact["id"] not in case.support_fact_ids:
            index = int(fact["id"].removeprefix(prefix).split("_")[0])
            found[index] = fact["source"].removeprefix("deermem-eviction-eval:")
    return [found[i] for i in range(len(found))]


@pytest.mark.parametrize(
    ("case_id", "of_40", "of_37"),
    [
        # printf %s "deermem-medium-v1:$id" | sha256sum: 36db01f1... and bf78a83c...
        ("correction_milk", 25, 11),
        ("01493427", 4, 30),
    ],
)
def test_offset_literals(case_id: str, of_40: int, of_37: int) -> None:
    """Offsets worked out with other tools."""
    assert of_40 == distractor_offset(case_id, "deermem-medium-v1", 40)
    assert of_37 == distractor_offset(case_id, "deermem-medium-v1", 37)


@given(NAMES, NAMES, st.integers(1, 1000))
def test_offset_definition(case_id: str, namespace: str, size: int) -> None:
    """The first four bytes, the most significant first, modulo the bank's size."""
    a, b, c, d = hashlib.sha256(f"{namespace}:{case_id}".encode()).digest()[:4]
    expected = (a * 256**3 + b * 256**2 + c * 256 + d) % size
    assert expected == distractor_offset(case_id, namespace, size)


def test_byte_orders_differ() -> None:
    """37 tells byte orders apart where 256 would not: the test above can fail."""
    digest = hashlib.sha256(b"deermem-medium-v1:01493427").digest()[:4]
    assert int.from_bytes(digest, "little") % 37 != distractor_offset(
        "01493427", "deermem-medium-v1", 37
    )


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    bank_ids=st.lists(NAMES, min_size=13, max_size=43, unique_by=str.lower),
    pool_size=st.sampled_from([2, 6, 10, 13, 14]),
    namespace=NAMES,
    per_type=st.integers(1, 3),
)
def test_laws_of_every_case(
    world: Callable[..., World],
    seed: int,
    bank_ids: list[str],
    pool_size: int,
    namespace: str,
    per_type: int,
) -> None:
    """Offset, wraparound, distinct records, fact order, and no say for the file's order."""
    with tempfile.TemporaryDirectory() as scratch:
        made = world(
            Path(scratch, "data.json"),
            pool_size=pool_size,
            capacities=(1,),
            loss_ranks=[1] * (per_type * 2),
            per_type=per_type,
            namespace=namespace,
            bank_ids=bank_ids,
            question_ids=lambda kind, i: f"Q-{kind[:2]}{i}",
        )
        cases = cases_of(made)
        shuffled = list(range(len(made.rows)))
        random.Random(seed).shuffle(shuffled)
        assert cases == cases_of(made.order(shuffled))
    bank = sorted(bank_ids)
    assert per_type * 4 + 5 == len(cases)
    for case in cases:
        digest = hashlib.sha256(f"{namespace}:{case.case_id}".encode()).hexdigest()
        start = int(digest[:8], 16) % len(bank)
        wrapped = (bank + bank)[start : start + pool_size - 1]
        ids = [fact["id"] for fact in case.facts]
        assert wrapped == drawn_ids(case)
        assert pool_size == len({fact["source"] for fact in case.facts})
        assert sorted(ids) == ids
        assert pool_size == len(set(ids))
        assert (support_fact_id(case.case_id),) == case.support_fact_ids
        assert ids[-1] == f"gold_{case.case_id}"


def test_draw_order_of_up_to_ten(world: Callable[..., World], tmp_path: Path) -> None:
    """Sorted by id, ten distractors keep their draw order and the support fact is last."""
    for case in cases_of(world(tmp_path / "data.json", pool_size=11, loss_ranks=[9] * 4)):
        prefix = f"d_{case.case_id}_"
        assert [*"0123456789"] == [
            fact["id"].removeprefix(prefix).split("_")[0] for fact in case.facts[:-1]
        ]


def test_eleven_distractors_are_sorted_as_text(world: Callable[..., World], tmp_path: Path) -> None:
    """The order is by id, as text, also where that is not draw order."""
    case = cases_of(world(tmp_path / "data.json", pool_size=13, loss_ranks=[9] * 4))[0]
    prefix = f"d_{case.case_id}_"
    assert ["0", "10", "11", *"123456789"] == [
        fact["id"].removeprefix(prefix).split("_")[0] for fact in case.facts[:-1]
    ]


def test_wraparound_of_the_whole_bank(row: Callable[..., dict[str, Any]]) -> None:
    """A bank no larger than the draw is drawn once round."""
    bank = [Record.from_row(row(f"b{i}")) for i in range(9)]
    start = distractor_offset("x", "n", 9)
    assert start > 0
    assert bank[start:] + bank[:start] == list(draw_distractors("x", "n", bank, 9))


@pytest.mark.parametrize(
    ("pool_size", "capacities", "types", "per_type", "guards"),
    [
        (6, (1, 3, 5), ("knowledge-update", "temporal-reasoning"), 1, 5),
        (14, (2, 13), ("knowledge-update",), 2, 2),
        (10, (4,), ("temporal-reasoning",), 3, 0),
        (10, (5, 7, 9), ("a", "b", "c"), 2, 1),
        (10, (9, 5), ("c", "a", "b"), 2, 1),
    ],
)
def test_protocols_of_other_sizes(
    world: Callable[..., World],
    tmp_path: Path,
    pool_size: int,
    capacities: Sequence[int],
    types: Sequence[str],
    per_type: int,
    guards: int,
) -> None:
    """40, 5 and 10 are values of the shipped protocols, not of the code."""
    made = world(
        tmp_path / "data.json",
        types=types,
        scenarios=["noisy_signal_control", "confirmation_help", "confidence_control"],
        pool_size=pool_size,
        per_type=per_type,
        capacities=capacities,
        guards=guards,
        question_ids=lambda kind, i: f"{kind}-{i:02}",
    )
    cases = cases_of(made)
    assert per_type * len(types) * 3 + guards == len(cases) == made.protocol.case_count
    assert {pool_size} == {len(case.facts) for case in cases}
    # scenario by scenario in the protocol's order, in each by (type, id)
    expected = [
        f"{kind}-{group * per_type + i:02}"
        for group in range(3)
        for kind in sorted(types)
        for i in range(per_type)
    ]
    assert expected == [case.case_id for case in cases if case.source == "longmemeval"]


def test_facts_by_hand(row: Callable[..., dict[str, Any]]) -> None:
    """A whole pool, key by key, of a case of `noisy_signal_control` at rank 4."""
    drawn = [
        Record.from_row(row("u1")),
        Record.from_row(row("p1", "single-session-preference")),
        Record.from_row(row("u2")),
        Record.from_row(row("u3")),
    ]
    facts, usage = build_pool(
        case_id="c1",
        support_record_id="c1",
        support_content="the answer",
        distractors=drawn,
        scenario=SCENARIOS["noisy_signal_control"],
        loss_rank=4,
        clock=load_protocol().config.evaluation_time,
    )
    clock, week, half_year = "2026-08-13T00:00:00Z", "2026-08-06T00:00:00Z", "2026-02-14T00:00:00Z"

    def fact(fact_id: str, content: str, record_id: str, **more: object) -> dict[str, object]:
        return {
            "id": fact_id,
            "content": content,
            "category": "context",
            "confidence": 0.70,
            "createdAt": half_year,
            "source": f"deermem-eviction-eval:{record_id}",
            **more,
        }

    confirmed = {"lastConfirmedAt": week, "confirmationCount": 1}
    assert (
        fact("d_c1_0_u1", drawn[0].evidence, "u1"),
        fact("d_c1_1_p1", drawn[1].evidence, "p1", category="preference", **confirmed),
        fact("d_c1_2_u2", drawn[2].evidence, "u2"),
        fact("d_c1_3_u3", drawn[3].evidence, "u3"),
        fact("gold_c1", "the answer", "c1", confidence=0.90),
    ) == facts
    assert type(facts[1]["confirmationCount"]) is int
    hot = {"accessHeat": 8.0, "accessCount": 8, "lastAccessedAt": clock}
    assert {"d_c1_0_u1": hot, "d_c1_2_u2": hot} == usage
    assert {int} == {type(item["accessCount"]) for item in usage.values()}
    assert {float} == {type(item["accessHeat"]) for item in usage.values()}


def test_cases_of_the_default_shape(world: Callable[..., World], tmp_path: Path) -> None:
    """Order, ranks, sources, types, dates: official cases first, guards in manifest order."""
    made = world(tmp_path / "data.json", loss_ranks=[6, 8, 10, 10])
    cases = cases_of(made)
    assert [(case.case_id, case.scenario, case.loss_rank) for case in cases] == [
        ("kn0000", "confirmation_help", 6),
        ("kn0001", "confirmation_help", 8),
        ("te0000", "confirmation_help", 10),
        ("te0001", "confirmation_help", 10),
        ("kn0002", "access_help", 6),
        ("kn0003", "access_help", 8),
        ("te0002", "access_help", 10),
        ("te0003", "access_help", 10),
        ("correction_milk", "correction_reserve", 6),
        ("correction_surname", "correction_reserve", 8),
        ("correction_review_day", "correction_reserve", 8),
        ("correction_temperature_scale", "correction_reserve", 10),
        ("correction_mail_deletion", "correction_reserve", 10),
    ]
    official, guard = cases[0], cases[-1]
    assert (
        official.source, official.question_type, official.question, official.answer
    ) == ("longmemeval", "knowledge-update", "What about kn0000?", "forty")  # fmt: skip
    assert official.question_date == "2026/03/02 (Mon) 10:00"
    assert official.facts[-1]["content"] == (
        "SESSION s_kn0000 AT 2026/03/01 (Sun) 10:00\nUSER: knowledge-update 0 is what I told you "
        "about"
    )
    assert (
        guard.source, guard.question_type, guard.question_date
    ) == ("synthetic", "synthetic-correction", None)  # fmt: skip
    stated = made.protocol.synthetic.cases[-1]
    assert (stated.question, stated.answer) == (guard.question, guard.answer)
    assert stated.support_fact == guard.facts[-1]["content"]
    assert guard.facts[-1]["category"] == "correction"
    assert guard.facts[-1]["source"] == "deermem-eviction-eval:correction_mail_deletion"


def test_blank_question_date(
    world: Callable[..., World], row: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """A record without a date has none to show."""
    dateless = {**row("kn0000", "knowledge-update"), "question_date": ""}
    made = world(tmp_path / "data.json")
    rows = [dateless if r["question_id"] == "kn0000" else r for r in made.rows]
    again = type(made)(made.protocol, rows, made.path).order(range(len(rows)))
    assert None is cases_of(again)[0].question_date


def test_iso_z() -> None:
    """Timestamps end in Z."""
    assert iso_z(load_protocol().config.evaluation_time) == "2026-08-13T00:00:00Z"
