"""A document as a file: how it is rendered, and where it may be written."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from deermem_data import ArtifactError, DeermemError

from .grading import PUBLISHED_FILES
from .policy_run import FILES as POLICY_RUN_FILES
from .report import Document, render_markdown

_EXTRA = {"jinja2", "markupsafe", "matplotlib"}


def render(document: Document, form: str, *, command: str) -> str:
    """Return the document as `html` or `markdown`.

    Args:
        command: the one that was asked, for messages.

    Raises:
        DeermemError: the page is asked for and its libraries are not installed.
    """
    if form == "markdown":
        return render_markdown(document)
    # Where a home cannot be written it says so at length; the page is the same.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        # What it needs is an extra, and takes longer to import than the rest takes to run.
        from .report.html import render_html  # noqa: PLC0415
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise DeermemError(
            f"{command}: {exc.name} is not installed: pip install 'deermem-cli[report]' (Markdown "
            "needs nothing more: --format markdown)"
        ) from exc
    return render_html(document)


def require_free(target: Path, *, replace: bool) -> None:
    """Check that a page may be written there.

    Args:
        replace: whether an earlier page may be replaced; a run's own files never are.

    Raises:
        ArtifactError: it may not.
    """
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
