"""The provider `lexical-reader-v1`: a deterministic baseline that answers with a stored sentence.

No model is asked. Of the stored memory, lines `SESSION ... AT ...` are left out, prefixes `ROLE: `
(in capitals) are taken off, and the rest is cut into sentences, at the blanks after `.`, `!` or `?`
(but not after Mr. Ms. Mrs. Dr. St.). Question and sentences are compared by their content words:
runs of letters and digits, in any case, without the function words below and without a final -s,
-es, -ed or -ing.

A word w weighs `log(1 + N / (1 + n))`, n of the N stored sentences having it (an inverse document
frequency: Sparck Jones, J. Doc. 28, 1972). The score of a sentence, from 0 to 1, is the weight of
the question's words that it has, over the weight of them all; and a quarter of the score is taken
from the whole fact it stands in, since the sentence before often names what it is about. The best
sentence is the answer; among equals the first fact's, and in a fact the last, which an update is.
Below the threshold the answer is INSUFFICIENT.

Frozen: another sentence chosen for any task needs a new name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from attrs import frozen

from .provider import Answer, provider_identity

if TYPE_CHECKING:
    from .task import Task

INSUFFICIENT = "INSUFFICIENT"
THRESHOLD = 0.5
FACT_SHARE = 0.25

_SESSION = re.compile(r"SESSION \S+ AT .*")
_ROLE = re.compile(r"[A-Z][A-Z ]*: ")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)\s+")
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=...)(?:ing|ed|es|s)$")
_FUNCTION_WORDS = """
    a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing during each else for from get got had has have having he her
    here hers him his how i if in into is it its just many me more most much my no not now of off
    on once one only or other our ours out over own reply same she should so some such than that
    the their them then there these they this those through to too under until up us was we were
    what when where which while who whom whose why will with would yes you your yours
"""


class LexicalReader:
    """Answers from the task's own memory; needs no network, no key, no clock, no chance."""

    name = "lexical-reader-v1"

    def identity(self) -> dict[str, Any]:
        """Return the provider's part of `qa_run.json`."""
        return provider_identity(self.name)

    def close(self) -> None:
        """Do nothing: nothing is held open."""

    def answer(self, task: Task) -> Answer:
        """Return the best sentence of the task's memory, or INSUFFICIENT."""
        contents = [content for _, content in task.memory]
        return Answer(read_lexically(task.question, contents), response_model=self.name)


@frozen
class _Sentence:
    text: str
    words: frozenset[str]
    fact_words: frozenset[str]


def read_lexically(question: str, contents: Iterable[str]) -> str:
    """Return the stored sentence that best matches the question, or `INSUFFICIENT`.

    Args:
        question: the question's text.
        contents: the text of each stored fact, in the order that decides between equals.
    """
    facts = [_sentences(content) for content in contents]
    sentences = [sentence for fact in facts for sentence in reversed(fact)]
    asked = content_words(question)
    known = Counter(word for sentence in sentences for word in sentence.words)
    weights = {word: math.log(1 + len(sentences) / (1 + known[word])) for word in sorted(asked)}
    total = math.fsum(weights.values())
    if not sentences or not total:
        return INSUFFICIENT

    def score(sentence: _Sentence) -> float:
        here = math.fsum(weights[word] for word in asked & sentence.words)
        around = math.fsum(weights[word] for word in asked & sentence.fact_words)
        return ((1 - FACT_SHARE) * here + FACT_SHARE * around) / total

    best = max(sentences, key=score)
    return best.text if score(best) >= THRESHOLD else INSUFFICIENT


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry its content, case-folded, without their ending."""
    words = set(_WORD.findall(text.casefold())).difference(_FUNCTION_WORDS.split())
    return frozenset(_ENDING.sub("", word) for word in words)


def _sentences(content: str) -> list[_Sentence]:
    lines = [line for line in content.splitlines() if not _SESSION.fullmatch(line)]
    texts = [
        text
        for line in lines
        for text in map(str.strip, _SENTENCE_END.split(_ROLE.sub("", line, count=1)))
        if text
    ]
    around = frozenset(word for text in texts for word in content_words(text))
    return [_Sentence(text, content_words(text), around) for text in texts]
