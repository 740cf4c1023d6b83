"""Random pairs of texts, built so that every rule and every boundary of it is reached."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from deermem_grade.deterministic_overlap_v1 import NUMBER_WORDS, STOPWORDS

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

# Few words, so that two texts share some; yes, no, not and the like are words too.
_WORDS = ("x", "y", "z", "red", "bike", "bikes", "5kg", "yes", "no", "not", "insufficient")
_RANGE_WORDS = ("ranging", "from", "to", "about", "ranging from", "and")
# The last are longer than what int() reads.
_LONG = ("9" * 4500, "1" + "0" * 4500, "0" * 4500 + "7")
_INTEGERS = (*map(str, range(31)), "00", "007", "07", "010", "011", *_LONG)
_NUMBER_WORDS = tuple(NUMBER_WORDS)
_STOPWORDS = tuple(sorted(STOPWORDS))
_TOKENS = (*_WORDS * 6, *_STOPWORDS, *_INTEGERS * 2, *_NUMBER_WORDS * 3, *_RANGE_WORDS * 6)
# These hold no token character, also when lower-cased ...
_SEPARATORS = (" ", ", ", "-", ".", "\n", "\0", "_", "'", "\u00a0", "\u200b", "\u2013", "\u0301")
_FOREIGN = (" \u00e9", "\u00df ", "\u0663", "\uff15", "\u00b2", "\ud800", "\U0001f600")
# ... and these do.
_PECULIAR = ("\u0130", "\u212a")

integers = st.sampled_from(_INTEGERS)
contents = st.lists(st.sampled_from(_WORDS), max_size=5)
few_tokens = st.lists(st.sampled_from(_TOKENS), max_size=3)
tokens = st.lists(st.sampled_from(_TOKENS), max_size=8)
some_tokens = st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=8)

_between = st.lists(st.sampled_from((*_SEPARATORS, *_FOREIGN)), min_size=1, max_size=3)
_cases = st.sampled_from([str.lower, str.upper, str.capitalize])
_booleans = st.booleans()


def plain(of: list[str]) -> str:
    """Return a text of these tokens as they are, with spaces between."""
    return " ".join(of)


def written(draw: DrawFn, of: list[str]) -> str:
    """Return a text of these tokens, in any case, with any separators."""
    if draw(_booleans):
        return plain(of)
    between, case = draw(_between), draw(_cases)
    return "".join(case(token) + gap for token, gap in zip(of, cycle(between), strict=False))


_ranging = st.sampled_from(["ranging from", "ranging from", "ranging from", "from"])


@st.composite
def _ranges(draw: DrawFn) -> list[str]:
    stated = [draw(_ranging), draw(integers), *draw(few_tokens), "to", draw(integers)]
    return [*draw(few_tokens), *stated, *draw(few_tokens)]


ranges = _ranges()  # lists of tokens that state a range, or nearly one

_up_to_6, _up_to_4, _up_to_2 = st.integers(0, 6), st.integers(0, 4), st.integers(0, 2)
_apart = {"the", "of"}
_fillers = st.lists(
    st.sampled_from([word for word in _STOPWORDS if word not in _apart]), max_size=3
)


@st.composite
def _overlapping(draw: DrawFn) -> tuple[list[str], list[str]]:
    shared = [f"s{number}" for number in range(draw(_up_to_6))]
    ours = [f"p{number}" for number in range(draw(_up_to_4))]
    theirs = [f"r{number}" for number in range(draw(_up_to_4))]
    again = shared[: draw(_up_to_2)]
    return (
        draw(st.permutations(shared + ours + again + draw(_fillers))),
        draw(st.permutations(shared + theirs)),
    )


# Two lists of tokens that share about three fifths. The stopwords "the" and "of" are left out, for
# who must keep one list from standing in the other.
overlapping = _overlapping()


@st.composite
def _edited(draw: DrawFn) -> tuple[list[str], list[str]]:
    original = draw(tokens)
    edited = list(original)
    for _ in range(draw(_up_to_2)):
        place = draw(st.integers(0, len(edited)))
        edited[place : place + draw(_up_to_2)] = draw(few_tokens)[:1]
    return edited, original


_numbers = st.lists(st.sampled_from((*_INTEGERS, *_NUMBER_WORDS, *_WORDS)), max_size=4)
_apiece = st.lists(st.sampled_from((*_INTEGERS[:12], *_WORDS[:2])), min_size=1, max_size=3)
_wide = st.sampled_from(["3", "three", "003"]), st.sampled_from(["10", "ten", "11", *_LONG[:2]])
_wide_ranges = st.builds(
    lambda start, between, end: ["ranging from", start, *between, "to", end],
    _wide[0],
    st.lists(st.sampled_from((*_WORDS, *_RANGE_WORDS)), max_size=3),
    _wide[1],
)
_short = st.sampled_from([["insufficient"], ["insufficient"], ["insufficient", "x"], []])
_kinds = st.one_of(
    st.tuples(tokens, tokens),
    _edited(),
    overlapping,
    st.tuples(st.one_of(few_tokens, _numbers, ranges), ranges),
    st.tuples(_numbers, _numbers),
    st.tuples(_apiece, _wide_ranges),
    st.tuples(_short, tokens),
    st.tuples(_short, tokens),
)
_at_the_end = st.sampled_from(["", "", "", *_PECULIAR])
_anything = st.text(max_size=8)


@st.composite
def _pairs(draw: DrawFn) -> tuple[str, str]:
    prediction, reference = draw(_kinds)
    return written(draw, prediction) + draw(_at_the_end), written(draw, reference)


# A prediction and a reference of any kind that a rule may see.
pairs = st.one_of(*[_pairs()] * 6, st.tuples(_anything, _anything))
