"""`deermem report`: a run as one HTML page, or as Markdown."""

from __future__ import annotations

import argparse
from pathlib import Path

from deermem_data import sha256_hex, write_file

from ..page_file import render, require_free
from ..parser import EXIT_DONE
from ..report import read_run, report_document
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Read the run, make the report, write it."""
    folder = Path(arguments.folder)
    as_html = arguments.format == "html"
    named = arguments.output or (str(folder / "report.html") if as_html else "-")
    target = None if named == "-" else Path(named)
    run_files = read_run(folder)
    if target is not None:
        require_free(target, replace=arguments.force)
    document = report_document(run_files)
    text = render(document, arguments.format, command="report")
    data = text.encode("utf-8")
    result = {
        "folder": str(folder),
        "format": arguments.format,
        "output": None if target is None else str(target),
        "bytes": len(data),
        "sha256": sha256_hex(data),
    }
    if target is None:
        if terminal.as_json:
            terminal.result({**result, "text": text})
        else:
            # Its lines stay lines, and what could steer a terminal is written out in it.
            terminal.stdout.write(text)
        return EXIT_DONE
    write_file(target, data)
    terminal.result(result, str(target))
    return EXIT_DONE
