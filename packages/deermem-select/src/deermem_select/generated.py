"""Generated pools: the inputs on which a selector is compared with the reference.

Facts carry the metadata a memory file may hold after years of other programs writing it. Only
inputs whose outcome the published formula states are generated; what makes a program overflow is
kept apart, because production and the reference are known to part there.
"""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from attrs import frozen

from .reference import POLICY_CONFIDENCE, POLICY_HYBRID_V1

CLOCK = datetime(2026, 8, 13, tzinfo=UTC)

_MAX_FACTS = 9
_ABSENT = object()
_CLOCKS = (CLOCK, CLOCK, CLOCK.astimezone(timezone(timedelta(hours=5, minutes=30))))

_IDS = ("", _ABSENT, 7, 12, "a", "b", "fact one", "__missing_0", "__missing_1")
_CATEGORIES = (
    "context",
    "preference",
    "correction",
    "correction",
    "Correction",
    " CORRECTION\n",
    "corrections",
    "two words",
    "",
    _ABSENT,
)
_CONFIDENCES = (0, 0.3, 0.5, 0.62, 0.7, 0.7, 0.9, 0.94 - 0.02 * 3, 1, 1.0)
_HOSTILE_CONFIDENCES: tuple[Any, ...] = (
    *(_ABSENT, None, True, False, [], {}),
    *(math.nan, math.inf, -math.inf, -0.2, -0.0, 1.5, 2, 5e-324, 1e308),
    *("0.7", " 0.7 ", "1e-3", "2", "", " ", "high", "nan", "inf", "1e400"),
)
_TIMESTAMPS = (
    "2026-08-13T00:00:00Z",
    "2026-08-06T00:00:00Z",
    "2026-02-14T00:00:00Z",
    "2026-07-14T09:30:00+05:30",
    "2026-07-14T09:30:00.123456-08:00",
    "2026-07-01T12:00:00",
    "2025-12-31",
    "  2026-08-01T00:00:00Z ",
    "2027-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59",
)
_HOSTILE_TIMESTAMPS: tuple[Any, ...] = (
    None,
    "",
    "  ",
    "yesterday",
    "2026-13-01T00:00:00Z",
    1786579200,
    True,
    [],
)
_HEATS = (1, 2.5, 8, 8, 40, 1e308)
_HOSTILE_HEATS: tuple[Any, ...] = (_ABSENT, None, True, 0, -1, -0.5, math.nan, math.inf, "hot", [])

_OVERFLOWING_NUMBERS = (10**400, -(10**400))
_OVERFLOWING_TIMESTAMPS = ("0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00")

_ARGUMENTS = {
    "confidence_weight": (0, 0.3, 0.5, 0.65, 1.0),
    "confirmation_weight": (0, 0.1, 0.25, 0.7),
    "access_weight": (0, 0.10, 0.35, 1),
    "confirmation_half_life_days": (-1, 0, 0.5, 7, 90, 365.25),
    "access_half_life_days": (-0.5, 0, 1, 30, 1000.0),
    "correction_reserved_fraction": (0, 0.05, 0.10, 0.25, 0.34, 0.5, 1.0),
    "correction_reserved_max": (0, 1, 2, 3, 10),
}


@frozen
class GeneratedPool:
    """One call of a selector: the facts and the keyword arguments, `max_facts` and all."""

    facts: tuple[dict[str, Any], ...]
    arguments: dict[str, Any]


def generate_pool(seed: int, index: int, *, overflow: bool = False) -> GeneratedPool:
    """Generate a pool; the same arguments always give the same pool.

    Args:
        overflow: also draw integers beyond the floats and dates that leave the calendar in UTC.
    """
    # Text seeds are hashed with SHA-512, so that pools do not depend on the platform.
    draw = random.Random(f"deermem-pool:{seed}:{index}")  # noqa: S311 - no secret
    facts = tuple(_fact(draw, number, overflow) for number in range(draw.randint(0, _MAX_FACTS)))
    arguments: dict[str, Any] = {
        "max_facts": draw.randint(-2, len(facts) + 1),
        "policy": draw.choice((POLICY_CONFIDENCE, POLICY_HYBRID_V1, POLICY_HYBRID_V1)),
        "now": draw.choice(_CLOCKS),
    }
    if len(facts) > 1 and draw.random() < 0.02:
        arguments.update(max_facts=len(facts) - 1, policy="newest-first")
    if draw.random() < 0.9:
        arguments["usage"] = _usage(draw, facts, overflow)
    for name, values in _ARGUMENTS.items():
        if draw.random() < 0.4:
            arguments[name] = draw.choice(values)
    return GeneratedPool(facts, arguments)


def _fact(draw: random.Random, number: int, overflow: bool) -> dict[str, Any]:
    hostile = _HOSTILE_CONFIDENCES + (_OVERFLOWING_NUMBERS if overflow else ())
    fact = {
        "id": draw.choice(_IDS) if draw.random() < 0.25 else f"f{number}",
        "category": draw.choice(_CATEGORIES),
        "confidence": draw.choice(hostile if draw.random() < 0.35 else _CONFIDENCES),
        "createdAt": _timestamp(draw, overflow),
        "lastConfirmedAt": _timestamp(draw, overflow) if draw.random() < 0.5 else _ABSENT,
    }
    return _present(fact)


def _usage(
    draw: random.Random, facts: tuple[dict[str, Any], ...], overflow: bool
) -> dict[str, dict[str, Any]]:
    hostile = _HOSTILE_HEATS + (_OVERFLOWING_NUMBERS if overflow else ())
    usage = {}
    for fact in facts:
        if fact.get("id", "") != "" and draw.random() < 0.6:
            entry = {
                "accessHeat": draw.choice(hostile if draw.random() < 0.35 else _HEATS),
                "lastAccessedAt": _timestamp(draw, overflow),
            }
            usage[str(fact["id"])] = _present(entry)
    return usage


def _timestamp(draw: random.Random, overflow: bool) -> Any:
    chance = draw.random()
    if chance < 0.1:
        return _ABSENT
    if chance < 0.3:
        hostile = _HOSTILE_TIMESTAMPS + (_OVERFLOWING_TIMESTAMPS if overflow else ())
        return draw.choice(hostile)
    return draw.choice(_TIMESTAMPS)


def _present(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value is not _ABSENT}
