"""A comparison as one JSON document, `compare.schema.json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from attrs import asdict as attrs_asdict

from deermem_qa import GradedRow

from .answers import AnswerComparison, AnswerFlip, PolicyAnswers, SuiteAnswers
from .compare import Comparison, Pairing
from .runs import Run

if TYPE_CHECKING:
    from deermem_grade.stats import DifferenceInterval

# As in qa.analysis.json: what a solver found is cut to the digits that every machine agrees on.
_SOLVED_DIGITS = 9


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON values; predictions are whole."""
    return {
        "schema_version": 1,
        "protocol_id": comparison.protocol_id,
        "cases": comparison.cases,
        "alpha": comparison.alpha,
        "runs": [_run(run) for run in comparison.runs],
        "policies": list(comparison.policies),
        "other_policies": {
            policy: list(labels) for policy, labels in comparison.other_policies.items()
        },
        "differences": [attrs_asdict(difference) for difference in comparison.differences],
        "unrecorded": {label: list(parts) for label, parts in comparison.unrecorded.items()},
        "retention_file": comparison.retention_file,
        "pairings": [_pairing(pairing) for pairing in comparison.pairings],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "label": run.label,
        "folder": str(run.folder),
        "files": dict(run.files.hashes),
    }


def _pairing(pairing: Pairing) -> dict[str, Any]:
    return {
        "first": pairing.first.label,
        "second": pairing.second.label,
        "answers": None if pairing.answers is None else _answers(pairing.answers),
        "retention": {
            "same_decisions": pairing.retention.same_decisions,
            "suites": [attrs_asdict(suite) for suite in pairing.retention.suites],
            "flips": [attrs_asdict(flip) for flip in pairing.retention.flips],
        },
    }


def _answers(answers: AnswerComparison) -> dict[str, Any]:
    return {
        "same_rows": answers.same_rows,
        "policies": [_policy(policy) for policy in answers.policies],
    }


def _policy(policy: PolicyAnswers) -> dict[str, Any]:
    return {
        "policy": policy.policy,
        "cases": policy.cases,
        "same_predictions": policy.same_predictions,
        "suites": {suite.name: _suite(suite) for suite in policy.suites},
        "flips": [_flip(flip) for flip in policy.flips],
    }


def _suite(suite: SuiteAnswers) -> dict[str, Any]:
    return {
        "cases": suite.cases,
        "first": asdict(suite.first),
        "second": asdict(suite.second),
        "mcnemar": asdict(suite.exact),
        "midp_mcnemar": asdict(suite.midp),
        "difference": _interval(suite.interval),
        "holm_p_value": suite.holm_p_value,
    }


def _interval(interval: DifferenceInterval) -> dict[str, Any]:
    return {
        key: float(f"{value:.{_SOLVED_DIGITS}g}") if isinstance(value, float) else value
        for key, value in asdict(interval).items()
    }


def _flip(flip: AnswerFlip) -> dict[str, Any]:
    return {
        "case_id": flip.first.case_id,
        "source": flip.first.source,
        "scenario": flip.first.scenario,
        "first": _answer(flip.first),
        "second": _answer(flip.second),
    }


def _answer(row: GradedRow) -> dict[str, Any]:
    return {
        "correct": row.grade_correct,
        "rule": row.grade_rule,
        "support_kept": row.support_all_retained,
        "response_model": row.response_model,
        "prediction": row.prediction,
    }
