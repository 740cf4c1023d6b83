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


def without_incidentals(path: Path) -> dict[str, Any]:
    """A run's record without what differs from one making to the next."""
    record: dict[str, Any] = json.loads(path.read_bytes())
    return {key: value for key, value in record.items() if key not in INCIDENTAL}


@pytest.fixture
def published(project_root: Path) -> Path:
    """The published policy run of the embedded protocol."""
    return project_root / "results" / "mini-v1"


@pytest.fixture
def remade(call: Call, tmp_path: Path) -> Path:
    """The same run, made now."""
    arguments = ("--protocol", "mini-v1", "--selector", "reference", "--output-dir", "remade")
    status, _, err = call("run-policy", *arguments)
    assert status == 0, err
    return tmp_path / "remade"


def test_mini_policy_run_is_made_again(published: Path, remade: Path) -> None:
    """Rows and summary are byte-equal; of the record, all but time, git state and versions."""
    for name in ("policy.raw.jsonl", "summary.json"):
        assert (published / name).read_bytes() == (remade / name).read_bytes(), name
    assert without_incidentals(published / "run.json") == without_incidentals(remade / "run.json")


def test_published_files_fit_their_schemas(published: Path) -> None:
    """What is published is what the JSON Schemas say."""
    rows = (published / "policy.raw.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == load_protocol("mini-v1").case_count * 3 * 2
    schema = jsonschema.Draft202012Validator(load_schema("policy.raw"))
    for row in rows:
        schema.validate(json.loads(row))
    for name in ("summary", "run"):
        document = json.loads((published / f"{name}.json").read_bytes())
        jsonschema.Draft202012Validator(load_schema(name)).validate(document)


def test_published_run_was_made_from_a_clean_checkout(published: Path) -> None:
    """The published record names a commit, and nothing was changed since."""
    record = json.loads((published / "run.json").read_bytes())
    assert (len(record["git"]["head"]), record["git"]["dirty"]) == (40, False)
