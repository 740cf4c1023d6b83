"""Sentences worded from the numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_cli.report import words
from deermem_cli.report.document import text_of
from deermem_cli.report.node import Node
from deermem_cli.report.pairs import Pair
from deermem_grade.stats import analyse_pairs

Outcome = tuple[bool, bool]

# What a test that finds nothing must never be worded as.
SAMENESS = re.compile(r"\b(equals?|equally|identical|equivalent|no difference|as good as|alike)\b")


def _pair(both: int, first: int, second: int, neither: int, suite: str = "official") -> Pair:
    outcomes: list[Outcome] = [
        *[(True, True)] * both,
        *[(True, False)] * first,
        *[(False, True)] * second,
        *[(False, False)] * neither,
    ]
    analysis = analyse_pairs(outcomes, seed=1, iterations=100, alpha=0.05)
    node = Node(Path("a.json"), "a.json", {"suites": {suite: analysis}})
    return Pair(node, 0, "old", "new", 0.05)


def test_a_difference_that_the_test_finds() -> None:
    """Counts, difference, interval and p; then what it means."""
    assert (
        "Of 40 official cases, new answered 35 correctly and old 23: 30.0 points more (95% "
        "interval +9.7 to +47.6; exact McNemar p\xa0=\xa00.00183). Chance alone would seldom "
        "produce this."
    ) == text_of(words.answer(_pair(22, 1, 13, 4), "official"))


def test_a_difference_the_other_way() -> None:
    """The second policy is said to have fewer."""
    text = text_of(words.answer(_pair(22, 13, 1, 4), "official"))
    assert "new answered 23 correctly and old 35: 30.0 points fewer" in text
    assert "seldom" in text


def test_a_difference_that_chance_could_produce() -> None:
    """It is said that the run decides nothing, in either direction."""
    text = text_of(words.answer(_pair(20, 1, 3, 16), "official"))
    assert (
        "At the 5% level chance alone could produce this; the run neither shows a difference nor "
        "rules one out."
    ) in text


def test_as_many_on_different_cases() -> None:
    """That the counts agree is no finding."""
    text = text_of(words.answer(_pair(20, 2, 2, 16), "official"))
    assert "new answered 22 correctly and old 22: as many, though on 4 cases they part" in text
    assert "neither shows a difference nor rules one out" in text


def test_no_case_that_differs() -> None:
    """The interval says what remains possible."""
    pair = _pair(20, 0, 0, 20)
    text = text_of(words.answer(pair, "official"))
    assert "old and new each answered the same 20 correctly" in text
    bound = 100 * pair.suite("official").at("difference", "upper").real()
    assert bound > 0
    assert f"\N{MINUS SIGN}{bound:.1f} to +{bound:.1f} points is compatible with it" in text


@given(
    st.tuples(*[st.integers(0, 12)] * 4).filter(lambda counts: sum(counts) > 0),
    st.sampled_from(["official", "synthetic", "overall"]),
)
def test_the_words_follow_the_test(counts: tuple[int, int, int, int], suite: str) -> None:
    """Significance is claimed exactly where p is below alpha, and sameness never."""
    pair = _pair(*counts, suite=suite)
    text = text_of(words.answer(pair, suite))
    node = pair.suite(suite)
    significant = node.at("mcnemar", "p_value").real() < 0.05
    assert significant == ("Chance alone would seldom produce this" in text)
    assert not SAMENESS.search(text)
    assert f"Of {sum(counts)} " in text
    if counts[1] != counts[2]:
        more = "more" if counts[2] > counts[1] else "fewer"
        share = 100 * abs(counts[2] - counts[1]) / sum(counts)
        assert re.search(rf": [\d.]+ points {more}", text)
        assert pytest.approx(share, abs=0.051) == float(
            re.search(r": ([\d.]+) points", text)[1]  # type: ignore[index]
        )


def test_what_few_cases_cannot_detect() -> None:
    """Five cases never reach the level: that is said, not a number that is none."""
    pair = _pair(1, 0, 4, 0, "synthetic")
    text = text_of(words.detectable(pair.suite("synthetic"), 0.05))
    assert text.startswith("5 cases cannot detect any difference with 80% power at the 5% level")
    assert "found in 0.0% of such runs" in text


def test_what_more_cases_can_detect() -> None:
    """The smallest difference, in points."""
    pair = _pair(22, 1, 13, 4)
    node = pair.suite("official").at("smallest_detectable_difference", "one_sided", "difference")
    text = text_of(words.detectable(pair.suite("official"), 0.05))
    assert f"With 40 cases, a true difference of {100 * node.real():.1f} points" in text


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        (
            "new",
            "new",
            "the conclusion stands: the exact test finds new better (exact p\xa0=\xa00.0200).",
        ),
        (
            None,
            None,
            (
                "the conclusion stands: the exact test finds neither policy better (exact "
                "p\xa0=\xa00.0200), which is no finding that they are alike."
            ),
        ),
        (
            "new",
            None,
            (
                "the conclusion does not stand: as graded the exact test finds new better, with "
                "the stricter grader neither policy better (exact p\xa0=\xa00.0200), which is no "
                "finding that they are alike."
            ),
        ),
        (
            None,
            "old",
            (
                "the conclusion does not stand: as graded the exact test finds neither policy "
                "better, with the stricter grader old better (exact p\xa0=\xa00.0200)."
            ),
        ),
    ],
)
def test_the_stricter_grader(before: str | None, now: str | None, text: str) -> None:
    """Whether the conclusion stands, and what both graders find."""
    suite = {
        "better_policy_as_graded": before,
        "better_policy": now,
        "conclusion_holds": before == now,
        "mcnemar": {"p_value": 0.02},
    }
    document = {"stricter_grader": {"suites": {"official": suite, "overall": suite}}}
    pair = Pair(Node(Path("a.json"), "a.json", document), 0, "old", "new", 0.05)
    assert f"On the official cases {text}" in text_of(words.stricter(pair, "official"))
    assert f"On all cases {text}" in text_of(words.stricter(pair, "overall"))
