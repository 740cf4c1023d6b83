"""The graders by version, and what identifies each."""

from __future__ import annotations

from deermem_grade import deterministic_overlap_v1 as _v1
from deermem_grade.batch import grade_many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any


class Grader:
    """A frozen grader: its functions, and the data that define it.

    ``version`` (str), ``grade_answer``, ``grade_many`` and ``normalize_answer`` are as in the
    package; ``definition`` maps names to the tables (rules, stopwords, ...) the digest covers.
    """

    __slots__ = ("definition", "grade_answer", "grade_many", "normalize_answer", "version")

    def __init__(
        self,
        version: str,
        grade_answer: Callable[[str, str], _v1.Grade],
        grade_many: Callable[..., Iterator[Any]],
        normalize_answer: Callable[[str], list[str]],
        definition: Mapping[str, object],
    ) -> None:
        self.version = version
        self.grade_answer = grade_answer
        self.grade_many = grade_many
        self.normalize_answer = normalize_answer
        self.definition = definition

    def __repr__(self) -> str:
        return f"<Grader {self.version}>"

    @property
    def digest(self) -> str:
        """The first 12 hex digits of the SHA-256 of ``definition`` as JSON (sorted keys, UTF-8)."""
        import hashlib  # noqa: PLC0415 - rarely needed, and would double the cost of the import
        import json  # noqa: PLC0415

        document = json.dumps(self.definition, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(document.encode()).hexdigest()[:12]

    @property
    def identity(self) -> str:
        """What to print beside every score: version and digest, ``NAME@0123456789ab``."""
        return f"{self.version}@{self.digest}"


def get_grader(version: str = _v1.GRADER_VERSION) -> Grader:
    """Return the grader of that version. Raises ``ValueError`` if there is none."""
    try:
        return _GRADERS[version]
    except KeyError:
        known = ", ".join(_GRADERS)
        raise ValueError(f"no grader {version!r}: expected one of {known}") from None


_GRADERS = {
    _v1.GRADER_VERSION: Grader(
        version=_v1.GRADER_VERSION,
        grade_answer=_v1.grade_answer,
        grade_many=grade_many,
        normalize_answer=_v1.normalize_answer,
        definition={
            "version": _v1.GRADER_VERSION,
            "normalization": _v1.NORMALIZATION,
            "number_words": _v1.NUMBER_WORDS,
            "rules": _v1.RULES,
            "stopwords": sorted(_v1.STOPWORDS),
        },
    ),
}
