"""Why a pair was graded as it was: every rule that was tried, and what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deermem_grade.deterministic_overlap_v1 import (
    STOPWORDS,
    Grade,
    grade_answer,
    normalize_answer,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SHOWN_TOKENS = 12
_SHOWN_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that was tried: its name, whether it decided, and why."""

    rule: str
    decided: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A grade and all that led to it. Tokens are lower-case ASCII; the text itself is not kept.

    Numbers are the distinct integers, without leading zeros, in order of value; words the distinct
    tokens that are not stopwords, and ``shared_words`` those of both sides, sorted; ``range`` the
    two ends that the reference states, as stated. ``steps`` ends with the rule that decided.
    ``str()`` of it is the whole as lines of ASCII text.
    """

    grade: Grade
    prediction_tokens: tuple[str, ...]
    reference_tokens: tuple[str, ...]
    prediction_numbers: tuple[str, ...]
    reference_numbers: tuple[str, ...]
    prediction_words: tuple[str, ...]
    reference_words: tuple[str, ...]
    shared_words: tuple[str, ...]
    range: tuple[str, str] | None
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        rows = [
            ("grade", f"{'correct' if self.grade.correct else 'not correct'}, {self.grade.rule}"),
            ("prediction", _listed(self.prediction_tokens)),
            ("reference", _listed(self.reference_tokens)),
            ("numbers", f"{_listed(self.prediction_numbers)} / {_listed(self.reference_numbers)}"),
            ("words", f"{_listed(self.prediction_words)} / {_listed(self.reference_words)}"),
            ("shared", _listed(self.shared_words)),
        ]
        rows += [(("* " if step.decided else "- ") + step.rule, step.reason) for step in self.steps]
        return "\n".join(f"{name:<18} {text}" for name, text in rows)


def explain(prediction: str, reference: str) -> Explanation:
    """Return the grade of a pair with every rule that was tried, in order, and its reason.

    Raises what ``grade_answer`` raises.
    """
    grade = grade_answer(prediction, reference)
    predicted, expected = normalize_answer(prediction), normalize_answer(reference)
    words = set(predicted) - STOPWORDS
    others = set(expected) - STOPWORDS
    numbers, stated = _numbers(predicted), _numbers(expected)
    ends = _range(expected)
    steps = []
    for step in _steps(predicted, expected, numbers, stated, ends, words, others):
        steps.append(step)
        if step.decided:
            break
    return Explanation(
        grade=grade,
        prediction_tokens=tuple(predicted),
        reference_tokens=tuple(expected),
        prediction_numbers=numbers,
        reference_numbers=stated,
        prediction_words=tuple(sorted(words)),
        reference_words=tuple(sorted(others)),
        shared_words=tuple(sorted(words & others)),
        range=ends,
        steps=tuple(steps),
    )


def _steps(
    predicted: list[str],
    expected: list[str],
    numbers: tuple[str, ...],
    stated: tuple[str, ...],
    ends: tuple[str, str] | None,
    words: set[str],
    others: set[str],
) -> Iterator[Step]:
    empty = not predicted
    yield Step("empty-prediction", empty, f"the prediction has {_count(predicted, 'token')}")
    alone = predicted == ["insufficient"]
    yield Step("insufficient", alone, f"the prediction is {'' if alone else 'not '}that one token")
    same = predicted == expected
    yield Step("exact", same, "the tokens are the same" if same else "the tokens differ")

    prediction, reference = f" {' '.join(predicted)} ", f" {' '.join(expected)} "
    if reference in prediction:
        yield Step("substring", True, "the reference stands in the prediction")
    elif prediction in reference:
        yield Step("substring", True, "the prediction stands in the reference")
    else:
        yield Step("substring", False, "neither stands in the other as one run of tokens")

    if ends is None:
        yield Step("numeric-range", False, "the reference states no range")
    elif not numbers:
        yield Step("numeric-range", False, "the prediction has no integer")
    else:
        low, high = sorted(ends, key=_order)
        outside = [n for n in numbers if not _order(low) <= _order(n) <= _order(high)]
        where = f"{_cut(low)} to {_cut(high)}"
        reason = f"outside {where}: {_listed(outside)}" if outside else f"all within {where}"
        yield Step("numeric-range", not outside, reason)

    if not numbers or not stated:
        yield Step("numeric-conflict", False, "not both have integers")
    else:
        differ = numbers != stated
        reason = f"{_listed(numbers)} {'against' if differ else 'on both sides, as'} "
        yield Step("numeric-conflict", differ, reason + _listed(stated))

    shared = len(words & others)
    reason = f"{shared} shared of {len(words)} and of {_count(others, 'word')}; 3 of 5 are needed"
    if shared and 5 * shared >= 3 * len(words) and 5 * shared >= 3 * len(others):
        yield Step("overlap-accept", True, reason)
    else:
        yield Step("overlap-accept", False, reason)
        yield Step("overlap-reject", True, "no rule accepts")


def _numbers(tokens: list[str]) -> tuple[str, ...]:
    values = {token.lstrip("0") or "0" for token in tokens if token.isdecimal()}
    return tuple(sorted(values, key=_order))


def _range(tokens: list[str]) -> tuple[str, str] | None:
    start = None
    for place, token in enumerate(tokens):
        if not token.isdecimal():
            continue
        if start is None and tokens[max(0, place - 2) : place] == ["ranging", "from"]:
            start = token
        elif start is not None and tokens[place - 1] == "to":
            return start, token
    return None


def _order(digits: str) -> tuple[int, str]:
    significant = digits.lstrip("0")
    return len(significant), significant


def _count(items: list[str] | set[str], noun: str) -> str:
    return f"{len(items) or 'no'} {noun}{'' if len(items) == 1 else 's'}"


def _cut(token: str) -> str:
    if len(token) <= _SHOWN_CHARACTERS:
        return token
    return f"{token[: _SHOWN_CHARACTERS - 3]}... ({len(token)} characters)"


def _listed(tokens: Iterable[str]) -> str:
    tokens = list(tokens)
    shown = " ".join(map(_cut, tokens[:_SHOWN_TOKENS]))
    more = len(tokens) - _SHOWN_TOKENS
    return f"{shown} ... ({more} more)" if more > 0 else shown or "none"
