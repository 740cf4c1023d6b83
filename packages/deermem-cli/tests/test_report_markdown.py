"""The Markdown of a document: tables that hold, and text that stays text."""

from __future__ import annotations

import re

import pytest

from deermem_cli.report.document import (
    Answer,
    Cell,
    Code,
    Column,
    DataTable,
    Document,
    Number,
    Paragraph,
    Section,
    Terms,
)
from deermem_cli.report.markdown import render_markdown

HOSTILE = [
    "a | b",
    "<script>alert(1)</script>",
    "`code` and ``` fence",
    "line\nbreak",
    "*bold* _it_ ~~no~~",
    "[link](http://example.org) ![image](x)",
    "@someone #12 $x$ www.example.org",
    "\\| backslash",
]


def _document(cell: Cell) -> Document:
    table = DataTable(
        ("Numbers",),
        (Column("What"), Column("How many", numeric=True)),
        ((cell, Cell((Number("12", 12),))), (Cell(("plain",)), Cell(("13",)))),
        note=("A note.",),
    )
    section = Section("one", "One", "Section one", (Paragraph(("Some text.",)), table))
    return Document("report", "Title", "p", (("The answer.",),), Terms(()), (section,))


def test_a_document_as_markdown() -> None:
    """Headings, sentences and tables, numbers to the right."""
    expected = """\
## Title

**The answer.**



### Section one

Some text.

*Numbers*

| What | How many |
| --- | ---: |
| <code>id</code> | 12 |
| plain | 13 |

A note.
"""
    assert expected == render_markdown(_document(Cell((Code("id"),))))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", ["text", "code", "answer"])
def test_hostile_text_stays_one_cell_of_text(text: str, kind: str) -> None:
    """Nothing in it ends a cell, begins an element, a link or a mention."""
    cell = {
        "text": Cell((text,)),
        "code": Cell((Code(text),)),
        "answer": Cell(answer=Answer(True, "exact", True, text)),
    }[kind]
    lines = render_markdown(_document(cell)).splitlines()
    row = next(line for line in lines if line.endswith("| 12 |"))
    unescaped = re.findall(r"(?<!\\)(?:\\\\)*\|", row)
    assert 3 == len(unescaped)
    content = re.sub(r"\\.", "", row).replace("<code>", "").replace("</code>", "")
    assert not re.search(r"[<>`*_@~\[\]$]|://|www\.", content)


def test_a_long_prediction_is_cut_and_counted() -> None:
    """What was cut before is added to what is cut here."""
    cell = Cell(answer=Answer(False, "overlap-reject", False, "x" * 1000, omitted=99_000))
    text = render_markdown(_document(cell))
    assert f"wrong, overlap-reject, support evicted: <code>{'x' * 160}</code>" in text
    assert "(and 99,840 more characters)" in text


def test_what_is_invisible_is_written_out() -> None:
    """And counted as the one character that it is."""
    cell = Cell(answer=Answer(True, "exact", True, "\u202e" * 200))
    text = render_markdown(_document(cell))
    assert f"<code>{'⟨U+202E⟩' * 160}</code> (and 40 more characters)" in text
