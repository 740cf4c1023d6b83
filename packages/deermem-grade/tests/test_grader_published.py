"""The 90 published rows, graded again: the same verdict and the same rule for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deermem_grade import GRADER_VERSION, grade_answer, grade_many


def published_pairs(upstream: Path, dataset: Path) -> list[tuple[dict[str, Any], str]]:
    rows = (upstream / "results" / upstream.name / "qa.rows.jsonl").read_text("utf-8").splitlines()
    (synthetic,) = (upstream / "manifests").glob("synthetic-*.json")
    cases = json.loads(synthetic.read_text("utf-8"))["cases"]
    answers = {case["case_id"]: case["answer"] for case in cases}
    for record in json.loads(dataset.read_text("utf-8")):
        answer = record["answer"]
        if not isinstance(answer, str):
            answer = json.dumps(answer, ensure_ascii=False, sort_keys=True)
        answers[record["question_id"]] = answer
    return [(row, answers[row["case_id"]]) for row in map(json.loads, rows)]


def test_published_verdicts(upstream_path: Path, longmemeval_path: Path) -> None:
    """90 of 90 verdicts and rules are equal, one by one and in a batch."""
    pairs = published_pairs(upstream_path, longmemeval_path)
    published = [(row["grade_correct"], row["grade_rule"]) for row, _ in pairs]
    assert 90 == len(published)
    assert {GRADER_VERSION} == {row["grader_version"] for row, _ in pairs}
    texts = [(row["prediction"], answer) for row, answer in pairs]
    assert published == [tuple(grade_answer(*pair)) for pair in texts]
    assert published == [tuple(grade) for grade in grade_many(texts)]


@pytest.mark.parametrize(
    ("rule", "count"),
    [("exact", 41), ("insufficient", 23), ("substring", 23), ("numeric-conflict", 3)],
)
def test_published_rules(
    upstream_path: Path, longmemeval_path: Path, rule: str, count: int
) -> None:
    """Regraded, the rules decide as often as in the published rows."""
    grades = [
        grade_answer(row["prediction"], answer)
        for row, answer in published_pairs(upstream_path, longmemeval_path)
    ]
    assert count == [grade.rule for grade in grades].count(rule)
