"""The grader's part of the README stays true."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import deermem_grade
from deermem_grade.deterministic_overlap_v1 import RULES, STOPWORDS

PACKAGE = Path(__file__).resolve().parents[1]
README = (PACKAGE / "README.md").read_text("utf-8").partition("## Statistics")[0]


def test_snippet_prints_what_it_says() -> None:
    """Run, the first snippet prints the block below it."""
    snippet = README.partition("```python\n")[2].partition("```")[0]
    said = README.partition("```text\n")[2].partition("```")[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet, {})
    assert said == printed.getvalue()


def test_table_of_rules() -> None:
    """The table names every rule in order, with its verdict."""
    rows = re.findall(r"^\| `([a-z-]+)` \| (correct|not correct) \|", README, re.MULTILINE)
    assert [(rule, "correct" if correct else "not correct") for rule, correct, _ in RULES] == rows
    assert f"{len(STOPWORDS)} stopwords" in README
    for word in ("one", "ten", "fifteen"):
        assert f"*{word}*" in README


def test_functions_exist() -> None:
    """Each function in the table of functions is public."""
    named = re.findall(r"^\| `(\w+)\(", README, re.MULTILINE)
    assert 6 == len(named)
    assert [] == [name for name in named if name not in deermem_grade.__all__]


def test_links_lead_somewhere() -> None:
    """Each relative link leads to a file."""
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert 3 == len(links)
    assert [] == [link for link in links if not (PACKAGE / link).is_file()]
