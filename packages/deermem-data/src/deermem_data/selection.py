"""Which records become official cases, and which may be distractors (design: the protocol)."""

from __future__ import annotations

import bisect

from .config import PoolSpec
from .manifest import OfficialManifest, SelectionRule
from .record import Record


def is_official_candidate(record: Record, rule: SelectionRule) -> bool:
    """Whether the selection rule admits the record, before the first ones by id are taken."""
    answer = record.answer.strip()
    return (
        record.question_type in rule.eligible_question_types
        and record.record_id not in rule.excluded_pilot_ids
        and not record.record_id.endswith(rule.exclude_abstention_suffix)
        and rule.answer_min_chars <= len(answer) <= rule.answer_max_chars
        and not any(text.lower() in answer.lower() for text in rule.answer_excluded_substrings)
        and rule.evidence_min_chars <= len(record.evidence) <= rule.evidence_max_chars
    )


def is_bank_candidate(record: Record, pool: PoolSpec) -> bool:
    """Whether the record may stand in the bank, before the first ones by id are taken."""
    low, high = pool.distractor_min_evidence_chars, pool.distractor_max_evidence_chars
    return record.question_type in pool.distractor_types and low <= len(record.evidence) <= high


class FirstById:
    """The first `limit` records by id of those offered, in any order, holding no others."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._records: list[Record] = []

    def offer(self, record: Record) -> None:
        """Take the record in if it is among the first so far."""
        bisect.insort(self._records, record, key=lambda kept: kept.record_id)
        del self._records[self._limit :]

    def records(self) -> tuple[Record, ...]:
        """Return those held, sorted by id."""
        return tuple(self._records)


def group_by_scenario(
    selected: dict[str, tuple[Record, ...]], official: OfficialManifest
) -> dict[str, tuple[Record, ...]]:
    """Deal the selected records to the scenarios.

    Args:
        selected: question type -> its records sorted by id.
        official: the manifest that gives the order of scenarios and the size of a group.

    Returns:
        scenario -> its records sorted by (type, id), in the order of the scenarios.
    """
    size = official.selection.cases_per_type_per_scenario
    types = sorted(official.selection.eligible_question_types)
    return {
        name: tuple(
            record
            for question_type in types
            for record in selected[question_type][index * size : (index + 1) * size]
        )
        for index, name in enumerate(official.scenario_order)
    }
