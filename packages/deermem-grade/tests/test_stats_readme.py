"""The statistics section of the README stays true."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_snippet_prints_what_it_says() -> None:
    """Run, the snippet prints its own comments, line by line."""
    section = README.read_text(encoding="utf-8").partition("## Statistics")[2]
    snippet = section.partition("```python\n")[2].partition("```")[0]
    said = [line[2:] for line in snippet.splitlines() if line.startswith("# ")]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet, {})
    assert len(said) == 4
    assert said == printed.getvalue().splitlines()
