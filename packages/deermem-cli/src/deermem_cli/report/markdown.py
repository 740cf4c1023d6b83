"""A document as Markdown to paste into a pull request: its words and tables, without plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import document as parts
from .visible import shortened

# What Markdown or HTML takes for more than a character. As a reference it is only that, and within
# `<code>` a site's own readings (mentions, issue numbers, links) do not apply either.
_SPECIAL = set("!#$&*./:<>@[\\]^_`{|}~")

_PREDICTION_LIMIT = 160


def render_markdown(document: parts.Document) -> str:
    """Return the document as GitHub-flavoured Markdown; the same document gives the same text."""
    return "\n\n".join(_blocks(document)) + "\n"


def _blocks(document: parts.Document) -> Iterator[str]:
    yield f"## {_plain(document.title)}"
    for warning in document.warnings:
        yield f"> **Note.** {_text(warning)}"
    for sentence in document.answer:
        yield f"**{_text(sentence)}**"
    yield _terms(document.facts)
    for section in document.sections:
        yield f"### {_plain(section.title)}"
        for block in section.blocks:
            yield from _block(block)


def _block(block: parts.Block) -> Iterator[str]:
    match block:
        case parts.Paragraph(text):
            yield _text(text)
        case parts.Heading(text):
            yield f"#### {_text(text)}"
        case parts.DataTable():
            yield from _table(block)
        case parts.SideBySide(tables):
            for table in tables:
                yield from _table(table)
        case parts.Figure():
            yield from _table(block.table)
        case parts.Terms():
            yield _terms(block)


def _table(table: parts.DataTable) -> Iterator[str]:
    yield f"*{_text(table.caption)}*"
    heading = [_plain(column.name) for column in table.columns]
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    yield "\n".join(f"| {' | '.join(line)} |" for line in (heading, rule, *rows))
    if table.note:
        yield _text(table.note)


def _cell(cell: parts.Cell) -> str:
    answer = cell.answer
    if answer is None:
        return _text(cell.parts)
    verdict = "correct" if answer.correct else "wrong"
    support = "kept" if answer.support_kept else "evicted"
    shown = f"{verdict}, {_plain(answer.rule)}, support {support}"
    prediction, cut = shortened(answer.prediction, _PREDICTION_LIMIT)
    omitted = cut + answer.omitted
    if prediction:
        shown += f": {_code(prediction)}"
    return f"{shown} (and {omitted:,} more characters)" if omitted else shown


def _terms(terms: parts.Terms) -> str:
    return "\n".join(f"- {_plain(term)}: {_text(meaning)}" for term, meaning in terms.items)


def _text(text: Iterable[parts.Part]) -> str:
    return "".join(
        _code(part.text)
        if isinstance(part, parts.Code)
        else _plain(part if isinstance(part, str) else part.text)
        for part in text
    )


def _plain(text: str) -> str:
    """Text with what would be markup escaped, on one line."""
    escaped = "".join(
        f"\\{character}" if character in "\\`*_{}[]<>#|~!&$@" else character
        for character in text.replace("\n", " ")
    )
    # Or a site makes a link of it.
    return escaped.replace("://", ":\\//").replace("www.", "www\\.")


def _code(text: str) -> str:
    shown = text.replace("\n", " ")
    return f"<code>{''.join(map(_reference, shown))}</code>"


def _reference(character: str) -> str:
    return f"&#{ord(character)};" if character in _SPECIAL else character
