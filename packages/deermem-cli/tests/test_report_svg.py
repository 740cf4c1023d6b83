"""The plots: fit to stand in a page, at the places their numbers say."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from deermem_cli.report.document import (
    DataTable,
    DotPlot,
    DotRow,
    Figure,
    ForestPlot,
    ForestRow,
)
from deermem_cli.report.plots import draw

ROWS = (
    ForestRow("Official", 0.3, 0.1, 0.475, major=True),
    ForestRow("one", -0.1, -0.45, 0.25),
    ForestRow("two", 0.0, -0.3, 0.3),
)


def _figure(plot: ForestPlot | DotPlot, name: str = "fig") -> Figure:
    return Figure(name, "Its title", "What it shows.", plot, DataTable((), (), ()))


def _forest(rows: tuple[ForestRow, ...] = ROWS, name: str = "fig") -> str:
    return draw(_figure(ForestPlot(rows, "a", "b"), name))


def _marks(svg: str, role: str) -> list[tuple[float, float]]:
    found = re.findall(rf'<use class="f-{role} [^>]*? x="([^"]+)" y="([^"]+)"', svg)
    return [(float(x), float(y)) for x, y in found]


def test_each_difference_stands_where_its_number_says() -> None:
    """Marks and interval ends lie on one scale with the labelled ticks."""
    svg = _forest()
    ticks = {
        float(label.replace("\N{MINUS SIGN}", "-")) / 100: float(x)
        for x, label in re.findall(
            r'<text class="f-muted" [^>]*text-anchor="middle" x="([^"]+)"[^>]*>([^<a-z]+)<', svg
        )
    }
    assert {-0.5, -0.25, 0.0, 0.25, 0.5} == set(ticks)
    scale = (ticks[0.5] - ticks[-0.5]) / 1.0

    def place(value: float) -> float:
        return ticks[0.0] + scale * value

    assert [pytest.approx(place(0.3), abs=0.02)] == [x for x, _ in _marks(svg, "s1")]
    assert [pytest.approx(place(value), abs=0.02) for value in (-0.1, 0.0)] == [
        x for x, _ in _marks(svg, "muted")
    ]
    lines = [
        (float(x1), float(x2))
        for x1, y1, x2, y2 in re.findall(
            r'<path class="k-(?:s1|muted)" d="M ([\d.]+) ([\d.]+) L ([\d.]+) ([\d.]+)"', svg
        )
        if y1 == y2
    ]
    expected = [(place(row.lower), place(row.upper)) for row in ROWS]
    assert [pytest.approx(ends, abs=0.02) for ends in expected] == lines


def test_each_share_stands_where_its_number_says() -> None:
    """One mark per series on each line, and one in the legend; none where there is no share."""
    rows = (DotRow("room for 5", (0.5, 1.0), "Official"), DotRow("room for 7", (None, 0.25)))
    svg = draw(_figure(DotPlot(("first", "second"), rows, "cases")))
    ticks = {
        label: float(x)
        for x, label in re.findall(r'text-anchor="middle" x="([^"]+)"[^>]*>(\d+%)<', svg)
    }
    scale = ticks["100%"] - ticks["0%"]
    places = {
        role: sorted((x - ticks["0%"]) / scale for x, _ in _marks(svg, role))
        for role in ("s0", "s1")
    }
    assert {
        "s0": pytest.approx([0.0, 0.5], abs=0.001),
        "s1": pytest.approx([0.0, 0.25, 1.0], abs=0.001),
    } == places


def test_it_has_a_name_and_no_style_of_its_own() -> None:
    """A page's policy forbids styles; a reader who cannot see it is told what it shows."""
    svg = _forest()
    root = ElementTree.fromstring(svg)
    assert "img" == root.attrib["role"]
    named = root.attrib["aria-labelledby"].split()
    texts = {element.attrib.get("id"): element.text for element in root.iter()}
    assert ["Its title", "What it shows."] == [texts[name] for name in named]
    assert "style" not in svg
    assert "#0000" not in svg
    assert "metadata" not in svg


def test_ids_are_referenced_and_differ_between_figures() -> None:
    """Two figures in one page share no id, also where they show the same."""
    ids = [set(re.findall(r' id="([^"]+)"', _forest(name=name))) for name in ("one", "two")]
    assert set() == ids[0] & ids[1]
    svg = _forest(name="one")
    assert set(re.findall(r'href="#([^"]+)"', svg)) <= ids[0]


@pytest.mark.parametrize(
    "label",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "$\\frac{1}{2}$",
        "$",
        "日本語 שלום",
        "x" * 100_000,
    ],
)
def test_a_label_is_text(label: str) -> None:
    """No markup, no formula, nothing for a glyph that a font lacks; too long a label is cut."""
    svg = _forest((ForestRow(label, 0.1, 0.0, 0.2),))
    root = ElementTree.fromstring(svg)
    assert {"svg", "title", "desc", "g", "defs", "path", "use", "text"} >= {
        element.tag for element in root.iter()
    }
    shown = [element.text or "" for element in root.iter("text")]
    assert (label if len(label) <= 22 else f"{label[:21]}…") in shown
    assert len(svg) < 10_000


def test_a_users_settings_of_matplotlib_change_nothing() -> None:
    """The same plot gives the same text; and the settings are as they were afterwards."""
    plain = _forest()
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 30, "svg.fonttype": "path"}):
        assert plain == _forest()
        assert 9 == mpl.rcParams["lines.linewidth"]


def test_more_series_than_colours_are_drawn() -> None:
    """Colours begin again where there are more policies than colours."""
    series = tuple(f"policy {index}" for index in range(8))
    rows = (DotRow("room for 5", tuple(index / 8 for index in range(8)), "Official"),)
    svg = draw(_figure(DotPlot(series, rows, "cases")))
    assert 16 == svg.count("<use ")
    for name in series:
        assert f">{name}<" in svg
