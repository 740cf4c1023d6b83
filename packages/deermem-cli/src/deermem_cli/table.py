"""A small table, for a terminal and for a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from .folding import cells, fold


@frozen
class Table:
    """A titled table; numbers are aligned to the right, text to the left.

    Attributes:
        rows: text and whole numbers, printed as they are given: format before.
        named_by: the columns that tell the rows apart; the first one where none is named.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    named_by: tuple[str, ...] = ()

    def plain_lines(self) -> Iterator[str]:
        """Yield the table as lines without any escape code."""
        widths = self._widths()
        yield self.title
        for row in self._cells():
            padded = (
                _padded(cell, width, right=self._is_number(i))
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield "  " + "  ".join(padded).rstrip()

    def stacked_lines(self, width: int) -> Iterator[str]:
        """Yield the table for a terminal of `width` columns that is too narrow for it.

        Each row is a line that names it and, below, its other cells with their columns' names.
        """
        naming = self.named_by or self.columns[:1]
        yield from fold(self.title, width)
        for row in self.rows:
            cells = list(zip(self.columns, row, strict=True))
            yield from fold(", ".join(str(cell) for name, cell in cells if name in naming), width)
            named = [f"{name}: {cell}" for name, cell in cells if name not in naming]
            # Joined with a space that no line is broken at, so that name and cell stay together.
            unbroken = ", ".join(pair.replace(" ", "\xa0") for pair in named)
            for line in fold(f"  {unbroken}", width, hanging=2):
                yield line.replace("\xa0", " ")

    @property
    def rich_width(self) -> int:
        """How many columns of a terminal `for_rich` takes."""
        return sum(self._widths()) + 3 * len(self.columns)

    def for_rich(self) -> Any:
        """Return the table, without its title, as a `rich` renderable."""
        from rich import box  # noqa: PLC0415
        from rich.table import Table as RichTable  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for i, column in enumerate(self.columns):
            table.add_column(Text(column), justify="right" if self._is_number(i) else "left")
        for row in self.rows:
            table.add_row(*(Text(str(cell)) for cell in row))
        return table

    def _cells(self) -> list[tuple[str, ...]]:
        return [self.columns, *(tuple(map(str, row)) for row in self.rows)]

    def _widths(self) -> list[int]:
        return [max(map(cells, column)) for column in zip(*self._cells(), strict=True)]

    def _is_number(self, column: int) -> bool:
        return all(isinstance(row[column], int) for row in self.rows)


def _padded(cell: str, width: int, *, right: bool) -> str:
    blank = " " * (width - cells(cell))
    return blank + cell if right else cell + blank
