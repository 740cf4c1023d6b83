"""Each clause of the published formula, with values computed by hand."""

from __future__ import annotations

import copy
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from deermem_select.reference import Selection, select_facts_for_capacity

NOW = datetime(2026, 8, 13, tzinfo=UTC)


def select(facts: list[Any], **arguments: Any) -> Selection:
    defaults: dict[str, Any] = {"max_facts": 1, "policy": "hybrid-v1", "now": NOW}
    return select_facts_for_capacity(facts, **(defaults | arguments))


def fact(name: str, confidence: float = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": name, "category": "context", "confidence": confidence} | more


def component(name: str, fact: dict[str, Any], **arguments: Any) -> float:
    return select([{"id": "a"} | fact], **arguments).scores["a"].components[name]


def ids(result: Selection) -> list[str]:
    return [item["id"] for item in result.kept]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.7, 0.7),
        (0, 0.0),
        (1, 1.0),
        (1.5, 1.0),
        (-0.1, 0.0),
        (7, 1.0),
        ("0.7", 0.7),
        (" 1e-1\n", 0.1),
        ("2", 1.0),
        (None, 0.5),
        (True, 0.5),
        (False, 0.5),
        ("", 0.5),
        ("high", 0.5),
        ([], 0.5),
        ({}, 0.5),
        ([0.9], 0.5),
        (b"0.9", 0.5),
        (1j, 0.5),
        (math.nan, 0.5),
        (math.inf, 0.5),
        (-math.inf, 0.5),
        ("nan", 0.5),
        ("-inf", 0.5),
        ("1e400", 0.5),
        (10**400, 0.5),
        (-(10**400), 0.5),
    ],
)
def test_confidence(value: object, expected: float) -> None:
    """A number or text that reads as one is clamped to 0..1; anything else counts as 0.5."""
    found = component("confidence", {"confidence": value})
    assert (expected, float) == (found, type(found))


def test_confidence_absent() -> None:
    """No confidence counts as 0.5."""
    assert component("confidence", {}) == 0.5


def test_confidence_policy_is_the_confidence_alone() -> None:
    """Under `confidence` the score is the one component, whatever else is known."""
    known = {"confidence": 0.8, "lastConfirmedAt": "2026-08-13T00:00:00Z"}
    score = select([{"id": "a"} | known], policy="confidence").scores["a"]
    assert (score.value, score.components) == (0.8, {"confidence": 0.8})


def test_hybrid_score_is_summed_in_order() -> None:
    """0.65 c + 0.25 f + 0.10 h, added from the left: another order gives another last digit."""
    usage = {"a": {"accessHeat": 2, "lastAccessedAt": "2026-08-13T00:00:00Z"}}
    stated = fact("a", 0.62, lastConfirmedAt="2026-05-15T00:00:00Z")
    score = select([stated], usage=usage).scores["a"]
    heat = math.log1p(2.0) / math.log(9)  # ln 3 / ln 9
    assert {"confidence": 0.62, "confirmationFreshness": 0.5, "accessHeat": heat} == (
        score.components
    )
    assert list(score.components) == ["confidence", "confirmationFreshness", "accessHeat"]
    assert 0.65 * 0.62 + 0.25 * 0.5 + 0.1 * heat == score.value
    # 0.1 + (0.2 + 0.3) would be 0.6
    weights = {"confidence_weight": 0.1, "confirmation_weight": 0.2, "access_weight": 0.3}
    full = fact("a", 1.0, lastConfirmedAt="2026-08-13T00:00:00Z")
    hot = {"a": {"accessHeat": 8, "lastAccessedAt": "2026-08-13T00:00:00Z"}}
    assert select([full], usage=hot, **weights).scores["a"].value == 0.6000000000000001


def test_default_weights_and_half_lives() -> None:
    """0.65, 0.25, 0.10; 90 and 30 days."""
    usage = {"a": {"accessHeat": 8, "lastAccessedAt": "2026-07-14T00:00:00Z"}}
    stated = fact("a", 1.0, lastConfirmedAt="2026-05-15T00:00:00Z")
    score = select([stated], usage=usage).scores["a"]
    heat = math.log1p(4.0) / math.log(9)
    assert 0.65 + 0.25 * 0.5 + 0.10 * heat == pytest.approx(score.value, abs=1e-15)


@pytest.mark.parametrize("policy", ["", "Confidence", "hybrid-v2", "random"])
@pytest.mark.parametrize("max_facts", [0, 1, 5])
def test_other_policies_are_refused(policy: str, max_facts: int) -> None:
    """Any policy but the two is a ValueError, at every capacity."""
    with pytest.raises(ValueError, match="expected 'confidence' or 'hybrid-v1'"):
        select([fact("a"), fact("b")], policy=policy, max_facts=max_facts)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"lastConfirmedAt": "2026-08-13T00:00:00Z"}, 1.0),
        ({"lastConfirmedAt": "2026-05-15T00:00:00Z"}, 0.5),
        ({"lastConfirmedAt": "2026-02-14T00:00:00Z"}, 0.25),
        ({"lastConfirmedAt": "2030-01-01T00:00:00Z"}, 1.0),
        ({"createdAt": "2026-02-14T00:00:00Z"}, 0.125),
        ({"createdAt": "2030-01-01T00:00:00Z"}, 0.5),
        ({"lastConfirmedAt": "2026-05-15T00:00:00Z", "createdAt": "2026-08-13T00:00:00Z"}, 0.5),
        ({"lastConfirmedAt": "never", "createdAt": "2026-05-15T00:00:00Z"}, 0.25),
        ({"lastConfirmedAt": None, "createdAt": None}, 0.0),
        ({"confirmationCount": 3}, 0.0),
        ({}, 0.0),
    ],
)
def test_freshness(known: dict[str, Any], expected: float) -> None:
    """Half-life 90 days since the confirmation, else half of that since the creation, else 0."""
    assert component("confirmationFreshness", known) == expected


@pytest.mark.parametrize("half_life", [0, -1, -0.5])
def test_half_life_of_nothing(half_life: float) -> None:
    """With a half-life of 0 or less nothing is fresh and nothing is hot, not even of now."""
    now = "2026-08-13T00:00:00Z"
    stated = fact("a", lastConfirmedAt=now)
    usage = {"a": {"accessHeat": 8, "lastAccessedAt": now}}
    fresh = select([stated], usage=usage, confirmation_half_life_days=half_life)
    hot = select([stated], usage=usage, access_half_life_days=half_life)
    assert fresh.scores["a"].components["confirmationFreshness"] == 0.0
    assert fresh.scores["a"].components["accessHeat"] == 1.0
    assert hot.scores["a"].components["accessHeat"] == 0.0
    assert hot.scores["a"].components["confirmationFreshness"] == 1.0


@pytest.mark.parametrize(
    ("heat", "accessed", "expected"),
    [
        (8, "2026-08-13T00:00:00Z", 1.0),
        (8.0, "2026-08-13T00:00:00Z", 1.0),
        (800, "2026-08-13T00:00:00Z", 1.0),
        (2, "2026-08-13T00:00:00Z", math.log(3) / math.log(9)),
        (4, "2026-07-14T00:00:00Z", math.log(3) / math.log(9)),
        (2, "2027-08-13T00:00:00Z", math.log(3) / math.log(9)),
        (0, "2026-08-13T00:00:00Z", 0.0),
        (-1, "2026-08-13T00:00:00Z", 0.0),
        (True, "2026-08-13T00:00:00Z", 0.0),
        (None, "2026-08-13T00:00:00Z", 0.0),
        ("8", "2026-08-13T00:00:00Z", 0.0),
        ([8], "2026-08-13T00:00:00Z", 0.0),
        (math.nan, "2026-08-13T00:00:00Z", 0.0),
        (math.inf, "2026-08-13T00:00:00Z", 0.0),
        (10**400, "2026-08-13T00:00:00Z", 0.0),
        (8, None, 0.0),
        (8, "recently", 0.0),
        (8, "0001-01-01T00:00:00+01:00", 0.0),
    ],
)
def test_heat(heat: object, accessed: object, expected: float) -> None:
    """A finite heat above 0 with a readable time, half-life 30 days, full at 8; else 0."""
    usage = {"a": {"accessHeat": heat, "lastAccessedAt": accessed}}
    found = component("accessHeat", {}, usage=usage)
    assert pytest.approx(expected, abs=1e-15) == found
    assert isinstance(found, float)


@pytest.mark.parametrize("usage", [None, {}, {"b": {}}, {"a": None}, {"a": 8}, {"a": {}}])
def test_usage_absent_or_unreadable(usage: Any) -> None:
    """A fact of which no use is known is not hot."""
    assert component("accessHeat", {}, usage=usage) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-15T00:00:00Z",
        "  2026-05-15T00:00:00Z\n",
        "2026-05-15T00:00:00",
        "2026-05-15",
        "2026-05-15Z",
        "2026-05-15T05:30:00+05:30",
        "2026-05-14T16:00:00-08:00",
        "2026-05-15 00:00:00.000+00:00",
    ],
)
def test_readable_timestamps(text: str) -> None:
    """One moment, 90 days before the clock, however it is written; without a zone it is UTC."""
    assert component("confirmationFreshness", {"lastConfirmedAt": text}) == 0.5


@pytest.mark.parametrize(
    "value",
    [
        *("", "   ", "soon", "2026-13-01", "2026-05-15T25:00:00Z", "\x00", "\ud800"),
        *(None, 0, 1747267200, True, [], datetime(2026, 5, 15, tzinfo=UTC)),
        *("0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"),
    ],
)
def test_unreadable_timestamps(value: object) -> None:
    """What is no text, no date, or outside the calendar once in UTC, is as if absent."""
    assert component("confirmationFreshness", {"lastConfirmedAt": value}) == 0.0
    known = {"lastConfirmedAt": value, "createdAt": "2026-08-13T00:00:00Z"}
    assert component("confirmationFreshness", known) == 0.5


def test_ends_of_the_calendar_are_readable() -> None:
    """The first moment there is, is long past; the last is not past at all."""
    assert component("confirmationFreshness", {"createdAt": "0001-01-01T00:00:00Z"}) == 0.0
    assert component("confirmationFreshness", {"createdAt": "9999-12-31T23:59:59Z"}) == 0.5


def test_days_are_counted_in_seconds() -> None:
    """Half a day counts as half a day."""
    known = {"lastConfirmedAt": "2026-08-12T12:00:00Z"}
    found = component("confirmationFreshness", known, confirmation_half_life_days=0.5)
    assert found == 0.5


def test_clock_in_any_zone() -> None:
    """The clock may be in any zone; without one it is UTC."""
    known = {"lastConfirmedAt": "2026-05-15T00:00:00Z"}
    for clock in (NOW.astimezone(timezone(timedelta(hours=-7))), NOW.replace(tzinfo=None)):
        assert component("confirmationFreshness", known, now=clock) == 0.5


def test_clock_defaults_to_the_present() -> None:
    """Without a clock, what was confirmed this moment is fresh, and what was long ago is not."""
    present = datetime.now(UTC).isoformat()
    for text, low, high in ((present, 0.99, 1.0), ("1990-01-01T00:00:00Z", 0.0, 0.01)):
        found = component("confirmationFreshness", {"lastConfirmedAt": text}, now=None)
        assert low <= found <= high


def test_keys() -> None:
    """A fact's key is its id as text; where that is empty or absent, its place."""
    facts = [{"id": 7}, {"id": ""}, {}, {"id": None}, {"id": 0}]
    keys = ["7", "__missing_1", "__missing_2", "__missing_3", "0"]
    result = select(facts, max_facts=0)
    assert keys == list(result.scores)
    assert keys[::-1] == [item.fact_id for item in result.evicted]


def test_usage_is_by_key() -> None:
    """The usage of a fact without an id is looked up under its place."""
    usage = {"__missing_0": {"accessHeat": 8, "lastAccessedAt": "2026-08-13T00:00:00Z"}}
    result = select([{}], usage=usage)
    assert result.scores["__missing_0"].components["accessHeat"] == 1.0


def test_one_key_one_score() -> None:
    """Of facts with one key, the score of the last stands for all."""
    facts = [fact("a", 0.9), fact("b", 0.5), fact("a", 0.1)]
    result = select(facts, policy="confidence", max_facts=1)
    assert {key: score.value for key, score in result.scores.items()} == {"a": 0.1, "b": 0.5}
    assert [facts[1]] == result.kept
    assert [(item.fact_id, item.score) for item in result.evicted] == [("a", 0.1), ("a", 0.1)]


@pytest.mark.parametrize("policy", ["confidence", "hybrid-v1"])
@pytest.mark.parametrize("max_facts", [3, 4])
def test_room_for_all(policy: str, max_facts: int) -> None:
    """At or below capacity everything is kept in input order and no slot is reserved."""
    facts = [fact("a", 0.1), fact("b", 0.9), fact("c", 0.5, category="correction")]
    result = select(facts, policy=policy, max_facts=max_facts)
    assert ids(result) == ["a", "b", "c"]
    assert (result.evicted, result.reserved_correction_slots) == ([], 0)
    assert list(result.scores) == ["a", "b", "c"]


def test_ranking_and_ties() -> None:
    """Best first, ties in input order; what goes, worst first, is the ranking backwards."""
    facts = [fact("a", 0.5), fact("b", 0.9), fact("c", 0.5), fact("d", 0.5), fact("e", 0.1)]
    result = select(facts, policy="confidence", max_facts=2)
    assert ids(result) == ["b", "a"]
    assert [item.fact_id for item in result.evicted] == ["e", "d", "c"]


def test_kept_are_the_fact_objects() -> None:
    """`kept` holds the very objects that came in, not copies."""
    facts = [fact("a", 0.1), fact("b", 0.9)]
    assert select(facts).kept[0] is facts[1]


@pytest.mark.parametrize("max_facts", [0, -1, -7])
@pytest.mark.parametrize("policy", ["confidence", "hybrid-v1"])
def test_no_room(policy: str, max_facts: int) -> None:
    """At capacity 0 nothing stays, corrections neither; a negative capacity counts as 0."""
    facts = [fact("a", 0.9, category="correction"), fact("b", 0.5)]
    result = select(facts, policy=policy, max_facts=max_facts)
    assert (result.kept, result.reserved_correction_slots) == ([], 0)
    assert [item.fact_id for item in result.evicted] == ["b", "a"]


def test_empty_pool() -> None:
    """No facts, no decision."""
    assert Selection([], [], {}, "hybrid-v1", 0) == select([], max_facts=-1)


def corrections(count: int, others: int) -> list[dict[str, Any]]:
    """Weak corrections before strong other facts."""
    weak = [fact(f"c{i}", 0.1 + i / 100, category="correction") for i in range(count)]
    return weak + [fact(f"o{i}", 0.9 - i / 100) for i in range(others)]


@pytest.mark.parametrize(
    ("capacity", "arguments", "slots"),
    [
        (1, {}, 1),
        (10, {}, 1),
        (11, {}, 2),
        (20, {}, 2),
        (21, {}, 3),
        (5, {"correction_reserved_fraction": 0.5}, 3),
        (5, {"correction_reserved_fraction": 0.5, "correction_reserved_max": 2}, 2),
        (5, {"correction_reserved_fraction": 0.0}, 0),
        (5, {"correction_reserved_max": 0}, 0),
        (5, {"correction_reserved_fraction": 1.0}, 5),
        (5, {"correction_reserved_fraction": 3.0}, 5),
        (5, {"correction_reserved_fraction": -1.0}, 0),
        (12, {"correction_reserved_fraction": 1.0}, 10),
    ],
)
def test_correction_slots(capacity: int, arguments: dict[str, Any], slots: int) -> None:
    """The share of the capacity rounded up, at most the maximum, never above the capacity."""
    result = select(corrections(15, 30), max_facts=capacity, **arguments)
    kept = [name for name in ids(result) if name.startswith("c")]
    assert slots == result.reserved_correction_slots
    assert [f"c{14 - i}" for i in range(slots)] == kept
    assert capacity == len(result.kept)


def test_reserved_facts_stand_at_their_rank() -> None:
    """`kept` is best first, also where a place was reserved; the ranking fills what is left."""
    facts = [fact("c", 0.2, category="correction"), fact("x", 0.9), fact("y", 0.8), fact("z", 0.1)]
    result = select(facts, max_facts=2)
    assert ids(result) == ["x", "c"]
    assert [item.fact_id for item in result.evicted] == ["z", "y"]


def test_slots_count_what_corrections_took() -> None:
    """Places nobody takes are not reserved: a pool with one correction reports one slot."""
    half = {"max_facts": 6, "correction_reserved_fraction": 0.5}
    assert select(corrections(1, 9), **half).reserved_correction_slots == 1
    assert select(corrections(0, 9), **half).reserved_correction_slots == 0


def test_strong_corrections_use_the_slots_first() -> None:
    """A slot goes to the best correction, also to one the ranking keeps anyway."""
    facts = [
        fact("weak", 0.1, category="correction"),
        fact("strong", 0.95, category="correction"),
        fact("x", 0.9),
        fact("y", 0.8),
    ]
    result = select(facts, max_facts=2)
    assert ids(result) == ["strong", "x"]
    assert result.reserved_correction_slots == 1


@pytest.mark.parametrize(
    ("category", "counts"),
    [
        ("correction", True),
        ("Correction", True),
        (" CORRECTION\n", True),
        ("corrections", False),
        ("", False),
        (None, False),
        (["correction"], False),
    ],
)
def test_correction_category(category: object, counts: bool) -> None:
    """The category is compared stripped and in any case."""
    facts = [fact("c", 0.1, category=category), fact("x", 0.9)]
    result = select(facts)
    assert (["c"] if counts else ["x"]) == ids(result)
    assert int(counts) == result.reserved_correction_slots


def test_confidence_reserves_nothing() -> None:
    """Under `confidence` a correction has no privilege."""
    facts = [fact("c", 0.1, category="correction"), fact("x", 0.9)]
    result = select(facts, policy="confidence")
    assert (ids(result), result.reserved_correction_slots) == (["x"], 0)


def test_evicted_category() -> None:
    """An evicted fact shows its category as it stands, and `context` where it has none."""
    facts = [{"id": "a"}, {"id": "b", "category": ""}, {"id": "c", "category": " Goal"}]
    evicted = select(facts, max_facts=0).evicted
    assert [item.category for item in evicted] == [" Goal", "context", "context"]


def test_evicted_score_and_components() -> None:
    """An evicted fact shows the score and components that stand under its key."""
    result = select([fact("a", 0.9), fact("b", 0.3)])
    (evicted,) = result.evicted
    score = result.scores["b"]
    assert (score.value, score.components) == (evicted.score, evicted.components)
    assert evicted.score == 0.65 * 0.3 + 0.25 * 0.0 + 0.10 * 0.0


def test_facts_and_usage_are_not_changed() -> None:
    """What comes in is as it was afterwards."""
    facts = [fact("a", 0.9), {}, fact("c", category=" Correction ")]
    usage = {"a": {"accessHeat": 8, "lastAccessedAt": "2026-08-13T00:00:00Z"}}
    before = copy.deepcopy((facts, usage))
    select(facts, usage=usage)
    assert before == (facts, usage)


@pytest.mark.parametrize("wrong", [None, "text", ["id"], 5])
def test_facts_must_be_mappings(wrong: object) -> None:
    """A fact that is no mapping is named by its place."""
    with pytest.raises(TypeError, match="fact 1: expected a mapping, found"):
        select([fact("a"), wrong])
