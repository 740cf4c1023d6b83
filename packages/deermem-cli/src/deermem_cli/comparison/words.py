"""Sentences worded from the numbers. Where nothing is found, nothing is called equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from ..report.document import Number, Text
from ..report.numbers import (
    alpha_text,
    count_text,
    level_text,
    p_text,
    percent_text,
    points_text,
    size_text,
)
from ..report.pairs import SUITES
from ..report.provenance import warnings
from ..report.visible import name
from .answers import PolicyAnswers, SuiteAnswers
from .compare import Comparison, Pairing
from .retention import RetentionComparison, SuiteRetention

AnySuite = TypeVar("AnySuite", SuiteAnswers, SuiteRetention)

_SUITE_WORDS = {"official": "official ", "synthetic": "synthetic ", "overall": ""}


def count(value: int) -> Number:
    """A count, ready to show."""
    return Number(count_text(value), value)


def percent(share: float) -> Number:
    """A share as per cent, ready to show."""
    return Number(percent_text(share), share)


def points(difference: float) -> Number:
    """A signed difference in percentage points, ready to show."""
    return Number(points_text(difference), difference)


def p_value(value: float, alpha: float) -> Number:
    """A p-value, ready to show."""
    return Number(p_text(value, alpha), value)


def cases(number: int) -> str:
    """`1 case` or `12 cases`."""
    return f"{count_text(number)} case{'' if number == 1 else 's'}"


def label(pairing: Pairing) -> str:
    """`B against A`."""
    return f"{pairing.second.label} against {pairing.first.label}"


def shown_suites(suites: tuple[AnySuite, ...]) -> tuple[AnySuite, ...]:
    """Leave `overall` out where it is the one suite again."""
    named = {suite.name for suite in suites}
    return tuple(suite for suite in suites if suite.name != "overall" or named == set(SUITES))


def answer_sentences(comparison: Comparison, pairing: Pairing) -> Iterator[Text]:
    """Yield what a comparison of answers found: a sentence for each policy, on the main suite."""
    assert pairing.answers is not None
    first, second = pairing.first.label, pairing.second.label
    if pairing.answers.same_rows:
        where = " under the policies that are compared" if comparison.other_policies else ""
        yield (f"{second} holds the same rows as {first}{where}: no case flips.",)
        return
    for policy in pairing.answers.policies:
        yield _answered(comparison, pairing, policy, policy.suites[0])


def _answered(
    comparison: Comparison, pairing: Pairing, policy: PolicyAnswers, suite: SuiteAnswers
) -> Text:
    first, second = pairing.first.label, pairing.second.label
    exact = suite.exact
    lead: Text = (
        f"Under {name(policy.policy)}, of ",
        count(suite.cases),
        f" {_SUITE_WORDS[suite.name]}case{'' if suite.cases == 1 else 's'}, ",
    )
    bounds: Text = (points(suite.interval.lower), " to ", points(suite.interval.upper))
    if exact.discordant == 0:
        return (
            *lead,
            "none flips: each run answered the same ",
            count(exact.both_correct),
            " correctly. That does not show that the runs are alike; a true difference from ",
            *bounds,
            " points is compatible with it.",
        )
    several = len(comparison.policies) > 1
    evidence: Text = (
        f" ({level_text(comparison.alpha)} interval ",
        *bounds,
        "; exact McNemar ",
        *_p(exact.p_value, comparison.alpha),
        *(
            (
                f", by Holm over {len(comparison.policies)} policies ",
                *_p(suite.holm_p_value, comparison.alpha),
            )
            if several
            else ()
        ),
        ")",
    )
    return (
        *lead,
        f"{second} answered ",
        count(suite.second.correct),
        f" correctly and {first} ",
        count(suite.first.correct),
        ": ",
        *_difference(suite),
        *evidence,
        (
            ". Chance alone would seldom produce this."
            if suite.holm_p_value < comparison.alpha
            else f". At the {alpha_text(comparison.alpha)} level chance alone could produce this; "
            "the runs neither show a difference nor rule one out."
        ),
    )


def _difference(suite: SuiteAnswers) -> Text:
    difference = suite.interval.difference
    if difference == 0.0:
        return ("as many, though ", count(suite.exact.discordant), " cases flip")
    size = Number(size_text(difference), difference)
    return (size, f" points {'more' if difference > 0 else 'fewer'}")


def _p(value: float, alpha: float) -> Text:
    number = p_value(value, alpha)
    return ("p " if number.text.startswith("<") else "p = ", number)


def retention_sentences(pairing: Pairing) -> Iterator[Text]:
    """Yield what a comparison of retention found, on the main suite of each policy."""
    first, second = pairing.first.label, pairing.second.label
    retention = pairing.retention
    if retention.same_decisions:
        yield (f"{second} made the same decisions as {first}: no support fact's fate flips.",)
        return
    for suite in _main(retention):
        yield (
            f"Under {name(suite.policy)} with room for {suite.capacity} facts, of ",
            count(suite.cases),
            (
                f" {_SUITE_WORDS[suite.name]}case{'' if suite.cases == 1 else 's'}, {second} kept "
                "the support fact in "
            ),
            count(suite.second_kept),
            f" and {first} in ",
            count(suite.first_kept),
            "; other facts were kept in ",
            count(suite.other_facts),
            ".",
        )


def _main(retention: RetentionComparison) -> Iterator[SuiteRetention]:
    """The first suite of each policy and capacity."""
    seen = set()
    for suite in retention.suites:
        key = (suite.policy, suite.capacity)
        if key not in seen:
            seen.add(key)
            yield suite


def notes(comparison: Comparison) -> Iterator[tuple[str, Text]]:
    """Yield what must be known before the numbers, each with the runs it is true of."""
    labels: dict[Text, list[str]] = {}
    for run in comparison.runs:
        for warning in warnings(run.files):
            labels.setdefault(warning, []).append(run.label)
    for warning, of in labels.items():
        yield ", ".join(of), warning


def remarks(comparison: Comparison) -> Iterator[str]:
    """Yield what is not compared, and why."""
    for label, parts in comparison.unrecorded.items():
        listed = ", ".join(map(name, parts))
        yield f"{label} does not record {listed}: whether that differs is not known."
    for policy, labels in comparison.other_policies.items():
        yield f"Policy {name(policy)} is in {', '.join(labels)} only, and is not compared."
    if comparison.pairings[0].answers is None:
        without = [run.label for run in comparison.runs if run.files.qa is None]
        verb = "holds" if len(without) == 1 else "hold"
        yield (
            f"{', '.join(without)} {verb} no graded answers, so that only retention is compared."
        )
