"""Pools: the facts of a case, their metadata, and which distractors it draws."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from .record import Record
from .scenario import Scenario, Signals

Fact = dict[str, Any]
Usage = dict[str, dict[str, Any]]

_CATEGORY_OF_TYPE = {"single-session-preference": "preference"}


def distractor_offset(case_id: str, namespace: str, bank_size: int) -> int:
    """Return where in the bank a case's distractors begin.

    The first four bytes, big-endian, of the SHA-256 of `namespace:case_id`, modulo the size.
    """
    digest = hashlib.sha256(f"{namespace}:{case_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % bank_size


def draw_distractors(
    case_id: str, namespace: str, bank: Sequence[Record], count: int
) -> tuple[Record, ...]:
    """Return `count` consecutive records of the bank from the case's offset, with wraparound."""
    offset = distractor_offset(case_id, namespace, len(bank))
    return tuple(bank[(offset + i) % len(bank)] for i in range(count))


def build_pool(
    *,
    case_id: str,
    support_record_id: str,
    support_content: str,
    distractors: Sequence[Record],
    scenario: Scenario,
    loss_rank: int,
    clock: datetime,
) -> tuple[tuple[Fact, ...], Usage]:
    """Return a case's facts, sorted by id, and the usage of its hot facts by fact id.

    The order is a contract: selectors break ties by input order, so that up to ten distractors
    keep their draw order (ids are text: `_10_` sorts before `_2_`) and the support fact is last.
    """
    support_id = support_fact_id(case_id)
    drawn = [
        (
            f"d_{case_id}_{i}_{record.record_id}",
            record.record_id,
            record.evidence,
            _CATEGORY_OF_TYPE.get(record.question_type, "context"),
            scenario.distractor(i, loss_rank - 1),
        )
        for i, record in enumerate(distractors)
    ]
    entries = [
        (
            support_id,
            support_record_id,
            support_content,
            scenario.support_category,
            scenario.support,
        ),
        *drawn,
    ]
    entries.sort(key=lambda entry: entry[0])
    facts = tuple(_fact(*entry, clock) for entry in entries)
    usage = {
        fact_id: _usage(signals.heat, clock) for fact_id, *_, signals in entries if signals.heat
    }
    return facts, usage


def support_fact_id(case_id: str) -> str:
    """Return the id of a case's support fact."""
    return f"gold_{case_id}"


def _fact(
    fact_id: str, record_id: str, content: str, category: str, signals: Signals, clock: datetime
) -> Fact:
    fact = {
        "id": fact_id,
        "content": content,
        "category": category,
        "confidence": signals.confidence,
        "createdAt": _days_before(clock, signals.created_days_ago),
        "source": f"deermem-eviction-eval:{record_id}",
    }
    if signals.confirmed_days_ago is not None:
        fact["lastConfirmedAt"] = _days_before(clock, signals.confirmed_days_ago)
        fact["confirmationCount"] = 1
    return fact


def _usage(heat: int, clock: datetime) -> dict[str, Any]:
    return {"accessHeat": float(heat), "accessCount": heat, "lastAccessedAt": iso_z(clock)}


def _days_before(clock: datetime, days: int) -> str:
    return iso_z(clock - timedelta(days=days))


def iso_z(moment: datetime) -> str:
    """Return a UTC time as ISO 8601 text that ends in `Z`."""
    return moment.isoformat().replace("+00:00", "Z")
