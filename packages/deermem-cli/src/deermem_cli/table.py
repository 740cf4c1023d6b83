"""A small table, for a terminal and for a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from attrs import frozen


@frozen
class Table:
    """A titled table; numbers are aligned to the right, text to the left.

    `rows` hold text, whole numbers or floats in [0, 1] printed as they are given: format before.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]

    def plain_lines(self) -> Iterator[str]:
        """Yield the table as lines without any escape code."""
        widths = self._widths()
        yield self.title
        for row in self._cells():
            padded = (
                cell.rjust(width) if self._is_number(i) else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield "  " + "  ".join(padded).rstrip()

    def stacked_lines(self, width: int) -> Iterator[str]:
        """Yield the table for a terminal of `width` columns that is too narrow for it.

        Each row is a line of its text and, below, its numbers with their columns' names.
        """
        numbers = [self._is_number(i) for i in range(len(self.columns))]
        yield from textwrap.wrap(self.title, width)
        for row in self.rows:
            cells = list(zip(self.columns, row, numbers, strict=True))
            text = " ".join(str(cell) for _, cell, number in cells if not number)
            named = [f"{column}: {cell}" for column, cell, number in cells if number]
            yield from textwrap.wrap(text, width)
            # Joined with a space that no line is broken at, so that name and number stay together.
            unbroken = ", ".join(pair.replace(" ", "\xa0") for pair in named)
            for line in textwrap.wrap(unbroken, max(1, width - 2)):
                yield "  " + line.replace("\xa0", " ")

    @property
    def rich_width(self) -> int:
        """How many columns of a terminal `for_rich` takes."""
        return sum(self._widths()) + 3 * len(self.columns)

    def for_rich(self) -> Any:
        """Return the table as a `rich` renderable."""
        from rich import box  # noqa: PLC0415
        from rich.table import Table as RichTable  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = RichTable(
            title=Text(self.title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
        )
        for i, column in enumerate(self.columns):
            table.add_column(Text(column), justify="right" if self._is_number(i) else "left")
        for row in self.rows:
            table.add_row(*(Text(str(cell)) for cell in row))
        return table

    def _cells(self) -> list[tuple[str, ...]]:
        return [self.columns, *(tuple(map(str, row)) for row in self.rows)]

    def _widths(self) -> list[int]:
        return [max(map(len, column)) for column in zip(*self._cells(), strict=True)]

    def _is_number(self, column: int) -> bool:
        return all(isinstance(row[column], int) for row in self.rows)
