"""`deermem report`: a run as one HTML page, or as Markdown."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from deermem_data import ArtifactError, DeermemError, sha256_hex, write_file

from ..grading import PUBLISHED_FILES
from ..parser import EXIT_DONE
from ..policy_run import FILES as POLICY_RUN_FILES
from ..report import Document, read_run, render_markdown, report_document
from ..terminal import Terminal

_EXTRA = {"jinja2", "markupsafe", "matplotlib"}


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Read the run, make the report, write it."""
    folder = Path(arguments.folder)
    as_html = arguments.format == "html"
    named = arguments.output or (str(folder / "report.html") if as_html else "-")
    target = None if named == "-" else Path(named)
    run_files = read_run(folder)
    if target is not None:
        _require_free(target, replace=arguments.force)
    document = report_document(run_files)
    text = _render_html(document) if as_html else render_markdown(document)
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


def _require_free(target: Path, *, replace: bool) -> None:
    if target.is_dir():
        raise ArtifactError(f"{target}: is a folder; name a file")
    if not target.parent.is_dir():
        raise ArtifactError(f"{target.parent}: no such folder; make it, or name another file")
    if not os.path.lexists(target):
        return
    if not replace:
        raise ArtifactError(
            f"{target}: is there already; name another file with --output, or replace it with "
            "--force"
        )
    run_files = {*PUBLISHED_FILES, *POLICY_RUN_FILES, "qa_run.json"}
    if target.resolve().name in run_files or target.resolve().parent.name == "responses":
        raise ArtifactError(f"{target}: is a file of a run, which is never overwritten")


def _render_html(document: Document) -> str:
    try:
        # What it needs is an extra, and takes longer to import than the rest takes to run.
        from ..report.html import render_html  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise DeermemError(
            f"report: {exc.name} is not installed: pip install 'deermem-cli[report]' (Markdown "
            "needs nothing more: --format markdown)"
        ) from exc
    return render_html(document)
