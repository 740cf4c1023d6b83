"""The real data set: the published bytes, the published counts, and none of its text."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from deermem_data import build_cases, load_dataset, load_protocol, load_schema

Run = Callable[..., subprocess.CompletedProcess[str]]

# The published run's files (design: artifacts byte-equal to the reference's for the same inputs).
PUBLISHED = {
    "policy.raw.jsonl": "215b6e36d336129bcc1719421c727c006e1a6b22c04661d7c69269774127ab02",
    "summary.json": "48ed21e82604af889b2fea65b3ca1c13df5f17082094070029562d2002229538",
}
# Design: what must come out, kept cases at capacities 5, 7, 9.
RETENTION = {
    ("longmemeval", "confidence"): [20, 26, 32],
    ("longmemeval", "hybrid-v1"): [30, 40, 40],
    ("synthetic", "confidence"): [0, 1, 3],
    ("synthetic", "hybrid-v1"): [5, 5, 5],
}
CASES = {"longmemeval": 40, "synthetic": 5}
PROTOCOLS = ["historical", "capacity-eviction-v1"]


@pytest.fixture(scope="module", params=PROTOCOLS)
def real_run(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    run: Run,
    longmemeval_path: Path,
) -> tuple[str, Path]:
    """A run with the reference selector: the protocol's name and the folder of the files."""
    name: str = request.param
    protocol = name
    if name == "historical":
        protocol = str(request.getfixturevalue("upstream_path"))
    folder = tmp_path_factory.mktemp("real") / "run"
    done = run(
        "run-policy",
        *("--protocol", protocol, "--selector", "reference"),
        *("--dataset", str(longmemeval_path), "--output-dir", str(folder)),
    )
    assert done.returncode == 0, done.stderr
    return name, folder


def policy_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a policy run."""
    lines = (folder / "policy.raw.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("real_run", ["historical"], indirect=True)
def test_published_bytes(real_run: tuple[str, Path]) -> None:
    """With the historical protocol, rows and summary are the published ones, byte for byte."""
    _, folder = real_run
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in PUBLISHED}
    assert found == PUBLISHED


def test_published_retention(real_run: tuple[str, Path]) -> None:
    """Both protocols keep the support fact as often as published, counted from the rows."""
    _, folder = real_run
    rows = policy_rows(folder)
    assert len(rows) == 270
    for (source, policy), expected in RETENTION.items():
        chosen = [row for row in rows if (row["source"], row["policy"]) == (source, policy)]
        assert len(chosen) == 3 * CASES[source]
        found = [
            sum(row["support_all_retained"] for row in chosen if row["capacity"] == capacity)
            for capacity in (5, 7, 9)
        ]
        assert found == expected


def test_artifacts_fit_their_schemas(real_run: tuple[str, Path]) -> None:
    """What is written on real input is what the JSON Schemas of `specs` say."""
    _, folder = real_run
    assert sorted(path.name for path in folder.iterdir()) == sorted([*PUBLISHED, "run.json"])
    row_schema = jsonschema.Draft202012Validator(load_schema("policy.raw"))
    for row in policy_rows(folder):
        row_schema.validate(row)
    for name in ("summary", "run"):
        document = json.loads((folder / f"{name}.json").read_bytes())
        jsonschema.Draft202012Validator(load_schema(name)).validate(document)


def test_run_names_what_it_was_made_from(
    real_run: tuple[str, Path], longmemeval_path: Path
) -> None:
    """The run's record holds the hashes of all inputs and where the decisions came from."""
    name, folder = real_run
    record = json.loads((folder / "run.json").read_bytes())
    data = hashlib.sha256(longmemeval_path.read_bytes()).hexdigest()
    assert record["dataset"]["sha256"] == data
    assert record["artifacts"]["dataset_sha256"] == data
    assert record["standing"] == {"historical": "historical"}.get(name, "shipped")
    assert (record["selector"]["kind"], record["selector"]["known"]) == ("reference", False)


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def texts(row: dict[str, Any]) -> Iterator[str]:
    """Every text of a record: question, answer, each turn, and each of its lines."""
    yield row["question"]
    yield str(row["answer"])
    for session in row["haystack_sessions"]:
        for turn in session:
            yield turn["content"]
            yield from turn["content"].splitlines()


def test_no_text_of_the_data_set_is_written(
    real_run: tuple[str, Path], longmemeval_path: Path
) -> None:
    """No question, answer, turn or line of ten characters or more stands in an artifact."""
    _, folder = real_run
    written: set[str] = set()
    for path in folder.iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        documents = lines if path.suffix == ".jsonl" else ["".join(lines)]
        for document in documents:
            written.update(strings(json.loads(document)))
    everything = "\n".join(sorted(written))
    starts = {everything[i : i + 10] for i in range(len(everything) - 9)}
    rows = json.loads(longmemeval_path.read_bytes())
    searched = {text.strip() for row in rows for text in texts(row) if len(text.strip()) >= 10}
    assert len(searched) > 10_000
    # A text that stands there begins with ten characters that stand there.
    found = [text for text in searched if text[:10] in starts and text in everything]
    assert found == []


def test_no_evidence_text_is_written(real_run: tuple[str, Path], longmemeval_path: Path) -> None:
    """No rendered evidence and no fact's content of any pool stands in an artifact."""
    _, folder = real_run
    protocol = load_protocol("capacity-eviction-v1")
    cases = build_cases(protocol, load_dataset(longmemeval_path, protocol))
    contents = {fact["content"] for case in cases for fact in case.facts}
    contents |= {case.question for case in cases} | {case.answer for case in cases}
    written = b"".join(path.read_bytes() for path in folder.iterdir()).decode("utf-8")
    searched = [text for text in contents if len(text) >= 10]
    assert len(searched) > 100
    for text in searched:
        assert text not in written
        assert json.dumps(text, ensure_ascii=False)[1:-1] not in written
