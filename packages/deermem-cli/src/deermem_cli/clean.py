"""Text made fit for a terminal."""

from __future__ import annotations

import unicodedata

# Controls, halves of surrogate pairs, and the two separators that some terminals break lines at.
_REMOVED = {"Cc", "Cs", "Zl", "Zp"}
# The characters of the Unicode property Bidi_Control, which turn the direction of the text around.
_BIDI = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def clean(text: str) -> str:
    """Return `text` without what could steer a terminal: control and direction characters.

    Tabs and line ends become spaces.
    """
    return "".join(map(_clean_character, text))


def _clean_character(character: str) -> str:
    if character in "\t\n\r":
        return " "
    steers = unicodedata.category(character) in _REMOVED or ord(character) in _BIDI
    return "" if steers else character
