"""A pytest plugin: ``pytest --deermem-grader MODULE:FUNCTION`` adds the kit's checks as tests.

Without the option it does nothing, and the kit is not imported.
"""

from __future__ import annotations

import argparse
from typing import Any

import pytest

_NAMES = ("golden", "laws", "differential")


class ConformanceError(Exception):
    """A check that failed; the message names the smallest pair."""


class ConformanceItem(pytest.Item):
    """One check of the kit, as a test."""

    def __init__(self, *, check: str, **options: Any) -> None:
        super().__init__(**options)
        self.check = check
        self.grader: str = self.config.getoption("deermem_grader")
        self.examples: int = self.config.getoption("deermem_examples")

    def runtest(self) -> None:
        """Run the check; raise ``ConformanceError`` if the grader fails it."""
        from deermem_grade.conformance import kit  # noqa: PLC0415 - only where the option is given

        report = kit.CHECKS[self.check](kit.load_grader(self.grader), self.examples)
        failure = kit.smallest_failure([report])
        if failure is not None:
            raise ConformanceError(f"{report}\nThe smallest pair that fails:\n{failure}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the message alone: the kit's own frames help nobody."""
        if isinstance(excinfo.value, (ConformanceError, ImportError, ValueError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        """Name the test in reports."""
        return self.grader, None, self.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--deermem-grader`` and ``--deermem-examples``."""
    group = parser.getgroup("deermem")
    group.addoption(
        "--deermem-grader",
        metavar="MODULE:FUNCTION",
        help="check that this grader gives every verdict of deterministic-overlap-v1",
    )
    group.addoption(
        "--deermem-examples",
        metavar="N",
        type=_one_or_more,
        default=100,
        help="cases for each law, and a tenth of the random pairs (default: 100)",
    )


def _one_or_more(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected 1 or more")
    return number


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the checks to the tests, before options such as -k choose among them."""
    if config.getoption("deermem_grader"):
        items.extend(
            ConformanceItem.from_parent(session, name=f"conformance[{name}]", check=name)
            for name in _NAMES
        )
