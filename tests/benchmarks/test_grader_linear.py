"""Time on the worst case of each rule, from 1,000 to 1,000,000 tokens, grows linearly."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from deermem_grade import explain, grade_answer

Case = Callable[[int], tuple[str, str]]

# The worst pairs that are known for each rule, with so many tokens in the longer text; each is
# decided by the rule it is named after.
WORST: dict[str, tuple[str, Case]] = {
    "equal": ("exact", lambda n: ("ab " * n, "AB-" * n)),
    "contained at the end": (
        "substring",
        lambda n: ("b " + "a " * (n // 2), "a " * n + "b " + "a " * (n // 2)),
    ),
    "near miss, last token": ("overlap-reject", lambda n: ("a " * (n // 2) + "b", "a " * n + "c")),
    "near miss, first token": (
        "overlap-reject",
        lambda n: ("b " + "a " * (n // 2), "c " + "a " * n),
    ),
    "near miss, middle": (
        "overlap-reject",
        lambda n: (
            "a " * (n // 4) + "b " + "a " * (n // 4),
            "a " * (n // 2) + "c " + "a " * (n // 2),
        ),
    ),
    "near miss, periodic": (
        "overlap-accept",
        lambda n: ("x y " * (n // 4) + "z", "z " + "x y " * (n // 2)),
    ),
    "near miss, Fibonacci": (
        "overlap-accept",
        lambda n: (fibonacci(n // 2) + "q", "q " + fibonacci(n)),
    ),
    "starts of ranges": ("numeric-conflict", lambda n: ("7 x", "ranging from 1 " * (n // 3))),
    "starts without integer": (
        "numeric-conflict",
        lambda n: ("7 x", "1 " + "ranging from to " * (n // 3)),
    ),
    "ends without integer": (
        "numeric-conflict",
        lambda n: ("7 x", "ranging from 1 " + "to 9x " * (n // 2)),
    ),
    "numbers in range": (
        "numeric-range",
        lambda n: (" ".join(map(str, range(n))) + " x", f"ranging from 0 to {n}"),
    ),
    "one long number": ("numeric-conflict", lambda n: ("9" * n, "9" * (n - 1) + "8")),
    "long zeros": ("overlap-reject", lambda n: ("0" * n + "7", "0" * (n // 2) + "7")),
    "long number in range": (
        "numeric-range",
        lambda n: ("9" * (n - 1) + " x", "ranging from 1 to " + "9" * n),
    ),
    "many numbers": (
        "numeric-conflict",
        lambda n: (" ".join(map(str, range(n))), " ".join(map(str, range(n, 0, -1)))),
    ),
    "all stopwords": (
        "overlap-reject",
        lambda n: ("the of and " * (n // 3), "of the and " * (n // 3)),
    ),
    "all number words": ("exact", lambda n: ("seven " * n, "7 " * n)),
    "distinct words": (
        "overlap-accept",
        lambda n: (
            " ".join(f"w{i}" for i in range(n)),
            " ".join(f"w{i}" for i in range(n - 1, -1, -1)),
        ),
    ),
    "no token at all": ("empty-prediction", lambda n: ("\u00e9 " * n, "x")),
}

SIZES = [1000 * 2**step for step in range(11)]


def fibonacci(tokens: int) -> str:
    """The first tokens of the Fibonacci word, whose prefixes repeat as much as can be."""
    shorter, longer = "a ", "a b "
    while len(longer) < 2 * tokens:
        shorter, longer = longer, longer + shorter
    return longer[: 2 * tokens]


def plain(prediction: str, reference: str) -> list[set[str]]:
    """What no grader can do without: look at every token once. Linear by itself."""
    return [set(text.lower().split()) for text in (prediction, reference)]


def seconds(pair: tuple[str, str], rounds: int) -> tuple[float, float]:
    """The shortest times of grading and of the plain look at every token, taking turns."""
    shortest = [math.inf, math.inf]
    for _ in range(rounds):
        for place, way in enumerate((grade_answer, plain)):
            start = time.perf_counter()
            way(*pair)
            shortest[place] = min(shortest[place], time.perf_counter() - start)
    return shortest[0], shortest[1]


def exponent(sizes: list[int], times: list[float]) -> float:
    """The slope of log time over log size, by least squares: 1 is linear, 2 quadratic."""
    xs, ys = [math.log(size) for size in sizes], [math.log(spent) for spent in times]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum(
        (a - x) ** 2 for a in xs
    )


@pytest.mark.parametrize("name", WORST)
def test_time_is_linear(benchmark: Any, name: str) -> None:
    """Time grows as that of looking at every token once, whose growth is linear but for caches.

    Printed are both exponents. With benchmarks disabled, as in the parallel test run, only the rule
    is looked at, up to 4,000 tokens.
    """
    rule, make = WORST[name]
    sizes = SIZES if benchmark.enabled else SIZES[:3]
    pairs = [make(size) for size in sizes]
    benchmark.pedantic(grade_answer, args=pairs[0], rounds=3)
    assert [rule] * len(pairs) == [grade_answer(*pair).rule for pair in pairs]
    if not benchmark.enabled:
        return
    rounds = [max(3, 60_000 // size) for size in sizes]
    times = [seconds(pair, count) for pair, count in zip(pairs, rounds, strict=True)]
    ours, floor = (exponent(sizes, list(column)) for column in zip(*times, strict=True))
    print(
        f"\n{name:<24} {rule:<17} exponent {ours:4.2f}, every token once {floor:4.2f}; "
        f"{times[-1][0] * 1e3:6.0f} ms at {sizes[-1]:,} tokens",
        end="",
    )
    # Quadratic growth would be 1 more.
    assert ours < max(floor, 1) + 0.25


@pytest.mark.parametrize("name", WORST)
def test_explanation_gives_the_same_rule(name: str) -> None:
    """The explanation of a worst case ends with the rule that decided it."""
    rule, make = WORST[name]
    assert rule == explain(*make(2000)).steps[-1].rule
