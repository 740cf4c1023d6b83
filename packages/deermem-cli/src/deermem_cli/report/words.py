"""Sentences worded from the numbers. A test that finds nothing is never taken for sameness."""

from __future__ import annotations

from .document import Number, Text
from .node import Node
from .numbers import alpha_text, count_text, level_text
from .pairs import Pair, interval

_CASES_OF = {"official": "official ", "synthetic": "synthetic ", "overall": ""}


def answer(pair: Pair, suite: str) -> Text:
    """Return the sentence that says what a comparison found in a suite."""
    node = pair.suite(suite)
    first, second = node.at("first", "correct"), node.at("second", "correct")
    of = (node.at("cases").count(), f" {_CASES_OF[suite]}case{_s(node.at('cases'))}")
    better = pair.better(suite)
    if _discordant(node) == 0:
        return (
            "Of ",
            *of,
            f", {pair.first} and {pair.second} each answered the same ",
            first.count(),
            (
                " correctly; without a case that differs the run cannot tell them apart, and a "
                "true difference anywhere from "
            ),
            *_bounds(node),
            " points is compatible with it (",
            *_p(node, pair.alpha),
            ").",
        )
    counts: Text = (
        "Of ",
        *of,
        f", {pair.second} answered ",
        second.count(),
        f" correctly and {pair.first} ",
        first.count(),
        ": ",
    )
    evidence: Text = (
        f" ({level_text(pair.alpha)} interval ",
        *_bounds(node),
        "; exact McNemar ",
        *_p(node, pair.alpha),
        ")",
    )
    difference = _difference(node)
    if better is None:
        return (
            *counts,
            *difference,
            *evidence,
            (
                f". At the {alpha_text(pair.alpha)} level chance alone could produce this; the run "
                "neither shows a difference nor rules one out."
            ),
        )
    return (
        *counts,
        *difference,
        *evidence,
        ". Chance alone would seldom produce this.",
    )


def retention_answer(
    policies: tuple[str, ...], kept: tuple[Number, ...], cases: int, capacity: int, suite: str
) -> Text:
    """Return the sentence that says how often each policy kept the support fact."""
    parts: list[str | Number] = [
        f"With room for {capacity} facts, the fact that answers the question was kept in "
    ]
    for index, (policy, number) in enumerate(zip(policies, kept, strict=True)):
        if index:
            parts.append(" and in " if index == len(policies) - 1 else ", in ")
        parts.extend([number, f" under {policy}"])
    parts.append(
        f", of {count_text(cases)} {_CASES_OF[suite]}case{'' if cases == 1 else 's'}. No answer "
        "was asked for, so nothing is said about accuracy."
    )
    return tuple(parts)


def detectable(node: Node, alpha: float) -> Text:
    """Return the sentence that says what a suite's cases can detect."""
    detected = node.at("smallest_detectable_difference", "one_sided")
    cases = node.at("cases")
    power = f"{100 * detected.at('power').real():.10g}%"
    if detected.at("difference").value is None:
        return (
            cases.count(),
            (
                f" case{_s(cases)} cannot detect any difference with {power} power at the "
                f"{alpha_text(alpha)} level, even where every flip favours one policy: the largest "
                "possible one would be found in "
            ),
            detected.at("reached").percent(),
            " of such runs. Finding nothing among so few is no evidence that there is nothing.",
        )
    return (
        "With ",
        cases.count(),
        f" case{_s(cases)}, a true difference of ",
        detected.at("difference").size(),
        (
            f" points is the smallest that the exact test finds with {power} power at the "
            f"{alpha_text(alpha)} level, where every flip favours one policy; a smaller one would "
            "often go unnoticed."
        ),
    )


def stricter(pair: Pair, suite: str) -> Text:
    """Return the sentence that says whether a conclusion survives the stricter grader."""
    node = pair.node.at("stricter_grader", "suites", suite)
    of = "all cases" if suite == "overall" else f"the {_CASES_OF[suite]}cases"
    before = _conclusion(node.at("better_policy_as_graded"), pair)
    now = _conclusion(node.at("better_policy"), pair)
    if node.at("conclusion_holds").boolean():
        found = f"On {of} the conclusion stands: the exact test finds {before}"
    else:
        found = (
            f"On {of} the conclusion does not stand: as graded the exact test finds {before}, "
            f"with the stricter grader {now}"
        )
    # A test that finds nothing is not taken for a finding.
    remark = ", which is no finding that they are alike" if _finds_none(node) else ""
    return (f"{found} (exact ", *_p(node, pair.alpha), f"){remark}.")


def _finds_none(node: Node) -> bool:
    return node.at("better_policy").value is None


def _conclusion(node: Node, pair: Pair) -> str:
    if node.value is None:
        return "neither policy better"
    return f"{pair.second if node.text() == pair.second_policy else pair.first} better"


def _difference(node: Node) -> Text:
    difference = node.at("difference", "difference")
    if difference.real() == 0.0:
        return (f"as many, though on {count_text(_discordant(node))} cases they part",)
    more = "more" if difference.real() > 0 else "fewer"
    return (difference.size(), f" points {more}")


def _bounds(node: Node) -> Text:
    lower, upper = interval(node.at("difference"))
    return (lower.points(), " to ", upper.points())


def _p(node: Node, alpha: float) -> Text:
    number = node.at("mcnemar", "p_value").p_value(alpha)
    # The sign stays with letter and number where a line ends.
    sign = "" if number.text.startswith("<") else "=\N{NO-BREAK SPACE}"
    return (f"p\N{NO-BREAK SPACE}{sign}", number)


def _discordant(node: Node) -> int:
    mcnemar = node.at("mcnemar")
    return mcnemar.at("only_first_correct").whole() + mcnemar.at("only_second_correct").whole()


def _s(cases: Node) -> str:
    return "" if cases.whole() == 1 else "s"
