"""Verification: what passes, and each thing that must be caught, by file, row and key."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import evolve

from deermem_cli.grading import grade_run
from deermem_cli.policy_run import run_policies
from deermem_cli.verification import RunInputs, Verification, verify_run
from deermem_data import build_cases, json_bytes, jsonl_bytes, load_dataset, load_protocol
from deermem_qa import (
    Answer,
    RunError,
    Task,
    build_tasks,
    open_run,
    provider_identity,
    run_identity,
)
from deermem_select import bind_selector

Edit = Callable[[Path], object]
Rows = list[dict[str, Any]]


class Half:
    """A stand-in for a provider: right where the support fact is shown, else it abstains."""

    name = "half"

    def __init__(self, answers: dict[str, str]) -> None:
        self._answers = answers

    def identity(self) -> dict[str, Any]:
        return provider_identity(self.name)

    def answer(self, task: Task) -> Answer:
        shown = f"gold_{task.case_id}" in task.kept_fact_ids
        text = self._answers[task.case_id] if shown else "INSUFFICIENT"
        return Answer(text, response_model="half", finish_reason="stop", usage={"tokens": 2})

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def inputs() -> RunInputs:
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    dataset = load_dataset(protocol.embedded_dataset, protocol)
    selector = bind_selector("reference", protocol=protocol)
    return RunInputs(protocol, dataset, build_cases(protocol, dataset), selector)


@pytest.fixture(scope="module")
def graded(inputs: RunInputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published run of ours."""
    folder = tmp_path_factory.mktemp("graded") / "run"
    provider = Half({case.case_id: case.answer for case in inputs.cases})
    identity = run_identity(
        inputs.protocol,
        inputs.dataset,
        inputs.selector,
        provider.identity(),
        created_at="2026-08-13T00:00:00Z",
        packages={},
        git=None,
    )
    tasks = build_tasks(inputs.protocol, inputs.cases, inputs.selector)
    with open_run(folder, identity) as opened:
        opened.run(tasks, provider, workers=3)
    grade_run(folder, inputs.protocol, inputs.dataset, inputs.cases, inputs.selector)
    return folder


@pytest.fixture
def run(graded: Path, tmp_path: Path) -> Path:
    """A copy of the published run."""
    return Path(shutil.copytree(graded, tmp_path / "run"))


@pytest.fixture
def bare(graded: Path, tmp_path: Path) -> Path:
    """Its published files alone, as in a repository."""
    without = shutil.ignore_patterns("responses")
    return Path(shutil.copytree(graded, tmp_path / "bare", ignore=without))


@pytest.fixture(scope="module")
def upstream_inputs(upstream_path: Path, longmemeval_path: Path) -> RunInputs:
    protocol = load_protocol(upstream_path)
    dataset = load_dataset(longmemeval_path, protocol)
    selector = bind_selector("reference", protocol=protocol)
    return RunInputs(protocol, dataset, build_cases(protocol, dataset), selector)


@pytest.fixture
def historical(upstream_path: Path, tmp_path: Path) -> Path:
    """A copy of the published folder of the reference."""
    source = upstream_path / "results" / "pr4789-reproduction-v1"
    folder = Path(shutil.copytree(source, tmp_path / "historical"))
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    return folder


def edit_rows(change: Callable[[Rows], object]) -> Edit:
    """An edit of `qa.rows.jsonl`, written as artifacts are."""

    def edit(folder: Path) -> None:
        path = folder / "qa.rows.jsonl"
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        change(rows)
        path.write_bytes(jsonl_bytes(rows))

    return edit


def edit_document(name: str, change: Callable[[Any], object]) -> Edit:
    """An edit of a document, written as artifacts are."""

    def edit(folder: Path) -> None:
        document = json.loads((folder / name).read_bytes())
        change(document)
        (folder / name).write_bytes(json_bytes(document))

    return edit


def renew_manifest(folder: Path) -> None:
    """Make the manifest fit the files, as somebody who covers up an edit would."""
    lines = []
    for line in (folder / "MANIFEST.sha256").read_text(encoding="ascii").splitlines():
        name = line.split("  ")[1]
        lines.append(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n")
    (folder / "MANIFEST.sha256").write_text("".join(lines), encoding="ascii")


def places(verification: Verification) -> set[tuple[str, str | None, str | None]]:
    return {(d.file, d.row, d.key) for d in verification.discrepancies}


def find(rows: Rows, **wanted: Any) -> dict[str, Any]:
    return next(row for row in rows if all(row[key] == wanted[key] for key in wanted))


ROWS, SUMMARY, STATS = "qa.rows.jsonl", "qa.summary.json", "qa.stats.json"


def test_ours_passes(run: Path, inputs: RunInputs) -> None:
    """A run of ours passes alone, with its protocol, and with everything."""
    alone = verify_run(run)
    assert alone.discrepancies == ()
    assert alone.certifies == ("its numbers follow from its rows",)
    assert verify_run(run, protocol=inputs.protocol).passed
    full = verify_run(run, inputs=inputs)
    assert full.discrepancies == ()
    assert [check.name for check in full.checks if check.skipped] == []
    assert "this protocol, data set, prompt and selector" in full.certifies[1]
    assert "really gave these answers" in full.cannot_certify[0]
    assert full.unchecked_files == ()


def test_ours_passes_without_responses(bare: Path, inputs: RunInputs) -> None:
    """Where the stored answers are not published, that is said, and the rest is checked."""
    full = verify_run(bare, inputs=inputs)
    assert full.passed
    assert [check.name for check in full.checks if check.skipped] == ["stored answers"]


def test_published_run_passes(historical: Path, upstream_inputs: RunInputs) -> None:
    """The reference's folder passes with and without the data set; it states no selector."""
    assert verify_run(historical).discrepancies == ()
    assert verify_run(historical, protocol=upstream_inputs.protocol).passed
    full = verify_run(historical, inputs=upstream_inputs)
    assert full.discrepancies == ()
    assert {check.name for check in full.checks if check.skipped} == {"stored answers", "selector"}
    assert any("hashes of the published run" in check.detail for check in full.checks)


def _mislabel(rows: Rows) -> None:
    one = find(rows, grade_correct=False, policy="confidence")
    two = find(rows, case_id=one["case_id"], policy="hybrid-v1")
    for row, policy in ((one, "hybrid-v1"), (two, "confidence")):
        row.update(policy=policy, row_id=f"{row['case_id']}__{policy}")
    rows.sort(key=lambda row: row["row_id"])


#: an edit that a run's own files show, and the (file, key) it must be named by
CAUGHT_ALONE: dict[str, tuple[Edit, str, str | None]] = {
    "grade": (edit_rows(lambda r: r[0].update(grade_correct=False)), ROWS, "grade_correct"),
    "rule": (edit_rows(lambda r: r[0].update(grade_rule="insufficient")), ROWS, "grade_rule"),
    "count": (
        edit_document(SUMMARY, lambda d: d["groups"][1].update(correct=1)),
        SUMMARY,
        "groups[longmemeval/access_help/hybrid-v1].correct",
    ),
    "accuracy as another type": (
        edit_document(SUMMARY, lambda d: d["groups"][1].update(accuracy=1)),
        SUMMARY,
        "groups[longmemeval/access_help/hybrid-v1].accuracy",
    ),
    "p value": (
        edit_document(STATS, lambda d: d["suites"]["overall"]["mcnemar"].update(p_value=0.0001)),
        STATS,
        "suites.overall.mcnemar.p_value",
    ),
    "bound": (
        edit_document(STATS, lambda d: d["suites"]["official"]["bootstrap"].update(lower=0.2)),
        STATS,
        "suites.official.bootstrap.lower",
    ),
    "row removed": (edit_rows(lambda r: r.pop(4)), ROWS, None),
    "row repeated": (edit_rows(lambda r: r.insert(4, r[4])), ROWS, None),
    "row relabelled": (edit_rows(lambda r: r[0].update(policy="hybrid-v1")), ROWS, "row_id"),
    "unknown policy": (
        edit_rows(lambda r: r[0].update(policy="x", row_id=f"{r[0]['case_id']}__x")),
        ROWS,
        "policy",
    ),
    "scenario": (
        edit_rows(lambda r: r[0].update(scenario="noisy_signal_control")),
        ROWS,
        "scenario",
    ),
    "extra key": (edit_rows(lambda r: r[0].update(note="x")), ROWS, "'note'"),
    "extra key of a document": (
        edit_document(SUMMARY, lambda d: d.update(note=1)),
        SUMMARY,
        "note",
    ),
    "missing key": (edit_rows(lambda r: r[0].pop("usage")), ROWS, "usage"),
    "text in usage": (
        edit_rows(lambda r: r[0]["usage"].update({"I keep my keys in a bowl": 1})),
        ROWS,
        "usage",
    ),
    "text in response_model": (
        edit_rows(lambda r: r[0].update(response_model="I keep my keys in a bowl")),
        ROWS,
        "response_model",
    ),
    "support flag": (
        edit_rows(lambda r: r[0].update(support_all_retained=not r[0]["support_all_retained"])),
        ROWS,
        "support_all_retained",
    ),
    "a fact of another case": (
        edit_rows(lambda r: r[0]["kept_fact_ids"].__setitem__(0, "d_x_0_y")),
        ROWS,
        "kept_fact_ids",
    ),
    "too many facts": (
        edit_rows(lambda r: r[0]["kept_fact_ids"].append(f"d_{r[0]['case_id']}_8_y")),
        ROWS,
        "kept_fact_ids",
    ),
    "capacity": (edit_rows(lambda r: r[0].update(capacity=9)), ROWS, "capacity"),
    "grader": (edit_rows(lambda r: r[0].update(grader_version="x")), ROWS, "grader_version"),
    "an answer for an abstention": (
        edit_rows(lambda r: find(r, prediction="INSUFFICIENT").update(prediction="an answer")),
        ROWS,
        "grade_rule",
    ),
    "unsorted": (edit_rows(lambda r: r.reverse()), ROWS, None),
    "attempts true": (edit_rows(lambda r: r[0].update(attempts=True)), ROWS, "attempts"),
}


@pytest.mark.parametrize("name", CAUGHT_ALONE)
def test_caught_by_the_run_alone(bare: Path, name: str) -> None:
    """Edits are named by file and key from the run's own files, also under a renewed manifest."""
    edit, file, key = CAUGHT_ALONE[name]
    edit(bare)
    renew_manifest(bare)
    verification = verify_run(bare)
    assert not verification.passed
    assert verification.certifies == ()
    assert (file, key) in {(d.file, d.key) for d in verification.discrepancies}


@pytest.mark.parametrize(
    "name",
    [
        "grade",
        "rule",
        "count",
        "p value",
        "row removed",
        "row repeated",
        "row relabelled",
        "extra key",
        "text in usage",
        "text in response_model",
    ],
)
def test_caught_in_the_published_run(historical: Path, name: str) -> None:
    """The same edits of the reference's folder, which has no manifest, but hashes known here."""
    edit, file, key = CAUGHT_ALONE[name]
    edit(historical)
    verification = verify_run(historical)
    assert (file, key) in {(d.file, d.key) for d in verification.discrepancies}
    assert any("not the published file" in d.message for d in verification.discrepancies)


@pytest.mark.parametrize("name", [ROWS, SUMMARY, STATS, "qa.analysis.json", "qa_run.json"])
def test_manifest_covers_every_byte(bare: Path, name: str) -> None:
    """A file that is not the one graded is named by the manifest's hash."""
    (bare / name).write_bytes((bare / name).read_bytes().replace(b"0", b"1", 1))
    found = [d for d in verify_run(bare).discrepancies if d.file == name]
    assert any("expected SHA-256" in d.message for d in found)


def _other_fact(rows: Rows) -> dict[str, Any]:
    """Replace a distractor by another one, consistently in both rows of a case."""
    first = rows[0]
    others = [row for row in rows if row["case_id"] == first["case_id"]]
    index = next(i for i, name in enumerate(first["kept_fact_ids"]) if name.startswith("d_"))
    old = first["kept_fact_ids"][index]
    for row in others:
        row["kept_fact_ids"] = [f"{old}x" if name == old else name for name in row["kept_fact_ids"]]
    return first


#: an edit that only the data set shows, and the key it must be named by
CAUGHT_WITH_INPUTS: dict[str, tuple[Callable[[Rows], object], str]] = {
    "prediction": (
        lambda r: find(r, grade_rule="exact").update(prediction="nowhere"),
        "grade_rule",
    ),
    "fingerprint": (
        lambda r: [
            row.update(request_fingerprint=row["request_fingerprint"][::-1])
            for row in r
            if row["case_id"] == r[0]["case_id"]
        ],
        "request_fingerprint",
    ),
    "kept fact": (_other_fact, "kept_fact_ids"),
    "order of kept facts": (lambda r: r[0]["kept_fact_ids"].reverse(), "kept_fact_ids"),
    "question type": (
        lambda r: [row.update(question_type="x") for row in r if row["case_id"] == r[0]["case_id"]],
        "question_type",
    ),
    "rule": (lambda r: find(r, grade_rule="exact").update(grade_rule="substring"), "grade_rule"),
    "labels exchanged": (_mislabel, "kept_fact_ids"),
}


@pytest.mark.parametrize("name", CAUGHT_WITH_INPUTS)
def test_caught_with_the_data_set(bare: Path, inputs: RunInputs, name: str) -> None:
    """Consistent edits are named by row and key once everything is made again."""
    edit, key = CAUGHT_WITH_INPUTS[name]
    edit_rows(edit)(bare)
    assert (ROWS, None, None) in places(verify_run(bare))
    renew_manifest(bare)
    verification = verify_run(bare, inputs=inputs)
    found = [(d.row, d.key) for d in verification.discrepancies if d.file == ROWS]
    assert key in {named for _, named in found}
    assert all(row is not None for row, _ in found)


@pytest.mark.parametrize("name", ["prediction", "fingerprint", "kept fact", "labels exchanged"])
def test_caught_in_the_published_run_with_the_data_set(
    historical: Path, upstream_inputs: RunInputs, name: str
) -> None:
    """The same edits of the reference's folder; without the data set the file is named."""
    edit, key = CAUGHT_WITH_INPUTS[name]
    edit_rows(edit)(historical)
    assert (ROWS, None, None) in places(verify_run(historical))
    verification = verify_run(historical, inputs=upstream_inputs)
    assert key in {d.key for d in verification.discrepancies if d.file == ROWS}


def _texts(inputs: RunInputs) -> dict[str, str]:
    case = inputs.cases[0]
    content = next(fact["content"] for fact in case.facts if fact["id"].startswith("gold_"))
    said = content.split("USER: ")[1].split("\n")[0]
    words = said.split(" ")
    return {
        "a question": case.question,
        "a turn": said,
        "part of a turn": " ".join(words[1:6]),
        "joined by underscores": "_".join(words[:6]),
        "within other text": f"x-{'-'.join(words[:5])}-y",
        "a guard": inputs.protocol.synthetic.cases[0].support_fact,
    }


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("usage", "a question"),
        ("usage", "a turn"),
        ("usage", "part of a turn"),
        ("usage", "joined by underscores"),
        ("usage", "within other text"),
        ("usage", "a guard"),
        ("response_model", "a question"),
        ("response_model", "joined by underscores"),
        ("provider", "a turn"),
        ("provider", "within other text"),
        ("finish_reason", "a turn"),
        ("finish_reason", "joined by underscores"),
    ],
)
def test_smuggled_text(run: Path, inputs: RunInputs, place: str, kind: str) -> None:
    """Text of the data set is found in any string of an artifact, keys too."""
    text = _texts(inputs)[kind]
    if place == "provider":
        edit_document("qa_run.json", lambda d: d["provider"].update(endpoint=text))(run)
        expected: tuple[str, str | None, str] = ("qa_run.json", None, "provider.endpoint")
    elif place == "finish_reason":
        path = min((run / "responses").iterdir())
        edit_document(f"responses/{path.name}", lambda d: d.update(finish_reason=text))(run)
        expected = (f"responses/{path.name}", path.stem, "finish_reason")
    elif place == "usage":
        edit_rows(lambda r: r[0]["usage"].update({text: 1}))(run)
        row_id = json.loads((run / ROWS).read_bytes().splitlines()[0])["row_id"]
        expected = (ROWS, row_id, f"usage.{text}")
    else:
        edit_rows(lambda r: r[0].update(response_model=text))(run)
        row_id = json.loads((run / ROWS).read_bytes().splitlines()[0])["row_id"]
        expected = (ROWS, row_id, "response_model")
    renew_manifest(run)
    verification = verify_run(run, inputs=inputs)
    named = {
        (d.file, d.row, d.key)
        for d in verification.discrepancies
        if d.message == "holds text of the data set"
    }
    if place == "finish_reason" and " " in text:
        # A sentence is no name, so that the file is no answer at all.
        assert expected[0] in {d.file for d in verification.discrepancies}
    else:
        assert expected in named


def test_text_in_a_prediction_is_allowed(run: Path, inputs: RunInputs) -> None:
    """An answer is the one place where a data set's words may stand."""
    assert any(
        find_case.answer in json.loads(line)["prediction"]
        for find_case in inputs.cases[:1]
        for line in (run / ROWS).read_bytes().splitlines()
    )
    assert verify_run(run, inputs=inputs).passed


def test_stored_answers_are_compared(run: Path) -> None:
    """A stored answer that differs from its published row is named; so is one of no row."""
    path = min((run / "responses").iterdir())
    edit_document(f"responses/{path.name}", lambda d: d.update(prediction="other"))(run)
    shutil.copy(path, path.with_name("stranger.json"))
    found = places(verify_run(run))
    assert (f"responses/{path.name}", path.stem, "prediction") in found
    assert ("responses/stranger.json", None, None) in found


def test_truncated_counts(run: Path) -> None:
    """The counts of cut-off answers follow from the stored answers."""
    path = min((run / "responses").iterdir())
    edit_document(f"responses/{path.name}", lambda d: d.update(finish_reason="length"))(run)
    found = {d.key for d in verify_run(run).discrepancies if d.file == "qa.analysis.json"}
    assert "answers[overall/confidence].truncated" in found


@pytest.mark.parametrize(
    "name",
    ["qa_run.json", "qa.summary.json", "qa.stats.json", "qa.analysis.json", "MANIFEST.sha256"],
)
def test_missing_file(bare: Path, name: str) -> None:
    """A published file that is gone is named."""
    (bare / name).unlink()
    verification = verify_run(bare)
    assert name in {d.file for d in verification.discrepancies}


def test_no_run(tmp_path: Path) -> None:
    """A folder that holds no published run is an error."""
    with pytest.raises(RunError, match=r"qa\.rows\.jsonl: not there"):
        verify_run(tmp_path)


@pytest.mark.parametrize("name", ["qa_run.json", ROWS, SUMMARY, STATS, "qa.analysis.json"])
@pytest.mark.parametrize("data", [b"", b"\xff\n", b"[]\n", b"[" * 100_000 + b"\n", b"{}\n", b"1\n"])
def test_torn_files(bare: Path, inputs: RunInputs, name: str, data: bytes) -> None:
    """A file that is no artifact is named, whatever stands in it; nothing is raised."""
    (bare / name).write_bytes(data)
    renew_manifest(bare)
    verification = verify_run(bare, inputs=inputs if data == b"{}\n" else None)
    assert name in {d.file for d in verification.discrepancies}


def test_a_key_that_stands_twice(bare: Path) -> None:
    """Text before a repeated key, which readers of JSON pass over, shows in the bytes."""
    data = (bare / ROWS).read_bytes()
    (bare / ROWS).write_bytes(data.replace(b'{"attempts": 1', b'{"attempts": 9, "attempts": 1', 1))
    renew_manifest(bare)
    assert (ROWS, "line 1", None) in places(verify_run(bare))


def test_other_inputs(run: Path, inputs: RunInputs) -> None:
    """A run of another data set, config, model or case is named."""
    other = evolve(inputs, dataset=evolve(inputs.dataset, sha256="0" * 64))
    key = "artifacts.dataset_sha256"
    assert ("qa_run.json", None, key) in places(verify_run(run, inputs=other))
    protocol, name = inputs.protocol, cast("Any", "other")
    model = evolve(protocol.config, qa=evolve(protocol.config.qa, model=name))
    changed = evolve(protocol, config=model, hashes=evolve(protocol.hashes, config_sha256="0" * 64))
    found = places(verify_run(run, protocol=changed))
    assert {
        ("qa_run.json", None, "qa.model"),
        ("qa_run.json", None, "artifacts.config_sha256"),
    } <= found


def test_both_rows_of_a_case_removed(bare: Path, inputs: RunInputs) -> None:
    """A case that is left out altogether is named by the protocol's cases."""
    case_id = inputs.cases[0].case_id

    def drop(rows: Rows) -> None:
        rows[:] = [row for row in rows if row["case_id"] != case_id]

    edit_rows(drop)(bare)
    renew_manifest(bare)
    found = places(verify_run(bare, protocol=inputs.protocol))
    assert {(ROWS, f"{case_id}__confidence", None), (ROWS, f"{case_id}__hybrid-v1", None)} <= found


def test_another_selector(run: Path, inputs: RunInputs) -> None:
    """Verified with another selector that decides the same, the pass says which."""
    provenance = evolve(inputs.selector.provenance, sha256="0" * 64, name="mine")
    other = evolve(inputs, selector=evolve(inputs.selector, provenance=provenance))
    verification = verify_run(run, inputs=other)
    assert verification.passed
    assert "what the mine selector keeps" in verification.certifies[1]
    assert "selector" in {check.name for check in verification.checks if check.skipped}


@pytest.fixture
def with_policy_run(graded: Path, inputs: RunInputs, tmp_path: Path) -> Path:
    """A published run in a folder that held a policy run before."""
    folder = tmp_path / "both"
    made = run_policies(inputs.protocol, inputs.dataset, inputs.cases, inputs.selector)
    made.publish(folder)
    shutil.copytree(graded / "responses", folder / "responses")
    shutil.copy(graded / "qa_run.json", folder)
    grade_run(folder, inputs.protocol, inputs.dataset, inputs.cases, inputs.selector)
    shutil.rmtree(folder / "responses")
    return folder


def test_policy_run_passes(with_policy_run: Path, inputs: RunInputs) -> None:
    """The policy run beside a QA run is verified with it."""
    verification = verify_run(with_policy_run, inputs=inputs)
    assert verification.discrepancies == ()
    assert verification.unchecked_files == ()
    assert {"retention", "decisions"} <= {check.name for check in verification.checks}


def edit_decisions(change: Callable[[Rows], object]) -> Edit:
    """An edit of `policy.raw.jsonl`, written as artifacts are."""

    def edit(folder: Path) -> None:
        path = folder / "policy.raw.jsonl"
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        change(rows)
        path.write_bytes(jsonl_bytes(rows))

    return edit


@pytest.mark.parametrize(
    ("edit", "file", "key"),
    [
        (
            edit_document("summary.json", lambda d: d["groups"][0].update(support_all_retained=9)),
            "summary.json",
            "groups[longmemeval/access_help/confidence].support_all_retained",
        ),
        (edit_decisions(lambda r: r.pop()), "summary.json", None),
        (
            edit_decisions(lambda r: r[2]["kept_fact_ids"].reverse()),
            "policy.raw.jsonl",
            "kept_fact_ids",
        ),
        (edit_decisions(lambda r: r[0].update(note="x")), "policy.raw.jsonl", None),
        (
            edit_document("run.json", lambda d: d["artifacts"].update(config_sha256="0" * 64)),
            "run.json",
            "artifacts.config_sha256",
        ),
        (lambda folder: (folder / "run.json").unlink(), "run.json", None),
    ],
    ids=["count", "row removed", "kept facts", "extra key", "another config", "file removed"],
)
def test_policy_run_edits(with_policy_run: Path, edit: Edit, file: str, key: str | None) -> None:
    """Edits of the policy run are named without the data set."""
    edit(with_policy_run)
    found = [d for d in verify_run(with_policy_run).discrepancies if d.file == file]
    assert found
    assert key is None or key in {d.key for d in found}


def test_decisions_are_made_again(with_policy_run: Path, inputs: RunInputs) -> None:
    """A score that was edited is named by case, policy, capacity and key."""

    def edit(rows: Rows) -> None:
        rows[0]["scores"][rows[0]["kept_fact_ids"][0]]["value"] = 0.123

    edit_decisions(edit)(with_policy_run)
    case, fact = (
        inputs.cases[0],
        json.loads((with_policy_run / "policy.raw.jsonl").read_bytes().splitlines()[0])[
            "kept_fact_ids"
        ][0],
    )
    place = ("policy.raw.jsonl", f"{case.case_id} confidence at 5", f"scores.{fact}.value")
    assert place in places(verify_run(with_policy_run, inputs=inputs))


def test_a_removed_decision_is_named_alone(with_policy_run: Path, inputs: RunInputs) -> None:
    """One decision less is one row that is missing, not a difference in each that follows."""
    edit_decisions(lambda rows: rows.pop(0))(with_policy_run)
    found = verify_run(with_policy_run, inputs=inputs).discrepancies
    missing = [
        d for d in found if d.file == "policy.raw.jsonl" and d.message == "the row is missing"
    ]
    assert [f"{inputs.cases[0].case_id} confidence at 5"] == [d.row for d in missing]
    assert {"policy.raw.jsonl", "summary.json"} == {d.file for d in found}
    assert len(found) < 12


def test_moved_and_repeated_decisions(with_policy_run: Path, inputs: RunInputs) -> None:
    """Decisions in another order, or one of them twice, do not pass."""
    for change, message in (
        (lambda rows: rows.reverse(), "the rows are in another order"),
        (lambda rows: rows.append(rows[0]), "a row stands more than once"),
    ):
        edit_decisions(change)(with_policy_run)
        found = verify_run(with_policy_run, inputs=inputs).discrepancies
        assert message in {d.message for d in found}


def test_files_beside_the_run(bare: Path) -> None:
    """Files that no check looks at are listed."""
    (bare / "notes.txt").write_text("", encoding="ascii")
    assert verify_run(bare).unchecked_files == ("notes.txt",)
