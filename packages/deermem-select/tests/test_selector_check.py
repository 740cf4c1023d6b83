"""The selector check: it passes what decides alike, and catches every planted difference."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve

from deermem_select import (
    CheckReport,
    GeneratedPool,
    Provenance,
    Selection,
    Selector,
    check_selector,
    generate_pool,
    select_facts_for_capacity,
)

MINE = Provenance("custom", "mine:rule", "mine.py", "0" * 64, None, None, False)
Facts = list[dict[str, Any]]


def check(function: Callable[..., Any], **arguments: Any) -> CheckReport:
    return check_selector(Selector(function, MINE), **({"pools": 300} | arguments))


def as_mappings(facts: Facts, **arguments: Any) -> dict[str, Any]:
    result = select_facts_for_capacity(facts, **arguments)
    return {
        "kept": tuple(result.kept),
        "evicted": [
            {
                "fact_id": item.fact_id,
                "category": item.category,
                "score": item.score,
                "components": item.components,
            }
            for item in result.evicted
        ],
        "scores": {
            key: {"value": score.value, "components": score.components}
            for key, score in result.scores.items()
        },
        "policy": result.policy,
        "reserved_correction_slots": result.reserved_correction_slots,
    }


@pytest.mark.parametrize("overflow", [False, True])
@pytest.mark.parametrize("function", [select_facts_for_capacity, as_mappings])
def test_agreement(function: Callable[..., Any], overflow: bool) -> None:
    """What decides alike passes, whether it returns objects or mappings."""
    report = check(function, overflow=overflow, seed=5)
    assert CheckReport("mine:rule", 5, overflow, 300, 0, None) == report
    assert report.agrees


def on_facts(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., Any]:
    """A selector that reads its facts in another way."""

    def selector(facts: Facts, **arguments: Any) -> Selection:
        changed = [change(fact) for fact in facts]
        original = {id(new): old for new, old in zip(changed, facts, strict=True)}
        result = select_facts_for_capacity(changed, **arguments)
        return evolve(result, kept=[original[id(fact)] for fact in result.kept])

    return selector


def on_arguments(**changes: Callable[[Any], Any]) -> Callable[..., Any]:
    """A selector that reads its arguments in another way."""

    def selector(facts: Facts, **arguments: Any) -> Selection:
        read = {name: changes[name](value) if name in changes else value
                for name, value in arguments.items()}  # fmt: skip
        return select_facts_for_capacity(facts, **read)

    return selector


def on_result(change: Callable[[Selection], Selection]) -> Callable[..., Any]:
    """A selector that returns something else."""

    def selector(facts: Facts, **arguments: Any) -> Selection:
        return change(select_facts_for_capacity(facts, **arguments))

    return selector


def with_value(key: str, old: Any, new: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Read one value of a fact as another one."""

    def change(fact: dict[str, Any]) -> dict[str, Any]:
        matches = key in fact and type(fact[key]) is type(old) and repr(fact[key]) == repr(old)
        return fact | {key: new} if matches else dict(fact)

    return change


def confidence_text(fact: dict[str, Any]) -> dict[str, Any]:
    is_text = isinstance(fact.get("confidence"), str)
    return fact | {"confidence": 0.5} if is_text else dict(fact)


def only_exact_corrections(facts: Facts, **arguments: Any) -> Selection:
    exact = any(fact.get("category") == "correction" for fact in facts)
    none_reserved = {} if exact else {"correction_reserved_max": 0}
    return select_facts_for_capacity(facts, **(arguments | none_reserved))


def reversed_ties(facts: Facts, **arguments: Any) -> Selection:
    result = select_facts_for_capacity(facts, **arguments)
    if not result.evicted:
        return result
    other = select_facts_for_capacity(facts[::-1], **arguments)
    return evolve(result, kept=other.kept)


def first_duplicate_counts(facts: Facts, **arguments: Any) -> Selection:
    first: dict[str, dict[str, Any]] = {}
    for fact in facts:
        if fact.get("id", "") != "":
            first.setdefault(str(fact["id"]), fact)
    result = select_facts_for_capacity(facts, **arguments)
    alone = select_facts_for_capacity(list(first.values()), **arguments)
    return evolve(result, scores=result.scores | alone.scores)


def changes_a_fact(facts: Facts, **arguments: Any) -> Selection:
    result = select_facts_for_capacity(copy.deepcopy(facts), **arguments)
    kept: list[Any] = [fact for fact in facts if fact in result.kept]
    for fact in facts:
        fact["seen"] = True
    return evolve(result, kept=kept)


def nudge(result: Selection) -> Selection:
    """Move every score by the least a float can move."""
    scores = {
        key: evolve(score, value=math.nextafter(score.value, 2.0))
        for key, score in result.scores.items()
    }
    return evolve(result, scores=scores)


def without_component(result: Selection) -> Selection:
    scores = {
        key: evolve(score, components={"confidence": score.components["confidence"]})
        for key, score in result.scores.items()
    }
    return evolve(result, scores=scores)


PLANTED: dict[str, tuple[Callable[..., Any], str]] = {
    "kept order": (on_result(lambda r: evolve(r, kept=r.kept[::-1])), "kept"),
    "evicted order": (on_result(lambda r: evolve(r, evicted=r.evicted[::-1])), "evicted"),
    "ties": (reversed_ties, "kept"),
    "one short": (on_result(lambda r: evolve(r, kept=r.kept[:-1])), "kept"),
    "slots": (
        on_result(lambda r: evolve(r, reserved_correction_slots=r.reserved_correction_slots and 9)),
        "reserved_correction_slots",
    ),
    "boolean slots": (
        on_result(
            lambda r: (
                evolve(r, reserved_correction_slots=True) if r.reserved_correction_slots == 1 else r
            )
        ),
        "reserved_correction_slots",
    ),
    "policy": (on_result(lambda r: evolve(r, policy="best")), "policy"),
    "category": (
        on_result(
            lambda r: evolve(r, evicted=[evolve(e, category=e.category.lower()) for e in r.evicted])
        ),
        "evicted",
    ),
    "last digit": (on_result(nudge), "scores"),
    "component": (on_result(without_component), "scores"),
    "duplicates": (first_duplicate_counts, "scores"),
    "input": (changes_a_fact, "input unchanged"),
    "text is no confidence": (on_facts(confidence_text), "scores"),
    "true is 1": (on_facts(with_value("confidence", True, 1.0)), "scores"),
    "NaN is 0": (on_facts(with_value("confidence", math.nan, 0.0)), "scores"),
    "infinity is 1": (on_facts(with_value("confidence", math.inf, 1.0)), "scores"),
    "null is 0": (on_facts(with_value("confidence", None, 0.0)), "scores"),
    "corrections by exact name": (only_exact_corrections, "reserved_correction_slots"),
    "negative is 1": (on_arguments(max_facts=lambda n: 1 if n < 0 else n), "kept"),
    "clock": (on_arguments(now=lambda now: now + timedelta(seconds=1)), "scores"),
    "usage": (on_arguments(usage=lambda usage: {}), "scores"),
    "half-life of 0": (
        on_arguments(confirmation_half_life_days=lambda days: days or 1e-9),
        "scores",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_differences_are_found(name: str) -> None:
    """A selector that differs in one clause is found out, and the part that differs is named."""
    function, part = PLANTED[name]
    report = check(function, pools=1000)
    assert not report.agrees
    assert report.smallest is not None
    assert f"{part}: " in "\n".join(report.smallest.lines)


def test_smallest_pool_is_minimal() -> None:
    """The pool shown differs, and would not with anything less in it."""

    def wrong(facts: Facts, **arguments: Any) -> Selection:
        result = select_facts_for_capacity(facts, **arguments)
        return evolve(result, kept=result.kept[::-1])

    report = check(wrong)
    assert report.smallest is not None
    pool = report.smallest.pool
    # Two kept facts are the least that have an order.
    assert len(pool.facts) == 2
    assert [list(fact) for fact in pool.facts] == [["id"], ["id"]]
    assert sorted(pool.arguments) == ["max_facts", "now", "policy"]
    assert pool.arguments["max_facts"] == 2
    kept = list(pool.facts)
    assert report.smallest.lines == (f"kept: {kept[::-1]!r}, the reference: {kept!r}",)


def test_usage_in_the_smallest_pool() -> None:
    """Of the usage only what matters is left."""

    def wrong(facts: Facts, **arguments: Any) -> Selection:
        return select_facts_for_capacity(facts, **(arguments | {"usage": None}))

    report = check(wrong)
    assert report.smallest is not None
    pool = report.smallest.pool
    assert len(pool.facts) == 1
    ((key, entry),) = pool.arguments["usage"].items()
    assert key == str(pool.facts[0]["id"])
    assert sorted(entry) == ["accessHeat", "lastAccessedAt"]
    assert pool.arguments["policy"] == "hybrid-v1"
    assert pool.arguments["max_facts"] == 0


def overflowing(facts: Facts, **arguments: Any) -> Selection:
    for fact in facts:
        if isinstance(fact.get("confidence"), int):
            float(fact["confidence"])
    return select_facts_for_capacity(facts, **arguments)


def test_overflow_is_opt_in_and_named() -> None:
    """What makes a selector overflow is tried only on request, and then reported as such."""
    assert check(overflowing).agrees
    report = check(overflowing, overflow=True)
    assert report.smallest is not None
    assert report.smallest.lines == (
        "raises OverflowError where the reference takes the value as not finite or unreadable",
    )
    (fact,) = report.smallest.pool.facts
    assert abs(fact["confidence"]) == 10**400


@pytest.mark.parametrize("kind", [RuntimeError, SystemExit])
def test_raising_where_the_reference_returns(kind: type[BaseException]) -> None:
    """An exception of the selector alone, also one that would end it, is a difference."""

    def failing(facts: Facts, **arguments: Any) -> Selection:
        raise kind("no")

    report = check(failing)
    assert report.differing == 300
    assert report.smallest is not None
    assert report.smallest.lines == (
        f"raises {kind.__name__}: no where the reference returns a result",
    )
    assert report.smallest.pool.facts == ()


class Incomparable:
    """A value like an array, which is neither equal nor unequal."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]


def test_result_that_cannot_be_compared() -> None:
    """A value that refuses to be compared is a difference, not the end of the check."""

    def odd(facts: Facts, **arguments: Any) -> Any:
        return as_mappings(facts, **arguments) | {"policy": Incomparable()}

    report = check(odd, pools=20)
    assert report.differing > 0
    assert report.smallest is not None
    assert report.smallest.lines == ("returns what cannot be compared: ValueError: ambiguous",)


def test_result_without_a_part() -> None:
    """A result that lacks a part is a difference that names it."""
    report = check(lambda facts, **arguments: {"kept": facts}, pools=20)
    assert report.smallest is not None
    assert "dict has no evicted" in report.smallest.lines[0]


@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (None, "returns a result where the reference raises ValueError"),
        (KeyError, "raises KeyError where the reference raises ValueError"),
        (ValueError, None),
    ],
)
def test_policies_the_reference_refuses(raised: type[Exception] | None, line: str | None) -> None:
    """Where the reference refuses a policy, the selector must, with the same type."""

    def lenient(facts: Facts, *, policy: str, **arguments: Any) -> Selection:
        if policy not in ("confidence", "hybrid-v1"):
            if raised is not None:
                raise raised
            policy = "confidence"
        return select_facts_for_capacity(facts, policy=policy, **arguments)

    report = check(lenient)
    assert (line is None) == report.agrees
    if line is not None:
        assert report.smallest is not None
        assert report.smallest.lines == (line,)


def test_pools_are_reproducible() -> None:
    """A pool depends on seed and index alone."""
    first = [generate_pool(3, index) for index in range(40)]
    again = [generate_pool(3, index) for index in reversed(range(40))][::-1]
    other = [generate_pool(4, index) for index in range(40)]
    assert repr(first) == repr(again)
    assert repr(first) != repr(other)


def stated(pools: list[GeneratedPool], key: str) -> set[str]:
    return {repr(fact.get(key, "absent")) for pool in pools for fact in pool.facts}


def test_pools_are_hostile() -> None:
    """The pools of an ordinary check hold what the formula has a clause for."""
    pools = [generate_pool(0, index) for index in range(1000)]
    assert stated(pools, "confidence") >= {
        *("None", "True", "False", "nan", "inf", "-inf", "1.5", "-0.2", "1e+308"),
        *("'absent'", "'high'", "'0.7'", "[]", "{}"),
    }
    assert stated(pools, "createdAt") >= {
        *("None", "''", "'yesterday'", "'2027-01-01T00:00:00Z'", "'2026-07-01T12:00:00'"),
        *("'2026-07-14T09:30:00+05:30'", "'0001-01-01T00:00:00Z'"),
    }
    assert stated(pools, "category") >= {"'absent'", "''", "'Correction'", r"' CORRECTION\n'"}
    assert stated(pools, "id") >= {"'absent'", "''", "7"}
    ids = [[fact.get("id") for fact in pool.facts] for pool in pools]
    assert any(len(set(names)) < len(names) for names in ids)
    room = {pool.arguments["max_facts"] - len(pool.facts) for pool in pools}
    assert {-2, -1, 0, 1} <= room
    assert {-2, -1, 0} <= {pool.arguments["max_facts"] for pool in pools}
    assert 0 in {len(pool.facts) for pool in pools}
    assert any("usage" not in pool.arguments for pool in pools)
    for name in ("confidence_weight", "access_half_life_days", "correction_reserved_fraction"):
        assert len({pool.arguments.get(name) for pool in pools}) > 4


def test_overflow_only_on_request() -> None:
    """Integers beyond the floats and dates that leave the calendar are drawn on request only."""
    beyond = (repr(10**400), "0001-01-01T00:00:00+05:00")
    for overflow in (False, True):
        pools = repr([generate_pool(0, index, overflow=overflow) for index in range(300)])
        assert [overflow, overflow] == [text in pools for text in beyond]
