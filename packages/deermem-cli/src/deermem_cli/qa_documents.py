"""The published QA documents, each a function of the graded rows and the run's settings alone.

`qa.summary.json` and `qa.stats.json` have the published formats. `qa.stats.json` compares two
policies; with more of them it holds one such comparison for each pair, in the protocol's order,
under `pairs` and schema version 2, and with one policy there is none. `qa.analysis.json` always
holds a list of pairs.

Grading writes these documents and verification makes them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from attrs import frozen

from deermem_data import json_bytes, jsonl_bytes
from deermem_grade.stats import (
    analyse_pairs,
    analyse_scenarios,
    by_suite,
    exact_mcnemar,
    paired_bootstrap_difference,
    paired_difference_interval,
)
from deermem_qa import GradedRow

SUMMARY_FILE = "qa.summary.json"
STATS_FILE = "qa.stats.json"
ANALYSIS_FILE = "qa.analysis.json"

#: The power that the smallest detectable differences are for (design: statistics).
POWER = 0.8

#: The rules that a stricter grader accepts (design: statistics).
STRICT_RULES = ("exact", "substring")

# The solvers' own precision is 1e-9 or better.
_SOLVED_DIGITS = 9

_SUITES = {"longmemeval": "official", "synthetic": "synthetic"}
_ABSTAINED = {"insufficient", "empty-prediction"}


@frozen
class QASettings:
    """What the documents take from the protocol.

    Attributes:
        policies: in the protocol's order; a difference is the later one's accuracy minus the
            earlier one's.
        alpha: 1 minus the confidence level of every interval, and the level of the test.
        seed: of the bootstrap.
        iterations: resamples of the bootstrap.
    """

    protocol_id: str
    grader_version: str
    qa_capacity: int
    policies: tuple[str, ...]
    alpha: float
    seed: int
    iterations: int


def qa_documents(
    rows: Sequence[GradedRow], settings: QASettings, truncated: frozenset[str]
) -> dict[str, dict[str, Any]]:
    """Return the documents by file name.

    Args:
        rows: the graded rows, one of each case under each policy, sorted by row id.
        truncated: ids of the rows whose answers were cut off at the length limit.
    """
    documents = {SUMMARY_FILE: summary_document(rows, settings)}
    if len(settings.policies) > 1:
        documents[STATS_FILE] = stats_document(rows, settings)
    documents[ANALYSIS_FILE] = analysis_document(rows, settings, truncated)
    return documents


def rows_bytes(rows: Iterable[GradedRow]) -> bytes:
    """The bytes of `qa.rows.jsonl`."""
    return jsonl_bytes(row.to_document() for row in rows)


def document_bytes(document: dict[str, Any]) -> bytes:
    """The bytes of a document's file."""
    return json_bytes(document)


def summary_document(rows: Iterable[GradedRow], settings: QASettings) -> dict[str, Any]:
    """`qa.summary.json`: accuracy by source, scenario and policy."""
    grades: dict[tuple[str, str, str], list[bool]] = {}
    for row in rows:
        key = (row.source, row.scenario, row.policy)
        grades.setdefault(key, []).append(row.grade_correct)
    return {
        "schema_version": 1,
        "protocol_id": settings.protocol_id,
        "grader_version": settings.grader_version,
        "qa_capacity": settings.qa_capacity,
        "groups": [
            {
                "source": source,
                "scenario": scenario,
                "policy": policy,
                "cases": len(graded),
                "correct": sum(graded),
                "accuracy": sum(graded) / len(graded),
            }
            for (source, scenario, policy), graded in sorted(grades.items())
        ],
    }


def stats_document(rows: Sequence[GradedRow], settings: QASettings) -> dict[str, Any]:
    """`qa.stats.json`: exact McNemar and the pinned bootstrap for each suite."""
    common = {
        "protocol_id": settings.protocol_id,
        "grader_version": settings.grader_version,
    }
    compared = [_pair_stats(pair, settings) for pair in _pairs(rows, settings)]
    if len(settings.policies) == 2:
        return {"schema_version": 1, **common, **compared[0]}
    return {"schema_version": 2, **common, "pairs": compared}


def analysis_document(
    rows: Sequence[GradedRow], settings: QASettings, truncated: frozenset[str]
) -> dict[str, Any]:
    """`qa.analysis.json`: what the published formats do not say (design: statistics)."""
    return {
        "schema_version": 1,
        "protocol_id": settings.protocol_id,
        "grader_version": settings.grader_version,
        "settings": {
            "alpha": settings.alpha,
            "bootstrap_iterations": settings.iterations,
            "bootstrap_seed": settings.seed,
            "power": POWER,
        },
        "policies": list(settings.policies),
        "answers": _answer_counts(rows, settings, truncated),
        "pairs": [_pair_analysis(pair, settings) for pair in _pairs(rows, settings)],
    }


@frozen
class _Pair:
    """Two policies, and each case's two rows, sorted by case id."""

    policies: tuple[str, str]
    cases: tuple[tuple[GradedRow, GradedRow], ...]

    def outcomes(self, *, strict: bool = False) -> list[tuple[str, str, bool, bool]]:
        """Source, case id and both grades of each case."""
        return [
            (first.source, first.case_id, _correct(first, strict), _correct(second, strict))
            for first, second in self.cases
        ]


def _pairs(rows: Iterable[GradedRow], settings: QASettings) -> list[_Pair]:
    by_policy: dict[str, dict[str, GradedRow]] = {policy: {} for policy in settings.policies}
    for row in rows:
        by_policy[row.policy][row.case_id] = row
    return [
        _Pair(
            (first, second),
            tuple(
                (by_policy[first][case_id], by_policy[second][case_id])
                for case_id in sorted(by_policy[first])
            ),
        )
        for first, second in combinations(settings.policies, 2)
    ]


def _correct(row: GradedRow, strict: bool) -> bool:
    return row.grade_correct and (not strict or row.grade_rule in STRICT_RULES)


def _bootstrap(settings: QASettings) -> dict[str, Any]:
    return {"seed": settings.seed, "iterations": settings.iterations, "alpha": settings.alpha}


def _pair_stats(pair: _Pair, settings: QASettings) -> dict[str, Any]:
    suites = {}
    for name, suite in by_suite(pair.outcomes()).items():
        mcnemar = asdict(exact_mcnemar(suite.pairs))
        del mcnemar["method"]
        bootstrap = asdict(paired_bootstrap_difference(suite.pairs, **_bootstrap(settings)))
        cases = bootstrap.pop("cases")
        suites[name] = {"cases": cases, "mcnemar": mcnemar, "bootstrap": bootstrap}
    return {"policies": list(pair.policies), "suites": suites}


def _pair_analysis(pair: _Pair, settings: QASettings) -> dict[str, Any]:
    suites = by_suite(pair.outcomes())
    options = {**_bootstrap(settings), "power": POWER}
    return {
        "policies": list(pair.policies),
        "suites": {
            name: _portable(analyse_pairs(suite.pairs, **options)) for name, suite in suites.items()
        },
        "scenarios": _scenario_analyses(pair, options),
        "discordant": [
            _discordant(first, second)
            for first, second in pair.cases
            if first.grade_correct != second.grade_correct
        ],
        "stricter_grader": _stricter(pair, settings),
    }


def _scenario_analyses(pair: _Pair, options: dict[str, Any]) -> list[dict[str, Any]]:
    outcomes: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for first, second in pair.cases:
        key = (first.source, first.scenario)
        outcomes.setdefault(key, []).append((first.grade_correct, second.grade_correct))
    ordered = sorted(outcomes)
    analyses = analyse_scenarios({"/".join(key): outcomes[key] for key in ordered}, **options)
    return [
        {"source": source, "scenario": scenario, **_portable(analyses[f"{source}/{scenario}"])}
        for source, scenario in ordered
    ]


def _portable(analysis: dict[str, Any]) -> dict[str, Any]:
    """The analysis with what a solver found cut to the digits that every machine agrees on."""
    detectable = analysis["smallest_detectable_difference"]
    return {
        **analysis,
        "difference": _rounded(analysis["difference"]),
        "smallest_detectable_difference": {
            # None: so many cases flip against the better policy that no difference is left.
            name: None if result is None else _rounded(result)
            for name, result in detectable.items()
        },
    }


def _rounded(result: dict[str, Any]) -> dict[str, Any]:
    # Significant digits: an interval's bound beside 0 must not become 0.
    return {
        key: float(f"{value:.{_SOLVED_DIGITS}g}") if isinstance(value, float) else value
        for key, value in result.items()
    }


def _discordant(first: GradedRow, second: GradedRow) -> dict[str, Any]:
    right, wrong = (first, second) if first.grade_correct else (second, first)
    return {
        "case_id": first.case_id,
        "source": first.source,
        "scenario": first.scenario,
        "correct_policy": right.policy,
        "wrong_policy": wrong.policy,
        "cause": _cause(wrong),
    }


def _cause(wrong: GradedRow) -> str:
    """Why the wrong answer of a discordant case is wrong; no answer at all is an abstention."""
    if not wrong.support_all_retained:
        return "support-evicted"
    if wrong.grade_rule in _ABSTAINED:
        return "abstained-with-support"
    return "wrong-with-support"


def _stricter(pair: _Pair, settings: QASettings) -> dict[str, Any]:
    """Whether the conclusion stays where only the strict rules count as correct.

    A conclusion is which policy the exact test finds better at `alpha`, or that it finds none.
    """
    graded, strict = by_suite(pair.outcomes()), by_suite(pair.outcomes(strict=True))
    suites = {}
    for name, suite in strict.items():
        mcnemar = exact_mcnemar(suite.pairs)
        interval = paired_difference_interval(suite.pairs, alpha=settings.alpha)
        before = _conclusion(graded[name].pairs, pair.policies, settings.alpha)
        now = _conclusion(suite.pairs, pair.policies, settings.alpha)
        suites[name] = {
            "mcnemar": asdict(mcnemar),
            "difference": _rounded(asdict(interval)),
            "better_policy": now,
            "better_policy_as_graded": before,
            "conclusion_holds": before == now,
        }
    return {"rules": list(STRICT_RULES), "suites": suites}


def _conclusion(
    pairs: Sequence[tuple[bool, bool]], policies: tuple[str, str], alpha: float
) -> str | None:
    result = exact_mcnemar(pairs)
    if result.p_value >= alpha:
        return None
    return policies[result.only_second_correct > result.only_first_correct]


def _answer_counts(
    rows: Iterable[GradedRow], settings: QASettings, truncated: frozenset[str]
) -> list[dict[str, Any]]:
    """Per suite and policy: how the answers came, and what they cost."""
    groups: dict[tuple[str, str], list[GradedRow]] = {}
    for row in rows:
        for suite in (_SUITES[row.source], "overall"):
            groups.setdefault((suite, row.policy), []).append(row)
    return [
        {
            "suite": suite,
            "policy": policy,
            "cases": len(group),
            "attempts": sum(row.attempts for row in group),
            "retried": sum(row.attempts > 1 for row in group),
            "truncated": sum(row.row_id in truncated for row in group),
            "empty": sum(row.grade_rule == "empty-prediction" for row in group),
            "usage": _usage(group),
        }
        for suite in ("official", "synthetic", "overall")
        for policy in settings.policies
        if (group := groups.get((suite, policy)))
    ]


def _usage(rows: Iterable[GradedRow]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row.usage)
    return dict(total)
