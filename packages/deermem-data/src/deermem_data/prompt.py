"""The answer prompt: a template with two sections and three placeholders."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

from .errors import ProtocolError

PLACEHOLDERS = ("CURRENT_DATE_SECTION", "STORED_MEMORY", "QUESTION")
_REQUIRED = ("STORED_MEMORY", "QUESTION")
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}")
_SECTIONS = re.compile(r"\s*SYSTEM:\n(?P<system>.*?)\nUSER:\n(?P<user>.*)", re.DOTALL)


@frozen
class AnswerPrompt:
    """The system and the user template, without leading and trailing newlines."""

    system: str
    user: str

    @classmethod
    def parse(cls, text: str, path: Path) -> AnswerPrompt:
        """Read a template file's text.

        Raises:
            ProtocolError: a section is missing, or the placeholders are not the known ones.
        """
        match = _SECTIONS.fullmatch(text)
        if match is None:
            raise ProtocolError(
                f"{path}: expected a line `SYSTEM:`, its text, a line `USER:`, its text"
            )
        found = _PLACEHOLDER.findall(text)
        unknown = sorted(set(found) - set(PLACEHOLDERS))
        if unknown:
            raise ProtocolError(
                f"{path}: unknown placeholder {unknown[0]!r}; known: {', '.join(PLACEHOLDERS)}"
            )
        for name in _REQUIRED:
            if found.count(name) != 1:
                raise ProtocolError(
                    f"{path}: expected {{{{{name}}}}} once, found {found.count(name)} times"
                )
        return cls(match["system"].strip("\n"), match["user"].strip("\n"))
