"""A comparison as a document, to be rendered as HTML or Markdown like a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..report import Document
from ..report.document import (
    Block,
    Code,
    Column,
    DataTable,
    Paragraph,
    Section,
    Terms,
    Text,
)
from ..report.results import text_cell
from ..report.visible import name
from . import words
from .compare import Comparison
from .lines import value_text
from .page_accuracy import accuracy_blocks
from .page_cases import flip_blocks, retention_blocks
from .runs import Run

_FOLDER_LIMIT = 200


def comparison_page(comparison: Comparison) -> Document:
    """Return the comparison's page."""
    first, *others = comparison.runs
    return Document(
        kind="comparison",
        title=f"{_listed([run.label for run in others])} against {first.label}",
        subject=name(comparison.protocol_id),
        answer=tuple(_answer(comparison)),
        facts=Terms(tuple(_facts(comparison))),
        sections=tuple(_sections(comparison)),
        warnings=tuple((f"{of}: ", *note) for of, note in words.notes(comparison)),
    )


def _answer(comparison: Comparison) -> Iterator[Text]:
    for pairing in comparison.pairings:
        if pairing.answers is not None:
            yield from words.answer_sentences(comparison, pairing)
        else:
            yield from words.retention_sentences(pairing)


def _facts(comparison: Comparison) -> Iterator[tuple[str, Text]]:
    for run in comparison.runs:
        yield f"Run {run.label}", (Code(name(str(run.folder), _FOLDER_LIMIT)),)
    yield "Policies", (", ".join(map(name, comparison.policies)),)
    yield "Cases", (words.count(comparison.cases),)


def _sections(comparison: Comparison) -> Iterator[Section]:
    yield Section(
        "identity",
        "What differs",
        "What differs between the runs",
        tuple(_identity_blocks(comparison)),
    )
    if any(pairing.answers for pairing in comparison.pairings):
        yield Section(
            "results",
            "Accuracy",
            "Accuracy, official and synthetic apart",
            tuple(accuracy_blocks(comparison)),
        )
        yield Section(
            "flips",
            "Flipped cases",
            "Every case whose grade flips",
            tuple(flip_blocks(comparison)),
        )
    yield Section(
        "retention",
        "Retention",
        "What the runs kept",
        tuple(retention_blocks(comparison)),
    )
    yield Section("provenance", "Provenance", "Provenance", (_files_table(comparison.runs),))


def _identity_blocks(comparison: Comparison) -> Iterator[Block]:
    if comparison.differences:
        yield DataTable(
            caption=("What the runs record of themselves, where it is not the same in all",),
            columns=(Column("What"), *(Column(f"Run {run.label}") for run in comparison.runs)),
            rows=tuple(
                (
                    text_cell(name(difference.name)),
                    *(text_cell(value_text(difference, run.label)) for run in comparison.runs),
                )
                for difference in comparison.differences
            ),
            stacked=True,
        )
    else:
        yield Paragraph(("Nothing differs in what the runs record of themselves.",))
    for remark in words.remarks(comparison):
        yield Paragraph((remark,))


def _files_table(runs: Sequence[Run]) -> DataTable:
    return DataTable(
        caption=("The files this page was made from",),
        columns=(Column("File"), Column("Run"), Column("SHA-256", width=50)),
        rows=tuple(
            (text_cell(Code(file)), text_cell(run.label), text_cell(Code(sha256)))
            for run in runs
            for file, sha256 in run.files.hashes.items()
        ),
        stacked=True,
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
