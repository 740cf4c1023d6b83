"""`deermem compare`: runs side by side, in lines and tables, as HTML or as Markdown."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from deermem_data import DeermemError, write_file

from ..comparison import (
    Comparison,
    compare_runs,
    comparison_json,
    comparison_lines,
    comparison_page,
)
from ..page_file import render, require_free
from ..parser import EXIT_DONE
from ..terminal import Terminal, is_interactive

_MARKDOWN_NAMES = {".md", ".markdown"}


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Compare; print what was found, or write a page of it."""
    target = None if arguments.output in {None, "-"} else Path(arguments.output)
    form = _form(arguments, target)
    if form is not None and target is None and terminal.as_json:
        raise DeermemError(
            "compare: --json and the page both go to standard output; name a file with --output"
        )
    if target is not None:
        require_free(target, replace=arguments.force)
    comparison = compare_runs([Path(folder) for folder in arguments.folders])
    text = None if form is None else render(comparison_page(comparison), form, command="compare")
    if text is None:
        _print(comparison, terminal)
    elif target is None:
        terminal.stdout.write(text)
    else:
        write_file(target, text.encode("utf-8"))
        terminal.result(comparison_json(comparison) if terminal.as_json else {}, str(target))
    return EXIT_DONE


def _print(comparison: Comparison, terminal: Terminal) -> None:
    if terminal.as_json:
        terminal.result(comparison_json(comparison))
        return
    width = shutil.get_terminal_size().columns if is_interactive(terminal.stdout) else None
    terminal.result({}, *comparison_lines(comparison, width))


def _form(arguments: argparse.Namespace, target: Path | None) -> str | None:
    """What page is asked for: as `--format` says, else by the name of the file; else none."""
    if arguments.format is not None:
        return str(arguments.format)
    if arguments.output is None:
        return None
    is_markdown = target is not None and target.suffix.lower() in _MARKDOWN_NAMES
    return "markdown" if is_markdown else "html"
