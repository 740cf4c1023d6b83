"""The whole kit: golden vectors, laws and the differential check, and what they found."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deermem_grade.conformance.golden import check_vectors, load_vectors
from deermem_grade.conformance.outcome import Failure, smallest

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_EXAMPLES = 100


@dataclass(frozen=True, slots=True)
class Report:
    """What one check found: its name, how many cases it has, and the failures."""

    name: str
    cases: str
    failures: tuple[Failure, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.failures

    def __str__(self) -> str:
        if self.passed:
            return f"passed  {self.name}: {self.cases}"
        return f"FAILED  {self.name}: {self.cases}, failures: {len(self.failures)}"


def check_golden(grade: Callable[[str, str], Any], examples: int = DEFAULT_EXAMPLES) -> Report:
    """Check `grade` on every golden vector. `examples` is not used; the others have it."""
    del examples
    vectors = load_vectors()
    failures = check_vectors(grade, vectors)
    return Report("golden vectors", f"{len(vectors)} pairs", tuple(failures))


def check_every_law(grade: Callable[[str, str], Any], examples: int = DEFAULT_EXAMPLES) -> Report:
    """Check `grade` on `examples` random cases of every law."""
    laws = _with_hypothesis("laws")
    failures = laws.check_laws(grade, examples)
    return Report("laws", f"{len(laws.LAWS)} laws, {examples} cases each", tuple(failures))


def check_against_frozen(
    grade: Callable[[str, str], Any], examples: int = DEFAULT_EXAMPLES
) -> Report:
    """Compare `grade` with the frozen grader on ten times `examples` random pairs."""
    pairs = 10 * examples
    failures = _with_hypothesis("differential").check_differential(grade, pairs)
    return Report("differential check", f"{pairs} random pairs", tuple(failures))


CHECKS = {
    "golden": check_golden,
    "laws": check_every_law,
    "differential": check_against_frozen,
}


def check_grader(
    grade: Callable[[str, str], Any], examples: int = DEFAULT_EXAMPLES
) -> list[Report]:
    """Run the three checks on `grade`, which takes a prediction and a reference.

    It returns an object with ``correct`` and ``rule``, or these two as a pair. Raises
    ``ImportError`` where hypothesis is missing.
    """
    return [check(grade, examples) for check in CHECKS.values()]


def smallest_failure(reports: list[Report]) -> Failure | None:
    """Return the failure with the shortest pair of all reports, or None."""
    failures = [failure for report in reports for failure in report.failures]
    return smallest(failures) if failures else None


def load_grader(name: str) -> Callable[[str, str], Any]:
    """Return the function that ``MODULE:FUNCTION`` names.

    Raises ``ValueError`` if the name is not of that form, the module cannot be imported, or it has
    no such function.
    """
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise ValueError(f"no grader {name!r}: expected MODULE:FUNCTION")
    try:
        found: Any = import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"no grader {name!r}: {error}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - also an exit: a script may end as it is imported
        raised = f"{type(error).__name__}: {error}"
        raise ValueError(f"no grader {name!r}: its import raised {raised}") from None
    if not callable(found):
        raise ValueError(f"no grader {name!r}: {type(found).__name__} is not callable")
    return found  # type: ignore[no-any-return]


def _with_hypothesis(module: str) -> Any:
    try:
        return import_module(f"deermem_grade.conformance.{module}")
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        remedy = "pip install 'deermem-grade[conformance]'"
        raise ImportError(f"the {module} check needs hypothesis: {remedy}") from None
