"""The report of a run: one HTML page, or Markdown.

Needs the extra `report` (Jinja2 and matplotlib) for the page; Markdown needs nothing more.
"""

from __future__ import annotations

from .content import report_document
from .document import Document
from .markdown import render_markdown
from .run_files import RunFiles, read_run

__all__ = ["Document", "RunFiles", "read_run", "render_markdown", "report_document"]
