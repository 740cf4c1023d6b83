"""Grading a run: the published bytes, all files or none, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from attrs import evolve, frozen

from deermem_cli.grading import PUBLISHED_FILES, GradedRun, grade_run
from deermem_data import (
    ArtifactError,
    Case,
    Dataset,
    Protocol,
    ProtocolError,
    build_cases,
    load_dataset,
    load_protocol,
    load_schema,
)
from deermem_qa import (
    Answer,
    LockHeld,
    RunError,
    Task,
    build_tasks,
    open_run,
    provider_identity,
    run_identity,
    run_lock,
)
from deermem_qa.replay import Replay
from deermem_select import Selector, bind_selector

# design: the and the upstream table's hashes of the published files
PUBLISHED = {
    "qa.rows.jsonl": "d14dcd1e57bbba393b552d61eec30a530c1157c145947d3a48f615d9c8d6fc20",
    "qa.summary.json": "a581861ae1233dd4a86878fa1aa61f861b1b54a416f7ac0047a8d2d30deab999",
    "qa.stats.json": "5e14d7d8eabd988411af157a3f30e0adfdc67444c632c4387b25b34b139ea05d",
}


@frozen
class Inputs:
    """What a run is made from."""

    protocol: Protocol
    dataset: Dataset
    cases: tuple[Case, ...]
    selector: Selector

    @classmethod
    def read(cls, protocol: Protocol, dataset: Path) -> Inputs:
        loaded = load_dataset(dataset, protocol)
        selector = bind_selector("reference", protocol=protocol)
        return cls(protocol, loaded, build_cases(protocol, loaded), selector)

    def answer(self, folder: Path, provider: Any, tasks: tuple[Task, ...] | None = None) -> None:
        identity = run_identity(
            self.protocol,
            self.dataset,
            self.selector,
            provider.identity(),
            created_at="2026-08-13T00:00:00Z",
            packages={},
            git=None,
        )
        tasks = tasks or build_tasks(self.protocol, self.cases, self.selector)
        with open_run(folder, identity) as opened:
            assert opened.run(tasks, provider, workers=3).complete

    def grade(self, folder: Path) -> GradedRun:
        return grade_run(folder, self.protocol, self.dataset, self.cases, self.selector)


class Knowing:
    """A stand-in for a provider: right where the support fact is shown, else it abstains."""

    name = "knowing"

    def __init__(self, cases: tuple[Case, ...]) -> None:
        self._answers = {case.case_id: case.answer for case in cases}

    def identity(self) -> dict[str, Any]:
        return provider_identity(self.name)

    def answer(self, task: Task) -> Answer:
        shown = f"gold_{task.case_id}" in task.kept_fact_ids
        text = self._answers[task.case_id] if shown else "INSUFFICIENT"
        return Answer(text, response_model="knowing", finish_reason="stop", usage={"tokens": 2})

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    return Inputs.read(protocol, protocol.embedded_dataset)


@pytest.fixture(scope="module")
def complete(inputs: Inputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run that is not graded yet."""
    folder = tmp_path_factory.mktemp("complete") / "run"
    inputs.answer(folder, Knowing(inputs.cases))
    return folder


@pytest.fixture
def run(complete: Path, tmp_path: Path) -> Path:
    """A copy of the complete run."""
    return Path(shutil.copytree(complete, tmp_path / "run"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_published_bytes(longmemeval_path: Path, upstream_path: Path, tmp_path: Path) -> None:
    """Replaying the published predictions gives the published files, byte for byte."""
    published = upstream_path / "results" / "pr4789-reproduction-v1"
    inputs = Inputs.read(load_protocol(upstream_path), longmemeval_path)
    inputs.answer(tmp_path / "run", Replay(published / "qa.rows.jsonl"))
    graded = inputs.grade(tmp_path / "run")
    for name, sha256 in PUBLISHED.items():
        data = (tmp_path / "run" / name).read_bytes()
        assert (published / name).read_bytes() == data
        assert hashlib.sha256(data).hexdigest() == sha256
    analysis = graded.documents["qa.analysis.json"]["pairs"][0]
    stats = graded.documents["qa.stats.json"]
    for suite in ("official", "synthetic", "overall"):
        ours, theirs = analysis["suites"][suite], stats["suites"][suite]
        assert theirs["mcnemar"] == {key: ours["mcnemar"][key] for key in theirs["mcnemar"]}
        assert theirs["bootstrap"] == {key: ours["bootstrap"][key] for key in theirs["bootstrap"]}
    # Published facts: 18 discordant cases, 13 + 4 won by hybrid-v1 and one by confidence.
    assert len(analysis["discordant"]) == 18
    assert [d["correct_policy"] for d in analysis["discordant"]].count("hybrid-v1") == 17


def test_order_of_completion_changes_no_byte(inputs: Inputs, run: Path, tmp_path: Path) -> None:
    """However the answers came in, the same files are published."""
    tasks = list(build_tasks(inputs.protocol, inputs.cases, inputs.selector))
    random.Random(1).shuffle(tasks)
    inputs.answer(tmp_path / "other", Knowing(inputs.cases), tuple(tasks))
    assert inputs.grade(run).files == inputs.grade(tmp_path / "other").files


def test_files(inputs: Inputs, run: Path) -> None:
    """Five files appear beside the run, each as its schema and the manifest say."""
    before = names(run)
    graded = inputs.grade(run)
    assert sorted([*before, *PUBLISHED_FILES]) == names(run)
    assert graded.files == {name: (run / name).read_bytes() for name in PUBLISHED_FILES}
    for name, document in graded.documents.items():
        jsonschema.validate(document, load_schema(name.removesuffix(".json")))
        assert document == json.loads((run / name).read_bytes())
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "MANIFEST.sha256"],
        cwd=run,
        capture_output=True,
        text=True,
        check=True,
    )
    covered = ["qa.analysis.json", "qa.rows.jsonl", "qa.stats.json", "qa.summary.json"]
    assert checked.stdout.splitlines() == [f"{name}: OK" for name in [*covered, "qa_run.json"]]


def test_manifest_covers_a_policy_run(inputs: Inputs, run: Path) -> None:
    """A policy run's files in the same folder are covered too."""
    (run / "summary.json").write_text("{}\n", encoding="ascii")
    inputs.grade(run)
    sha256 = hashlib.sha256(b"{}\n").hexdigest()
    assert f"{sha256}  summary.json\n" in (run / "MANIFEST.sha256").read_text(encoding="ascii")


def test_grades(inputs: Inputs, run: Path) -> None:
    """At capacity 7 the support fact stays in 27 of 45 cases, and in all (design: the protocol)."""
    graded = inputs.grade(run)
    correct = {"confidence": 0, "hybrid-v1": 0}
    for row in graded.rows:
        correct[row.policy] += row.grade_correct
    assert correct == {"confidence": 27, "hybrid-v1": 45}
    suites = graded.documents["qa.stats.json"]["suites"]
    table = {name: suite["mcnemar"]["only_second_correct"] for name, suite in suites.items()}
    # official 26 of 40, synthetic 1 of 5
    assert table == {"official": 14, "synthetic": 4, "overall": 18}
    # exact McNemar: 2 / 2**18
    assert suites["overall"]["mcnemar"]["p_value"] == 2**-17


def test_never_overwritten(inputs: Inputs, run: Path) -> None:
    """A second grading is refused and changes nothing, also where one file is gone."""
    inputs.grade(run)
    (run / "qa.stats.json").unlink()
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    with pytest.raises(ArtifactError, match="already holds a run"):
        inputs.grade(run)
    assert before == {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}


def test_incomplete_run(inputs: Inputs, run: Path) -> None:
    """Where an answer is missing, it is named and nothing is published."""
    row_id = f"{inputs.cases[3].case_id}__confidence"
    (run / "responses" / f"{row_id}.json").unlink()
    before = names(run)
    with pytest.raises(RunError, match=rf"{row_id}\.json: is not there"):
        inputs.grade(run)
    assert before == names(run)


def test_other_inputs(inputs: Inputs, run: Path) -> None:
    """A run begun with another selector or config is not graded with this one."""
    provenance = evolve(inputs.selector.provenance, sha256="0" * 64)
    with pytest.raises(RunError, match="another selector source"):
        evolve(inputs, selector=evolve(inputs.selector, provenance=provenance)).grade(run)
    hashes = evolve(inputs.protocol.hashes, config_sha256="0" * 64)
    with pytest.raises(RunError, match="another config"):
        evolve(inputs, protocol=evolve(inputs.protocol, hashes=hashes)).grade(run)
    other: Any = "other"
    qa = evolve(inputs.protocol.config.qa, grader_version=other)
    config = evolve(inputs.protocol.config, qa=qa)
    with pytest.raises(ProtocolError, match=r"qa\.grader_version"):
        evolve(inputs, protocol=evolve(inputs.protocol, config=config)).grade(run)
    assert names(run) == ["qa_run.json", "responses"]


def test_held_folder(inputs: Inputs, run: Path) -> None:
    """While a run is under way its folder is not graded."""
    with run_lock(run), pytest.raises(LockHeld):
        inputs.grade(run)


def test_killed_between_any_two_steps(complete: Path, tmp_path: Path) -> None:
    """Killed before any of its changes, grading leaves all files or none; the next one succeeds."""
    program = Path(__file__).with_name("grading_forker.py")
    few = _with_few_resamples()
    ready = tmp_path / "ready"
    few.answer(ready, Knowing(few.cases))
    expected = few.grade(Path(shutil.copytree(ready, tmp_path / "expected"))).files
    with subprocess.Popen(
        [sys.executable, str(program), str(ready)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as forker:
        assert forker.stdin is not None
        assert forker.stdout is not None

        def ask(command: dict[str, Any]) -> Any:
            assert forker.stdin is not None
            assert forker.stdout is not None
            forker.stdin.write(json.dumps(command) + "\n")
            forker.stdin.flush()
            return json.loads(forker.stdout.readline())

        steps = ask({"steps": True})["steps"]
        outcomes = set()
        for step in range(1, steps + 1):
            folder = tmp_path / f"killed-{step}"
            shutil.copytree(ready, folder, copy_function=os.link)
            assert ask({"copy": str(folder), "kill": step}) == {"status": -signal.SIGKILL}
            there = {name for name in PUBLISHED_FILES if (folder / name).exists()}
            assert there in (set(), set(PUBLISHED_FILES)), step
            outcomes.add(bool(there))
            if there:
                with pytest.raises(ArtifactError, match="already holds a run"):
                    few.grade(folder)
            else:
                few.grade(folder)
            assert expected == {name: (folder / name).read_bytes() for name in PUBLISHED_FILES}
            assert names(folder) == sorted([*PUBLISHED_FILES, "qa_run.json", "responses"])
            assert not any((folder / name).is_symlink() for name in PUBLISHED_FILES)
            shutil.rmtree(folder)
        forker.stdin.close()
    assert steps > len(PUBLISHED_FILES)
    assert outcomes == {False, True}


def _with_few_resamples() -> Inputs:
    """The mini protocol as `grading_forker.py` changes it."""
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    resamples: Any = 20
    few = evolve(protocol.config.statistics, bootstrap_iterations=resamples)
    changed = evolve(protocol, config=evolve(protocol.config, statistics=few))
    return Inputs.read(changed, protocol.embedded_dataset)
