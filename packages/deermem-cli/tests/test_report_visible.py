"""Text from a model, made fit for a page."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_cli.report.visible import (
    LABEL_LIMIT,
    NAME_LIMIT,
    fitting,
    label,
    name,
    shortened,
    visible,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\u200f", "⟨U+200F⟩"),
        ("\u2066\u2069", "⟨U+2066⟩⟨U+2069⟩"),
        ("\x00\x1b[31m", "⟨U+0000⟩⟨U+001B⟩[31m"),
        ("\ud800", "⟨U+D800⟩"),
        ("\uffff\ufdd0", "⟨U+FFFF⟩⟨U+FDD0⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("one\r\ntwo\rthree\tfour", "one\ntwo\nthree\tfour"),
        ("שלום عربي 👩\u200d🚀 <b>&amp;", "שלום عربي 👩\u200d🚀 <b>&amp;"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    """Controls, direction marks, surrogates and non-characters; all else stays as it is."""
    assert shown == visible(text)


@given(st.text(st.characters(codec=None), max_size=50))
def test_what_is_shown_fits_into_xml_and_utf8(text: str) -> None:
    """No text breaks a page."""
    shown = visible(text)
    escaped = shown.replace("&", "&amp;").replace("<", "&lt;")
    ElementTree.fromstring(f"<p>{escaped}</p>".encode())


def test_what_is_long_is_cut_and_counted() -> None:
    """The count is of the text's own characters."""
    assert ("x" * 10, 99_990) == shortened("x" * 100_000, 10)
    assert ("x" * 10, 0) == shortened("x" * 10, 10)


def test_a_name_is_one_line_of_limited_length() -> None:
    """An ellipsis says that there is more."""
    assert "two lines" == name("two\n lines ")
    assert "y" * NAME_LIMIT == name("y" * NAME_LIMIT)
    assert "y" * NAME_LIMIT + "…" == name("y" * 100_000)


def test_a_label_keeps_beginning_and_end() -> None:
    """So that two long names that differ at either end stay apart."""
    assert "hybrid-v1" == label("hybrid-v1")
    shown = label("begin" + "y" * 100_000 + "end")
    assert LABEL_LIMIT == len(shown)
    assert shown.startswith("begin")
    assert shown.endswith("end")
    assert "…" in shown


@pytest.mark.parametrize(
    ("text", "shown"), [("x" * 200, 100), ("é" * 200, 100), ("漢" * 200, 66), ("&" * 200, 40)]
)
def test_what_takes_more_bytes_is_cut_sooner(text: str, shown: int) -> None:
    """At most twice as many bytes in a page as characters are allowed."""
    assert text[:shown] == fitting(text, 100)


def test_what_fits_is_whole() -> None:
    """Whatever it consists of."""
    assert "漢字 & 仮名" == fitting("漢字 & 仮名", 100)
