"""Cases of the laws: pairs of texts, made so that the law says what must come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from deermem_grade.conformance.outcome import of_error, of_rule
from deermem_grade.conformance.pairs import (
    contents,
    overlapping,
    pairs,
    plain,
    ranges,
    some_tokens,
    tokens,
    written,
)
from deermem_grade.deterministic_overlap_v1 import NUMBER_WORDS

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

Case = tuple[Any, Any, "str | tuple[str, str]"]

_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# The only characters outside ASCII whose lower case has an ASCII letter.
_PECULIAR = "\u0130\u212a"
_nothing = st.text(
    st.characters(exclude_characters=_ALPHANUMERIC + _PECULIAR, exclude_categories=[]),
    max_size=8,
)
_anything = st.text(max_size=8)
_answers = some_tokens.filter(lambda some: some != ["insufficient"])
_with_x = tokens.map(lambda some: ["x", *some])
_or_ranges = st.one_of(tokens, ranges)
_long = st.booleans()
_zeros = st.sampled_from(["", "0", "00"])


@st.composite
def any_pair(draw: DrawFn) -> Case:
    """Any two texts: a grade, or a refusal where the reference has no token."""
    prediction, reference = draw(pairs)
    has_token = any(c in _ALPHANUMERIC for c in reference.lower())
    return prediction, reference, "" if has_token else of_error("empty-reference")


@st.composite
def not_strings(draw: DrawFn) -> Case:
    """One that is not a string beside one that is, in either place."""
    other = draw(st.sampled_from([None, 7, 7.5, True, b"7", ["7"]]))
    first, second = draw(st.permutations([other, "7"]))
    return first, second, of_error("not-a-string")


@st.composite
def without_reference(draw: DrawFn) -> Case:
    """Any prediction, a reference without a token."""
    return draw(_anything), draw(_nothing), of_error("empty-reference")


@st.composite
def without_prediction(draw: DrawFn) -> Case:
    """A prediction without a token, any reference that has one."""
    return draw(_nothing), written(draw, draw(some_tokens)), of_rule("empty-prediction")


@st.composite
def insufficient(draw: DrawFn) -> Case:
    """An abstention, any reference."""
    prediction = written(draw, ["insufficient"])
    return prediction, written(draw, draw(some_tokens)), of_rule("insufficient")


@st.composite
def same_tokens(draw: DrawFn) -> Case:
    """The same tokens, written in two ways."""
    some = draw(_answers)
    return written(draw, some), written(draw, some), of_rule("exact")


@st.composite
def containing(draw: DrawFn) -> Case:
    """Tokens, and the same with more around them, in either place."""
    some = draw(_answers)
    before, after = draw(st.sampled_from([(["x"], []), ([], ["x"]), (["7"], ["the"])]))
    both = [written(draw, some), written(draw, [*before, *some, *after])]
    prediction, reference = draw(st.permutations(both))
    return prediction, reference, of_rule("substring")


@st.composite
def rewritten(draw: DrawFn) -> Case:
    """Two lists of tokens, written in two ways."""
    ours, theirs = draw(tokens), draw(_or_ranges)
    return written(draw, ours), written(draw, theirs), (plain(ours), plain(theirs))


@st.composite
def case_swapped(draw: DrawFn) -> Case:
    """Any two texts, and the same with upper and lower case of the ASCII letters swapped."""
    prediction, reference = draw(pairs)
    swap = {code: chr(code).swapcase() for code in range(128)}
    return prediction, reference, (prediction.translate(swap), reference.translate(swap))


@st.composite
def number_words(draw: DrawFn) -> Case:
    """Tokens, and the same with digits for the number words."""
    ours, theirs = draw(tokens), draw(_or_ranges)
    digits = [[NUMBER_WORDS.get(token, token) for token in side] for side in (ours, theirs)]
    return plain(ours), plain(theirs), (plain(digits[0]), plain(digits[1]))


@st.composite
def swapped(draw: DrawFn) -> Case:
    """A pair and the same with prediction and reference changed, without a range or abstention."""
    one_sided = {"ranging", "ranging from", "insufficient"}
    first, second = (
        written(draw, [token for token in draw(_with_x) if token not in one_sided])
        for _ in range(2)
    )
    return first, second, (second, first)


@st.composite
def twice(draw: DrawFn) -> Case:
    """A pair, and itself."""
    pair = draw(pairs)
    return *pair, pair


def _digits(draw: DrawFn, numbers: list[int], *, long: bool) -> list[str]:
    # Zeros at the end make all of them too long for int(), and keep their order.
    return [draw(_zeros) + str(number) + "0" * 4400 * long for number in numbers]


_few_numbers = st.lists(st.integers(0, 12), min_size=1, max_size=3)


@st.composite
def conflicting(draw: DrawFn) -> Case:
    """Integers whose values are not the same set, with a word apart on either side."""
    ours, theirs, long = draw(_few_numbers), draw(_few_numbers), draw(_long)
    if set(ours) == set(theirs):
        theirs.append(13)
    prediction = ["p", *_digits(draw, ours, long=long), *draw(contents)]
    reference = ["r", *_digits(draw, theirs, long=long), *draw(contents)]
    return written(draw, prediction), written(draw, reference), of_rule("numeric-conflict")


_up_to_30, _up_to_10 = st.integers(0, 30), st.integers(0, 10)
_in_range = st.lists(_up_to_30, min_size=3, max_size=5)


@st.composite
def in_range(draw: DrawFn) -> Case:
    """A reference that states a range, a prediction whose integers lie in it, ends included."""
    low, *ours, high = sorted(draw(_in_range))
    ours += draw(st.sampled_from([[], [low], [high]]))
    return _beside_range(draw, ours, low, high, "numeric-range")


@st.composite
def out_of_range(draw: DrawFn) -> Case:
    """A reference that states a range, a prediction with an integer just outside it."""
    low = 1 + draw(_up_to_30)
    high = low + draw(_up_to_10)
    inside = draw(st.lists(st.integers(low, high), max_size=2))
    ours = draw(st.permutations([*inside, draw(st.sampled_from([low - 1, high + 1]))]))
    return _beside_range(draw, ours, low, high, "numeric-conflict")


def _beside_range(draw: DrawFn, ours: list[int], low: int, high: int, rule: str) -> Case:
    long = draw(_long)
    start, end = _digits(draw, draw(st.permutations([low, high])), long=long)
    reference = ["r", "ranging", "from", start, *draw(contents), "to", end, *draw(contents)]
    prediction = ["p", *_digits(draw, ours, long=long), *draw(contents)]
    return written(draw, prediction), written(draw, reference), of_rule(rule)


@st.composite
def overlap(draw: DrawFn) -> Case:
    """Two sets of words that share about three fifths, and a stopword apart on either side."""
    ours, theirs = draw(overlapping)
    words = [{token for token in side if token[-1].isdecimal()} for side in (ours, theirs)]
    shared = len(words[0] & words[1])
    enough = shared > 0 and all(shared * 10 >= len(side) * 6 for side in words)
    rule = of_rule("overlap-accept" if enough else "overlap-reject")
    return written(draw, ["the", *ours]), written(draw, ["of", *theirs]), rule
