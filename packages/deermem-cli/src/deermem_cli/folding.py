"""Lines made to fit a terminal.

Standard library only, as `parser`.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from typing import TextIO

# A label, and at least two spaces before what it is about: further lines stand below the latter.
_LABELLED = re.compile(r"( *\S+(?: \S+)* {2,})\S")


def columns_of(stream: TextIO) -> int | None:
    """Return how wide the terminal is that the stream goes to; `None` where it goes to none."""
    if os.environ.get("TERM") == "dumb" or not stream.isatty():
        return None
    return shutil.get_terminal_size().columns


def fold(line: str, width: int | None, *, hanging: int | None = None) -> list[str]:
    """Break a line at its spaces into lines of at most `width` columns, the others indented.

    A word that is longer than a line is broken too; nothing else is lost than the spaces at which
    the line is broken. `None` breaks nothing. How far the others are indented is the line's own
    indentation and two, or where its second column begins, unless `hanging` says it.
    """
    if width is None or cells(line) <= width:
        return [line]
    rest = line.lstrip(" ")
    indent = " " * min(len(line) - len(rest), width // 2)
    further = _hanging(line, width) if hanging is None else hanging
    others = " " * min(further, width // 2)
    lines, current = [], indent
    for gap, word in re.findall(r"( *)([^ ]+)", rest):
        if cells(current + gap + word) <= width:
            current += gap + word
            continue
        if current.strip():
            lines.append(current)
            current = others
        for character in word:
            if cells(current + character) > width:
                lines.append(current)
                current = others
            current += character
    return [*lines, current]


def _hanging(line: str, width: int) -> int:
    """How far the second line and those after it are indented."""
    indented = len(line) - len(line.lstrip(" ")) + 2
    label = _LABELLED.match(line)
    if label is None:
        return indented
    column = label.end(1)
    longest = max(cells(word) for word in line[column:].split())
    return column if column + longest <= width and column <= width // 2 else indented


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(_character_cells(text))


def _character_cells(text: str) -> Iterator[int]:
    for character in text:
        if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
            yield 0
        else:
            yield 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
