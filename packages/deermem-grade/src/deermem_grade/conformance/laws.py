"""What holds of every pair of texts, whatever they are, as hypothesis properties.

A law needs no second grader: it says what must come out of a pair because of how the pair was made,
or that two pairs made from the same tokens must come out the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from deermem_grade.conformance import _law_cases as cases
from deermem_grade.conformance.outcome import Failure, agree, is_grade, observe
from deermem_grade.conformance.search import find_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hypothesis.strategies import SearchStrategy

    from deermem_grade.conformance._law_cases import Case


@dataclass(frozen=True, slots=True)
class Law:
    """A law: its name, what it says, and cases of it.

    A case is (prediction, reference, expected), where `expected` is the outcome in the words of
    ``observe``, an empty string for any outcome that is a grade, or another pair: the same outcome.
    """

    name: str
    statement: str
    cases: SearchStrategy[Case]

    def broken_by(self, grade: Callable[[Any, Any], Any], case: Case) -> Failure | None:
        """Return how `grade` breaks the law in this case, or None."""
        prediction, reference, expected = case
        found = observe(grade, prediction, reference)
        if isinstance(expected, tuple):
            expected = observe(grade, *expected)
        if agree(expected, found) or (not expected and is_grade(found)):
            return None
        named = f"law {self.name}: {self.statement}"
        return Failure(named, prediction, reference, expected or "a grade", found)


LAWS = (
    Law("totality", "any two strings get a grade, or the reference has no token", cases.any_pair()),
    Law("type", "what is not a string is refused", cases.not_strings()),
    Law("refusal", "a reference without a token is refused", cases.without_reference()),
    Law("silence", "a prediction without a token is not correct", cases.without_prediction()),
    Law("abstention", "the one token insufficient is not correct", cases.insufficient()),
    Law("identity", "the same tokens are exact", cases.same_tokens()),
    Law("containment", "tokens with more around them are a substring", cases.containing()),
    Law("writing", "case and separators do not matter", cases.rewritten()),
    Law("case", "upper and lower case do not matter", cases.case_swapped()),
    Law("number words", "they are the digits they stand for", cases.number_words()),
    Law("symmetry", "without a range or abstention, sides do not matter", cases.swapped()),
    Law("repetition", "the same pair has the same grade", cases.twice()),
    Law("conflict", "integers of different values are a conflict", cases.conflicting()),
    Law("inside", "integers in the stated range, ends included, are correct", cases.in_range()),
    Law("outside", "an integer just outside the stated range is a conflict", cases.out_of_range()),
    Law("overlap", "3 of 5 words shared both ways are correct, fewer are not", cases.overlap()),
)


def check_laws(
    grade: Callable[[str, str], Any], examples: int = 200, laws: Sequence[Law] = LAWS
) -> list[Failure]:
    """Return for each law that `grade` breaks within `examples` cases the smallest pair found."""
    found = (find_failure(law.cases, partial(law.broken_by, grade), examples) for law in laws)
    return [failure for failure in found if failure]
