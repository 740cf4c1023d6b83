"""What a page consists of, without a word about how it is written down.

`report` and `compare` build a `Document`; `html` and `markdown` render one. A number keeps its
whole value and the place in an artifact it was read from, so that a page can be read back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from attrs import field, frozen


@frozen
class Number:
    """A number as shown, and as it is.

    Attributes:
        text: the number in words fit for a reader, such as `+30.0`.
        value: the whole value, such as `0.30000000000000004`.
        source: file and JSON pointer, such as `qa.stats.json#/suites/official/cases`; empty where
            it was computed from several places.
    """

    text: str
    value: float
    source: str = ""


@frozen
class Code:
    """An identifier: a hash, a path, a case id."""

    text: str


@frozen
class Answer:
    """One answer of a case: its verdict, the rule, whether the support fact was kept.

    Attributes:
        prediction: what is shown of it, as it was given.
        omitted: how many characters of it are not shown.
    """

    correct: bool
    rule: str
    support_kept: bool
    prediction: str
    omitted: int = 0


Part: TypeAlias = str | Number | Code
Text: TypeAlias = tuple[Part, ...]


def text_of(parts: Iterable[Part]) -> str:
    """Return parts as plain text."""
    return "".join(part if isinstance(part, str) else part.text for part in parts)


@frozen
class Cell:
    """A cell of a table: text, or an answer.

    `sort` is what the column is sorted by; the text where it is None.
    """

    parts: Text = ()
    answer: Answer | None = None
    sort: float | str | None = None

    @property
    def text(self) -> str:
        """The cell as plain text."""
        return text_of(self.parts)


@frozen
class Column:
    """A column's heading; numbers stand to the right.

    `width` is its share of a stacked table, in per cent: 0, 26 or 50.
    """

    name: str
    numeric: bool = False
    width: int = 0


@frozen
class DataTable:
    """A table; each row's first cell is its heading.

    Attributes:
        caption: what it shows.
        note: what a reader must know beside it.
        sortable: whether sorting it by a column makes sense.
        stacked: whether each row becomes a card where there is no room.
    """

    caption: Text
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: Text = ()
    sortable: bool = False
    stacked: bool = False


@frozen
class ForestRow:
    """One line of a forest plot: a difference with its interval, each from -1 to 1."""

    label: str
    difference: float
    lower: float
    upper: float
    major: bool = False


@frozen
class ForestPlot:
    """Differences with intervals around a line at zero; `left` and `right` name who is better."""

    rows: tuple[ForestRow, ...]
    left: str
    right: str


@frozen
class DotRow:
    """One line of a dot plot: a share (0 to 1) per series, None where there is none."""

    label: str
    shares: tuple[float | None, ...]
    heading: str = ""


@frozen
class DotPlot:
    """Shares, one mark per series on each line."""

    series: tuple[str, ...]
    rows: tuple[DotRow, ...]
    axis: str


@frozen
class Figure:
    """A plot with its numbers in a table beside it; `id` is its own within the document."""

    id: str
    title: str
    description: str
    plot: ForestPlot | DotPlot
    table: DataTable


@frozen
class Paragraph:
    """Running text."""

    text: Text


@frozen
class Heading:
    """A heading below a section's own."""

    text: Text


@frozen
class SideBySide:
    """Tables that stand beside each other where there is room."""

    tables: tuple[DataTable, ...]


@frozen
class Terms:
    """Terms and what they mean, or labels and their values."""

    items: tuple[tuple[str, Text], ...]


Block: TypeAlias = Paragraph | Heading | DataTable | SideBySide | Figure | Terms


@frozen
class Section:
    """A titled part of the document.

    Attributes:
        id: its own within the document.
        label: what the list of contents calls it.
    """

    id: str
    label: str
    title: str
    blocks: tuple[Block, ...]


@frozen
class Document:
    """A page.

    Attributes:
        kind: `report` or `comparison`.
        title: the first heading.
        subject: the protocol, below it.
        warnings: what must be known before anything else is read.
        answer: the sentences that answer the question, worded from the numbers.
        facts: what was compared, as labels and values.
    """

    kind: str
    title: str
    subject: str
    answer: tuple[Text, ...]
    facts: Terms
    sections: tuple[Section, ...]
    warnings: tuple[Text, ...] = field(default=())
