"""What a person sees: the result on stdout, all else on stderr, nothing hostile on either."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, TextIO

from attrs import frozen

from .clean import clean
from .folding import columns_of, fold
from .table import Table


@frozen
class Terminal:
    """Where a command's words go.

    Attributes:
        as_json: the result is one JSON document instead of tables and lines.
        verbosity: -1 quiet, 0 ordinary, 1 verbose; of what is said on stderr.
    """

    stdout: TextIO
    stderr: TextIO
    as_json: bool = False
    verbosity: int = 0

    @classmethod
    def for_process(cls, arguments: object) -> Terminal:
        """Return the terminal of this process, as the command's output options ask."""
        quiet = getattr(arguments, "quiet", False)
        verbose = getattr(arguments, "verbose", False)
        return cls(
            stdout=sys.stdout,
            stderr=sys.stderr,
            as_json=getattr(arguments, "json", False),
            verbosity=-1 if quiet else int(verbose),
        )

    def say(self, line: str) -> None:
        """Say something on stderr, unless quiet."""
        if self.verbosity >= 0:
            # A remark that cannot be made does not undo the work.
            with contextlib.suppress(OSError):
                self._print(line, self.stderr)

    def error(self, line: str) -> None:
        """Say on stderr what went wrong, also when quiet; unsaid, it is still in the status."""
        with contextlib.suppress(OSError):
            self._print(line, self.stderr)

    def detail(self, line: str) -> None:
        """Say something on stderr, where more was asked for."""
        if self.verbosity > 0:
            self.say(line)

    def result(self, document: dict[str, Any], *parts: str | Table) -> None:
        """Print the command's result: `document` under `--json`, else lines and tables."""
        if self.as_json:
            text = json.dumps(document, sort_keys=True, indent=2)
            print(text, file=self.stdout)
            return
        for part in parts:
            if isinstance(part, Table):
                self._print_table(part)
            else:
                self._print(part, self.stdout)

    @staticmethod
    def _print(line: str, stream: TextIO) -> None:
        rows = fold(clean(line), columns_of(stream))
        print(*rows, sep="\n", file=stream, flush=stream is sys.stderr)

    def _print_table(self, table: Table) -> None:
        if not is_interactive(self.stdout):
            print(*table.plain_lines(), sep="\n", file=self.stdout)
            return
        # Costs more than a whole offline run, so only where someone is looking.
        from rich.console import Console  # noqa: PLC0415

        console = Console(file=self.stdout, highlight=False, force_terminal=True)
        if table.rich_width > console.width:
            print(*table.stacked_lines(console.width), sep="\n", file=self.stdout)
        else:
            print(*fold(table.title, console.width), sep="\n", file=self.stdout)
            console.print(table.for_rich())


def is_interactive(stream: TextIO) -> bool:
    """Whether someone looks at this stream as it is written, or asked for it to look so.

    `FORCE_COLOR` asks for it; where `NO_COLOR` does not want it, it counts for nothing.
    """
    if is_terminal(stream):
        return True
    wanted, unwanted = os.environ.get("FORCE_COLOR"), os.environ.get("NO_COLOR")
    return bool(wanted) and not unwanted and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream goes to a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"
