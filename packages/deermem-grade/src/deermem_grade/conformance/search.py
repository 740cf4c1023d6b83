"""Searching for the smallest pair on which a grader is wrong, with hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Flaky

from deermem_grade.conformance.outcome import smallest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from deermem_grade.conformance.outcome import Failure

T = TypeVar("T")


class _FoundError(Exception):
    pass


def find_failure(
    strategy: SearchStrategy[T],
    check: Callable[[T], Failure | None],
    examples: int,
    *,
    shrink: bool = True,
) -> Failure | None:
    """Return a failure among `examples` examples, the smallest that it shrinks to, or None.

    The examples depend on neither chance nor earlier runs: they are the same wherever the same code
    is loaded, for hypothesis also tries constants that it finds in it.
    """
    failures: list[Failure] = []

    @settings(
        database=None,
        deadline=None,
        derandomize=True,
        max_examples=examples,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def look(example: T) -> None:
        failure = check(example)
        if failure is not None:
            failures.append(failure)
            raise _FoundError

    try:
        look()
    except (_FoundError, Flaky):
        return smallest(failures)
    return None
