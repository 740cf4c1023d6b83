"""An argument parser whose help fits the terminal and whose errors say what was probably meant.

Standard library only, as `parser`.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

from .folding import columns_of, fold
from .manual import EXIT_WRONG_INPUT

# Longer lines are hard to read, however wide the terminal is.
_WIDEST = 100
# An option's help stands beside it, from this column on; under it where that is too narrow.
_HELP_COLUMN, _BESIDE = 30, 70

# What stays on one line: an option with its value, or what is quoted.
_WORD = re.compile(r"--\S+ (?!-)\S+|'[^']*'|\S+")


class Parser(argparse.ArgumentParser):
    """A parser of `deermem` or of one of its commands.

    Attributes:
        examples: lines to type, as they are shown.
        sections: titled pairs of a name and what it means, shown at the end of the help.
    """

    examples: tuple[str, ...] = ()
    sections: tuple[tuple[str, Sequence[tuple[str, str]]], ...] = ()

    def __init__(self, **settings: Any) -> None:
        with_help = settings.pop("add_help", True)
        super().__init__(**settings, formatter_class=_Formatter, allow_abbrev=False, add_help=False)
        self._positionals.title = "arguments"
        if with_help:
            self.add_argument("-h", "--help", action="help", help="show this help and exit")

    def format_help(self) -> str:
        """Return the help, with sections and examples at the end."""
        parts = [super().format_help()]
        width = text_width()
        for title, pairs in self.sections:
            parts.append("\n".join([f"{title}:", *_pair_lines(pairs, width)]) + "\n")
        if self.examples:
            shown = (line for example in self.examples for line in command_lines(example, width))
            title = "example" if len(self.examples) == 1 else "examples"
            parts.append("\n".join([f"{title}:", *shown]) + "\n")
        return "\n".join(parts)

    def error(self, message: str) -> NoReturn:
        """Print the fault and where to read on; exit with 2."""
        for line in (f"deermem: error: {message}", f"try: {self.prog} --help"):
            print(*fold(line, columns_of(sys.stderr)), sep="\n", file=sys.stderr)  # noqa: T201
        sys.exit(EXIT_WRONG_INPUT)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        choices = list(action.choices or ())
        if choices and value not in choices:
            listed, hint = ", ".join(map(str, choices)), _hint(str(value), choices)
            raise argparse.ArgumentError(action, f"{value!r} is not one of {listed}{hint}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is not known here, where the command's own options are."""
        words = sys.argv[1:] if args is None else list(args)
        if words and self._is_of_a_command(words[0].partition("=")[0]):
            self.error(f"{words[0]!r} goes after the command: {self.prog} COMMAND {words[0]}")
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hint = _hint(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unknown argument {unknown[0]!r}{hint}")
        return parsed, unknown

    def _is_of_a_command(self, option: str) -> bool:
        lists = [one for one in self._actions if isinstance(one, argparse._SubParsersAction)]
        known = (parser._option_string_actions for one in lists for parser in one.choices.values())
        return option not in self._option_string_actions and any(option in each for each in known)


class _Formatter(argparse.HelpFormatter):
    """Usage without the wall of options, and lines that fit a terminal of 40 columns."""

    def __init__(self, prog: str, **settings: Any) -> None:
        width = text_width()
        column = _HELP_COLUMN if width >= _BESIDE else 6
        super().__init__(prog, **{"max_help_position": column, "width": width} | settings)

    def _format_usage(
        self, usage: str | None, actions: Iterable[argparse.Action], groups: Any, prefix: str | None
    ) -> str:
        if usage is None:
            # The options that must be given; the others are listed below.
            options = argparse.Action([], dest="options", nargs="?", metavar="options")
            needed = [one for one in actions if one.required or not one.option_strings]
            actions, groups = [options, *needed], []
        return super()._format_usage(usage, actions, groups, prefix)

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            # Without a line of its own, which would only repeat the title of the list.
            return "".join(map(self._format_action, self._iter_indented_subactions(action)))
        return super()._format_action(action)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(_wrapped(text, width, indent, indent))


def text_width() -> int:
    """Return how many columns the help takes: those of the terminal, within bounds."""
    return max(20, min(shutil.get_terminal_size().columns, _WIDEST + 2) - 2)


def first_screen(program: str, steps: Sequence[tuple[str, str]], description: str) -> str:
    """Return what a bare command shows: what it answers, what to type first, where help is."""
    width = text_width()
    more = (
        (f"{program} --help", "every command"),
        (f"{program} COMMAND --help", "its options, with examples"),
        (f"man {program}", "the manual, where it is installed"),
    )
    lines = [*_wrapped(description, width), "", "To begin:", *_pair_lines(steps, width)]
    return "\n".join([*lines, "", "To read on:", *_pair_lines(more, width)]) + "\n"


def _pair_lines(pairs: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    column = max(len(name) for name, _ in pairs) + 4
    for name, meaning in pairs:
        label = f"  {name}".ljust(column)
        if column + 24 <= width:
            yield from _wrapped(meaning, width, label, " " * column)
        else:
            yield from _wrapped(name, width, "  ", " " * 4)
            yield from _wrapped(meaning, width, " " * 6, " " * 6)


def command_lines(command: str, width: int) -> Iterator[str]:
    """Break a line to type as a shell takes it, so that it can be copied as it is shown."""
    line = " "
    for word in _words(command, width - 8):
        if len(line) + 1 + len(word) > width - 2 and line.strip():
            yield f"{line} \\"
            line = "     "
        line = f"{line} {word}"
    yield line


def _words(command: str, longest: int) -> Iterator[str]:
    for word in _WORD.findall(command):
        if len(word) <= longest or word.startswith("'"):
            yield word
        else:
            yield from word.split(" ")


def _wrapped(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
    )


def _hint(found: str, known: Iterable[object]) -> str:
    names = [str(name) for name in known]
    # What was only begun is meant, before what looks like it.
    begun = [name for name in names if found.strip("-") and name.startswith(found)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(found, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
