"""Cases: the protocol's questions with their pools, in the order of every run."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from .dataset import Dataset
from .errors import DatasetError
from .pool import Fact, Usage, build_pool, draw_distractors, support_fact_id
from .protocol import Protocol
from .record import Record
from .scenario import SCENARIOS
from .selection import group_by_scenario

OFFICIAL_SOURCE = "longmemeval"
SYNTHETIC_SOURCE = "synthetic"
SYNTHETIC_QUESTION_TYPE = "synthetic-correction"


@frozen
class Case:
    """One question with its pool.

    Attributes:
        source: `longmemeval` for a record of the data set, `synthetic` for a correction guard.
        question_date: when the question is asked, as the data set words it; `None` for a guard.
        facts: the pool, sorted by fact id; each fact is the JSON object a selector is given.
        usage: fact id -> `accessHeat`, `accessCount`, `lastAccessedAt`, for hot facts only.
    """

    case_id: str
    source: str
    scenario: str
    question_type: str
    question: str
    answer: str
    question_date: str | None
    loss_rank: int
    support_fact_ids: tuple[str, ...]
    facts: tuple[Fact, ...]
    usage: Usage


def build_cases(protocol: Protocol, dataset: Dataset) -> tuple[Case, ...]:
    """Return all cases: official ones in scenario order by (type, id), then the guards.

    Raises:
        DatasetError: the data set does not give the selection the manifest states, or has too
            few records for the bank.
    """
    _require_bank(protocol, dataset)
    groups = _official_groups(protocol, dataset)
    return (*_official_cases(protocol, dataset, groups), *_synthetic_cases(protocol, dataset))


def _require_bank(protocol: Protocol, dataset: Dataset) -> None:
    pool = protocol.config.pool
    if len(dataset.bank) < pool.distractor_bank_size:
        raise DatasetError(
            f"{dataset.path}: {len(dataset.bank)} records fit the bank of "
            f"{pool.distractor_bank_size} (types {', '.join(pool.distractor_types)}, evidence of "
            f"{pool.distractor_min_evidence_chars} to {pool.distractor_max_evidence_chars} "
            "characters); lower pool.distractor_bank_size or use a larger data set"
        )


def _official_groups(protocol: Protocol, dataset: Dataset) -> dict[str, tuple[Record, ...]]:
    groups = group_by_scenario(dataset.selected, protocol.official)
    for name, records in groups.items():
        selected = [record.record_id for record in records]
        stated = list(protocol.official.scenarios[name])
        if selected != stated:
            raise DatasetError(
                f"{protocol.files.official_manifest}: scenarios.{name}: not what the rule selects "
                f"from {dataset.path}: the manifest states {' '.join(stated)}; "
                f"the data set gives {' '.join(selected) or 'none'}"
            )
    return groups


def _official_cases(
    protocol: Protocol, dataset: Dataset, groups: dict[str, tuple[Record, ...]]
) -> Iterator[Case]:
    for scenario, records in groups.items():
        for record, loss_rank in zip(records, protocol.official.loss_ranks, strict=True):
            yield _case(protocol, dataset, scenario, record, loss_rank, OFFICIAL_SOURCE)


def _synthetic_cases(protocol: Protocol, dataset: Dataset) -> Iterator[Case]:
    for guard in protocol.synthetic.cases:
        record = Record(
            record_id=guard.case_id,
            question_type=SYNTHETIC_QUESTION_TYPE,
            question=guard.question,
            answer=guard.answer,
            question_date="",
            evidence=guard.support_fact,
        )
        scenario = protocol.synthetic.scenario
        yield _case(protocol, dataset, scenario, record, guard.loss_rank, SYNTHETIC_SOURCE)


def _case(
    protocol: Protocol,
    dataset: Dataset,
    scenario: str,
    record: Record,
    loss_rank: int,
    source: str,
) -> Case:
    pool = protocol.config.pool
    case_id = record.record_id
    facts, usage = build_pool(
        case_id=case_id,
        support_record_id=case_id,
        support_content=record.evidence,
        distractors=draw_distractors(
            case_id, pool.offset_namespace, dataset.bank, pool.distractors
        ),
        scenario=SCENARIOS[scenario],
        loss_rank=loss_rank,
        clock=protocol.config.evaluation_time,
    )
    return Case(
        case_id=case_id,
        source=source,
        scenario=scenario,
        question_type=record.question_type,
        question=record.question,
        answer=record.answer,
        question_date=record.question_date or None,
        loss_rank=loss_rank,
        support_fact_ids=(support_fact_id(case_id),),
        facts=facts,
        usage=usage,
    )
