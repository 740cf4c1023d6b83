"""The golden vectors: pairs and their verdicts, in a file that any language can read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from deermem_grade.conformance.outcome import Failure, agree, observe, of_error, of_rule

if TYPE_CHECKING:
    from collections.abc import Callable

_FOLDER = "vectors"


@dataclass(frozen=True, slots=True)
class Vector:
    """One golden pair: texts, ``rule`` or ``error`` (the other is None), and why.

    The texts are strings, long ones written out; anything else where ``error`` is ``not-a-string``.
    """

    id: str
    prediction: Any
    reference: Any
    rule: str | None
    error: str | None
    pins: str
    why: str

    @property
    def expected(self) -> str:
        """What must come out, in the words of ``observe``."""
        return of_rule(self.rule) if self.rule else of_error(str(self.error))


def load_vectors(version: str = "deterministic-overlap-v1") -> list[Vector]:
    """Return the golden vectors of the grader of that version, in the order of the file."""
    path = files("deermem_grade.conformance") / _FOLDER / f"{version}.jsonl"
    return [_vector(json.loads(line)) for line in path.read_text("ascii").splitlines()]


def check_vectors(
    grade: Callable[[str, str], Any], vectors: list[Vector] | None = None
) -> list[Failure]:
    """Return a failure for each golden vector (by default all) that `grade` decides otherwise."""
    failures = []
    for vector in load_vectors() if vectors is None else vectors:
        found = observe(grade, vector.prediction, vector.reference)
        if not agree(vector.expected, found):
            check = f"golden vector {vector.id} ({vector.pins}: {vector.why})"
            failures.append(
                Failure(check, vector.prediction, vector.reference, vector.expected, found)
            )
    return failures


def expand(text: Any) -> Any:
    """Return the text that `text` describes; what is no description as it is.

    ``{"repeat": [text, n]}``, ``{"concat": [text, ...]}``, ``{"sequence": [prefix, first, last]}``.
    """
    match text:
        case {"repeat": [part, times]}:
            return expand(part) * times
        case {"concat": [*parts]}:
            return "".join(map(expand, parts))
        case {"sequence": [prefix, first, last]}:
            return " ".join(f"{prefix}{number}" for number in range(first, last + 1))
        case dict():
            raise ValueError(f"no text: {text!r}; expected repeat, concat or sequence")
    return text


def _vector(line: dict[str, Any]) -> Vector:
    return Vector(
        id=line["id"],
        prediction=expand(line["prediction"]),
        reference=expand(line["reference"]),
        rule=line.get("rule"),
        error=line.get("error"),
        pins=line["pins"],
        why=line["why"],
    )
