"""`deermem completion`: the script by which a shell completes what is typed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import shtab

from deermem_data import shipped_protocols

from ..parser import EXIT_DONE, build_parser, command_parsers, summary_of
from ..terminal import Terminal

# What an option's value is, by how the help shows it.
_BY_METAVAR = {"DIR": shtab.DIRECTORY, "FILE": shtab.FILE}
_SELECTORS = ("production", "reference")


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print the script."""
    script = completion_script(arguments.shell)
    if terminal.as_json:
        terminal.result({"shell": arguments.shell, "script": script})
    else:
        # To be read by a shell, so neither cleaned nor folded.
        terminal.stdout.write(script)
    return EXIT_DONE


def completion_script(shell: str) -> str:
    """Return what `shell`, one of bash, zsh and fish, has to read."""
    parser = build_parser()
    for name, command in command_parsers(parser).items():
        # A line, not the paragraph that the help begins with.
        command.description = summary_of(parser, name)
        for action in command._actions:
            value = _value(action)
            if value is not None:
                action.complete = value  # type: ignore[attr-defined]
    return shtab.complete(parser, shell=shell).rstrip("\n") + "\n"


def _value(action: argparse.Action) -> Any:
    if "--protocol" in action.option_strings:
        return _words("protocol", shipped_protocols(), or_folder=True)
    if "--selector" in action.option_strings:
        return _words("selector", _SELECTORS)
    return _BY_METAVAR.get(str(action.metavar))


def _words(kind: str, words: Iterable[str], *, or_folder: bool = False) -> dict[str, Any]:
    """A value that is one of these words, or a folder, as `shtab` takes it."""
    listed, function = " ".join(words), f"_deermem_{kind}"
    bash, zsh, fish = (
        ('compgen -d -- "$1"', "'folders:folder:_files -/'", "__fish_complete_directories")
        if or_folder
        else ("", "", "")
    )
    return {
        "bash": function,
        "zsh": function,
        "fish": f"({function})",
        "preamble": {
            "bash": f"{function}() {{\n  compgen -W '{listed}' -- \"$1\"\n  {bash}\n}}",
            "zsh": f"{function}() {{\n  _alternative '{kind}s:{kind}:({listed})' {zsh}\n}}",
            "fish": f"function {function}\n  printf '%s\\n' {listed}\n  {fish}\nend",
        },
    }
