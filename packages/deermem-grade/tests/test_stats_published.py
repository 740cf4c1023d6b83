"""The published statistics, recomputed from the published rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deermem_grade.stats import by_suite, exact_mcnemar, paired_bootstrap_difference

if TYPE_CHECKING:
    from pathlib import Path


def test_published_statistics_come_out_byte_for_byte(upstream_path: Path) -> None:
    """From `qa.rows.jsonl` to `qa.stats.json`: three suites, floats to the last bit."""
    results = upstream_path / "results" / "pr4789-reproduction-v1"
    published = (results / "qa.stats.json").read_text(encoding="utf-8")
    policies = json.loads(published)["policies"]
    grades: dict[tuple[str, str], dict[str, bool]] = {}
    for line in (results / "qa.rows.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        case = grades.setdefault((row["source"], row["case_id"]), {})
        case[row["policy"]] = row["grade_correct"]
    first, second = policies
    suites = by_suite((*case, grade[first], grade[second]) for case, grade in grades.items())

    recomputed: dict[str, Any] = {}
    for name, suite in suites.items():
        test = exact_mcnemar(suite.pairs)
        bootstrap = paired_bootstrap_difference(
            suite.pairs, seed=4789, iterations=10_000, alpha=0.05
        )
        recomputed[name] = {
            "cases": len(suite.case_ids),
            "mcnemar": {
                key: getattr(test, key)
                for key in (
                    "both_correct",
                    "both_wrong",
                    "only_first_correct",
                    "only_second_correct",
                    "p_value",
                )
            },
            "bootstrap": {
                key: getattr(bootstrap, key)
                for key in ("alpha", "iterations", "lower", "mean_difference", "seed", "upper")
            },
        }
    document = {**json.loads(published), "suites": recomputed}
    assert published == json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
