"""The figures of the historical run follow from one another."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deermem_cli.qa_documents import QASettings, document_bytes, stats_document, summary_document
from deermem_data import load_protocol, sha256_hex, specs_folder

FOLDER = "results/pr4789-reproduction-v1"


@pytest.fixture(scope="module")
def folder(project_root: Path) -> Path:
    return project_root / FOLDER


@pytest.fixture(scope="module")
def verdicts(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def settings() -> QASettings:
    """The settings are those of the default protocol, which states the same parameters."""
    config = load_protocol().config
    return QASettings(
        protocol_id="deermem-hybrid-v1-pr4789-reproduction-v1",
        grader_version=config.qa.grader_version,
        qa_capacity=config.pool.qa_capacity,
        policies=tuple(spec.policy for spec in config.policies.values()),
        alpha=config.statistics.alpha,
        seed=config.statistics.bootstrap_seed,
        iterations=config.statistics.bootstrap_iterations,
    )


def _published_hashes() -> dict[str, str]:
    path = specs_folder() / "protocols" / "pr4789-reproduction-v1" / "pins.json"
    hashes: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["published"]
    return hashes


@pytest.mark.parametrize(
    ("name", "make"),
    [("qa.summary.json", summary_document), ("qa.stats.json", stats_document)],
)
def test_documents_follow_from_verdicts(
    name: str, make: Any, folder: Path, verdicts: list[dict[str, Any]], settings: QASettings
) -> None:
    """Made again from the verdicts, a document has the published bytes and the pinned hash."""
    rows = [SimpleNamespace(**verdict) for verdict in verdicts]
    made = document_bytes(make(rows, settings))
    assert (folder / name).read_bytes() == made
    assert _published_hashes()[name] == sha256_hex(made)


def test_verdicts_are_one_for_each_case_and_policy(verdicts: list[dict[str, Any]]) -> None:
    """45 cases under two policies, and no row twice."""
    assert 90 == len({verdict["row_id"] for verdict in verdicts}) == len(verdicts)
    assert 45 == len({verdict["case_id"] for verdict in verdicts})


def test_retention_of_the_verdicts_is_the_published_one(verdicts: list[dict[str, Any]]) -> None:
    """At capacity 7 the support fact is kept in 27 and 45 of 45 cases (design: the protocol)."""
    kept = {"confidence": 0, "hybrid-v1": 0}
    for verdict in verdicts:
        kept[verdict["policy"]] += verdict["support_all_retained"]
    assert {"confidence": 27, "hybrid-v1": 45} == kept


def test_readme_states_the_documents_numbers(folder: Path) -> None:
    """Each row of the README's table is that suite's part of the statistics and the summary."""
    stats = json.loads((folder / "qa.stats.json").read_bytes())["suites"]
    text = (folder / "README.md").read_text(encoding="utf-8")
    for suite in ("official", "synthetic", "overall"):
        table, bootstrap = stats[suite]["mcnemar"], stats[suite]["bootstrap"]
        first = table["both_correct"] + table["only_first_correct"]
        second = table["both_correct"] + table["only_second_correct"]
        match = re.search(rf"^\| {suite} \| (.*) \|$", text, re.MULTILINE)
        assert match is not None
        *cells, p_value = match[1].split(" | ")
        assert [
            str(stats[suite]["cases"]),
            str(first),
            str(second),
            f"{bootstrap['mean_difference']:+.3f}",
            f"{bootstrap['lower']:.3f} to {bootstrap['upper']:.3f}",
            f"{table['only_first_correct']} / {table['only_second_correct']}",
        ] == cells
        assert float(p_value) == pytest.approx(table["p_value"], rel=0.04)


def test_verdicts_equal_the_published_rows(
    verdicts: list[dict[str, Any]], upstream_path: Path
) -> None:
    """Each verdict is its published row without the prediction and what follows from it."""
    path = upstream_path / "results" / "pr4789-reproduction-v1" / "qa.rows.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    shown = [{key: row[key] for key in verdicts[0]} for row in rows]
    assert shown == verdicts


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (False, "is the pinned historical protocol, unchanged"),
        (True, "is the historical protocol's id with CHANGED files: not comparable to it"),
    ],
)
def test_run_says_whether_the_protocol_is_the_pinned_one(
    run: Any, tmp_path: Path, upstream_path: Path, longmemeval_path: Path, changed: bool, said: str
) -> None:
    """A benchmark folder given by path is read as it is, and the command says what it is."""
    folder = Path(shutil.copytree(upstream_path, tmp_path / "benchmark"))
    if changed:
        (config,) = (folder / "configs").iterdir()
        config.write_text(config.read_text(encoding="utf-8") + "\n# mine\n", encoding="utf-8")
    arguments = ("--protocol", str(folder), "--selector", "reference", "--output-dir", "out")
    done = run("run-policy", *arguments, "--dataset", str(longmemeval_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"note: deermem-hybrid-v1-pr4789-reproduction-v1 {said}\n" in done.stderr


def test_run_of_another_protocol_says_nothing_of_it(run: Any, tmp_path: Path) -> None:
    """Only where the historical id is stated is there anything to say."""
    arguments = ("--protocol", "mini-v1", "--selector", "reference", "--output-dir", "out")
    done = run("run-policy", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "historical" not in done.stderr
