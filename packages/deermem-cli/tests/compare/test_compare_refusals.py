"""`deermem compare` where runs cannot be compared, or are not whole: refused, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., tuple[int, str, str]]
Row = dict[str, Any]
Change = Callable[[Any], None]

OTHER_SHA256 = "0" * 64


def refused(call: Call, *named: Path) -> list[str]:
    """The lines of the message that a comparison is refused with."""
    status, out, err = call("compare", *map(str, named))
    assert (status, out) == (2, "")
    assert "Traceback" not in err
    lines = err.splitlines()
    assert lines[0].startswith("deermem: error: ")
    return lines


def test_a_case_missing(call: Call, demo: Path, folders: Any) -> None:
    """A run without a case is refused, whichever is named first, and the case is named."""
    less = folders.copy(demo, policy_run=False)
    rows = folders.rows(less)
    case_id = rows[0]["case_id"]
    folders.write(less, (row for row in rows if row["case_id"] != case_id))
    lines = refused(call, demo, less)
    assert f"deermem: error: compare: A ({demo}) and B ({less}) are not comparable:" == lines[0]
    assert [f"  other cases: B has no row of 1 case that A has: {case_id}"] == lines[1:]
    [_, reason] = refused(call, less, demo)
    assert f"  other cases: A has no row of 1 case that B has: {case_id}" == reason


def test_many_cases_missing(call: Call, demo: Path, folders: Any) -> None:
    """Of many, the first are named and the others counted."""
    less = folders.copy(demo, policy_run=False)
    rows = folders.rows(less)
    folders.write(less, (row for row in rows if row["source"] == "synthetic"))
    [_, reason] = refused(call, demo, less)
    assert "B has no row of 40 cases that A has: " in reason
    assert reason.endswith(" and 30 more")


def test_a_case_missing_in_a_policy_run(call: Call, demo: Path, folders: Any) -> None:
    """Decisions are held to the same cases as answers."""
    less = folders.copy(demo, qa_run=False)
    rows = folders.rows(less, "policy.raw.jsonl")
    case_id = rows[-1]["case_id"]
    folders.write(less, (row for row in rows if row["case_id"] != case_id), "policy.raw.jsonl")
    [_, reason] = refused(call, demo, less)
    assert f"  other cases: B has no row of 1 case that A has: {case_id}" == reason


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        ("protocol_id", "another-v1", "protocol"),
        ("official_manifest_sha256", OTHER_SHA256, "official manifest"),
        ("synthetic_manifest_sha256", OTHER_SHA256, "synthetic manifest"),
        ("dataset_sha256", OTHER_SHA256, "data set"),
    ],
)
@pytest.mark.parametrize("record", ["qa_run.json", "run.json"])
def test_other_references(
    call: Call, demo: Path, folders: Any, record: str, key: str, value: str, name: str
) -> None:
    """Another protocol, manifest or data set is refused, in the QA run and in the policy run."""
    qa_run = record == "qa_run.json"
    other = folders.copy(demo, policy_run=not qa_run, qa_run=qa_run)

    def change(document: Any) -> None:
        (document if key in document else document["artifacts"])[key] = value

    folders.edit(other, record, change)
    [_, reason] = refused(call, demo, other)
    assert reason.startswith(f"  another {name}: qa_run.json of A has ")
    assert f", {record} of B has {value[:16]}" in reason


def test_a_third_run(call: Call, demo: Path, folders: Any) -> None:
    """One run of several that does not fit is named by its own letter."""
    other = folders.copy(demo, policy_run=False)
    folders.edit(other, "qa_run.json", lambda run: run.update(protocol_id="another-v1"))
    lines = refused(call, demo, demo, other)
    assert f"A ({demo}) and C ({other}) are not comparable" in lines[0]


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [("capacity", 5, "capacity"), ("grader_version", "another-grader-v1", "grader")],
)
def test_other_conditions(
    call: Call, demo: Path, folders: Any, key: str, value: object, name: str
) -> None:
    """Answers at another capacity, or of another grader, are refused."""
    other = folders.copy(demo, policy_run=False)
    folders.edit(other, "qa_run.json", lambda run: run["qa"].update({key: value}))
    folders.write(other, ({**row, key: value} for row in folders.rows(other)))
    [_, reason] = refused(call, demo, other)
    assert reason.startswith(f"  another {name}: A has ")
    assert reason.endswith(f"B has {value}")


def test_other_capacities(call: Call, demo: Path, folders: Any) -> None:
    """Policy runs at other capacities are refused."""
    first, other = folders.copy(demo, "one", qa_run=False), folders.copy(demo, qa_run=False)
    rows = folders.rows(other, "policy.raw.jsonl")
    folders.write(other, (row for row in rows if row["capacity"] != 9), "policy.raw.jsonl")
    [_, reason] = refused(call, first, other)
    assert "  other capacities: A has 5, 7, 9, B has 5, 7" == reason


@pytest.mark.parametrize("key", ["scenario", "question_type"])
def test_a_case_that_is_another(call: Call, demo: Path, folders: Any, key: str) -> None:
    """A case of the same id but another scenario or type is another case."""
    other = folders.copy(demo, policy_run=False)
    rows = folders.rows(other)
    case_id = rows[0]["case_id"]
    folders.write(
        other, ({**row, key: "changed"} if row["case_id"] == case_id else row for row in rows)
    )
    [_, reason] = refused(call, demo, other)
    assert reason.startswith(f"  case {case_id} is another one: {key} is ")
    assert reason.endswith(" in A and changed in B")


def test_no_policy_in_common(call: Call, demo: Path, folders: Any) -> None:
    """Without a shared policy there is nothing to compare."""
    one = folders.copy(demo, "one", policy_run=False)
    two = folders.copy(demo, "two", policy_run=False)
    folders.write(one, (row for row in folders.rows(one) if row["policy"] == "confidence"))
    folders.write(two, (row for row in folders.rows(two) if row["policy"] != "confidence"))
    [_, reason] = refused(call, one, two)
    assert "  no policy in common: confidence, and hybrid-v1" == reason


def test_a_policy_run_and_a_qa_run(call: Call, demo: Path, folders: Any) -> None:
    """A policy run alone and a QA run alone have no part in common."""
    one = folders.copy(demo, "one", policy_run=False)
    two = folders.copy(demo, "two", qa_run=False)
    [line] = refused(call, one, two)
    assert f"A ({one}) holds no policy run, B ({two}) holds no graded answers" in line


def test_a_folder_of_two_selectors(call: Call, demo: Path, folders: Any) -> None:
    """A folder whose two runs were decided by different selectors is no run."""
    other = folders.copy(demo)
    folders.edit(other, "run.json", lambda run: run["selector"].update(sha256=OTHER_SHA256))
    [line] = refused(call, demo, other)
    assert f"B ({other}): its qa_run.json and run.json name different selectors" in line


def _drop_row(rows: list[Row]) -> None:
    del rows[1]


def _repeat_row(rows: list[Row]) -> None:
    rows.append(rows[0])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda rows: rows[2].update(grade_correct="yes"), "line 3: not a graded row: grade_corr"),
        (lambda rows: rows[2].pop("prediction"), "line 3: not a graded row: prediction: the key"),
        (lambda rows: rows[2].update(extra=1), "line 3: not a graded row: 'extra': unknown key"),
        (lambda rows: rows[0].update(capacity=5), "row {row_id}: capacity: expected 7"),
        (lambda rows: rows[0].update(grader_version="x"), "row {row_id}: grader_version: expected"),
        (lambda rows: rows[0].update(source="elsewhere"), "source: expected longmemeval or synth"),
        (_drop_row, "the row of case {case_id} under hybrid-v1 at capacity 7 is missing"),
        (_repeat_row, "the row of case {case_id} under confidence at capacity 7 stands twice"),
    ],
)
def test_malformed_rows(
    call: Call, demo: Path, folders: Any, change: Change, expected: str
) -> None:
    """A row that is none, missing or repeated is named with its file and key."""
    other = folders.copy(demo, policy_run=False)
    rows = folders.rows(other)
    expected = expected.format(row_id=rows[0]["row_id"], case_id=rows[0]["case_id"])
    change(rows)
    folders.write(other, rows)
    [line] = refused(call, demo, other)
    assert f"{other / 'qa.rows.jsonl'}: " in line
    assert expected in line


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda rows: rows[1].update(capacity="7"), "line 2/capacity: expected a whole number"),
        (lambda rows: rows[1].pop("kept_fact_ids"), "line 2/kept_fact_ids: is not there"),
        (lambda rows: rows[1].update(kept_fact_ids=[1]), "line 2/kept_fact_ids/0: expected text"),
        (_repeat_row, "under confidence at capacity 5 stands twice"),
        (_drop_row, "under hybrid-v1 at capacity 5 is missing"),
    ],
)
def test_malformed_decisions(
    call: Call, demo: Path, folders: Any, change: Change, expected: str
) -> None:
    """So is a decision."""
    other = folders.copy(demo, qa_run=False)
    rows = folders.rows(other, "policy.raw.jsonl")
    change(rows)
    folders.write(other, rows, "policy.raw.jsonl")
    [line] = refused(call, demo, other)
    assert f"{other / 'policy.raw.jsonl'}: " in line
    assert expected in line


@pytest.mark.parametrize("file", ["qa.rows.jsonl", "policy.raw.jsonl"])
@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"{torn", "line 1: not "), (b"", "holds no row"), (b"[" * 10**6, "line 1: not ")],
)
def test_torn_files(
    call: Call, demo: Path, folders: Any, file: str, data: bytes, expected: str
) -> None:
    """A file of rows that is torn, empty or nested too deep is named."""
    other = folders.copy(demo)
    (other / file).write_bytes(data)
    [line] = refused(call, demo, other)
    assert f"{other / file}: {expected}" in line


def test_a_level_that_is_none(call: Call, demo: Path, folders: Any) -> None:
    """A level of no interval is named before anything is computed with it."""
    other = folders.copy(demo)
    folders.edit(other, "qa.analysis.json", lambda made: made["settings"].update(alpha=1.0))
    [line] = refused(call, other, demo)
    assert "qa.analysis.json: /settings/alpha: expected a number between 0 and 1, found" in line


def test_no_run(call: Call, demo: Path, tmp_path: Path) -> None:
    """A folder without a run, and one that is not there, are named."""
    [line] = refused(call, demo, tmp_path / "absent")
    assert f"{tmp_path / 'absent'}: not a folder" in line
    (tmp_path / "empty").mkdir()
    [line] = refused(call, demo, tmp_path / "empty")
    assert str(tmp_path / "empty") in line


@pytest.mark.parametrize(("number", "found"), [(1, "found 1"), (27, "found 27")])
def test_number_of_runs(call: Call, demo: Path, number: int, found: str) -> None:
    """A comparison takes two runs or more, up to a letter for each."""
    [line] = refused(call, *[demo] * number)
    assert line.endswith(f"compare: expected 2 to 26 runs, {found}")
