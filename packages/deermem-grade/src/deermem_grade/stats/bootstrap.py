"""The paired bootstrap, drawn exactly as the published statistics were."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deermem_grade.stats import _checks
from deermem_grade.stats.pairs import read_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from deermem_grade.stats.pairs import Pairs

# Random words held at once: few enough to stay in the cache.
_WORDS_PER_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """What `paired_bootstrap_difference` returns: the bounds, the difference, and its inputs."""

    cases: int
    mean_difference: float
    lower: float
    upper: float
    seed: int
    iterations: int
    alpha: float


def paired_bootstrap_difference(
    pairs: Pairs, *, seed: int, iterations: int, alpha: float
) -> BootstrapResult:
    """Percentile bootstrap of the second policy's accuracy minus the first's, cases kept paired.

    Each of `iterations` resamples draws n of the n cases as `random.Random(seed).randrange(n)` n
    times in order, one generator throughout. A difference is that of two floats, accuracy minus
    accuracy. The bounds are `sorted[floor(alpha / 2 * iterations)]` and
    `sorted[floor((1 - alpha / 2) * iterations) - 1]` of the resamples' differences. The result is
    that of this rule bit for bit, so it depends on the order of the cases; the published ones are
    sorted by id. With so few iterations that the two positions cross, so do the bounds.

    A percentile interval is too short for few cases, and a point where no case is discordant;
    `paired_difference_interval` is neither.

    Source: Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13; the generator
    is MT19937 of Matsumoto & Nishimura, "Mersenne Twister", ACM Transactions on Modeling and
    Computer Simulation 8 (1998), 3-30.

    Args:
        pairs: (first, second) booleans per case, in order: a sequence, or a boolean array of
            shape (n, 2).
        seed: what `random.Random` is seeded with.
        iterations: how many resamples.
        alpha: 1 minus the confidence level.

    Returns:
        The difference of the cases as given, its bounds, and the arguments.

    Raises:
        TypeError: `pairs` is no sequence of pairs, an outcome is not a boolean, or another argument
            is not a number.
        ValueError: there are no pairs, one is not a pair, `iterations` is below 1, or `alpha` is
            not between 0 and 1.
    """
    outcomes = read_pairs(pairs)
    seed = _checks.whole("seed", seed)
    iterations = _checks.whole("iterations", iterations, minimum=1)
    alpha = _checks.proportion("alpha", alpha)
    cases = len(outcomes)
    differences = _resampled_differences(outcomes, seed, iterations)
    at_lower = math.floor(alpha / 2 * iterations)
    at_upper = math.floor((1 - alpha / 2) * iterations) - 1
    differences.partition([at_lower, at_upper % iterations])
    first = sum(first for first, _ in outcomes)
    second = sum(second for _, second in outcomes)
    return BootstrapResult(
        cases=cases,
        mean_difference=second / cases - first / cases,
        lower=float(differences[at_lower]),
        upper=float(differences[at_upper]),
        seed=seed,
        iterations=iterations,
        alpha=alpha,
    )


def _resampled_differences(
    outcomes: Sequence[tuple[bool, bool]], seed: int, iterations: int
) -> npt.NDArray[np.float64]:
    # Both outcomes of a case in one number, so that one sum counts both policies' right answers.
    codes = np.array([first + (second << 32) for first, second in outcomes], dtype=np.int64)
    sums = _resampled_sums(codes, seed, iterations)
    cases = len(outcomes)
    differences: npt.NDArray[np.float64] = (sums >> 32) / cases - (sums & 0xFFFFFFFF) / cases
    return differences


def _resampled_sums(
    codes: npt.NDArray[np.int64], seed: int, iterations: int
) -> npt.NDArray[np.int64]:
    """The sum of n of the n `codes`, drawn with `random.Random(seed).randrange(n)`, per resample.

    CPython draws below n by taking the top bits of a 32-bit word, as many as n has, and drawing
    again while they make a number of n or more. numpy's legacy generator, which is frozen, yields
    the same words from the same state; here they are made, sifted and summed a block at a time, in
    buffers that are kept, because fresh memory costs more than the arithmetic.
    """
    n = len(codes)
    generator = _same_stream(random.Random(seed))  # noqa: S311 - pinned by the protocol
    shift, limit = np.uint32(32 - n.bit_length()), np.uint32(n << (32 - n.bit_length()))
    accepted = np.empty(_WORDS_PER_BLOCK, dtype=bool)
    drawn = np.empty(n + _WORDS_PER_BLOCK, dtype=np.uint32)
    picked = np.empty(n + _WORDS_PER_BLOCK, dtype=np.int64)
    sums = np.empty(iterations, dtype=np.int64)
    have = done = 0
    while done < iterations:
        words = generator.randint(0, 1 << 32, size=_WORDS_PER_BLOCK, dtype=np.uint32)
        np.less(words, limit, out=accepted)
        more = int(np.count_nonzero(accepted))
        np.compress(accepted, words, out=drawn[have : have + more])
        have += more
        rows = min(have // n, iterations - done)
        used = rows * n
        indices = np.right_shift(drawn[:used], shift, out=drawn[:used])
        np.take(codes, indices, out=picked[:used], mode="clip")  # unlike "raise", without a copy
        np.einsum("ij->i", picked[:used].reshape(rows, n), out=sums[done : done + rows])
        done += rows
        drawn[: have - used] = drawn[used:have]
        have -= used
    return sums


def _same_stream(generator: random.Random) -> np.random.RandomState:
    *key, position = generator.getstate()[1]
    same = np.random.RandomState(0)
    state = {"key": np.array(key, dtype=np.uint32), "pos": position}
    same.set_state({"bit_generator": "MT19937", "state": state})
    return same
