"""Proof that a grader gives every verdict of ``deterministic-overlap-v1``.

Three checks: golden vectors (a file that any language can read), laws (properties), and a
comparison with the frozen grader on random pairs. As a command, with MODULE:FUNCTION naming the
grader: ``python -m deermem_grade.conformance MODULE:FUNCTION``; in pytest:
``pytest --deermem-grader MODULE:FUNCTION``.
"""

from __future__ import annotations

from deermem_grade.conformance.golden import Vector, check_vectors, expand, load_vectors
from deermem_grade.conformance.kit import Report, check_grader, load_grader, smallest_failure
from deermem_grade.conformance.outcome import Failure

__all__ = [
    "Failure",
    "Report",
    "Vector",
    "check_grader",
    "check_vectors",
    "expand",
    "load_grader",
    "load_vectors",
    "smallest_failure",
]
