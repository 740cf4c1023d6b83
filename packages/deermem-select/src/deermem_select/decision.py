"""Decisions: what a selector returned for one case, policy and capacity, checked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from ._errors import RAISED, SelectorError, one_line, shortened
from ._result import MAPPINGS, copy_mapping, is_number, is_word, read
from .reference import EvictedFact, FactScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from deermem_data import Case, PolicySpec, Protocol

    from .selector import Selector

SCHEMA_VERSION = 1
_LONGEST_REASON = 1000


@frozen
class Decision:
    """What a selector decided for one case, policy and capacity.

    `kept_fact_ids` are best first, `evicted` worst first, `scores` by fact id. `support_recall` is
    the share of the support facts that stayed, 0 to 1.
    """

    case_id: str
    source: str
    scenario: str
    question_type: str
    policy: str
    capacity: int
    support_fact_ids: tuple[str, ...]
    kept_fact_ids: tuple[str, ...]
    evicted: tuple[EvictedFact, ...]
    scores: dict[str, FactScore]
    reserved_correction_slots: int
    support_recall: float = field(init=False)

    @support_recall.default
    def _support_recall(self) -> float:
        stayed = sum(fact_id in self.kept_fact_ids for fact_id in self.support_fact_ids)
        return stayed / len(self.support_fact_ids)

    @property
    def support_all_retained(self) -> bool:
        """Whether every support fact stayed."""
        return set(self.support_fact_ids) <= set(self.kept_fact_ids)

    def to_row(self) -> dict[str, Any]:
        """The decision as a row of `policy.raw.jsonl`: ids and numbers, never text."""
        return {
            "schema_version": SCHEMA_VERSION,
            "case_id": self.case_id,
            "source": self.source,
            "scenario": self.scenario,
            "question_type": self.question_type,
            "policy": self.policy,
            "capacity": self.capacity,
            "support_fact_ids": list(self.support_fact_ids),
            "kept_fact_ids": list(self.kept_fact_ids),
            "evicted": [
                {
                    "fact_id": item.fact_id,
                    "category": item.category,
                    "score": item.score,
                    "components": item.components,
                }
                for item in self.evicted
            ],
            "scores": {
                fact_id: {"value": score.value, "components": score.components}
                for fact_id, score in self.scores.items()
            },
            "support_all_retained": self.support_all_retained,
            "support_recall": self.support_recall,
            "reserved_correction_slots": self.reserved_correction_slots,
        }


def decisions(protocol: Protocol, cases: Iterable[Case], selector: Selector) -> Iterator[Decision]:
    """Decide case by case, capacity by capacity, policies in the protocol's order.

    Raises:
        SelectorError: as `decide`.
    """
    config = protocol.config
    for case in cases:
        for capacity in config.pool.capacities:
            for policy in config.policies.values():
                yield decide(case, policy, capacity, selector, config.evaluation_time)


def decide(
    case: Case, policy: PolicySpec, capacity: int, selector: Selector, now: datetime
) -> Decision:
    """Ask the selector which of a case's facts stay, and check what it returns.

    Args:
        capacity: how many facts may stay.
        now: the evaluation clock, with its zone.

    Raises:
        SelectorError: the selector raises, changes what it was given, or returns what cannot be
            right; the message names selector, case, policy and capacity.
    """
    facts = [copy_mapping(fact) for fact in case.facts]
    usage = {fact_id: copy_mapping(item) for fact_id, item in case.usage.items()}
    call = f"selector {selector.name}: case {case.case_id}, {policy.policy} at {capacity}"
    try:
        result = selector.function(
            facts,
            max_facts=capacity,
            policy=policy.policy,
            usage=usage,
            now=now,
            **policy_arguments(policy),
        )
    except RAISED as error:
        raise SelectorError(f"{call}: raises {one_line(error)}") from error
    if facts != list(case.facts) or usage != case.usage:
        raise SelectorError(f"{call}: changes the facts or the usage it was given")
    try:
        return _decision(case, policy.policy, capacity, result)
    except (LookupError, TypeError, ValueError) as error:
        text = shortened(str(error.args[0] if error.args else error), _LONGEST_REASON)
        raise SelectorError(f"{call}: returns what cannot be right: {text}") from error
    except RAISED as error:  # the result may be of the selector's own classes, and lazy
        raise SelectorError(f"{call}: its result raises {one_line(error)}") from error


def policy_arguments(policy: PolicySpec) -> dict[str, Any]:
    """The selector's keyword arguments that a policy states; the rest keep their defaults."""
    weights = policy.weights
    arguments: dict[str, float | int | None] = {
        "confidence_weight": weights.confidence if weights else None,
        "confirmation_weight": weights.confirmation if weights else None,
        "access_weight": weights.access if weights else None,
        "confirmation_half_life_days": policy.confirmation_half_life_days,
        "access_half_life_days": policy.access_half_life_days,
        "correction_reserved_fraction": policy.correction_reserved_fraction,
        "correction_reserved_max": policy.correction_reserved_max,
    }
    return {name: value for name, value in arguments.items() if value is not None}


def _decision(case: Case, policy: str, capacity: int, result: Any) -> Decision:
    pool = {fact["id"] for fact in case.facts}
    kept = tuple(read(fact, "id") for fact in read(result, "kept"))
    evicted = tuple(_evicted(item) for item in read(result, "evicted"))
    scores = {key: _score(key, item) for key, item in dict(read(result, "scores")).items()}
    slots = read(result, "reserved_correction_slots")
    named = read(result, "policy")

    _require_partition(pool, kept, tuple(item.fact_id for item in evicted))
    if len(kept) > capacity:
        raise ValueError(f"{len(kept)} facts are kept, expected at most {capacity}")
    if set(scores) != pool:
        raise ValueError(
            f"scores: {_listed('missing', pool - set(scores))}"
            f"{_listed('not in the pool', set(scores) - pool)}expected one for each fact"
        )
    if isinstance(slots, bool) or not isinstance(slots, int) or not 0 <= slots <= capacity:
        raise ValueError(f"reserved_correction_slots is {slots!r}, expected 0 to {capacity}")
    if named != policy:
        raise ValueError(f"policy is {named!r}, expected {policy!r}")
    return Decision(
        case_id=case.case_id,
        source=case.source,
        scenario=case.scenario,
        question_type=case.question_type,
        policy=policy,
        capacity=capacity,
        support_fact_ids=case.support_fact_ids,
        kept_fact_ids=kept,
        evicted=evicted,
        scores=scores,
        reserved_correction_slots=slots,
    )


def _require_partition(pool: set[str], kept: tuple[Any, ...], evicted: tuple[Any, ...]) -> None:
    counts = Counter((*kept, *evicted))
    twice = {fact_id for fact_id, count in counts.items() if count > 1}
    if twice or set(counts) != pool:
        raise ValueError(
            f"kept and evicted: {_listed('missing', pool - set(counts))}"
            f"{_listed('not in the pool', set(counts) - pool)}{_listed('repeated', twice)}"
            "expected each fact of the pool once"
        )


def _listed(what: str, ids: set[Any]) -> str:
    return f"{what} {' '.join(sorted(map(str, ids)))}; " if ids else ""


def _evicted(item: Any) -> EvictedFact:
    fact_id, category = read(item, "fact_id"), read(item, "category")
    # Rows hold ids and numbers, never text (design: artifacts): no selector may put any there.
    if not is_word(category):
        raise TypeError(f"evicted {fact_id}: category is {category!r}, expected one word")
    score = _number(f"evicted {fact_id}: score", read(item, "score"))
    return EvictedFact(fact_id, category, score, _components(f"evicted {fact_id}", item))


def _score(key: Any, item: Any) -> FactScore:
    value = _number(f"scores {key}: value", read(item, "value"))
    return FactScore(value, _components(f"scores {key}", item))


def _components(where: str, item: Any) -> dict[str, float]:
    components = read(item, "components")
    if not isinstance(components, MAPPINGS) or not all(map(is_word, components)):
        raise TypeError(
            f"{where}: components is {components!r}, expected names of one word with numbers"
        )
    return {key: _number(f"{where}: {key}", value) for key, value in components.items()}


def _number(where: str, value: Any) -> float:
    if not is_number(value):
        # Python does not write out an int of very many digits.
        large = isinstance(value, int) and not isinstance(value, bool)
        shown = f"an int of {value.bit_length()} bits" if large else repr(value)
        raise TypeError(f"{where} is {shown}, expected a finite number")
    return value  # type: ignore[no-any-return]
