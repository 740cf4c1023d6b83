"""Completion as it is used: real shells, on a terminal, with the Tab key."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deermem_cli.commands.completion import completion_script
from deermem_cli.parser import build_parser, command_parsers

Call = Callable[..., tuple[int, str, str]]
Complete = Callable[[str, str], str]

SHELLS = ("bash", "zsh", "fish")
PROMPT = "type-here:"
# What the help says to put into the file that each shell reads when it begins.
BEGIN = {
    "bash": (".bashrc", 'eval "$(deermem completion bash)"\nPS1="{prompt}"\n'),
    "zsh": (
        ".zshrc",
        'autoload -Uz compinit\ncompinit -u\neval "$(deermem completion zsh)"\nPS1="{prompt}"\n',
    ),
    "fish": (
        ".config/fish/config.fish",
        "deermem completion fish | source\nfunction fish_prompt\n  echo -n {prompt}\nend\n",
    ),
}
BACK, END = "\x01", "\x05"  # Ctrl-A and Ctrl-E, to either end of the line
SECONDS = 60.0
# A shell wants to be the one that its terminal belongs to.
OWN_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def complete(tmp_path: Path, environment: dict[str, str]) -> Complete:
    """Type words after `deermem`, press Tab in a shell, and return what the line became."""

    def press_tab(shell: str, typed: str) -> str:
        program = shutil.which(shell)
        if program is None:
            pytest.skip(f"needs {shell} (apt: {shell})")
        programs = tmp_path / "programs"
        programs.mkdir()
        deermem = programs / "deermem"
        deermem.write_text(f'#!/bin/sh\nexec {sys.executable} -m deermem_cli "$@"\n', "utf-8")
        deermem.chmod(0o755)
        name, text = BEGIN[shell]
        begin = tmp_path / name
        begin.parent.mkdir(parents=True, exist_ok=True)
        begin.write_text(text.format(prompt=PROMPT), encoding="utf-8")
        # Without this folder fish begins, in the background, to read every manual page there is.
        (tmp_path / ".local/share/fish/generated_completions").mkdir(parents=True)
        variables = environment | {
            "HOME": str(tmp_path),
            "PATH": f"{programs}:{environment['PATH']}",
            "TERM": "xterm",
        }
        (tmp_path / "demo-run").mkdir()
        return on_terminal(
            [program, "-i"], tmp_path, variables, f"deermem {typed}\t", tmp_path / "line"
        )

    return press_tab


def on_terminal(
    command: list[str], folder: Path, variables: dict[str, str], typed: str, line: Path
) -> str:
    """Type into an interactive shell, and let it write the line it then has into a file."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL, *command],
        cwd=folder,
        env=variables,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    try:
        shown = read_until(master, lambda shown: PROMPT.encode() in shown)
        keys = f'{typed}{BACK}echo "{END}" > {line.name}\r'
        os.write(master, keys.encode())
        shown += read_until(master, lambda _: line.exists() and line.read_text("utf-8") != "")
    finally:
        process.kill()
        process.wait()
        os.close(master)
    assert line.exists(), shown.decode(errors="replace")
    return line.read_text("utf-8").rstrip("\n")


def read_until(master: int, done: Callable[[bytes], bool]) -> bytes:
    """Read what a shell shows until it is enough, or it takes far too long."""
    shown, last = b"", time.monotonic() + SECONDS
    while not done(shown) and time.monotonic() < last:
        if select.select([master], [], [], 0.05)[0]:
            try:
                shown += os.read(master, 65536)
            except OSError:  # EIO: the shell has gone
                break
    return shown


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("run-p", "run-policy"),
        ("run-policy --prot", "run-policy --protocol"),
        ("validate --protocol mi", "validate --protocol mini-v1"),
        ("selector check --selector ref", "selector check --selector reference"),
        ("run-qa --provider lex", "run-qa --provider lexical-reader-v1"),
        ("verify dem", "verify demo-run"),
        ("completion z", "completion zsh"),
    ],
)
@pytest.mark.parametrize("shell", SHELLS)
def test_tab(complete: Complete, shell: str, typed: str, expected: str) -> None:
    """Commands, options, names and folders are completed by the shell itself."""
    assert f"deermem {expected}" == complete(shell, typed).rstrip(" /")


@pytest.mark.parametrize("shell", SHELLS)
def test_script_is_sound(shell: str, tmp_path: Path) -> None:
    """The shell finds no fault in the script without running it."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell} (apt: {shell})")
    script = tmp_path / "script"
    script.write_text(completion_script(shell), encoding="utf-8")
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("shell", SHELLS)
def test_script_knows_every_command_and_option(call: Call, shell: str) -> None:
    """What is printed is the script alone, with every command and long option of the parser."""
    status, out, err = call("completion", shell)
    assert (0, "") == (status, err)
    assert completion_script(shell) == out
    for name, parser in command_parsers(build_parser()).items():
        assert name in out
        for action in parser._actions:
            for option in action.option_strings:
                assert option.lstrip("-") in out


def test_the_help_says_how(call: Call) -> None:
    """What the tests put into each shell's file is what the help tells to put there."""
    _, out, _ = call("completion", "--help")
    told = " ".join(out.split())
    for shell in SHELLS:
        name, text = BEGIN[shell]
        (line,) = (line for line in text.splitlines() if "deermem completion" in line)
        assert line in told
        assert f"~/{name}" in told
