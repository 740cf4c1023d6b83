"""The table of pairs on which a careful reader disagrees: true, complete, and linked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deermem_grade import grade_answer
from deermem_grade.conformance.disagreements import DISAGREEMENTS, Disagreement, markdown

PACKAGE = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("row", DISAGREEMENTS, ids=lambda row: f"{row.kind}: {row.prediction}")
def test_grader_and_reader_disagree(row: Disagreement) -> None:
    """Each row is a disagreement: the grader's verdict is not the reader's."""
    assert row.reader is not grade_answer(row.prediction, row.reference).correct


@pytest.mark.parametrize(
    ("prediction", "reference", "rule"),
    [
        ("I have no idea", "NO", "substring"),
        ("1000", "1,000", "numeric-conflict"),
        ("3.5 hours", "3", "substring"),
        ("not 25", "25", "substring"),
        ("Bob beat Alice", "Alice beat Bob", "overlap-accept"),
        ("every week", "Weekly", "overlap-reject"),
    ],
)
def test_known_ones_are_in_the_table(prediction: str, reference: str, rule: str) -> None:
    """The best-known ones are there, with the rule that decides them."""
    line = next(
        line for line in markdown().splitlines() if f"`{prediction}` | `{reference}`" in line
    )
    assert f"| `{rule}` |" in line


def test_file_is_current() -> None:
    """DISAGREEMENTS.md is what the command writes now, and the README links to it."""
    command = [sys.executable, "-m", "deermem_grade.conformance.disagreements"]
    written = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    assert written == (PACKAGE / "DISAGREEMENTS.md").read_bytes()
    assert written == markdown().encode()
    assert "](DISAGREEMENTS.md)" in (PACKAGE / "README.md").read_text("utf-8")
