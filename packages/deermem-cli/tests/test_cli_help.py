"""Help, version and usage errors: what a newcomer meets first."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import deermem_cli
from deermem_cli.parser import build_parser, command_parsers

Run = Callable[..., subprocess.CompletedProcess[str]]
Call = Callable[..., tuple[int, str, str]]


def test_bare_command_is_a_first_screen(run: Run) -> None:
    """`deermem` alone says what it answers, three things to type, where help is; no error."""
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 24 - 1  # a small terminal shows all of it, and its prompt
    assert "a capacity policy decides which" in " ".join(done.stdout.split())
    begin, more = lines.index("To begin:"), lines.index("To read on:")
    typed = [re.split(" {2,}", line.strip())[0] for line in lines[begin + 1 : more - 1]]
    expected = ["deermem demo", "deermem demo --output-dir demo-run", "deermem report demo-run"]
    assert expected == typed
    assert "  deermem --help " in done.stdout
    assert "  man deermem " in done.stdout


def test_help_lists_commands(call: Call) -> None:
    """`--help` lists every command."""
    status, out, _ = call("--help")
    assert status == 0
    assert out.startswith("usage: deermem COMMAND [options]\n")
    assert all_commands() == re.findall(r"^    ([a-z-]+)", out, re.MULTILINE)


def test_help_states_exit_statuses_and_environment(call: Call) -> None:
    """The help page names every exit status and both variables."""
    status, out, _ = call("--help")
    assert status == 0
    for stated in ("  0  ", "  1  ", "  2  ", "  3  ", "  130  "):
        assert stated in out
    assert "LONGMEMEVAL_ORACLE_PATH" in out
    assert "DEERMEM_DEERFLOW_PATH" in out


def all_commands() -> list[str]:
    """Every command the parser knows."""
    return list(command_parsers(build_parser()))


@pytest.mark.parametrize("command", all_commands())
def test_help_of_each_command_has_an_example(call: Call, command: str) -> None:
    """Each command's help shows a line to type that begins with its own name."""
    status, out, err = call(command, "--help")
    assert (status, err) == (0, "")
    assert re.search(rf"\nexamples?:\n  deermem {command}\b", out)


def test_version(call: Call) -> None:
    """`--version` prints one line on stdout."""
    assert (0, f"deermem {deermem_cli.__version__}\n", "") == call("--version")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run-polcy"], "did you mean 'run-policy'?"),
        (["run-p"], "did you mean 'run-policy'?"),
        (["validate-"], "did you mean 'validate-contracts'?"),
        (["validat"], "did you mean 'validate'?"),
        (["--json", "demo"], "'--json' goes after the command: deermem COMMAND --json"),
        (["--dataset=x", "validate"], "'--dataset=x' goes after the command"),
        (["--versoin"], "did you mean '--version'?"),
        (["run-qa", "--provider", "repaly"], "did you mean 'replay'?"),
        (["completion", "bahs"], "did you mean 'bash'?"),
        (["selector", "chek"], "did you mean 'check'?"),
        (["demo", "--ouput-dir", "x"], "did you mean '--output-dir'?"),
        (["validate", "--deerflo=x"], "did you mean '--deerflow'?"),
        (["validate", "--protocol", "mini-v2"], "did you mean 'mini-v1'?"),
        (["frobnicate"], "is not one of demo, "),
        (["demo", "extra"], "unknown argument 'extra'"),
        (["run-policy"], "required: --output-dir"),
        (["run-policy", "--output-dir", ""], "--output-dir: expected a name, found nothing"),
        (["selector", "check", "--pools", "0"], "expected a whole number of 1 or more, found '0'"),
        (["selector", "check", "--pools", "many"], "1 or more, found 'many'"),
        (["selector", "check", "--seed", "1.5"], "argument --seed: invalid int value: '1.5'"),
        (["demo", "--out", "x"], "unknown argument '--out'"),
    ],
)
def test_usage_errors(call: Call, arguments: list[str], expected: str) -> None:
    """A usage error is one line that helps, on stderr; no abbreviation is guessed."""
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    lines = [line for line in err.splitlines() if not line.startswith("try: deermem")]
    assert len(lines) == 1
    assert lines[0].startswith("deermem: error: ")
    assert expected in lines[0]


def test_contracts_import_a_cheap_grader(environment: dict[str, str]) -> None:
    """Checking the grader's version imports the grader without its statistics."""
    arguments = ("validate-contracts", "--protocol", "mini-v1", "--selector", "reference")
    status, modules = modules_of(environment, *arguments)
    assert status == 0
    assert "deermem_grade" in modules
    assert modules & {"numpy", "scipy", "httpx", "hypothesis", "rich", "tenacity"} == set()


MODULES = """
import json, sys
from deermem_cli.main import main
status = main(sys.argv[1:])
json.dump([status, sorted({name.partition(".")[0] for name in sys.modules})], sys.stderr)
"""


def modules_of(environment: dict[str, str], *arguments: str) -> tuple[int, set[str]]:
    """The status of a command, and the top-level modules its process imported."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    status, names = json.loads(done.stderr.splitlines()[-1])
    return status, set(names)


@pytest.mark.parametrize("arguments", [["--help"], ["run-policy", "--help"], ["--version"], []])
def test_help_imports_nothing_heavy(environment: dict[str, str], arguments: list[str]) -> None:
    """Help needs the standard library alone, so that it is there at once."""
    status, modules = modules_of(environment, *arguments)
    assert status == 0
    heavy = {"numpy", "scipy", "httpx", "rich", "attr", "attrs", "cattrs", "yaml"}
    assert set() == modules & heavy
    own = {name for name in modules if name.startswith("deermem_")}
    assert {"deermem_cli"} == own


def test_offline_run_imports_no_model_and_no_arrays(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The retention run needs neither numpy nor httpx, nor rich where nobody looks."""
    arguments = ("run-policy", "--protocol", "mini-v1", "--selector", "reference")
    status, modules = modules_of(environment, *arguments, "--output-dir", str(tmp_path / "run"))
    assert status == 0
    assert set() == modules & {"numpy", "scipy", "httpx", "rich", "tenacity"}
