"""``python -m deermem_grade.conformance MODULE:FUNCTION``: the kit as a command.

Exit status: 0 the grader conforms, 1 it does not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deermem_grade import get_grader
from deermem_grade.conformance.kit import (
    CHECKS,
    DEFAULT_EXAMPLES,
    load_grader,
    smallest_failure,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the kit and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m deermem_grade.conformance",
        description="Check that a grader gives every verdict of deterministic-overlap-v1.",
    )
    parser.add_argument("grader", metavar="MODULE:FUNCTION", help="the function to check")
    parser.add_argument(
        "--check",
        action="append",
        choices=sorted(CHECKS),
        help="run only this one of the three checks (may be repeated)",
    )
    parser.add_argument(
        "--examples",
        type=int,
        default=DEFAULT_EXAMPLES,
        metavar="N",
        help="cases for each law, and a tenth of the random pairs (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    if options.examples < 1:
        parser.error(f"--examples is {options.examples}: expected 1 or more")
    sys.path.insert(0, str(Path.cwd()))
    reports = []
    try:
        grade = load_grader(options.grader)
        _say(f"{options.grader} against {get_grader().identity}")
        for name, check in CHECKS.items():
            if not options.check or name in options.check:
                reports.append(check(grade, options.examples))
                _say(str(reports[-1]))
    except (ImportError, ValueError) as error:
        parser.error(str(error))
    failure = smallest_failure(reports)
    if failure is None:
        return 0
    _say(f"\nThe smallest pair of all that fail:\n{failure}")
    return 1


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
