"""`deermem selector`: which selector is bound, and whether it decides as the reference does."""

from __future__ import annotations

import argparse
from typing import Any

from deermem_select import CheckReport, Selector, check_selector

from ..inputs import read_protocol, read_selector
from ..parser import EXIT_DONE, EXIT_NO
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Show or check the selector that the options bind."""
    selector = read_selector(arguments, read_protocol(arguments))
    if arguments.action == "show":
        return _show(selector, terminal)
    return _check(selector, arguments, terminal)


def _show(selector: Selector, terminal: Terminal) -> int:
    row = selector.provenance.to_row()
    shown = {True: "yes", False: "no", None: "not in a git checkout"}
    lines = [
        f"{key:<8} {shown[value] if value is None or isinstance(value, bool) else value}"
        for key, value in row.items()
    ]
    terminal.result(row, *lines)
    return EXIT_DONE


def _check(selector: Selector, arguments: argparse.Namespace, terminal: Terminal) -> int:
    report = check_selector(
        selector, seed=arguments.seed, pools=arguments.pools, overflow=arguments.overflow
    )
    terminal.result(_check_document(report), *_check_lines(report))
    return EXIT_DONE if report.agrees else EXIT_NO


def _check_lines(report: CheckReport) -> list[str]:
    compared = f"{report.pools} generated pools (seed {report.seed})"
    if report.smallest is None:
        return [f"{report.selector}: decides as the reference does on all of {compared}"]
    pool = report.smallest.pool
    return [
        f"{report.selector}: differs from the reference on {report.differing} of {compared}",
        "the smallest pool that differs:",
        *(f"  fact      {fact!r}" for fact in pool.facts),
        *(f"  {name} = {value!r}" for name, value in pool.arguments.items()),
        "where it differs:",
        *(f"  {line}" for line in report.smallest.lines),
    ]


def _check_document(report: CheckReport) -> dict[str, Any]:
    document: dict[str, Any] = {
        "selector": report.selector,
        "seed": report.seed,
        "pools": report.pools,
        "overflow": report.overflow,
        "differing": report.differing,
        "smallest": None,
    }
    if report.smallest is not None:
        # Pools hold values JSON has no word for (NaN, dates), so each is given as Python text.
        pool = report.smallest.pool
        document["smallest"] = {
            "facts": [repr(fact) for fact in pool.facts],
            "arguments": {name: repr(value) for name, value in pool.arguments.items()},
            "differences": list(report.smallest.lines),
        }
    return document
