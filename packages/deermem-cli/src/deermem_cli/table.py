"""A small table, for a terminal and for a pipe."""

from __future__ import annotations

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
        cells = [self.columns, *([str(cell) for cell in row] for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        yield self.title
        for row in cells:
            padded = (
                cell.rjust(width) if self._is_number(i) else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield "  " + "  ".join(padded).rstrip()

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

    def _is_number(self, column: int) -> bool:
        return all(isinstance(row[column], int) for row in self.rows)
