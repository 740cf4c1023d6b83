"""The published documents, made from a few rows whose numbers are counted by hand."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from attrs import evolve

from deermem_cli.qa_documents import QASettings, document_bytes, qa_documents
from deermem_data import load_schema
from deermem_qa import GradedRow

SETTINGS = QASettings(
    protocol_id="p",
    grader_version="g",
    qa_capacity=7,
    policies=("old", "new"),
    alpha=0.05,
    seed=1,
    iterations=50,
)


def make_row(case_id: str, policy: str, rule: str, **more: Any) -> GradedRow:
    kept = more.pop("support", True)
    given: dict[str, Any] = {
        "row_id": f"{case_id}__{policy}",
        "case_id": case_id,
        "source": "synthetic" if case_id.startswith("s") else "longmemeval",
        "scenario": "correction_reserve" if case_id.startswith("s") else "access_help",
        "question_type": "t",
        "policy": policy,
        "capacity": 7,
        "kept_fact_ids": (f"gold_{case_id}",) if kept else ("d",),
        "support_all_retained": kept,
        "support_recall": float(kept),
        "prediction": "p",
        "attempts": 1,
        "request_fingerprint": "0" * 64,
        "response_model": "m",
        "usage": {"tokens": 10},
        "grade_correct": rule in {"exact", "substring", "overlap-accept"},
        "grade_rule": rule,
        "grader_version": "g",
    }
    return GradedRow(**given | more)


#: case, rule under `old` and under `new`, whether `old` and `new` kept the support fact
TABLE = [
    ("a1", "insufficient", "exact", False, True),
    ("a2", "insufficient", "substring", True, True),
    ("a3", "empty-prediction", "overlap-accept", True, True),
    ("a4", "exact", "overlap-reject", True, True),
    ("a5", "exact", "exact", True, True),
    ("s1", "numeric-conflict", "exact", True, True),
    ("s2", "insufficient", "insufficient", True, True),
]


@pytest.fixture
def rows() -> list[GradedRow]:
    made = []
    for case_id, old, new, old_kept, new_kept in TABLE:
        made.append(make_row(case_id, "new", new, support=new_kept, attempts=3))
        made.append(make_row(case_id, "old", old, support=old_kept, usage={"tokens": 1, "a": 2}))
    return sorted(made, key=lambda row: row.row_id)


@pytest.fixture
def documents(rows: list[GradedRow]) -> dict[str, dict[str, Any]]:
    return qa_documents(rows, SETTINGS, frozenset({"a1__new", "s1__new"}))


def test_schemas(documents: dict[str, dict[str, Any]]) -> None:
    """Each document fits its schema, and holds no NaN."""
    assert list(documents) == ["qa.summary.json", "qa.stats.json", "qa.analysis.json"]
    for name, document in documents.items():
        jsonschema.validate(document, load_schema(name.removesuffix(".json")))
        assert json.loads(document_bytes(document)) == document


def test_summary(documents: dict[str, dict[str, Any]]) -> None:
    """Counts by source, scenario, policy, sorted by these."""
    summary = documents["qa.summary.json"]
    assert {key: summary[key] for key in summary if key != "groups"} == {
        "schema_version": 1,
        "protocol_id": "p",
        "grader_version": "g",
        "qa_capacity": 7,
    }
    keys = ("source", "scenario", "policy", "cases", "correct", "accuracy")
    assert [tuple(group[key] for key in keys) for group in summary["groups"]] == [
        ("longmemeval", "access_help", "new", 5, 4, 0.8),
        ("longmemeval", "access_help", "old", 5, 2, 0.4),
        ("synthetic", "correction_reserve", "new", 2, 1, 0.5),
        ("synthetic", "correction_reserve", "old", 2, 0, 0.0),
    ]


def test_stats(documents: dict[str, dict[str, Any]]) -> None:
    """The paired table of each suite; a difference is the second policy's minus the first's."""
    stats = documents["qa.stats.json"]
    assert stats["policies"] == ["old", "new"]
    keys = ("both_correct", "both_wrong", "only_first_correct", "only_second_correct")
    table = {
        name: tuple(suite["mcnemar"][key] for key in keys)
        for name, suite in stats["suites"].items()
    }
    assert table == {"official": (1, 0, 1, 3), "synthetic": (0, 1, 0, 1), "overall": (1, 1, 1, 4)}
    overall = stats["suites"]["overall"]
    # 5 discordant, 1 against: 2 * (1 + 5) / 2**5
    assert overall["mcnemar"]["p_value"] == 0.375
    assert overall["bootstrap"]["mean_difference"] == 5 / 7 - 2 / 7
    assert sorted(overall["bootstrap"]) == sorted(
        ["alpha", "iterations", "lower", "mean_difference", "seed", "upper"]
    )


def test_causes(documents: dict[str, dict[str, Any]]) -> None:
    """Each discordant case with the cause of its wrong answer."""
    discordant = documents["qa.analysis.json"]["pairs"][0]["discordant"]
    assert {(d["case_id"], d["wrong_policy"], d["cause"]) for d in discordant} == {
        ("a1", "old", "support-evicted"),
        ("a2", "old", "abstained-with-support"),
        ("a3", "old", "abstained-with-support"),
        ("a4", "new", "wrong-with-support"),
        ("s1", "old", "wrong-with-support"),
    }
    assert [d["case_id"] for d in discordant] == sorted(d["case_id"] for d in discordant)


def test_answer_counts(documents: dict[str, dict[str, Any]]) -> None:
    """Attempts, retried, truncated, empty and tokens, per suite and policy."""
    keys = ("suite", "policy", "cases", "attempts", "retried", "truncated", "empty", "usage")
    answers = documents["qa.analysis.json"]["answers"]
    assert [tuple(entry[key] for key in keys) for entry in answers] == [
        ("official", "old", 5, 5, 0, 0, 1, {"tokens": 5, "a": 10}),
        ("official", "new", 5, 15, 5, 1, 0, {"tokens": 50}),
        ("synthetic", "old", 2, 2, 0, 0, 0, {"tokens": 2, "a": 4}),
        ("synthetic", "new", 2, 6, 2, 1, 0, {"tokens": 20}),
        ("overall", "old", 7, 7, 0, 0, 1, {"tokens": 7, "a": 14}),
        ("overall", "new", 7, 21, 7, 2, 0, {"tokens": 70}),
    ]


def test_scenarios_are_adjusted(documents: dict[str, dict[str, Any]]) -> None:
    """Two scenarios: exact p 0.625 (1 of 4) and 1.0 (0 of 1); Holm doubles the smaller, capped."""
    scenarios = documents["qa.analysis.json"]["pairs"][0]["scenarios"]
    assert [
        (s["source"], s["scenario"], s["mcnemar"]["p_value"], s["holm_p_value"]) for s in scenarios
    ] == [
        ("longmemeval", "access_help", 0.625, 1.0),
        ("synthetic", "correction_reserve", 1.0, 1.0),
    ]


def test_stricter_grader() -> None:
    """A conclusion that rests on overlap falls; one that rests on exact answers stays."""
    loose = [("exact" if i % 2 else "overlap-accept") for i in range(8)]
    rows = [
        row
        for i, rule in enumerate(loose)
        for row in (make_row(f"a{i}", "new", rule), make_row(f"a{i}", "old", "overlap-reject"))
    ]
    strict = qa_documents(rows, SETTINGS, frozenset())["qa.analysis.json"]["pairs"][0]
    overall = strict["stricter_grader"]["suites"]["overall"]
    # 8 of 8 flips: p = 2 / 2**8; under the strict rules 4 of 4: 2 / 2**4
    assert strict["suites"]["overall"]["mcnemar"]["p_value"] == 2**-7
    assert overall["mcnemar"]["p_value"] == 0.125
    assert (overall["better_policy_as_graded"], overall["better_policy"]) == ("new", None)
    assert overall["conclusion_holds"] is False
    exact = [evolve(row, grade_rule="exact") if row.grade_correct else row for row in rows]
    stays = qa_documents(exact, SETTINGS, frozenset())["qa.analysis.json"]["pairs"][0]
    overall = stays["stricter_grader"]["suites"]["overall"]
    assert (overall["better_policy"], overall["conclusion_holds"]) == ("new", True)
    worse = evolve(SETTINGS, policies=("new", "old"))
    turned = qa_documents(exact, worse, frozenset())["qa.analysis.json"]["pairs"][0]
    assert turned["stricter_grader"]["suites"]["overall"]["better_policy"] == "new"


def test_no_zero_width_interval() -> None:
    """Where no case is discordant the paired interval still has the width few cases warrant."""
    rows = [make_row(f"a{i}", policy, "exact") for i in range(5) for policy in ("new", "old")]
    pair = qa_documents(rows, SETTINGS, frozenset())["qa.analysis.json"]["pairs"][0]
    suite = pair["suites"]["overall"]
    assert (suite["bootstrap"]["lower"], suite["bootstrap"]["upper"]) == (0.0, 0.0)
    assert suite["difference"]["lower"] < 0 < suite["difference"]["upper"]
    assert suite["first"]["lower"] < 1 == suite["first"]["upper"]


def test_flips_that_leave_no_difference_to_detect() -> None:
    """Two of four cases flip either way: there is no smallest difference, and that is `null`."""
    flips = [("exact", "insufficient")] * 2 + [("insufficient", "exact")] * 2
    rows = [
        make_row(f"a{number}", policy, rule)
        for number, rules in enumerate(flips)
        for policy, rule in zip(SETTINGS.policies, rules, strict=True)
    ]
    document = qa_documents(rows, SETTINGS, frozenset())["qa.analysis.json"]
    jsonschema.validate(document, load_schema("qa.analysis"))
    official = document["pairs"][0]["suites"]["official"]
    assert official["smallest_detectable_difference"]["observed_losses"] is None
    assert official["smallest_detectable_difference"]["one_sided"]["difference"] is None


def test_one_policy(rows: list[GradedRow]) -> None:
    """With one policy there is nothing to compare: no statistics, no pairs."""
    alone = [row for row in rows if row.policy == "old"]
    documents = qa_documents(alone, evolve(SETTINGS, policies=("old",)), frozenset())
    assert list(documents) == ["qa.summary.json", "qa.analysis.json"]
    assert documents["qa.analysis.json"]["pairs"] == []
    jsonschema.validate(documents["qa.analysis.json"], load_schema("qa.analysis"))


def test_three_policies(rows: list[GradedRow]) -> None:
    """With three, each pair is compared, in the protocol's order; a pair is as if it were alone."""
    third = [
        evolve(row, policy="mid", row_id=f"{row.case_id}__mid")
        for row in rows
        if row.policy == "new"
    ]
    settings = evolve(SETTINGS, policies=("old", "mid", "new"))
    documents = qa_documents([*rows, *third], settings, frozenset())
    stats, analysis = documents["qa.stats.json"], documents["qa.analysis.json"]
    pairs = [["old", "mid"], ["old", "new"], ["mid", "new"]]
    assert [pair["policies"] for pair in stats["pairs"]] == pairs
    assert [pair["policies"] for pair in analysis["pairs"]] == pairs
    jsonschema.validate(stats, load_schema("qa.stats"))
    jsonschema.validate(analysis, load_schema("qa.analysis"))
    alone = qa_documents(rows, SETTINGS, frozenset())
    assert stats["pairs"][1]["suites"] == alone["qa.stats.json"]["suites"]
    assert analysis["pairs"][1] == alone["qa.analysis.json"]["pairs"][0]
    assert stats["pairs"][2]["suites"]["overall"]["mcnemar"]["p_value"] == 1.0
