"""Grading stored answers: checked against their tasks, graded blind, joined by row id."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from attrs import evolve, frozen

from deermem_data import Case, Protocol, build_cases, load_dataset, load_protocol, load_schema
from deermem_qa import (
    Answer,
    AnswerRow,
    GradedAnswers,
    GradedRow,
    RowStore,
    RunError,
    build_tasks,
    grade_answers,
)
from deermem_select import Selector, bind_selector

NOW = "2026-08-13T00:00:00Z"


@frozen
class Verdict:
    correct: bool
    rule: str


def same(prediction: str, reference: str) -> Verdict:
    """A stand-in for the grader."""
    return Verdict(prediction == reference, "exact" if prediction == reference else "other")


Made = tuple[Protocol, tuple[Case, ...], Selector]


@pytest.fixture(scope="module")
def made() -> Made:
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    cases = build_cases(protocol, load_dataset(protocol.embedded_dataset, protocol))
    return protocol, cases, bind_selector("reference", protocol=protocol)


@pytest.fixture(scope="module")
def answered(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run: hybrid-v1 answers as the reference does, confidence is cut off."""
    protocol, cases, selector = made
    store = RowStore(tmp_path_factory.mktemp("responses"))
    references = {case.case_id: case.answer for case in cases}
    for task in build_tasks(protocol, cases, selector):
        if task.policy == "hybrid-v1":
            answer = Answer(references[task.case_id], finish_reason="stop", usage={"n": 2})
        else:
            answer = Answer("INSUFF", attempts=2, finish_reason="length")
        store.put(AnswerRow.of_answer(task, answer, NOW))
    return store.folder


@pytest.fixture
def store(answered: Path, tmp_path: Path) -> RowStore:
    """A copy of the complete run, to be spoilt."""
    return RowStore(shutil.copytree(answered, tmp_path / "responses"))


def grade(made: Made, store: RowStore, grader: Any = same) -> GradedAnswers:
    return grade_answers(*made, store, grader, "same-v1")


def test_graded_rows(made: Made, store: RowStore) -> None:
    """Every answer becomes a row with the 19 published keys, sorted by row id."""
    graded = grade(made, store)
    ids = [row.row_id for row in graded.rows]
    assert 90 == len(ids)
    assert sorted(ids) == ids
    validator = jsonschema.Draft202012Validator(load_schema("qa.rows"))
    for row in graded.rows:
        document = row.to_document()
        assert 19 == len(document)
        assert row == GradedRow.of_document(json.loads(json.dumps(document)))
        validator.validate(document | {"grade_rule": "exact"})
        assert (row.policy == "hybrid-v1") == row.grade_correct
        assert ("exact" if row.grade_correct else "other", "same-v1") == (
            row.grade_rule,
            row.grader_version,
        )
        assert f"gold_{row.case_id}" in row.kept_fact_ids or not row.support_all_retained
        assert float(row.support_all_retained) == row.support_recall
    assert {row.row_id for row in graded.rows if row.policy == "confidence"} == graded.truncated


def test_graded_blind(made: Made, store: RowStore) -> None:
    """The grader sees two strings, once for each row, and nothing else."""
    seen: list[tuple[Any, ...]] = []

    def watch(*given: Any) -> Verdict:
        seen.append(given)
        return Verdict(True, "exact")

    grade(made, store, watch)
    references = [case.answer for case in made[1]]
    expected = [(answer, answer) for answer in references]
    expected += [("INSUFF", answer) for answer in references]
    assert sorted(expected) == sorted(seen)


def _rewrite(**changes: Any) -> Callable[[Path], object]:
    def rewrite(path: Path) -> None:
        row = AnswerRow.of_bytes(path.read_bytes())
        path.write_bytes(evolve(row, **changes).to_bytes())

    return rewrite


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (Path.unlink, "is not there"),
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "not JSON"),
        (_rewrite(request_fingerprint="0" * 64), "request_fingerprint: expected "),
        (_rewrite(kept_fact_ids=("gold_x",)), "kept_fact_ids: expected "),
        (_rewrite(policy="hybrid-v1"), "policy: expected 'confidence', found 'hybrid-v1'"),
        (_rewrite(scenario="access"), "scenario: expected "),
        (_rewrite(capacity=9), "capacity: expected 7, found 9"),
    ],
)
def test_a_row_that_does_not_fit(
    made: Made, store: RowStore, spoil: Callable[[Path], object], message: str
) -> None:
    """A missing, torn or foreign row is named, and nothing is graded or changed."""
    path = store.path_of(f"{made[1][0].case_id}__confidence")
    spoil(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(RunError) as caught:
        grade(made, store)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert before == (path.read_bytes() if path.exists() else None)


def test_every_fault_is_named(made: Made, store: RowStore) -> None:
    """Several faults come at once, a row of no task among them."""
    ids = [f"{case.case_id}__hybrid-v1" for case in made[1][:2]]
    for row_id in ids:
        store.path_of(row_id).unlink()
    store.path_of("stranger").write_text("{}", encoding="ascii")
    with pytest.raises(RunError) as caught:
        grade(made, store)
    lines = str(caught.value).splitlines()
    assert [f"{store.path_of(row_id)}: is not there" for row_id in ids] == [
        line.partition(";")[0] for line in lines[:2]
    ]
    assert [f"{store.path_of('stranger')}: a row of no task of this run"] == [
        line.partition(";")[0] for line in lines[2:]
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "'extra': unknown key"),
        ({"grade_correct": 1}, "grade_correct: expected true or false, found 1"),
        ({"support_recall": 1}, "support_recall: expected a number from 0 to 1"),
        ({"usage": {"a": 1.0}}, "usage: expected an object of names"),
        ({"schema_version": 1.0}, "schema_version: expected 1, found 1.0"),
    ],
)
def test_published_rows_are_read_strictly(
    made: Made, store: RowStore, change: dict[str, Any], message: str
) -> None:
    """No key too many, each value of its type."""
    document = grade(made, store).rows[0].to_document()
    with pytest.raises(ValueError, match=message):
        GradedRow.of_document(document | change)
    with pytest.raises(ValueError, match="prediction: the key is missing"):
        GradedRow.of_document({key: document[key] for key in document if key != "prediction"})
