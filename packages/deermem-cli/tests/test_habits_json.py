"""`--json`: every command prints one document, as the schema of its name says."""

from __future__ import annotations

import copy
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from deermem_cli.main import main
from deermem_cli.parser import build_parser, command_parsers
from deermem_data import load_schema, specs_folder

Print = Callable[..., tuple[int, Any]]

MINI = ("--protocol", "mini-v1", "--selector", "reference")
READER = ("--provider", "lexical-reader-v1")
REPLAY = ("--provider", "replay", "--replay")
WEIGHS_OTHERWISE = """
from deermem_select.reference import select_facts_for_capacity as choose
def select(facts, **rest):
    return choose(facts, **rest | {"confidence_weight": 0.1, "access_weight": 0.65})
"""

# For each command: what is typed and the exit status, every form of its document among them.
CALLS: dict[str, list[tuple[tuple[str, ...], int]]] = {
    "demo": [((), 0)],
    "validate-contracts": [(MINI, 0), (("--selector", "reference"), 0)],
    "validate": [(MINI, 0)],
    "run-policy": [((*MINI, "--output-dir", "policy"), 0)],
    "run-qa": [
        ((*MINI, *READER, "--output-dir", "qa"), 0),
        ((*MINI, *REPLAY, "demo-run/qa.rows.jsonl", "--output-dir", "replayed"), 0),
        # Another selector keeps other facts, so that the published answers fit no request.
        (
            (*MINI[:3], "other:select", *REPLAY, "demo-run/qa.rows.jsonl", "--output-dir", "other"),
            1,
        ),
    ],
    "grade-qa": [((*MINI, "--output-dir", "answered"), 0)],
    "verify": [(("demo-run",), 0), (("demo-run", *MINI), 0), (("changed",), 1)],
    "report": [
        (("demo-run",), 0),
        (("demo-run", "--output", "-"), 0),
        (("demo-run", "--format", "markdown"), 0),
        (("demo-run", "--format", "markdown", "--output", "report.md"), 0),
    ],
    "compare": [(("demo-run", "demo-run"), 0), (("demo-run", "demo-run", "--output", "c.html"), 0)],
    "grade": [
        (("25", "25 minutes"), 0),
        (("a", "b"), 1),
        (("2 or 3", "ranging from 1 to 5", "--explain"), 0),
        (("a", "b", "--explain"), 1),
        (("--input", "pairs.jsonl", "--output", "graded.jsonl"), 0),
        (("--input", "bad.jsonl", "--output", "graded.jsonl"), 1),
    ],
    "selector": [
        (("show", *MINI), 0),
        (("show", *MINI[:3], "other:select"), 0),
        (("check", *MINI, "--pools", "20"), 0),
        (("check", *MINI[:3], "other:select", "--pools", "20"), 1),
    ],
    "protocols": [((), 0)],
    "completion": [(("bash",), 0), (("zsh",), 0), (("fish",), 0)],
}


def schema_name(command: str) -> str:
    """The schema of what a command prints; a comparison's has a name of its own."""
    return "compare" if command == "compare" else f"json.{command}"


@pytest.fixture(scope="module")
def registry() -> Registry[Any]:
    """All schemas by their ids: they refer to each other."""
    folder: Path = specs_folder() / "schemas"
    documents = [json.loads(path.read_bytes()) for path in sorted(folder.iterdir())]
    return Registry().with_resources(
        (document["$id"], Resource.from_contents(document)) for document in documents
    )


@pytest.fixture
def check(registry: Registry[Any]) -> Callable[[str, Any], None]:
    """Check what a command printed against its schema."""

    def validate(command: str, document: Any) -> None:
        schema = load_schema(schema_name(command))
        Draft202012Validator(schema, registry=registry).validate(document)

    return validate


@pytest.fixture
def folder(tmp_path: Path, made_runs: Callable[[Path], None]) -> Path:
    """A folder with what the commands read: runs, one of them changed, pairs, a selector."""
    made_runs(tmp_path)
    shutil.copytree(tmp_path / "demo-run", tmp_path / "changed")
    summary = tmp_path / "changed" / "summary.json"
    summary.write_text(summary.read_text("utf-8").replace("0.3", "0.4"), encoding="utf-8")
    (tmp_path / "other.py").write_text(WEIGHS_OTHERWISE, encoding="utf-8")
    pair = json.dumps({"prediction": "25", "reference": "25 minutes"})
    (tmp_path / "pairs.jsonl").write_text(f"{pair}\n{pair}\n", encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text(f"{pair}\n{{}}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def print_json(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Print]:
    """Run a command with `--json` in a folder of its own; returns its status and its document."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    for name in ("LONGMEMEVAL_ORACLE_PATH", "DEERMEM_DEERFLOW_PATH", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    # Not even where colour is asked for does it get into a document.
    monkeypatch.setenv("FORCE_COLOR", "1")

    def call(*arguments: str) -> tuple[int, Any]:
        status = main([*arguments, "--json"])
        out = capfd.readouterr().out
        assert out.endswith("}\n")
        return status, json.loads(out)

    yield call
    sys.modules.pop("other", None)


def commands() -> list[str]:
    """Every command of the parser."""
    return list(command_parsers(build_parser()))


def test_every_command_is_called() -> None:
    """A new command needs a line here, and with it a schema."""
    assert commands() == list(CALLS)


@pytest.mark.parametrize("command", commands())
def test_there_is_a_schema(command: str) -> None:
    """Each command's document has a sound schema that says whose it is."""
    schema = load_schema(schema_name(command))
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:deermem:schema:{schema_name(command)}"
    assert f"deermem {command} --json" in schema["title"]


def test_no_schema_without_a_command() -> None:
    """A schema of what no command prints is no longer true."""
    found = {path.name.split(".")[1] for path in (specs_folder() / "schemas").glob("json.*")}
    assert {*commands()} - {"compare"} == found


@pytest.mark.parametrize(
    ("command", "arguments", "status"),
    [(command, *called) for command in CALLS for called in CALLS[command]],
)
def test_document(
    print_json: Print,
    check: Callable[[str, Any], None],
    command: str,
    arguments: tuple[str, ...],
    status: int,
) -> None:
    """What is printed is one document that fits the schema, whatever the outcome."""
    found, document = print_json(command, *arguments)
    assert status == found
    check(command, document)


@pytest.mark.parametrize("command", commands())
def test_schema_is_strict(print_json: Print, registry: Registry[Any], command: str) -> None:
    """A key too many or one too few at the top is a fault."""
    arguments, status = CALLS[command][0]
    found, document = print_json(command, *arguments)
    assert status == found
    validator = Draft202012Validator(load_schema(schema_name(command)), registry=registry)
    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "surplus": 1})
    for key in document:
        fewer = copy.deepcopy(document)
        del fewer[key]
        assert not validator.is_valid(fewer), key
