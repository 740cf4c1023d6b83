"""The published runs in `results/` are made again from their inputs, to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from deermem_data import load_protocol, load_schema

Call = Callable[..., tuple[int, str, str]]

# When and where a run was made is not what it found.
INCIDENTAL = ("created_at", "git", "packages")
RECORDS = ("run.json", "qa_run.json")
FINDINGS = (
    "policy.raw.jsonl",
    "summary.json",
    "qa.rows.jsonl",
    "qa.summary.json",
    "qa.stats.json",
    "qa.analysis.json",
)
MANIFEST = "MANIFEST.sha256"


def without_incidentals(path: Path) -> dict[str, Any]:
    """A run's record without what differs from one making to the next."""
    record: dict[str, Any] = json.loads(path.read_bytes())
    return {key: value for key, value in record.items() if key not in INCIDENTAL}


def manifest_of_findings(path: Path) -> list[str]:
    """The manifest's lines but those of the records, whose bytes hold the incidentals."""
    lines = path.read_text(encoding="ascii").splitlines()
    return [line for line in lines if line.split("  ")[1] not in RECORDS]


@pytest.fixture
def published(project_root: Path) -> Path:
    """The published run of the embedded protocol."""
    return project_root / "results" / "mini-v1"


@pytest.fixture
def remade(call: Call, tmp_path: Path) -> Path:
    """The same run, made now: with no deer-flow at hand, the demo's selector is the reference."""
    status, _, err = call("demo", "--output-dir", "remade")
    assert status == 0, err
    return tmp_path / "remade"


def test_mini_run_is_made_again(published: Path, remade: Path) -> None:
    """All findings are byte-equal; of the records, all but time, git state and versions."""
    for name in FINDINGS:
        assert (published / name).read_bytes() == (remade / name).read_bytes(), name
    for name in RECORDS:
        assert without_incidentals(published / name) == without_incidentals(remade / name)
    assert manifest_of_findings(published / MANIFEST) == manifest_of_findings(remade / MANIFEST)


def test_published_run_holds_these_files_and_no_answers(published: Path) -> None:
    """The stored answers stay with whoever ran it; everything else is published."""
    found = {path.name for path in published.iterdir() if path.name != "responses"}
    assert {*FINDINGS, *RECORDS, MANIFEST} == found


def test_published_run_verifies(call: Call, published: Path) -> None:
    """Every number follows from the rows, and the rows from the inputs."""
    status, out, err = call("verify", str(published), "--json")
    assert (0, "") == (status, err)
    report = json.loads(out)
    assert ([], True) == (report["discrepancies"], report["passed"])
    done = {check["name"] for check in report["checks"] if not check["skipped"]}
    assert {"hashes", "selection", "kept facts", "fingerprints", "grades", "selector"} <= done


def test_published_files_fit_their_schemas(published: Path) -> None:
    """What is published is what the JSON Schemas say."""
    rows = (published / "policy.raw.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == load_protocol("mini-v1").case_count * 3 * 2
    schema = jsonschema.Draft202012Validator(load_schema("policy.raw"))
    for row in rows:
        schema.validate(json.loads(row))
    for name in ("summary", "run", "qa_run", "qa.summary", "qa.stats", "qa.analysis"):
        document = json.loads((published / f"{name}.json").read_bytes())
        jsonschema.Draft202012Validator(load_schema(name)).validate(document)


@pytest.mark.parametrize("name", RECORDS)
def test_published_run_was_made_from_a_clean_checkout(published: Path, name: str) -> None:
    """The published record names a commit, and nothing was changed since."""
    record = json.loads((published / name).read_bytes())
    assert (40, False) == (len(record["git"]["head"]), record["git"]["dirty"])
