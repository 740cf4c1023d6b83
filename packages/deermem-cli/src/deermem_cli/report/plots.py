"""The plots, drawn by matplotlib as SVG for a page.

The same plot gives the same text: nothing is taken from a configuration file, a clock or a font of
the machine. Text stays text, in the page's own font.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from .document import DotPlot, Figure, ForestPlot
from .numbers import MINUS
from .svg import inline_svg

_WIDTH = 400.0
_ROW = 22.0
_LABELS = 132.0
_RIGHT = 22.0
_FONT = 12.5

# Colours that stand for what a thing is; the page says how that looks.
_SERIES = 6
_ROLES = {f"#0000{index + 16:02x}": f"s{index}" for index in range(_SERIES)} | {
    "#000001": "ink",
    "#000002": "muted",
    "#000003": "grid",
    "#000004": "paper",
}
_COLOUR = {role: colour for colour, role in _ROLES.items()}
_MARKERS = ("o", "D", "s", "^", "v", "P")
_LABEL_LENGTH = 22


def draw(figure: Figure) -> str:
    """Return a figure's plot as an `<svg>` element."""
    # Only what a reader's font lacks is warned of, and the page's font is another.
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": figure.id})
        canvas = _forest(figure.plot) if isinstance(figure.plot, ForestPlot) else _dots(figure.plot)
        stream = io.StringIO()
        canvas.savefig(stream, format="svg", metadata={"Date": None})
    # What is parsed is what matplotlib just wrote.
    root = ElementTree.fromstring(stream.getvalue())  # noqa: S314
    return inline_svg(
        root, _ROLES, id_prefix=figure.id, title=figure.title, description=figure.description
    )


def _forest(plot: ForestPlot) -> Canvas:
    places, height = _places([row.major for row in plot.rows])
    canvas, axes = _canvas(height, top=6.0, bottom=58.0)
    lowest = min(0.0, *(row.lower for row in plot.rows))
    highest = max(0.0, *(row.upper for row in plot.rows))
    step = 0.25 if highest - lowest <= 1.25 else 0.5
    left, right = step * math.floor(lowest / step), step * math.ceil(highest / step)
    _scale(axes, left, right, height)
    ticks = [left + step * index for index in range(round((right - left) / step) + 1)]
    _grid(
        axes,
        ticks,
        [f"{100 * tick:+.0f}".replace("-", MINUS) if tick else "0" for tick in ticks],
        height,
    )
    _line(axes, (0, 0), (0, height), "ink", 1.0)
    for row, y in zip(plot.rows, places, strict=True):
        _label(axes, row.label, y, left, bold=row.major)
        role = "s1" if row.major else "muted"
        width = 2.2 if row.major else 1.4
        _line(axes, (row.lower, row.upper), (y, y), role, width)
        for bound in (row.lower, row.upper):
            _line(axes, (bound, bound), (y - 3.5, y + 3.5), role, width)
        size = 8.5 if row.major else 7.5
        _mark(axes, row.difference, y, role, "D" if row.major else "o", size)
    start, end = _edge(axes, left), right
    _text(axes, f"← {_cut(plot.left, 18)} better", start, height + 36.0, "left", "muted")
    _text(axes, f"{_cut(plot.right, 18)} better →", end, height + 36.0, "right", "muted")
    _text(
        axes, "difference, percentage points", (left + right) / 2, height + 53.0, "center", "muted"
    )
    return canvas


def _dots(plot: DotPlot) -> Canvas:
    alone = all(row.heading for row in plot.rows)
    rows: list[tuple[str, Sequence[float | None], bool]] = []
    for row in plot.rows:
        if row.heading and not alone:
            rows.append((row.heading, (), True))
        rows.append((row.heading if alone else row.label, row.shares, False))
    places, height = _places([heading for _, _, heading in rows])
    legend = 18.0 * len(plot.series)
    canvas, axes = _canvas(height, top=legend + 10.0, bottom=44.0)
    _scale(axes, -0.03, 1.03, height)
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    _grid(axes, ticks, [f"{100 * tick:.0f}%" for tick in ticks], height)
    for index, series in enumerate(plot.series):
        y = 18.0 * index - legend
        _series_mark(axes, 0.0, y, index)
        _text(axes, _cut(series, 44), 0.035, y + 4.0, "left", "ink")
    for (label, shares, heading), y in zip(rows, places, strict=True):
        _label(axes, label, y, -0.03, bold=heading)
        known = [share for share in shares if share is not None]
        if known:
            _line(axes, (min(known), max(known)), (y, y), "grid", 3.0)
        for index, share in enumerate(shares):
            if share is not None:
                # Apart by a hair, so that marks of one value are all seen.
                apart = min(6.0, 16.0 / max(1, len(shares) - 1))
                _series_mark(axes, share, y + apart * (index - (len(shares) - 1) / 2), index)
    _text(axes, plot.axis, 0.5, height + 36.0, "center", "muted")
    return canvas


def _places(starts_group: Sequence[bool]) -> tuple[list[float], float]:
    """Where each line stands, with room above a group's first, and how high all of them are."""
    places, y = [], 0.0
    for index, starts in enumerate(starts_group):
        y += _ROW / 2 if starts and index else 0.0
        places.append(y + _ROW / 2)
        y += _ROW
    return places, y


def _canvas(height: float, *, top: float, bottom: float) -> tuple[Canvas, Axes]:
    whole = height + top + bottom
    canvas = Canvas(figsize=(_WIDTH / 72, whole / 72), dpi=72)
    canvas.patch.set_visible(False)
    box = (
        _LABELS / _WIDTH,
        bottom / whole,
        (_WIDTH - _LABELS - _RIGHT) / _WIDTH,
        height / whole,
    )
    axes = canvas.add_axes(box)
    axes.set_axis_off()
    return canvas, axes


def _scale(axes: Axes, left: float, right: float, height: float) -> None:
    axes.set_xlim(left, right)
    axes.set_ylim(height, 0.0)
    axes.set_autoscale_on(False)


def _grid(axes: Axes, ticks: Sequence[float], labels: Sequence[str], height: float) -> None:
    for tick, label in zip(ticks, labels, strict=True):
        _line(axes, (tick, tick), (0, height), "grid", 1.0)
        _text(axes, label, tick, height + 16.0, "center", "muted")


def _line(
    axes: Axes, x: tuple[float, float], y: tuple[float, float], role: str, width: float
) -> None:
    axes.plot(
        x, y, color=_COLOUR[role], linewidth=width, solid_capstyle="butt", clip_on=False, zorder=2.0
    )


def _series_mark(axes: Axes, x: float, y: float, index: int) -> None:
    marker, size = _MARKERS[index % len(_MARKERS)], 8.5 if index == 0 else 7.0
    _mark(axes, x, y, f"s{index % _SERIES}", marker, size)


def _mark(axes: Axes, x: float, y: float, role: str, marker: str, size: float) -> None:
    axes.plot(
        [x],
        [y],
        linestyle="",
        marker=marker,
        markersize=size,
        color=_COLOUR[role],
        markeredgecolor=_COLOUR["paper"],
        markeredgewidth=1.0,
        clip_on=False,
        zorder=3.0,
    )


def _label(axes: Axes, text: str, y: float, left: float, *, bold: bool) -> None:
    _text(axes, _cut(text), _edge(axes, left), y + 4.0, "left", "ink", bold=bold)


def _edge(axes: Axes, left: float) -> float:
    """Where the drawing begins, left of the axes."""
    low, high = axes.get_xlim()
    return left - (_LABELS - 2.0) * (high - low) / (_WIDTH - _LABELS - _RIGHT)


def _text(
    axes: Axes, text: str, x: float, y: float, where: str, role: str, *, bold: bool = False
) -> None:
    axes.text(
        x,
        y,
        text,
        ha=where,
        va="baseline",
        color=_COLOUR[role],
        fontsize=_FONT,
        fontweight="bold" if bold else "normal",
        parse_math=False,
        clip_on=False,
    )


def _cut(text: str, limit: int = _LABEL_LENGTH) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
