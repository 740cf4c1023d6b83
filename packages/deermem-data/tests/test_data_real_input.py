"""The real data set: the default and the historical protocol give the published cases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deermem_data import build_cases, load_dataset, load_protocol

if TYPE_CHECKING:
    from pathlib import Path

    from deermem_data import Case

SHA256 = "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c"


def cases(path: Path, source: str | Path) -> tuple[Case, ...]:
    """The cases of a protocol on the real file."""
    protocol = load_protocol(source)
    return build_cases(protocol, load_dataset(path, protocol))


@pytest.fixture(scope="module")
def default(longmemeval_path: Path) -> tuple[Case, ...]:
    """The default protocol's cases."""
    return cases(longmemeval_path, "capacity-eviction-v1")


def test_default_protocol(default: tuple[Case, ...]) -> None:
    """40 official cases, ten a scenario, five of each type; five guards."""
    assert len(default) == 45
    counts: dict[tuple[str, str], int] = {}
    for case in default:
        key = (case.scenario, case.question_type)
        counts[key] = counts.get(key, 0) + 1
    assert {
        **{
            (scenario, kind): 5
            for scenario in [
                "confirmation_help", "access_help", "confidence_control", "noisy_signal_control"
            ]
            for kind in ["knowledge-update", "temporal-reasoning"]
        },
        ("correction_reserve", "synthetic-correction"): 5,
    } == counts  # fmt: skip


def test_dataset(longmemeval_path: Path) -> None:
    """500 records, a full bank, twenty of each type."""
    protocol = load_protocol()
    dataset = load_dataset(longmemeval_path, protocol)
    assert SHA256 == dataset.sha256 == protocol.config.dataset.sha256
    assert dataset.record_count == 500
    assert len(dataset.bank) == 40
    assert {kind: len(records) for kind, records in dataset.selected.items()} == {
        "knowledge-update": 20,
        "temporal-reasoning": 20,
    }


def test_historical_protocol(
    default: tuple[Case, ...], longmemeval_path: Path, upstream_path: Path
) -> None:
    """The historical protocol has the same official cases, pool for pool, and its own guards."""
    historical = cases(longmemeval_path, upstream_path)
    assert len(historical) == 45
    assert default[:40] == historical[:40]
    assert {"synthetic"} == {case.source for case in historical[40:]}
    assert not {case.case_id for case in default[40:]} & {case.case_id for case in historical[40:]}


def test_published_rows(longmemeval_path: Path, upstream_path: Path) -> None:
    """Case, source, scenario and type are those of the published rows, and so are the fact ids."""
    published = [
        json.loads(line)
        for line in (upstream_path / "results/pr4789-reproduction-v1/qa.rows.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    found = {case.case_id: case for case in cases(longmemeval_path, upstream_path)}
    assert {row["case_id"] for row in published} == set(found)
    assert len(published) == 90
    for row in published:
        case = found[row["case_id"]]
        assert (row["source"], row["scenario"], row["question_type"]) == (
            case.source, case.scenario, case.question_type
        )  # fmt: skip
        assert set(row["kept_fact_ids"]) <= {fact["id"] for fact in case.facts}
