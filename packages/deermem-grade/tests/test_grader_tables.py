"""The golden vectors notice any change of the frozen module's tables.

The mutation run changes its functions; here each entry of each table is changed, one at a time.
"""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest

import deermem_grade.deterministic_overlap_v1 as frozen
from deermem_grade.conformance import check_vectors, load_vectors
from deermem_grade.deterministic_overlap_v1 import NUMBER_WORDS, RULES, STOPWORDS

# The long inputs take most of the time and pin none of the tables.
VECTORS = [vector for vector in load_vectors() if vector.pins != "long inputs"]
SOURCE = compile(Path(frozen.__file__).read_text("utf-8"), frozen.__file__, "exec")


def noticed(**changes: Any) -> bool:
    """Say whether the vectors notice these global names changed in a copy of the module."""
    module = types.ModuleType("copy")
    exec(SOURCE, module.__dict__)
    assert set(changes) <= set(module.__dict__)
    module.__dict__.update(changes)
    return bool(check_vectors(module.grade_answer, VECTORS))


def test_unchanged_copy_passes() -> None:
    """Without a change there is nothing to notice."""
    assert noticed() is False


def test_every_stopword() -> None:
    """Without any one stopword, or with a letter more in it, some verdict differs."""
    assert [] == [word for word in STOPWORDS if not noticed(STOPWORDS=STOPWORDS - {word})]


@pytest.mark.parametrize("word", ["yes", "no", "not", "never", "7", "insufficient"])
def test_another_stopword(word: str) -> None:
    """With one more stopword some verdict differs."""
    assert noticed(STOPWORDS=STOPWORDS | {word})


@pytest.mark.parametrize("word", NUMBER_WORDS)
def test_every_number_word(word: str) -> None:
    """Without a number word, or with other digits for it, some verdict differs."""
    fewer = {other: digits for other, digits in NUMBER_WORDS.items() if other != word}
    assert noticed(NUMBER_WORDS=fewer, _WORDS=frozenset(fewer))
    assert noticed(NUMBER_WORDS=NUMBER_WORDS | {word: NUMBER_WORDS[word] + "0"})
    assert noticed(_WORDS=frozenset(fewer))


@pytest.mark.parametrize("word", ["zero", "eleven", "twelve", "twenty", "first", "half"])
def test_another_number_word(word: str) -> None:
    """With one more number word some verdict differs."""
    more = NUMBER_WORDS | {word: {"zero": "0", "eleven": "11", "twelve": "12"}.get(word, "20")}
    if word in ("first", "half"):
        more[word] = {"first": "1", "half": "5"}[word]
    assert noticed(NUMBER_WORDS=more, _WORDS=frozenset(more))


def test_every_character() -> None:
    """With any one of the characters that reach the table kept or dropped, some verdict differs.

    No ASCII capital reaches it but the separator's X, and no byte above 244 is in UTF-8.
    """
    table = frozen._KEPT
    reached = [code for code in range(128) if not chr(code).isupper() or chr(code) == "X"]
    unnoticed = []
    for code in reached:
        other = ord(" ") if table[code] != ord(" ") else ord("q")
        if not noticed(_KEPT=table[:code] + bytes([other]) + table[code + 1 :]):
            unnoticed.append(chr(code))
    assert [] == unnoticed


@pytest.mark.parametrize("separator", ["X", " X", "X ", " x ", " ", " XX ", " Y "])
def test_separator(separator: str) -> None:
    """With another separator some verdict differs, or nothing can be graded."""
    assert noticed(SEPARATOR=separator)


@pytest.mark.parametrize(("rule", "correct"), [(rule, correct) for rule, correct, _ in RULES])
def test_verdict_of_every_rule(rule: str, correct: bool) -> None:
    """With the other verdict or another name for a rule, some outcome differs."""
    name = "_" + rule.upper().replace("-", "_")
    assert (correct, rule) == getattr(frozen, name)
    assert noticed(**{name: frozen.Grade((not correct, rule))})
    assert noticed(**{name: frozen.Grade((correct, rule + "s"))})
