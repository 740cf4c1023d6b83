"""Text from a model or a file made fit for a page: what is invisible is shown, what is long cut."""

from __future__ import annotations

from html import escape

from ..clean import clean

NAME_LIMIT = 120
"""Characters shown of a name."""

LABEL_LIMIT = 36
"""Characters shown of a name that heads a column or a line."""


def visible(text: str) -> str:
    """Return `text` with control, direction and non-characters written out as ⟨U+202E⟩.

    Tabs and line ends stay, these as newlines.
    """
    return "".join(map(_visible_character, text.replace("\r\n", "\n").replace("\r", "\n")))


def shortened(text: str, limit: int) -> tuple[str, int]:
    """Return at most `limit` characters of `text`, made visible, and how many were left out."""
    return visible(text[:limit]), max(0, len(text) - limit)


def fitting(text: str, limit: int) -> str:
    """Return the beginning of `text`: at most `limit` characters, and twice as many bytes.

    So that a page's size is bounded by the number of characters, whatever they are.
    """
    room = 2 * limit
    for index, character in enumerate(text[:limit]):
        room -= len(escape(_visible_character(character)).encode("utf-8"))
        if room < 0:
            return text[:index]
    return text[:limit]


def name(text: str, limit: int = NAME_LIMIT) -> str:
    """Return a name on one line, made visible; one too long ends in an ellipsis."""
    shown, omitted = shortened(" ".join(text[: 4 * limit].split()), limit)
    return f"{shown}…" if omitted or len(text) > 4 * limit else shown


def label(text: str) -> str:
    """Return a name short enough to head a column: of one too long, its beginning and its end."""
    whole = name(text, len(text))
    if len(whole) <= LABEL_LIMIT:
        return whole
    begin, end = 2 * LABEL_LIMIT // 3, LABEL_LIMIT // 3 - 1
    return f"{whole[:begin]}…{whole[-end:]}"


def _visible_character(character: str) -> str:
    if character in "\t\n":
        return character
    code = ord(character)
    # What a terminal must not be given, and what XML has no place for.
    hidden = not clean(character) or 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    return f"⟨U+{code:04X}⟩" if hidden else character
