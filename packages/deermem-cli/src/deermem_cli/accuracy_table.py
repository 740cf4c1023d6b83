"""The accuracy tables: what the graded answers say, per suite and pair of policies."""

from __future__ import annotations

from typing import Any

from .table import Table

SUITES = ("official", "synthetic", "overall")


def accuracy_tables(analysis: dict[str, Any]) -> list[Table]:
    """Return one table for each pair of policies, from `qa.analysis.json`."""
    return [_table(pair) for pair in analysis["pairs"]]


def one_policy_table(summary: dict[str, Any]) -> Table:
    """Return the table where there is nothing to compare, from `qa.summary.json`."""
    rows = tuple(
        (group["scenario"], group["cases"], group["policy"], _share(group))
        for group in summary["groups"]
    )
    columns = ("scenario", "cases", "policy", "correct")
    return Table(title="Accuracy of the answers", columns=columns, rows=rows)


def _table(pair: dict[str, Any]) -> Table:
    first, second = pair["policies"]
    rows = []
    for suite in SUITES:
        if suite not in pair["suites"]:
            continue
        found = pair["suites"][suite]
        exact, difference = found["mcnemar"], found["difference"]
        rows.append(
            (
                suite,
                found["cases"],
                _share(found["first"]),
                _share(found["second"]),
                f"{difference['difference']:+.3f}",
                f"{difference['lower']:+.3f} to {difference['upper']:+.3f}",
                f"{exact['only_first_correct']} / {exact['only_second_correct']}",
                f"{exact['p_value']:.4f}",
                f"{found['midp_mcnemar']['p_value']:.4f}",
            )
        )
    level = 1 - next(iter(pair["suites"].values()))["difference"]["alpha"]
    return Table(
        title=f"Accuracy of the answers: {second} against {first} ({level:.0%} intervals)",
        columns=(
            "suite",
            "cases",
            first,
            second,
            "difference",
            "interval",
            "only one right",
            "exact p",
            "mid p",
        ),
        rows=tuple(rows),
    )


def _share(accuracy: dict[str, Any]) -> str:
    return f"{accuracy['correct']} ({accuracy['accuracy']:.3f})"
