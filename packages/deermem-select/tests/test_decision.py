"""Decisions: what is asked of a selector, what is refused, and what becomes a row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from deermem_data import (
    Case,
    PolicySpec,
    PolicyWeights,
    Protocol,
    build_cases,
    json_bytes,
    jsonl_bytes,
    load_dataset,
    load_protocol,
    sha256_hex,
)
from deermem_select import (
    Decision,
    Provenance,
    Selection,
    Selector,
    SelectorError,
    bind_selector,
    decide,
    decisions,
    policy_arguments,
    select_facts_for_capacity,
    summarise,
)


def spec(policy: Any, **stated: Any) -> PolicySpec:
    return PolicySpec(policy, **stated)


def weights(*shares: Any) -> PolicyWeights:
    return PolicyWeights(*shares)


CONFIDENCE = spec("confidence")
HYBRID = spec(
    "hybrid-v1",
    weights=weights(0.5, 0.3, 0.2),
    confirmation_half_life_days=60.0,
    access_half_life_days=20.0,
    correction_reserved_fraction=0.2,
    correction_reserved_max=3,
)
MINE = Provenance("custom", "mine:rule", "mine.py", "0" * 64, None, None, False)


def bound(function: Callable[..., Any]) -> Selector:
    return Selector(function, MINE)


@pytest.fixture(scope="module")
def reference(protocol: Protocol) -> Selector:
    return bind_selector("reference", protocol=protocol)


@pytest.fixture(scope="module")
def now(protocol: Protocol) -> datetime:
    return protocol.config.evaluation_time


def test_call(cases: tuple[Case, ...], now: datetime) -> None:
    """The selector gets the facts by place and everything the policy states by keyword."""
    calls = []

    def recording(*facts: Any, **arguments: Any) -> Selection:
        calls.append((facts, arguments))
        return select_facts_for_capacity(*facts, **arguments)

    decide(cases[0], HYBRID, 7, bound(recording), now)
    ((facts,), arguments) = calls[0]
    assert list(cases[0].facts) == facts
    expected = {
        "max_facts": 7,
        "policy": "hybrid-v1",
        "usage": cases[0].usage,
        "now": now,
        "confidence_weight": 0.5,
        "confirmation_weight": 0.3,
        "access_weight": 0.2,
        "confirmation_half_life_days": 60.0,
        "access_half_life_days": 20.0,
        "correction_reserved_fraction": 0.2,
        "correction_reserved_max": 3,
    }
    assert expected == arguments


def test_unstated_parameters_keep_their_defaults() -> None:
    """A policy that states nothing passes nothing; a stated 0 is passed."""
    assert policy_arguments(CONFIDENCE) == {}
    stated = spec("p", correction_reserved_fraction=0.0, correction_reserved_max=0)
    assert (policy_arguments(stated)) == {
        "correction_reserved_fraction": 0.0,
        "correction_reserved_max": 0,
    }


def test_decision(cases: tuple[Case, ...], reference: Selector, now: datetime) -> None:
    """A decision is the selector's result, by ids."""
    case = cases[0]
    found = decide(case, HYBRID, 7, reference, now)
    expected = select_facts_for_capacity(
        case.facts, max_facts=7, usage=case.usage, now=now, policy="hybrid-v1",
        **policy_arguments(HYBRID),
    )  # fmt: skip
    assert [fact["id"] for fact in expected.kept] == list(found.kept_fact_ids)
    assert expected.evicted == list(found.evicted)
    assert expected.scores == found.scores
    assert ("hybrid-v1", 7, case.case_id) == (found.policy, found.capacity, found.case_id)


def test_row(cases: tuple[Case, ...], reference: Selector, now: datetime) -> None:
    """A row has the published keys, and ids and numbers only."""
    case = cases[0]
    decision = decide(case, HYBRID, 7, reference, now)
    row = decision.to_row()
    assert set(row) == {
        "schema_version",
        "case_id",
        "source",
        "scenario",
        "question_type",
        "policy",
        "capacity",
        "support_fact_ids",
        "kept_fact_ids",
        "evicted",
        "scores",
        "support_all_retained",
        "support_recall",
        "reserved_correction_slots",
    }
    assert row["schema_version"] == 1
    first = decision.evicted[0]
    assert row["evicted"][0] == {
        "fact_id": first.fact_id,
        "category": first.category,
        "score": first.score,
        "components": first.components,
    }
    score = decision.scores[first.fact_id]
    assert {"value": score.value, "components": score.components} == row["scores"][first.fact_id]
    text = jsonl_bytes([row]).decode()
    assert not any(fact["content"] in text for fact in case.facts)


def test_numbers_pass_as_they_came(cases: tuple[Case, ...], now: datetime) -> None:
    """An int a selector gives stays an int in the row."""

    def whole(facts: Any, **arguments: Any) -> dict[str, Any]:
        return sound(facts, **arguments)

    row = decide(cases[0], CONFIDENCE, 9, bound(whole), now).to_row()
    (score,) = {type(item["value"]) for item in row["scores"].values()}
    assert (int, int) == (score, type(row["evicted"][0]["components"]["place"]))


@pytest.mark.parametrize(
    ("support", "all_retained", "recall"),
    [
        ((0,), True, 1.0),
        ((9,), False, 0.0),
        ((0, 9), False, 0.5),
        ((0, 1, 2, 9), False, 0.75),
        ((0, 1), True, 1.0),
    ],
)
def test_support(
    cases: tuple[Case, ...],
    now: datetime,
    support: tuple[int, ...],
    all_retained: bool,
    recall: float,
) -> None:
    """Recall is the share of the support facts kept; all are retained only if it is all."""
    names = tuple(cases[0].facts[index]["id"] for index in support)
    case = evolve(cases[0], support_fact_ids=names)
    found = decide(case, CONFIDENCE, 5, bound(sound), now)
    assert (all_retained, recall) == (found.support_all_retained, found.support_recall)


def test_order(protocol: Protocol, cases: tuple[Case, ...], reference: Selector) -> None:
    """Case by case, capacity by capacity, policies in the protocol's order."""
    capacities: Any = (9, 7)
    pool = evolve(protocol.config.pool, capacities=capacities)
    policies = {"second": HYBRID, "first": CONFIDENCE}
    changed = evolve(protocol, config=evolve(protocol.config, pool=pool, policies=policies))
    found = decisions(changed, cases[:2], reference)
    expected = itertools.product(
        [case.case_id for case in cases[:2]], capacities, ("hybrid-v1", "confidence")
    )
    assert list(expected) == [(item.case_id, item.capacity, item.policy) for item in found]


def sound(facts: Any, *, max_facts: int, policy: str, **_: Any) -> dict[str, Any]:
    """A sane result, for tests to spoil."""
    return {
        "kept": facts[:max_facts],
        "evicted": [
            {"fact_id": fact["id"], "category": "any", "score": 1, "components": {"place": 1}}
            for fact in facts[max_facts:]
        ],
        "scores": {fact["id"]: {"value": 1, "components": {"place": 1}} for fact in facts},
        "policy": policy,
        "reserved_correction_slots": 0,
    }


def replace(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda result: result.__setitem__(name, value)


def in_evicted(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda result: result["evicted"][0].__setitem__(name, value)


def in_score(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda result: next(iter(result["scores"].values())).__setitem__(name, value)


SPOILED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "one too many": (
        lambda result: result["kept"].append({"id": result["evicted"].pop()["fact_id"]}),
        "6 facts are kept, expected at most 5",
    ),
    "lost": (lambda result: result["evicted"].pop(), "kept and evicted: missing "),
    "kept twice": (lambda result: result["kept"].insert(0, result["kept"][1]), "repeated "),
    "kept and evicted": (
        lambda result: result["evicted"][0].update(fact_id=result["kept"][0]["id"]),
        "repeated ",
    ),
    "unknown kept": (
        lambda result: result["kept"].__setitem__(0, {"id": "x"}),
        "not in the pool x",
    ),
    "unknown evicted": (in_evicted("fact_id", "x"), "not in the pool x"),
    "kept no fact": (lambda result: result["kept"].__setitem__(0, "f"), "str has no id"),
    "kept nothing": (replace("kept", None), "not iterable"),
    "no kept": (lambda result: result.pop("kept"), "dict has no kept"),
    "no evicted": (lambda result: result.pop("evicted"), "dict has no evicted"),
    "no scores": (lambda result: result.pop("scores"), "dict has no scores"),
    "no slots": (
        lambda result: result.pop("reserved_correction_slots"),
        "dict has no reserved_correction_slots",
    ),
    "no category": (lambda result: result["evicted"][0].pop("category"), "has no category"),
    "category": (in_evicted("category", None), "category is None, expected one word"),
    "category of words": (in_evicted("category", "two words"), "'two words', expected one word"),
    "category of lines": (in_evicted("category", "a\nb"), "'a\\nb', expected one word"),
    "empty category": (in_evicted("category", ""), "category is '', expected one word"),
    "long category": (in_evicted("category", "x" * 65), "expected one word"),
    "half a surrogate": (in_evicted("category", "\ud800"), "'\\ud800', expected one word"),
    "score of evicted": (in_evicted("score", math.nan), "score is nan, expected a finite number"),
    "text score": (in_evicted("score", "1"), "score is '1', expected a finite number"),
    "components of evicted": (in_evicted("components", [1]), "components is [1], expected names"),
    "component of evicted": (
        in_evicted("components", {"c": math.inf}),
        "c is inf, expected a finite number",
    ),
    "value": (in_score("value", True), "value is True, expected a finite number"),
    "component": (in_score("components", {"c": None}), "c is None, expected a finite number"),
    "component name": (in_score("components", {1: 1}), "components is {1: 1}, expected names"),
    "component of words": (in_score("components", {"a b": 1}), "expected names of one word"),
    "component of evicted of words": (
        in_evicted("components", {"a b": 1}),
        "expected names of one word",
    ),
    "number beyond the floats": (in_score("value", 2**1024), "expected a finite number"),
    "negative beyond the floats": (in_score("value", -(2**1024)), "expected a finite number"),
    "number of too many digits": (
        in_evicted("score", 10**5000),
        "score is an int of 16610 bits, expected a finite number",
    ),
    "id of two lines": (
        lambda result: result["kept"].__setitem__(0, {"id": "a\nb"}),
        "not in the pool a b; ",
    ),
    "id that cannot be counted": (
        lambda result: result["kept"].__setitem__(0, {"id": []}),
        "unhashable",
    ),
    "score missing": (lambda result: result["scores"].popitem(), "scores: missing "),
    "score unknown": (
        lambda result: result["scores"].update(x={"value": 1, "components": {}}),
        "scores: not in the pool x",
    ),
    "slots negative": (replace("reserved_correction_slots", -1), "is -1, expected 0 to 5"),
    "slots above": (replace("reserved_correction_slots", 6), "is 6, expected 0 to 5"),
    "slots boolean": (replace("reserved_correction_slots", True), "is True, expected 0 to 5"),
    "slots float": (replace("reserved_correction_slots", 1.0), "is 1.0, expected 0 to 5"),
    "policy": (replace("policy", "other"), "policy is 'other', expected 'confidence'"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_refused(cases: tuple[Case, ...], now: datetime, name: str) -> None:
    """A result that cannot be right is refused; the error names case, policy and capacity."""
    spoil, named = SPOILED[name]

    def spoiled(facts: Any, **arguments: Any) -> dict[str, Any]:
        result = sound(facts, **arguments)
        spoil(result)
        return result

    with pytest.raises(SelectorError) as caught:
        decide(cases[3], CONFIDENCE, 5, bound(spoiled), now)
    start = (
        f"selector mine:rule: case {cases[3].case_id}, confidence at 5: "
        "returns what cannot be right: "
    )
    message = str(caught.value)
    assert message.startswith(start)
    assert named in message
    assert len(message.splitlines()) == 1


def test_long_value_is_shortened(cases: tuple[Case, ...], now: datetime) -> None:
    """The error stays readable, whatever the selector returned."""

    def long(facts: Any, **arguments: Any) -> dict[str, Any]:
        return sound(facts, **arguments) | {"policy": "x" * 100_000}

    with pytest.raises(SelectorError, match="policy is 'xxx") as caught:
        decide(cases[0], CONFIDENCE, 5, bound(long), now)
    assert len(str(caught.value)) < 1200
    assert str(caught.value).endswith("xxx...")


class Lazy:
    """A result that raises when it is read."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    @property
    def kept(self) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (ZeroDivisionError("by zero"), "its result raises ZeroDivisionError: by zero"),
        (RuntimeError("two\nlines"), "its result raises RuntimeError: two lines"),
        (SystemExit(0), "its result raises SystemExit: 0"),
    ],
)
def test_result_that_raises(
    cases: tuple[Case, ...], now: datetime, error: BaseException, named: str
) -> None:
    """A result may be of the selector's own classes; what they raise is the selector's error."""
    call = f"selector mine:rule: case {cases[0].case_id}, confidence at 5: "
    with pytest.raises(SelectorError) as caught:
        decide(cases[0], CONFIDENCE, 5, bound(lambda *_, **__: Lazy(error)), now)
    assert call + named == str(caught.value)

    def later(facts: Any, **arguments: Any) -> dict[str, Any]:
        def kept() -> Any:
            yield facts[0]
            raise error

        return sound(facts, **arguments) | {"kept": kept()}

    with pytest.raises(SelectorError) as caught:
        decide(cases[0], CONFIDENCE, 5, bound(later), now)
    assert call + named == str(caught.value)


def test_selector_that_exits(cases: tuple[Case, ...], now: datetime) -> None:
    """A selector cannot end the process as if the work were done."""

    def exiting(*_: Any, **__: Any) -> None:
        raise SystemExit(0)

    with pytest.raises(SelectorError, match="confidence at 5: raises SystemExit: 0"):
        decide(cases[0], CONFIDENCE, 5, bound(exiting), now)


def test_no_text_of_a_fact_gets_into_a_row(cases: tuple[Case, ...], now: datetime) -> None:
    """A selector that returns a fact's text, wherever it may, is refused."""

    def by_category(facts: Any, **arguments: Any) -> dict[str, Any]:
        result = sound(facts, **arguments)
        result["evicted"][0]["category"] = facts[0]["content"]
        return result

    def by_component(facts: Any, **arguments: Any) -> dict[str, Any]:
        result = sound(facts, **arguments)
        result["scores"][facts[0]["id"]]["components"] = {facts[0]["content"]: 1}
        return result

    for leaking in (by_category, by_component):
        with pytest.raises(SelectorError, match="one word"):
            decide(cases[0], CONFIDENCE, 5, bound(leaking), now)


def test_refused_none(cases: tuple[Case, ...], now: datetime) -> None:
    """A selector that returns nothing is refused."""
    with pytest.raises(SelectorError, match="NoneType has no kept"):
        decide(cases[0], CONFIDENCE, 5, bound(lambda *_, **__: None), now)


def test_fewer_than_the_capacity_may_stay(cases: tuple[Case, ...], now: datetime) -> None:
    """A selector may keep fewer facts than fit."""

    def strict(facts: Any, *, max_facts: int, **arguments: Any) -> dict[str, Any]:
        return sound(facts, max_facts=2, **arguments)

    assert len(decide(cases[0], CONFIDENCE, 5, bound(strict), now).kept_fact_ids) == 2


def test_selector_that_raises(cases: tuple[Case, ...], now: datetime) -> None:
    """What a selector raises is named with the case, on one line."""

    def failing(*_: Any, **__: Any) -> None:
        raise KeyError("two\nlines")

    with pytest.raises(SelectorError) as caught:
        decide(cases[0], CONFIDENCE, 5, bound(failing), now)
    expected = (
        f"selector mine:rule: case {cases[0].case_id}, confidence at 5: "
        r"raises KeyError: 'two\nlines'"
    )
    assert expected == str(caught.value)


def test_policy_the_selector_does_not_know(
    cases: tuple[Case, ...], reference: Selector, now: datetime
) -> None:
    """A protocol's policy that the selector refuses is an error of the selector."""
    with pytest.raises(SelectorError, match="raises ValueError: policy 'mine'"):
        decide(cases[0], spec("mine"), 5, reference, now)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts, usage: facts[0].update(confidence=0.0),
        lambda facts, usage: facts[0].update(tags=["new"]),
        lambda facts, usage: facts[0]["nested"].append(1),
        lambda facts, usage: facts.reverse(),
        lambda facts, usage: facts.pop(),
        lambda facts, usage: usage.update(x={}),
        lambda facts, usage: usage["u"].update(accessHeat=0),
    ],
)
def test_changed_input(
    cases: tuple[Case, ...], now: datetime, change: Callable[[Any, Any], object]
) -> None:
    """A selector that changes its input is refused, and the case stays as it was."""
    facts = tuple(dict(fact, nested=[0]) for fact in cases[0].facts)
    case = evolve(cases[0], facts=facts, usage={"u": {"accessHeat": 1}})
    before = repr(case)

    def changing(facts: Any, *, usage: Any, **arguments: Any) -> dict[str, Any]:
        result = sound(list(facts), **arguments)
        change(facts, usage)
        return result

    with pytest.raises(SelectorError, match="changes the facts or the usage it was given"):
        decide(case, CONFIDENCE, 5, bound(changing), now)
    assert before == repr(case)


def retained(found: list[Decision], policy: str, capacity: int, source: str) -> int:
    return sum(
        item.support_all_retained
        for item in found
        if (item.policy, item.capacity, item.source) == (policy, capacity, source)
    )


def test_published_retention(
    protocol: Protocol, cases: tuple[Case, ...], reference: Selector
) -> None:
    """The embedded protocol has the shape of the published one, and so its retention."""
    found = list(decisions(protocol, cases, reference))
    counts = {
        (policy, capacity): tuple(
            retained(found, policy, capacity, source) for source in ("longmemeval", "synthetic")
        )
        for policy in ("confidence", "hybrid-v1")
        for capacity in (5, 7, 9)
    }
    assert counts == {
        ("confidence", 5): (20, 0),
        ("confidence", 7): (26, 1),
        ("confidence", 9): (32, 3),
        ("hybrid-v1", 5): (30, 5),
        ("hybrid-v1", 7): (40, 5),
        ("hybrid-v1", 9): (40, 5),
    }


def test_published_bytes(longmemeval_path: Path, upstream_path: Path) -> None:
    """With the real inputs, rows and summary are the published run's, byte for byte."""
    protocol = load_protocol(upstream_path)
    cases = build_cases(protocol, load_dataset(longmemeval_path, protocol))
    selector = bind_selector("reference", protocol=protocol)
    rows = [item.to_row() for item in decisions(protocol, cases, selector)]
    summary = {
        "schema_version": 1,
        "protocol_id": protocol.protocol_id,
        "groups": [group.to_row() for group in summarise(rows)],
    }
    raw_sha256 = "215b6e36d336129bcc1719421c727c006e1a6b22c04661d7c69269774127ab02"
    summary_sha256 = "48ed21e82604af889b2fea65b3ca1c13df5f17082094070029562d2002229538"
    assert raw_sha256 == sha256_hex(jsonl_bytes(rows))
    assert summary_sha256 == sha256_hex(json_bytes(summary))
