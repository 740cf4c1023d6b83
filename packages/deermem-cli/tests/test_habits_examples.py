"""The examples of the help: typed one after the other, they work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from deermem_cli.manual import FIRST_STEPS
from deermem_cli.parser import build_parser, command_parsers

# What only its owner has.
NOT_HERE = ("~/deer-flow", "longmemeval_oracle.json", "my_policy:")


def test_examples_run_as_written(environment: dict[str, str], tmp_path: Path) -> None:
    """Every example that needs nothing but deermem ends with 0, in the order of the manual.

    Each command has one of these.
    """
    script = ["set -eu", f'deermem() {{ {sys.executable} -m deermem_cli "$@"; }}']
    for name, parser in command_parsers(build_parser()).items():
        lines = [line for line in parser.examples if not any(part in line for part in NOT_HERE)]
        assert lines, name
        script += [f"echo typed: {name} >&2", *lines]
    pair = json.dumps({"prediction": "25 minutes", "reference": "25"})
    (tmp_path / "answers.jsonl").write_text(f"{pair}\n", encoding="utf-8")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    made = {"demo-run", "runs", "comparison.html", "report.md", "graded.jsonl", "_deermem"}
    assert made | {"answers.jsonl"} == {path.name for path in tmp_path.iterdir()}


def test_examples_are_commands() -> None:
    """Also those that need what is not here are understood: commands, options, values."""
    parser = build_parser()
    for name, command in command_parsers(parser).items():
        for line in command.examples:
            words = line.partition(" > ")[0].replace("'", "").split()
            if "'" not in line:
                assert name == parser.parse_args(words[1:]).command


def test_first_steps_are_examples() -> None:
    """What the first screen says to type is what the help of these commands shows."""
    shown = {line for one in command_parsers(build_parser()).values() for line in one.examples}
    assert {line for line, _ in FIRST_STEPS} <= shown
