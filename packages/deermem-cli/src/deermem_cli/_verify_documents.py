"""Verification of the documents: each number is made again from the rows and compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from deermem_qa import AnswerRow, GradedRow

from ._verify_files import RunFiles
from .qa_documents import (
    ANALYSIS_FILE,
    STATS_FILE,
    SUMMARY_FILE,
    QASettings,
    analysis_document,
    stats_document,
    summary_document,
)
from .verification_report import Findings, shown

# What names an item of a list, where its items have one of these sets of keys.
_NAMES = (
    ("case_id",),
    ("fact_id",),
    ("source", "scenario", "policy"),
    ("suite", "policy"),
    ("source", "scenario"),
    ("policies",),
)

# Of what a solver finds, other machines may find other last digits.
_TOLERANCE = 1e-7


def check_documents(
    files: RunFiles,
    rows: tuple[GradedRow, ...],
    settings: QASettings,
    answers: Mapping[str, AnswerRow] | None,
    findings: Findings,
) -> None:
    """Compare summary, statistics and analysis with what the rows give."""
    made = {SUMMARY_FILE: summary_document(rows, settings)}
    if len(settings.policies) > 1:
        made[STATS_FILE] = stats_document(rows, settings)
    for name, expected in made.items():
        if name in files.documents:
            _compare(name, expected, files.documents[name], 0.0, findings)
            findings.did(name, "made again from the rows")
    if ANALYSIS_FILE in files.documents:
        _check_analysis(files.documents[ANALYSIS_FILE], rows, settings, answers, findings)


def _check_analysis(
    found: Any,
    rows: tuple[GradedRow, ...],
    settings: QASettings,
    answers: Mapping[str, AnswerRow] | None,
    findings: Findings,
) -> None:
    truncated = frozenset(row_id for row_id, row in (answers or {}).items() if row.truncated)
    expected = analysis_document(rows, settings, truncated)
    detail = "made again from the rows"
    if answers is None:
        detail += ", but for `truncated`, which the stored answers say"
        _take_truncated(expected, found)
    _compare(ANALYSIS_FILE, expected, found, _TOLERANCE, findings)
    findings.did(ANALYSIS_FILE, detail)


def _take_truncated(expected: dict[str, Any], found: Any) -> None:
    """Let the counts of truncated answers stand, where they are possible ones."""
    stated = found.get("answers") if isinstance(found, dict) else None
    for made, entry in zip(expected["answers"], stated or (), strict=False):
        count = entry.get("truncated") if isinstance(entry, dict) else None
        if type(count) is int and 0 <= count <= made["cases"]:
            made["truncated"] = count


def _compare(file: str, expected: Any, found: Any, tolerance: float, findings: Findings) -> None:
    for key, message in differences(expected, found, tolerance=tolerance):
        findings.wrong(file, message, key=key or None)


def differences(
    expected: Any, found: Any, path: str = "", *, tolerance: float = 0.0
) -> Iterator[tuple[str, str]]:
    """Each place where two JSON documents differ, in value or type: its key path and what differs.

    Args:
        tolerance: by how much two fractional numbers may differ.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            below = f"{path}.{key}" if path else key
            if key not in found:
                yield below, "is missing"
            elif key not in expected:
                yield below, "is no key of this file"
            else:
                yield from differences(expected[key], found[key], below, tolerance=tolerance)
    elif isinstance(expected, list) and isinstance(found, list):
        yield from _list_differences(expected, found, path, tolerance)
    elif not _agree(expected, found, tolerance):
        yield path, f"expected {shown(expected)}, found {shown(found)}"


def _list_differences(
    expected: list[Any], found: list[Any], path: str, tolerance: float
) -> Iterator[tuple[str, str]]:
    if len(expected) != len(found):
        yield path, f"expected {len(expected)} items, found {len(found)}"
    for index, (made, stated) in enumerate(zip(expected, found, strict=False)):
        below = f"{path}[{_item_name(made, index)}]"
        yield from differences(made, stated, below, tolerance=tolerance)


def _item_name(item: Any, index: int) -> str:
    if isinstance(item, dict):
        for keys in _NAMES:
            if item.keys() >= set(keys):
                values = [item[key] for key in keys]
                return "/".join(
                    "+".join(value) if isinstance(value, list) else str(value) for value in values
                )
    return str(index)


def _agree(expected: Any, found: Any, tolerance: float) -> bool:
    if type(expected) is not type(found):
        return False
    if isinstance(expected, float) and tolerance:
        return math.isclose(expected, found, rel_tol=0.0, abs_tol=tolerance)
    return bool(expected == found)
