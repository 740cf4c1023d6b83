"""The paired bootstrap: bit for bit what the plain loop over `random.Random` gives."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deermem_grade.stats import bootstrap as module
from deermem_grade.stats import paired_bootstrap_difference

# Outcomes of the published run, cases sorted by id: first policy, second policy.
OFFICIAL = (
    "1110001000110011101100000111101110110111",
    "1111111111111110101111110111111110110111",
)
SYNTHETIC = ("01000", "11111")
OVERALL = (
    "111000100011001110110000011110111011011101000",
    "111111111111111010111111011111111011011111111",
)


def pairs_of(bits: tuple[str, str]) -> list[tuple[bool, bool]]:
    return [(first == "1", second == "1") for first, second in zip(*bits, strict=True)]


def plain_loop(
    pairs: list[tuple[bool, bool]], seed: int, iterations: int, alpha: float
) -> tuple[float, float, float]:
    """The rule of the design, written down as it reads."""

    def difference(sample: list[tuple[bool, bool]]) -> float:
        n = len(sample)
        return sum(second for _, second in sample) / n - sum(first for first, _ in sample) / n

    rng = random.Random(seed)
    n = len(pairs)
    differences = sorted(
        difference([pairs[rng.randrange(n)] for _ in range(n)]) for _ in range(iterations)
    )
    return (
        difference(pairs),
        differences[math.floor(alpha / 2 * iterations)],
        differences[math.floor((1 - alpha / 2) * iterations) - 1],
    )


def fast(
    pairs: list[tuple[bool, bool]], seed: int, iterations: int, alpha: float
) -> tuple[float, float, float]:
    result = paired_bootstrap_difference(pairs, seed=seed, iterations=iterations, alpha=alpha)
    return result.mean_difference, result.lower, result.upper


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        (OFFICIAL, (0.30000000000000004, 0.15000000000000002, 0.45000000000000007)),
        (SYNTHETIC, (0.8, 0.4, 1.0)),
        (OVERALL, (0.3555555555555555, 0.20000000000000007, 0.5111111111111111)),
    ],
)
def test_published_bounds(bits: tuple[str, str], expected: tuple[float, float, float]) -> None:
    """The nine published floats, to the last bit."""
    assert expected == fast(pairs_of(bits), 4789, 10_000, 0.05)


@given(
    pairs=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=140),
    seed=st.integers(-(2**70), 2**70),
    iterations=st.integers(1, 60),
    alpha=st.floats(0.001, 0.999),
)
@example(pairs=[(True, False)], seed=0, iterations=1, alpha=0.05)
@example(pairs=[(False, True), (True, True)], seed=4789, iterations=7, alpha=0.5)
def test_equals_the_plain_loop(
    pairs: list[tuple[bool, bool]], seed: int, iterations: int, alpha: float
) -> None:
    """Any cases, seed, number of resamples and alpha: the same three floats."""
    assert plain_loop(pairs, seed, iterations, alpha) == fast(pairs, seed, iterations, alpha)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 1025])
def test_equals_the_plain_loop_around_powers_of_two(n: int) -> None:
    """Where the number of random bits changes, and where most or no words are rejected."""
    rng = random.Random(n)
    pairs = [(rng.random() < 0.5, rng.random() < 0.7) for _ in range(n)]
    assert plain_loop(pairs, 11, 30, 0.2) == fast(pairs, 11, 30, 0.2)


@pytest.mark.parametrize("block", [1, 7, 45, 46, 100, 1000])
def test_blocks_do_not_show(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few words are held at once, also fewer than a resample needs, it goes on."""
    monkeypatch.setattr(module, "_WORDS_PER_BLOCK", block)
    pairs = pairs_of(OVERALL)
    assert plain_loop(pairs, 4789, 200, 0.05) == fast(pairs, 4789, 200, 0.05)


def test_more_draws_than_one_block() -> None:
    """Over a million draws, so that real blocks meet."""
    rng = random.Random(3)
    pairs = [(rng.random() < 0.4, rng.random() < 0.6) for _ in range(3_000)]
    assert plain_loop(pairs, 5, 400, 0.1) == fast(pairs, 5, 400, 0.1)


def test_does_not_touch_the_global_generators() -> None:
    """Neither Python's nor numpy's own random state moves."""
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    fast(pairs_of(OFFICIAL), 1, 50, 0.05)
    assert before == (random.getstate(), np.random.get_state()[1].tolist())  # type: ignore[index]


def test_echoes_its_arguments() -> None:
    """The result says what it was computed with, in plain types, also if given numpy's."""
    numbers: Any = {"seed": np.int64(7), "iterations": np.int32(40), "alpha": np.float64(0.1)}
    result = paired_bootstrap_difference(pairs_of(OFFICIAL), **numbers)
    assert (result.cases, result.seed, result.iterations, result.alpha) == (40, 7, 40, 0.1)
    names = ("seed", "iterations", "alpha", "lower", "upper")
    assert [int, int, float, float, float] == [type(getattr(result, name)) for name in names]


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=50),
    st.integers(0, 1000),
)
def test_exchanging_the_policies_mirrors_the_interval(
    pairs: list[tuple[bool, bool]], seed: int
) -> None:
    """With positions that mirror each other, the exchanged interval is the negative one."""
    mean, lower, upper = fast(pairs, seed, 200, 0.05)
    exchanged = [(second, first) for first, second in pairs]
    assert (-mean, -upper, -lower) == fast(exchanged, seed, 200, 0.05)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"iterations": 0}, ValueError, "iterations is 0; expected 1 or more"),
        ({"iterations": 10.0}, TypeError, r"iterations is 10.0 \(float\)"),
        ({"iterations": True}, TypeError, r"iterations is True \(bool\)"),
        ({"seed": "4789"}, TypeError, r"seed is '4789' \(str\); expected a whole number"),
        ({"seed": None}, TypeError, "seed is None"),
        ({"alpha": 0.0}, ValueError, "alpha is 0.0; expected a number between 0 and 1"),
        ({"alpha": 1}, ValueError, "alpha is 1.0"),
        ({"alpha": math.nan}, ValueError, "alpha is nan"),
        ({"alpha": "5%"}, TypeError, r"alpha is '5%' \(str\); expected a number"),
    ],
)
def test_impossible_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    """An error names the argument, what was given and what was expected."""
    with pytest.raises(error, match=message):
        paired_bootstrap_difference(
            [(True, False)], **{"seed": 1, "iterations": 10, "alpha": 0.05, **arguments}
        )
