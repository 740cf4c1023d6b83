"""The frozen grader against the naive one in one run: equal results, and a ratio of times."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deermem_grade import grade_answer, grade_many

Pair = tuple[str, str]
Times = dict[str, float]

# Pairs of short answers by the rule that decides them.
BY_RULE: dict[str, list[Pair]] = {
    "exact": [("Paris", "Paris"), ("NO", "no"), ("Seven weeks", "7 weeks"), ("$1,200", "$1,200")],
    "insufficient": [("INSUFFICIENT", "7 days"), ("INSUFFICIENT", "a red bike")],
    "substring": [
        ("The user lives in Paris.", "Paris"),
        ("It was about seven weeks ago.", "7 weeks"),
        ("Canon", "a Canon camera"),
    ],
    "numeric-range": [("about 8 days", "7 days, or any answer ranging from 7 to 10")],
    "numeric-conflict": [("I bought 5 apples on Monday.", "25"), ("8 weeks", "7 weeks")],
    "overlap-accept": [
        ("under my bed", "under the bed"),
        ("Data analysis using Python", "Python data analysis course"),
    ],
    "overlap-reject": [
        ("the blue car", "a red bike"),
        ("They went to the lake house.", "a weekend in the mountains"),
    ],
}
# How often each rule decides in the published rows.
PUBLISHED = {"exact": 41, "insufficient": 23, "substring": 23, "numeric-conflict": 3}


def corpus(weights: dict[str, int]) -> list[Pair]:
    """900 pairs, as often by each rule as the weights say; the same pairs at every run."""
    rng = random.Random(4789)
    rules = rng.choices(list(weights), list(weights.values()), k=900)
    return [rng.choice(BY_RULE[rule]) for rule in rules]


@pytest.fixture(scope="module")
def naive(project_root: Path) -> Callable[[str, str], Any]:
    path = project_root / "tests" / "benchmarks" / "naive_grader.py"
    spec = importlib.util.spec_from_file_location("naive_grader", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.grade_answer  # type: ignore[no-any-return]


def best(ways: dict[str, Callable[[], Any]], rounds: int) -> Times:
    """The shortest time of each way; short turns, some of which a busy machine spares."""
    times = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def measure(pairs: list[Pair], naive: Callable[[str, str], Any], rounds: int) -> Times:
    """Seconds for all pairs: naive, one by one, in a batch. First all grades are compared."""
    expected = [tuple(naive(*pair)) for pair in pairs]
    assert expected == [grade_answer(*pair) for pair in pairs]
    assert expected == list(grade_many(pairs))
    return best(
        {
            "naive": lambda: [naive(p, r) for p, r in pairs],
            "single": lambda: [grade_answer(p, r) for p, r in pairs],
            "batch": lambda: list(grade_many(pairs)),
        },
        rounds,
    )


def show(name: str, count: int, times: Times) -> None:
    each = {way: 1e6 * seconds / count for way, seconds in times.items()}
    print(
        f"\n{name:<26} naive {each['naive']:6.2f} us   single {each['single']:5.2f} us, "
        f"{each['naive'] / each['single']:4.1f} times   batch {each['batch']:5.2f} us, "
        f"{each['naive'] / each['batch']:4.1f} times",
        end="",
    )


def compare(benchmark: Any, pairs: list[Pair], naive: Callable[[str, str], Any]) -> Times:
    """Measure all ways where benchmarks are enabled; else compare the grades alone."""
    benchmark.pedantic(lambda: list(grade_many(pairs)), rounds=3)
    return measure(pairs, naive, rounds=200 if benchmark.enabled else 1)


def test_short_answers_as_published(benchmark: Any, naive: Callable[[str, str], Any]) -> None:
    """On the published mix of rules: single calls at least twice as fast, batches four times."""
    pairs = corpus(PUBLISHED)
    times = compare(benchmark, pairs, naive)
    if benchmark.enabled:
        show("the published mix", len(pairs), times)
        assert times["naive"] >= 2 * times["single"]
        assert times["naive"] >= 4 * times["batch"]


@pytest.mark.parametrize("rule", BY_RULE)
def test_short_answers_by_rule(benchmark: Any, rule: str, naive: Callable[[str, str], Any]) -> None:
    """Whichever rule decides, single calls and batches are faster than the naive grader."""
    pairs = corpus({rule: 1})
    assert {rule} == {grade_answer(*pair).rule for pair in pairs}
    times = compare(benchmark, pairs, naive)
    if benchmark.enabled:
        show(rule, len(pairs), times)
        assert times["naive"] > max(times["single"], times["batch"])


def test_import_time(benchmark: Any) -> None:
    """How much longer the interpreter takes with the import than without: printed, in ms."""

    def python(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    benchmark.pedantic(python, args=("import deermem_grade",), rounds=3)
    ways = {"without": lambda: python(""), "with": lambda: python("import deermem_grade")}
    times = best(ways, 20 if benchmark.enabled else 1)
    print(f"\nimport deermem_grade costs {1e3 * (times['with'] - times['without']):.1f} ms", end="")
