"""The commands of the QA run, typed as a user types them, against a real server on loopback."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deermem_cli.main import main
from deermem_cli.progress import Progress
from deermem_cli.terminal import Terminal
from deermem_data import specs_folder
from deermem_qa import run_lock
from deermem_qa.lexical_reader import LexicalReader

Call = Callable[..., tuple[int, str, str]]

MINI = ("--protocol", "mini-v1", "--selector", "reference")
READER = ("--provider", "lexical-reader-v1")
KEY_NAME, URL_NAME = "DEERMEM_EVAL_ANSWER_API_KEY", "DEERMEM_EVAL_ANSWER_BASE_URL"
KEY, USER = "canary-key-60c1f3d8ab52", "canary-user-51e0"
GOES_ON = "the same command goes on from here"
SERVER = Path(__file__).parents[2] / "deermem-qa" / "tests" / "fault_server.py"
PUBLISHED = {
    "MANIFEST.sha256",
    "qa.analysis.json",
    "qa.rows.jsonl",
    "qa.stats.json",
    "qa.summary.json",
}
# What a run records of itself, times among them.
RECORDS = {"qa_run.json", "run.json", "MANIFEST.sha256"}


@pytest.fixture(scope="module")
def faults() -> Any:
    """The module `fault_server` of the package that calls the servers."""
    spec = importlib.util.spec_from_file_location("qa_command_faults", SERVER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def serve(faults: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Start a server and name it, with a key and user info, in the environment."""
    with contextlib.ExitStack() as stack:

        def start(*script: Any, **more: Any) -> Any:
            server = stack.enter_context(faults.FaultServer(script, **more))
            monkeypatch.setenv(KEY_NAME, KEY)
            monkeypatch.setenv(URL_NAME, server.base_url.replace("://", f"://{USER}:{USER}@"))
            return server

        yield start


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """A protocol like `mini-v1`: one attempt, many calls at once, few resamples."""
    folder = tmp_path_factory.mktemp("hasty") / "protocol"
    mini = specs_folder() / "protocols" / "mini-v1"
    shutil.copytree(mini, folder)
    config = folder / "configs" / "mini-v1.yaml"
    text = config.read_text("utf-8")
    for key, value in {
        "max_attempts": 1,
        "timeout_seconds": 20,
        "workers": 15,
        "bootstrap_iterations": 50,
    }.items():
        text = re.sub(rf"{key}: \d+", f"{key}: {value}", text)
    config.write_text(text, encoding="utf-8")
    dataset = mini / "data" / "deermem_mini.json"
    return ("--protocol", str(folder), "--dataset", str(dataset), "--selector", "reference")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the demo and one of another model, graded; made once and not changed."""
    folder = tmp_path_factory.mktemp("made")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for name in ("one", "two"):
            assert main(["demo", "--output-dir", str(folder / name)]) == 0
        other = str(folder / "other")
        assert (
            main(["run-qa", *MINI, *READER, "--model", "other-model", "--output-dir", other]) == 0
        )
        assert main(["grade-qa", *MINI, "--output-dir", other]) == 0
    return folder


@pytest.fixture
def demo(made: Path, tmp_path: Path) -> Path:
    """A copy of a published run, to be changed."""
    return Path(shutil.copytree(made / "one", tmp_path / "demo"))


def stored(folder: Path) -> int:
    return len(list((folder / "responses").glob("*.json")))


def fingerprints(folder: Path) -> set[str]:
    lines = (folder / "qa.rows.jsonl").read_text("utf-8").splitlines()
    return {json.loads(line)["request_fingerprint"] for line in lines}


def edit_identity(folder: Path, before: str, after: str) -> None:
    path = folder / "qa_run.json"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "400": (lambda f: f.status(400), "stopped"),
    "401": (lambda f: f.status(401), "stopped"),
    "429 for an hour": (lambda f: f.status(429, Retry_After="3600"), "stopped"),
    "302": (lambda f: f.echo_under(302), "stopped"),
    "key sent back": (lambda f: f.echo, "stopped"),
    "429 soon": (lambda f: f.status(429, Retry_After="nan"), "failed"),
    "500 that quotes": (lambda f: f.echo_under(500), "failed"),
    "reset": (lambda f: f.reset_before_headers, "failed"),
    "cut off": (lambda f: f.truncated, "failed"),
    "deep": (lambda f: f.body(b"[" * 100_000), "failed"),
    "empty": (lambda f: f.answer(" "), "failed"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(
    call: Call,
    serve: Callable[..., Any],
    faults: Any,
    hasty: tuple[str, ...],
    tmp_path: Path,
    name: str,
) -> None:
    """Each fault ends in status 1 and its reason, without a traceback, a key or user info."""
    fault, outcome = FAULTS[name]
    server = serve(fault(faults))
    status, out, err = call("run-qa", *hasty, "--output-dir", "run", "-v")
    assert 1 == status
    assert outcome in {line.split()[0] for line in out.splitlines()}
    assert GOES_ON in out
    assert "Traceback" not in err
    assert 0 == stored(tmp_path / "run")
    # A stop costs no more calls than were under way; else each task is asked for once.
    assert (server.count <= 15) if outcome == "stopped" else (server.count == 90)
    said = [out, err, *(path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file())]
    assert [] == [text for text in said if "canary" in text or "server's own" in text]


def test_answers_survive_a_stop(call: Call, serve: Callable[..., Any], faults: Any) -> None:
    """What was answered before the provider stops the run is kept; the next run asks the rest."""
    first = serve(*[faults.answer("kept")] * 7, faults.status(401))
    status, out, _ = call("run-qa", *MINI, "--output-dir", "run", "--json")
    document = json.loads(out)
    assert (1, False, "provider") == (status, document["complete"], document["stopped"]["kind"])
    assert 7 == document["answered"] == stored(Path("run"))
    assert 90 == document["answered"] + document["remaining"]
    port = first.port
    first.script = [faults.answer("later")]
    status, out, _ = call("run-qa", *MINI, "--output-dir", "run", "--json")
    document = json.loads(out)
    assert first.port == port
    assert (0, True, 7, 83) == (
        status,
        document["complete"],
        document["reused"],
        document["answered"],
    )
    status, out, _ = call("run-qa", *MINI, "--output-dir", "run")
    assert (0, ["answers", "90", "reused,"]) == (status, out.split()[:3])
    assert GOES_ON not in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(
    call: Call, serve: Callable[..., Any], faults: Any, number: signal.Signals
) -> None:
    """A signal in the middle: status 130, every answer kept, and none asked for twice."""

    def interrupt(received: Any) -> None:
        if received.number == 20:
            os.kill(os.getpid(), number)

    server = serve(faults.answer(), on_request=interrupt)
    status, out, _ = call("run-qa", *MINI, "--output-dir", "run")
    assert 130 == status
    assert "asked to stop" in out
    assert GOES_ON in out
    assert 20 <= server.count == stored(Path("run")) < 90
    assert 0 == call("run-qa", *MINI, "--output-dir", "run")[0]
    assert (90, 90) == (server.count, stored(Path("run")))


def test_waiting_is_said(call: Call, serve: Callable[..., Any], faults: Any) -> None:
    """Whoever presses Ctrl-C is told what the run still waits for."""
    held = faults.threading.Event()

    def hold(conversation: Any, received: Any) -> bool:
        os.kill(os.getpid(), signal.SIGINT) if received.number == 1 else None
        held.wait(1)
        return bool(faults.answer()(conversation, received))

    serve(hold)
    status, _, err = call("run-qa", *MINI, "--output-dir", "run")
    assert 130 == status
    assert 1 == err.count("stopping: waiting for the answers under way")


def test_answers_that_cannot_be_stored(
    call: Call, serve: Callable[..., Any], faults: Any, tmp_path: Path
) -> None:
    """When the disk refuses, the run stops with 2 and names the file; stored answers stay."""

    def refuse(received: Any) -> None:
        if received.number == 10:
            (tmp_path / "run/responses").rename(tmp_path / "moved")
            (tmp_path / "run/responses").touch()

    serve(faults.answer(), on_request=refuse)
    status, out, err = call("run-qa", *MINI, "--output-dir", "run")
    assert 2 == status
    assert re.search(r"stopped +run/responses/\S+\.json: cannot be written: Not a directory", out)
    assert "Traceback" not in err
    assert 0 < len(list((tmp_path / "moved").glob("*.json"))) < 10


@pytest.mark.parametrize("command", ["run-qa", "grade-qa"])
def test_held_folder(call: Call, demo: Path, command: str) -> None:
    """While another process holds the folder a command exits with 3 and changes nothing."""
    before = {path: path.read_bytes() for path in demo.rglob("*") if path.is_file()}
    options = READER if command == "run-qa" else ()
    with run_lock(demo):
        status, out, err = call(command, *MINI, *options, "--output-dir", str(demo))
    assert (3, "") == (status, out)
    assert "another run holds it" in err
    assert before == {path: path.read_bytes() for path in demo.rglob("*") if path.is_file()}


@pytest.mark.parametrize("given", [(), (KEY_NAME,), (URL_NAME,)])
def test_missing_variables(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: tuple[str, ...]
) -> None:
    """Without key or endpoint nothing is begun; what is missing is named, and no value shown."""
    for name in (KEY_NAME, URL_NAME):
        monkeypatch.setenv(name, KEY if name in given else "")
    status, out, err = call("run-qa", *MINI, "--output-dir", "run")
    assert (2, "") == (status, out)
    missing = [name for name in (KEY_NAME, URL_NAME) if name not in given]
    assert f"environment: {' and '.join(missing)} not set" in err.replace("\n", " ")
    assert KEY not in err
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--provider", "replay"), "--provider replay needs --replay ROWS.jsonl"),
        ((*READER, "--replay", "rows.jsonl"), "--replay goes with --provider replay"),
        (("--provider", "replay", "--replay", "rows.jsonl"), "rows.jsonl: cannot be read"),
        ((*READER, "--model", " "), "--model: expected a name, found blanks"),
        ((*READER, "--model", "a\udcff"), "--model: expected a name, found bytes"),
    ],
)
def test_wrong_options(call: Call, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    """Options that do not fit together are refused before anything is written."""
    status, out, err = call("run-qa", *MINI, *options, "--output-dir", "run")
    assert (2, "") == (status, out)
    assert message in err
    assert [] == list(tmp_path.iterdir())


def test_another_model(call: Call, made: Path, demo: Path) -> None:
    """`--model` makes other requests; the run says which, and verify follows it."""
    assert set() == fingerprints(made / "one") & fingerprints(made / "other")
    assert "other-model" == json.loads((made / "other/qa_run.json").read_bytes())["qa"]["model"]
    status, out, _ = call("verify", str(made / "other"))
    assert 0 == status
    assert "fingerprints: 90 requests, made again" in out
    options = (*MINI, *READER, "--model", "other-model", "--output-dir", str(demo))
    status, _, err = call("run-qa", *options)
    assert 2 == status
    assert 'another model (qa.model: was "deepseek-v4-flash", is "other-model")' in err


def test_grading_names_each_missing_row(call: Call, demo: Path) -> None:
    """An incomplete run is not graded; every row that it lacks is named."""
    for name in PUBLISHED:
        (demo / name).unlink()
    first, last = sorted((demo / "responses").iterdir())[:: stored(demo) - 1]
    first.unlink()
    last.write_bytes(b"{")
    status, out, err = call("grade-qa", *MINI, "--output-dir", str(demo))
    assert (2, "") == (status, out)
    assert f"{first.name}: is not there" in err
    assert f"{last.name}: not JSON" in err
    assert set() == PUBLISHED & {path.name for path in demo.iterdir()}


def test_grading_prints_documents(call: Call, demo: Path) -> None:
    """`--json` prints what is written; a second grading is refused."""
    analysis = json.loads((demo / "qa.analysis.json").read_bytes())
    for name in PUBLISHED:
        (demo / name).unlink()
    status, out, _ = call("grade-qa", *MINI, "--output-dir", str(demo), "--json")
    assert 0 == status
    assert analysis == json.loads(out)["documents"]["qa.analysis.json"]
    assert 2 == call("grade-qa", *MINI, "--output-dir", str(demo))[0]


def test_published_run_asks_nothing_more(call: Call, demo: Path) -> None:
    """An answer that was lost after publication is not asked for again, nor promised."""
    next((demo / "responses").iterdir()).unlink()
    status, out, _ = call("run-qa", *MINI, *READER, "--output-dir", str(demo))
    assert 1 == status
    assert "qa.rows.jsonl is published" in out
    assert GOES_ON not in out


def test_boastful_usage(
    call: Call, serve: Callable[..., Any], faults: Any, hasty: tuple[str, ...]
) -> None:
    """The largest count a provider may state, from every answer: the sums still verify."""
    usage = {"total_tokens": 2**53 - 1, "nested": {"tokens": 1}, "huge": 10**400}
    serve(faults.answer("x", usage=usage))
    assert 0 == call("run-qa", *hasty, "--output-dir", "run")[0]
    assert 0 == call("grade-qa", *hasty, "--output-dir", "run")[0]
    status, out, _ = call("verify", "run", *hasty)
    assert 0 == status, out
    summed = json.loads(Path("run/qa.analysis.json").read_bytes())["answers"][-1]["usage"]
    assert {"total_tokens": 45 * (2**53 - 1), "nested.tokens": 45} == summed


def test_verify_with_and_without_data(call: Call, demo: Path) -> None:
    """Both circles pass; the words say what each shows, and what none can."""
    dataset = specs_folder() / "protocols/mini-v1/data/deermem_mini.json"
    for options in ((), ("--dataset", str(dataset))):
        status, out, _ = call("verify", str(demo), *options)
        assert 0 == status
        assert "grades: 90 answers, graded again" in out
        assert "that the provider the run names really gave these answers" in out
    # Where the protocol is none of ours there is no data set to look for.
    edit_identity(demo, '"deermem-mini-v1"', '"somebody-elses"')
    status, out, _ = call("verify", str(demo))
    assert 1 == status
    assert "left out  protocol: none was given" in out
    assert 2 == call("verify", str(demo), "--dataset", str(dataset))[0]


def test_verify_says_what_is_wrong_with_the_identity(call: Call, demo: Path) -> None:
    """An edited identity is a discrepancy, also where a data set is named."""
    edit_identity(demo, '"created_at"', '"note": 1,\n  "created_at"')
    dataset = specs_folder() / "protocols/mini-v1/data/deermem_mini.json"
    status, out, _ = call("verify", str(demo), "--dataset", str(dataset), "--json")
    document = json.loads(out)
    assert (1, False) == (status, document["passed"])
    assert "'note'" in {entry["key"] for entry in document["discrepancies"]}


@pytest.mark.parametrize("stated", ["loaded_by_a_run:select", "nothing"])
def test_verify_loads_no_code_a_run_names(
    call: Call, demo: Path, tmp_path: Path, stated: str
) -> None:
    """A folder from somebody else does not choose what is imported here; its reader does."""
    (tmp_path / "loaded_by_a_run.py").write_text(
        "import pathlib\npathlib.Path('loaded').touch()\n"
        "from deermem_select.reference import select_facts_for_capacity as select\n",
        encoding="utf-8",
    )
    edit_identity(demo, '"name": "reference"', f'"name": "{stated}"')
    status, out, err = call("verify", str(demo))
    assert 1 == status
    assert "fingerprints: 90" not in out
    assert f"the selector {stated}; name it with --selector" in err.replace("\n", " ")
    dataset = specs_folder() / "protocols/mini-v1/data/deermem_mini.json"
    assert 2 == call("verify", str(demo), "--dataset", str(dataset))[0]
    assert not (tmp_path / "loaded").exists()


def test_verify_without_the_production_selector(call: Call, demo: Path) -> None:
    """Where the run's own selector is not installed the reference decides, and that is said."""
    edit_identity(demo, '"name": "reference"', '"name": "production"')
    edit_identity(demo, '"known": false', '"known": true')
    hashes = json.loads((demo / "qa_run.json").read_bytes())["selector"]
    edit_identity(demo, hashes["sha256"], "0" * 64)
    status, out, _ = call("verify", str(demo))
    assert 1 == status  # the manifest knows the bytes before the edits
    assert "decided again by reference" in out
    assert "left out  selector: the run was made with production" in out


def test_verify_the_historical_run(call: Call, upstream_path: Path) -> None:
    """The published folder passes, by itself and with its protocol."""
    folder = upstream_path / "results" / "pr4789-reproduction-v1"
    for options in ((), ("--protocol", str(upstream_path))):
        status, out, _ = call("verify", str(folder), *options)
        assert 0 == status
        assert "rows: 90 rows, 45 cases; 0 discrepancies" in out
        assert "hashes of the published run" in out


def test_demo_is_the_whole_chain(made: Path) -> None:
    """Both runs of the demo hold everything, and differ in their records alone."""
    one, two = (made / name for name in ("one", "two"))
    names = {path.name for path in one.iterdir()}
    policy_run = {"run.json", "policy.raw.jsonl", "summary.json"}
    assert PUBLISHED | policy_run | {"qa_run.json", "responses"} == names
    assert (90, 90) == (stored(one), stored(two))
    for name in names - RECORDS - {"responses"}:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_demo_interrupted(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted demo exits with 130 and does not promise to go on: it begins anew."""
    answer = LexicalReader.answer

    def interrupt(self: LexicalReader, task: Any) -> Any:
        # Once: a second signal would end this process, and the tests with it.
        if task.row_id == "correction_shellfish__confidence":
            os.kill(os.getpid(), signal.SIGTERM)
        return answer(self, task)

    monkeypatch.setattr(LexicalReader, "answer", interrupt)
    status, out, err = call("demo", "--output-dir", "kept")
    assert (130, "") == (status, out)
    assert "asked to stop" in err
    assert GOES_ON not in err


def test_one_policy(call: Call, hasty: tuple[str, ...], tmp_path: Path) -> None:
    """With one policy there is no comparison; its accuracy is printed and the run verifies."""
    folder = Path(shutil.copytree(hasty[1], tmp_path / "protocol"))
    config = folder / "configs" / "mini-v1.yaml"
    text = re.sub(r"  hybrid_v1:\n(    .*\n)+", "", config.read_text("utf-8"))
    config.write_text(text, encoding="utf-8")
    options = ("--protocol", str(folder), *hasty[2:])
    assert 0 == call("run-qa", *options, *READER, "--output-dir", "run")[0]
    status, out, _ = call("grade-qa", *options, "--output-dir", "run")
    assert 0 == status
    assert out.startswith("Accuracy of the answers\n")
    assert "confidence" in out
    assert not Path("run/qa.stats.json").exists()
    assert 0 == call("verify", "run", *options)[0]


def test_progress_elsewhere_than_on_a_terminal() -> None:
    """Every few seconds a line with rate and time left; stored answers are no fast ones."""
    stderr = io.StringIO()
    terminal = Terminal(stdout=io.StringIO(), stderr=stderr)
    now = [0.0]
    with Progress(terminal, "answers", 90, now=lambda: now[0]) as progress:
        progress.skip(30)
        assert "answers: 30 of 90" == progress.line()
        for _ in range(10):
            now[0] += 2.0
            progress.advance()
    # One answer in two seconds; a line at 6, 12 and 18 s.
    assert [
        "answers: 33 of 90, 0.5/s, 114 s left",
        "answers: 36 of 90, 0.5/s, 108 s left",
        "answers: 39 of 90, 0.5/s, 102 s left",
    ] == stderr.getvalue().splitlines()
