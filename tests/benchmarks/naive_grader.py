"""The grader written straight from its table of rules, with no thought of speed: the yardstick.

It shares no code with the distribution. Regex split, list slices, one regex search; quadratic where
those are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

NUMBERS = {
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "fifteen": "15",
}
STOPWORDS = set(
    re.findall(
        "[a-z]+",
        """
        a about above after again against all also although am an and any are at be because been
        before being below between both but by can could did do does doing down during each few for
        from further had has have having he her here hers him his how i if in into is it its just
        may me might mine more most must my nor of off on once only or other our ours out over own
        same shall she should so some such than that the their theirs them then there these they
        this those though through to too under until up us very was we were what when where whether
        which while who whom whose why will with would yet you your yours
        """,
    )
)
RANGE = re.compile(r"\branging from (\d+)(?:\s\S+)*?\sto (\d+)\b")


class NaiveGrade(NamedTuple):
    """What the naive grader says of one pair."""

    correct: bool
    rule: str


def value(digits: str) -> int:
    """Return a whole number that orders digit strings as their values do.

    Base 16 instead of 10: the same order and equality, without Python's limit on decimal digits.
    """
    return int(digits, 16)


def normalize(text: str) -> list[str]:
    """Lower-case, split at what is not 0-9a-z, map the number words."""
    return [NUMBERS.get(token, token) for token in re.split("[^0-9a-z]+", text.lower()) if token]


def contains(longer: list[str], shorter: list[str]) -> bool:
    """Say whether `shorter` stands in `longer`, by comparing every slice."""
    width = len(shorter)
    return any(longer[start : start + width] == shorter for start in range(len(longer) - width + 1))


def integers(tokens: list[str]) -> set[int]:
    """Return the values of the tokens made of digits only."""
    return {value(token) for token in tokens if token.isdigit()}


def grade_answer(prediction: str, reference: str) -> NaiveGrade:
    """Grade one pair, rule by rule in the order of the table."""
    if not isinstance(prediction, str) or not isinstance(reference, str):
        raise TypeError("not a string")
    predicted, expected = normalize(prediction), normalize(reference)
    if not expected:
        raise ValueError("no token in the reference")
    if not predicted:
        return NaiveGrade(False, "empty-prediction")
    if predicted == ["insufficient"]:
        return NaiveGrade(False, "insufficient")
    if predicted == expected:
        return NaiveGrade(True, "exact")
    if contains(predicted, expected) or contains(expected, predicted):
        return NaiveGrade(True, "substring")
    found = integers(predicted)
    match = RANGE.search(" ".join(expected))
    if match and found:
        low, high = sorted(value(bound) for bound in match.groups())
        if all(low <= number <= high for number in found):
            return NaiveGrade(True, "numeric-range")
    stated = integers(expected)
    if found and stated and found != stated:
        return NaiveGrade(False, "numeric-conflict")
    ours, theirs = set(predicted) - STOPWORDS, set(expected) - STOPWORDS
    if not ours or not theirs:
        return NaiveGrade(False, "overlap-reject")
    shared = len(ours & theirs)
    if shared / len(ours) >= 0.6 and shared / len(theirs) >= 0.6:
        return NaiveGrade(True, "overlap-accept")
    return NaiveGrade(False, "overlap-reject")
