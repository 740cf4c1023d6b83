"""What a grader made of a pair, and how that is reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deermem_grade.deterministic_overlap_v1 import RULES

if TYPE_CHECKING:
    from collections.abc import Callable

_VERDICTS = {rule: correct for rule, correct, _ in RULES}
_ERRORS = {"empty-reference": "raised ValueError", "not-a-string": "raised TypeError"}
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Failure:
    """A pair on which a grader is wrong: the check that found it, what was expected, what found."""

    check: str
    prediction: Any
    reference: Any
    expected: str
    found: str

    @property
    def size(self) -> int:
        """The length of both texts together, in characters."""
        return sum(
            len(text) for text in (self.prediction, self.reference) if hasattr(text, "__len__")
        )

    def __str__(self) -> str:
        return (
            f"{self.check}\n"
            f"  prediction {_shown(self.prediction)}\n"
            f"  reference  {_shown(self.reference)}\n"
            f"  expected   {self.expected}\n"
            f"  found      {self.found}"
        )


def observe(grade: Callable[[Any, Any], Any], prediction: Any, reference: Any) -> str:
    """Return what `grade` makes of a pair, in words: ``correct, exact`` or ``raised ...: ...``.

    `grade` returns an object with ``correct`` and ``rule``, or these two as a pair. Anything else
    that it returns or raises, also a rule that does not go with its verdict, is told as it is.
    """
    try:
        found = grade(prediction, reference)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - also an exit, which would end the check
        return f"raised {_kind(error)}: {error}"
    try:
        correct, rule = (found.correct, found.rule) if hasattr(found, "rule") else found
    except Exception:  # noqa: BLE001 - a property or an iterator may raise anything
        return f"returned {found!r}: neither a pair nor with .correct and .rule"
    if not isinstance(rule, str) or rule not in _VERDICTS:
        return f"returned the rule {rule!r}: there is none of that name"
    if correct is not _VERDICTS[rule]:
        return f"returned {correct!r} with the rule {rule}: they do not go together"
    return of_rule(rule)


def of_rule(rule: str) -> str:
    """Return the words of ``observe`` for a grade by `rule`."""
    return f"{'correct' if _VERDICTS[rule] else 'not correct'}, {rule}"


def of_error(error: str) -> str:
    """Return how ``observe`` begins for a refusal, by the name of the error in the vectors."""
    return _ERRORS[error]


def agree(expected: str, found: str) -> bool:
    """Say whether two outcomes in the words of ``observe`` are the same; messages do not matter."""
    if not found.startswith("raised "):
        return expected == found
    return expected.partition(":")[0] == found.partition(":")[0]


def is_grade(found: str) -> bool:
    """Say whether an outcome in the words of ``observe`` is a grade, not an error."""
    return found in map(of_rule, _VERDICTS)


def smallest(failures: list[Failure]) -> Failure:
    """Return the failure with the shortest pair."""
    return min(failures, key=lambda failure: failure.size)


def _shown(text: Any) -> str:
    shown = ascii(text)
    if len(shown) <= _SHOWN:
        return shown
    return f"{shown[:_SHOWN]}... ({len(text)} characters)"


def _kind(error: BaseException) -> str:
    # A Unicode error is a ValueError too, but no grader may fail on what a text holds.
    if isinstance(error, ValueError) and not isinstance(error, UnicodeError):
        return "ValueError"
    return type(error).__name__
