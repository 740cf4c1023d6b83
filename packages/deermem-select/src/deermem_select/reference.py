"""The reference selector: the published capacity-eviction formula, written independently.

It serves machines without deer-flow, and is the yardstick of `deermem_select.check_selector`.
It is not what the evaluation measures: every result made with it says so.

Facts and usage are mappings as they come from a JSON file; no value in them raises. What makes
production overflow (an integer beyond the floats, a date that leaves the calendar when it is turned
into UTC) counts here as not finite or unreadable.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

POLICY_CONFIDENCE = "confidence"
POLICY_HYBRID_V1 = "hybrid-v1"

_UNKNOWN_CONFIDENCE = 0.5
_UNCONFIRMED_FACTOR = 0.5
_SECONDS_PER_DAY = 86400
_SATURATION = math.log(9)  # an undecayed heat of 8 is the first to count in full

Fact = Mapping[str, Any]
Usage = Mapping[str, Any]


@frozen
class FactScore:
    """The score of one fact (higher is kept longer) and the components it is made of."""

    value: float
    components: dict[str, float]


@frozen
class EvictedFact:
    """One fact that does not stay: its key, category, score and the components of the score."""

    fact_id: str
    category: str
    score: float
    components: dict[str, float]


@frozen
class Selection:
    """What the selector decided.

    `kept` holds the fact objects themselves, best first; `evicted` is worst first; `scores`
    maps each fact's key to its score; `reserved_correction_slots` is the number of places that
    corrections took by right: no more than the pool has corrections.
    """

    kept: list[Fact]
    evicted: list[EvictedFact]
    scores: dict[str, FactScore]
    policy: str
    reserved_correction_slots: int


@frozen
class _Formula:
    """The parameters of one call; weights are pure numbers, half-lives are days."""

    hybrid: bool
    usage: Usage
    now: datetime
    confidence_weight: float
    confirmation_weight: float
    access_weight: float
    confirmation_half_life_days: float
    access_half_life_days: float

    def score(self, fact: Fact, key: str) -> FactScore:
        confidence = _confidence(fact.get("confidence"))
        if not self.hybrid:
            return FactScore(confidence, {"confidence": confidence})
        freshness = self._freshness(fact)
        heat = self._heat(self.usage.get(key))
        # The order of the terms is part of the formula: float addition is not associative.
        value = (
            self.confidence_weight * confidence
            + self.confirmation_weight * freshness
            + self.access_weight * heat
        )
        components = {
            "confidence": confidence,
            "confirmationFreshness": freshness,
            "accessHeat": heat,
        }
        return FactScore(value, components)

    def _freshness(self, fact: Fact) -> float:
        half_life = self.confirmation_half_life_days
        confirmed = _timestamp(fact.get("lastConfirmedAt"))
        if confirmed is not None:
            return self._decay(confirmed, half_life)
        created = _timestamp(fact.get("createdAt"))
        if created is not None:
            return _UNCONFIRMED_FACTOR * self._decay(created, half_life)
        return 0.0

    def _heat(self, usage: Any) -> float:
        if not isinstance(usage, Mapping):
            return 0.0
        accessed = _timestamp(usage.get("lastAccessedAt"))
        raw = usage.get("accessHeat")
        heat = None if isinstance(raw, str) else _finite(raw)
        if accessed is None or heat is None or heat <= 0:
            return 0.0
        decayed = heat * self._decay(accessed, self.access_half_life_days)
        return min(1.0, math.log1p(decayed) / _SATURATION)

    def _decay(self, moment: datetime, half_life_days: float) -> float:
        if half_life_days <= 0:
            return 0.0
        days = (self.now - moment).total_seconds() / _SECONDS_PER_DAY
        return float(2.0 ** (-max(0.0, days) / half_life_days))


def select_facts_for_capacity(
    facts: Sequence[Fact],
    *,
    max_facts: int,
    policy: str,
    usage: Usage | None = None,
    now: datetime | None = None,
    confidence_weight: float = 0.65,
    confirmation_weight: float = 0.25,
    access_weight: float = 0.10,
    confirmation_half_life_days: float = 90,
    access_half_life_days: float = 30,
    correction_reserved_fraction: float = 0.10,
    correction_reserved_max: int = 10,
) -> Selection:
    """Choose which facts stay when at most `max_facts` may.

    The formula is deer-flow's published one for its policies `confidence` and `hybrid-v1`.

    Args:
        facts: the pool, in the order that breaks ties; not changed.
        max_facts: the capacity; a negative one counts as 0.
        policy: `confidence` or `hybrid-v1`.
        usage: a fact's key -> `accessHeat` and `lastAccessedAt`.
        now: the clock; without a zone, UTC; by default the current time.
        confidence_weight: share of the confidence component, and so on for the other two.
        confirmation_half_life_days: half-life in days; at 0 or below nothing is fresh.
        access_half_life_days: half-life in days; at 0 or below nothing is hot.
        correction_reserved_fraction: share of the capacity held for corrections, rounded up.
        correction_reserved_max: at most this many places are held for corrections.

    Raises:
        ValueError: another policy.
        TypeError: a fact that is not a mapping.
    """
    if policy not in (POLICY_CONFIDENCE, POLICY_HYBRID_V1):
        raise ValueError(
            f"policy {policy!r}: expected {POLICY_CONFIDENCE!r} or {POLICY_HYBRID_V1!r}"
        )
    formula = _Formula(
        policy == POLICY_HYBRID_V1,
        usage if usage is not None else {},
        _clock(now),
        confidence_weight,
        confirmation_weight,
        access_weight,
        confirmation_half_life_days,
        access_half_life_days,
    )
    keys = [_key(fact, index) for index, fact in enumerate(facts)]
    scores = {key: formula.score(fact, key) for key, fact in zip(keys, facts, strict=True)}
    capacity = max(0, max_facts)
    if len(facts) <= capacity:
        return Selection(list(facts), [], scores, policy, 0)

    ranking = sorted(range(len(facts)), key=lambda index: scores[keys[index]].value, reverse=True)
    reserved = []
    if formula.hybrid:
        # Never more than the capacity, also with a fraction above 1; never less than none.
        share = math.ceil(capacity * correction_reserved_fraction)
        slots = max(0, min(correction_reserved_max, share, capacity))
        reserved = [index for index in ranking if _is_correction(facts[index])][:slots]
    staying = set(reserved)
    others = [index for index in ranking if index not in staying]
    staying.update(others[: capacity - len(reserved)])
    kept = [index for index in ranking if index in staying]
    evicted = [index for index in ranking if index not in staying]
    return Selection(
        [facts[index] for index in kept],
        [_evicted(facts[index], keys[index], scores[keys[index]]) for index in reversed(evicted)],
        scores,
        policy,
        len(reserved),
    )


def _key(fact: Fact, index: int) -> str:
    if not isinstance(fact, Mapping):
        raise TypeError(f"fact {index}: expected a mapping, found {type(fact).__name__}")
    identifier = fact.get("id")
    text = "" if identifier is None else str(identifier)
    return text or f"__missing_{index}"


def _confidence(value: Any) -> float:
    number = _finite(value)
    return _UNKNOWN_CONFIDENCE if number is None else max(0.0, min(1.0, number))


def _finite(value: Any) -> float | None:
    """A number, or text that reads as one, as a finite float; else None (a boolean too)."""
    if isinstance(value, bool) or not isinstance(value, numbers.Number | str):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _timestamp(value: Any) -> datetime | None:
    """An ISO 8601 text as a moment in UTC; else None."""
    if not isinstance(value, str) or not value.strip():
        return None
    text = value.strip().replace("Z", "+00:00")
    try:
        return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _clock(now: datetime | None) -> datetime:
    return datetime.now(UTC) if now is None else _in_utc(now)


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _is_correction(fact: Fact) -> bool:
    category = fact.get("category")
    return isinstance(category, str) and category.strip().lower() == "correction"


def _evicted(fact: Fact, key: str, score: FactScore) -> EvictedFact:
    category = str(fact.get("category") or "context")
    return EvictedFact(key, category, score.value, score.components)
