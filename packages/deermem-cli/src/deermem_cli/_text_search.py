"""The search for data set text where none may stand: in any string of an artifact but an answer.

Compared are lower-cased texts of ten characters and more: a string of an artifact that stands in a
text, a text that stands in such a string, and four words in a row that both have, whatever
separates the words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from deermem_data import Protocol, as_text, load_schema

MIN_CHARS = 10
_WORDS_IN_A_ROW = 4

_HASH = re.compile(r"[0-9a-f]{64}")
_WORD = re.compile(r"[^\W_]+")
_SCHEMAS = (
    "answer_row",
    "policy.raw",
    "qa.analysis",
    "qa.rows",
    "qa.stats",
    "qa.summary",
    "qa_run",
    "run",
    "summary",
)


class TextIndex:
    """The texts of a data set and a protocol's guards, ready to be searched for and in.

    Args:
        texts: what must not be found.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        plain = {text.casefold().strip() for text in texts}
        self._texts = sorted(text for text in plain if len(text) >= MIN_CHARS)
        self._joined = "\n".join(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    @cached_property
    def _words(self) -> str:
        return "\n".join(f" {_as_words(text)} " for text in self._texts)

    def holds(self, string: str) -> bool:
        """Whether a string carries text of the data set."""
        plain = string.casefold().strip()
        if len(plain) < MIN_CHARS or _HASH.fullmatch(plain):
            return False
        if plain in self._joined or any(text in plain for text in self._texts):
            return True
        words = _as_words(plain).split(" ")
        rows = (
            " ".join(words[start : start + _WORDS_IN_A_ROW])
            for start in range(len(words) - _WORDS_IN_A_ROW + 1)
        )
        return any(len(row) >= MIN_CHARS and f" {row} " in self._words for row in rows)


def dataset_texts(path: Path, protocol: Protocol) -> Iterator[str]:
    """All questions, answers and turns of a data set's file, and the protocol's guards."""
    for record in json.loads(path.read_bytes()):
        yield record["question"]
        yield as_text(record["answer"])
        for session in record["haystack_sessions"]:
            for turn in session:
                if isinstance(turn, dict) and isinstance(turn.get("content"), str):
                    yield turn["content"]
    for guard in protocol.synthetic.cases:
        yield from (guard.question, guard.answer, guard.support_fact)


def strings_of(
    document: Any, path: str = "", *, but: str | None = None
) -> Iterator[tuple[str, str]]:
    """Each string in a document with its key path, keys too; the key `but` is left out."""
    if isinstance(document, dict):
        for key, value in document.items():
            below = f"{path}.{key}" if path else key
            yield below, key
            if key != but:
                yield from strings_of(value, below, but=but)
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from strings_of(value, f"{path}[{index}]", but=but)
    elif isinstance(document, str):
        yield path, document


def artifact_words() -> set[str]:
    """The words of the artifacts' own formats: their keys and the values their schemas list."""
    found: set[str] = set()
    for name in _SCHEMAS:
        _collect(load_schema(name), found)
    return found


def _collect(schema: Any, found: set[str]) -> None:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        found.update(properties if isinstance(properties, dict) else ())
        listed = [*schema.get("enum", ()), schema.get("const")]
        found.update(value for value in listed if isinstance(value, str))
        for value in schema.values():
            _collect(value, found)
    elif isinstance(schema, list):
        for value in schema:
            _collect(value, found)


def _as_words(text: str) -> str:
    return " ".join(_WORD.findall(text))
