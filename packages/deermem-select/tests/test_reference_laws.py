"""Laws of the reference selector over all inputs, well-formed or not."""

from __future__ import annotations

import copy
import math
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deermem_select.reference import select_facts_for_capacity

NOW = datetime(2026, 8, 13, tzinfo=UTC)

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=2),
)
timestamps = st.one_of(
    anything,
    st.datetimes().map(datetime.isoformat),
    st.datetimes(timezones=st.timezones()).map(datetime.isoformat),
    st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
)
categories = st.one_of(st.sampled_from(["context", "correction", " Correction "]), anything)
facts = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.one_of(st.sampled_from("abc"), anything),
            "category": categories,
            "confidence": st.one_of(st.floats(0, 1), anything),
            "createdAt": timestamps,
            "lastConfirmedAt": timestamps,
        },
    ),
    max_size=9,
)
usages = st.dictionaries(
    st.sampled_from("abc"),
    st.one_of(
        anything,
        st.fixed_dictionaries({"accessHeat": anything, "lastAccessedAt": timestamps}),
    ),
)
calls = st.fixed_dictionaries(
    {
        "max_facts": st.integers(-2, 10),
        "policy": st.sampled_from(["confidence", "hybrid-v1"]),
        "usage": st.none() | usages,
        "now": st.just(NOW),
    },
    optional={
        "confirmation_half_life_days": st.floats(-1, 400),
        "access_half_life_days": st.floats(-1, 400),
        "correction_reserved_fraction": st.floats(0, 2),
        "correction_reserved_max": st.integers(0, 10),
    },
)


def positions(objects: list[Any], pool: list[Any]) -> list[int]:
    """Where each object stands in the pool, by identity."""
    place = {id(fact): index for index, fact in enumerate(pool)}
    return [place[id(item)] for item in objects]


def key(fact: dict[str, Any], index: int) -> str:
    return str(fact["id"]) if fact.get("id") not in ("", None) else f"__missing_{index}"


@given(facts, calls)
def test_never_more_than_the_capacity(pool: list[Any], call: dict[str, Any]) -> None:
    """As many facts stay as may, and not one more."""
    result = select_facts_for_capacity(pool, **call)
    assert len(result.kept) == min(len(pool), max(0, call["max_facts"]))


@given(facts, calls)
def test_kept_and_evicted_partition_the_pool(pool: list[Any], call: dict[str, Any]) -> None:
    """Each fact of the pool is either kept or evicted, once."""
    result = select_facts_for_capacity(pool, **call)
    kept = positions(result.kept, pool)
    assert len(kept) == len(set(kept))
    gone = [key(fact, index) for index, fact in enumerate(pool) if index not in kept]
    assert sorted(gone) == sorted(item.fact_id for item in result.evicted)
    assert {key(fact, index) for index, fact in enumerate(pool)} == set(result.scores)


@given(facts, calls)
def test_input_is_untouched(pool: list[Any], call: dict[str, Any]) -> None:
    """Neither the facts nor the arguments are changed."""
    before = copy.deepcopy((pool, call))
    select_facts_for_capacity(pool, **call)
    assert repr(before) == repr((pool, call))  # NaN equals NaN in text


@given(facts, calls)
def test_same_input_same_result(pool: list[Any], call: dict[str, Any]) -> None:
    """A second call, with copies, decides the same."""
    first = select_facts_for_capacity(pool, **call)
    second = select_facts_for_capacity(copy.deepcopy(pool), **copy.deepcopy(call))
    assert repr(first) == repr(second)


@given(facts, calls)
def test_components_lie_between_0_and_1(pool: list[Any], call: dict[str, Any]) -> None:
    """Whatever the metadata says, each component is a finite number from 0 to 1."""
    result = select_facts_for_capacity(pool, **call)
    for score in result.scores.values():
        assert math.isfinite(score.value)
        assert all(0.0 <= value <= 1.0 for value in score.components.values())


@given(facts, calls)
def test_kept_are_best_first_and_evicted_worst_first(pool: list[Any], call: dict[str, Any]) -> None:
    """Where something must go, both lists follow the score, and ties the input order."""
    result = select_facts_for_capacity(pool, **call)
    if result.evicted:
        kept = positions(result.kept, pool)
        ranks = [(-result.scores[key(pool[index], index)].value, index) for index in kept]
        assert sorted(ranks) == ranks
        gone = [item.score for item in result.evicted]
        assert sorted(gone) == gone


@given(facts, calls)
def test_correction_slots(pool: list[Any], call: dict[str, Any]) -> None:
    """Only corrections stay against the ranking, and no more than the slots reported."""
    result = select_facts_for_capacity(pool, **call)
    slots = result.reserved_correction_slots
    capacity = max(0, call["max_facts"])
    corrections = [
        index
        for index, fact in enumerate(pool)
        if isinstance(fact.get("category"), str)
        and fact["category"].strip().lower() == "correction"
    ]
    if call["policy"] == "confidence" or len(pool) <= capacity:
        assert slots == 0
    else:
        fraction = call.get("correction_reserved_fraction", 0.10)
        maximum = call.get("correction_reserved_max", 10)
        share = min(maximum, math.ceil(capacity * fraction), capacity)
        assert slots == min(share, len(corrections))
        by_rank = sorted(
            range(len(pool)),
            key=lambda index: -result.scores[key(pool[index], index)].value,
        )
        reserved = [index for index in by_rank if index in corrections][:slots]
        others = [index for index in by_rank if index not in reserved]
        expected = {*reserved, *others[: capacity - slots]}
        assert expected == set(positions(result.kept, pool))


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=9),
    st.data(),
    st.integers(0, 9),
    st.floats(0, 1),
)
def test_higher_confidence_never_hurts(
    confidences: list[float], data: st.DataObject, capacity: int, higher: float
) -> None:
    """Under `confidence` a fact that stays also stays with a higher confidence."""
    chosen = data.draw(st.integers(0, len(confidences) - 1))
    pool = [{"id": str(index), "confidence": value} for index, value in enumerate(confidences)]
    raised = copy.deepcopy(pool)
    raised[chosen]["confidence"] = max(confidences[chosen], higher)

    def stays(facts: list[dict[str, Any]]) -> bool:
        result = select_facts_for_capacity(facts, max_facts=capacity, policy="confidence")
        return str(chosen) in [fact["id"] for fact in result.kept]

    assert stays(raised) >= stays(pool)


@given(facts, calls)
def test_more_room_never_hurts_under_confidence(pool: list[Any], call: dict[str, Any]) -> None:
    """Under `confidence` what stays at a capacity also stays at the next."""
    call["policy"] = "confidence"
    narrow = positions(select_facts_for_capacity(pool, **call).kept, pool)
    call["max_facts"] += 1
    wide = positions(select_facts_for_capacity(pool, **call).kept, pool)
    assert set(narrow) <= set(wide)
