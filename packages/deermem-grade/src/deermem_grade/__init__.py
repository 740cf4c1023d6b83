"""The frozen grader ``deterministic-overlap-v1``: two strings in, a verdict and its rule out.

``deermem_grade.conformance`` proves that a grader gives every frozen verdict;
``deermem_grade.stats`` compares two sets of verdicts.
"""

from __future__ import annotations

from deermem_grade.batch import grade_many, try_grade_many
from deermem_grade.deterministic_overlap_v1 import (
    GRADER_VERSION,
    Grade,
    grade_answer,
    normalize_answer,
)
from deermem_grade.graders import Grader, get_grader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from deermem_grade.explanation import Explanation, Step, explain

__version__ = "0.1.0"

__all__ = [
    "GRADER_VERSION",
    "Explanation",
    "Grade",
    "Grader",
    "Step",
    "explain",
    "get_grader",
    "grade_answer",
    "grade_many",
    "normalize_answer",
    "try_grade_many",
]


def __getattr__(name: str) -> object:
    """Load what explains a verdict only when it is asked for: it would treble the import's cost."""
    if name in {"Explanation", "Step", "explain"}:
        from deermem_grade import explanation  # noqa: PLC0415

        return getattr(explanation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
