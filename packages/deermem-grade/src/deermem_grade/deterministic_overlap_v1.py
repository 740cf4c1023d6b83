"""The grader ``deterministic-overlap-v1``. FROZEN: it gives the same verdicts for ever.

No change may alter a verdict or a rule for any pair of strings. A better rule is a new module with
a new version string, registered beside this one in ``graders.py``. This one may be made faster.

What guards it: the golden vectors and the laws in ``deermem_grade.conformance`` (the mutation run
of MUTANTS.md shows that the vectors notice a change), the digest of the tables below, pinned by a
test, and the comparison with a naive second implementation. The module imports nothing and depends
on no locale, hash seed or platform.

A normalised text is held as one string, its tokens joined by and between single spaces, as in
`` 7 weeks ``. Two texts have the same tokens where these strings are equal, and the tokens of one
stand contiguously in the other where its string does, which CPython finds in linear time.
"""

from __future__ import annotations

GRADER_VERSION = "deterministic-overlap-v1"

NORMALIZATION = (
    "lower-case, split at every run of characters outside 0-9a-z, then map the number words"
)

NUMBER_WORDS = {
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "fifteen": "15",
}

STOPWORDS = frozenset(
    """
    a about above after again against all also although am an and any are at be because been
    before being below between both but by can could did do does doing down during each few for
    from further had has have having he her here hers him his how i if in into is it its just may
    me might mine more most must my nor of off on once only or other our ours out over own same
    shall she should so some such than that the their theirs them then there these they this those
    though through to too under until up us very was we were what when where whether which while
    who whom whose why will with would yet you your yours
    """.split()  # noqa: SIM905 - a paragraph reads better than 126 lines
)

# Rule, verdict, test: in the order in which they are tried.
RULES = (
    ("empty-prediction", False, "the prediction has no token"),
    ("insufficient", False, "the prediction is the one token insufficient"),
    ("exact", True, "both have the same tokens"),
    ("substring", True, "one sequence of tokens stands in the other, contiguously"),
    (
        "numeric-range",
        True,
        (
            "the reference has ranging from A, any further tokens, to B (first match, shortest; "
            "A, B integers, either order), the prediction has integers, all in the closed range"
        ),
    ),
    ("numeric-conflict", False, "both have integers, and the sets of their values differ"),
    (
        "overlap-accept",
        True,
        "without stopwords, as sets, neither is empty and they share at least 3 of 5 of each",
    ),
    ("overlap-reject", False, "nothing above holds"),
)


class Grade(tuple[bool, str]):
    """A verdict: ``correct`` (bool) and ``rule`` (str), the one that decided. It is that pair."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Grade(correct={self[0]!r}, rule={self[1]!r})"

    @property
    def correct(self) -> bool:
        """Whether the prediction counts as right."""
        return self[0]

    @property
    def rule(self) -> str:
        """The name of the rule that decided, one of those in ``RULES``."""
        return self[1]


_EMPTY_PREDICTION = Grade((False, "empty-prediction"))
_INSUFFICIENT = Grade((False, "insufficient"))
_EXACT = Grade((True, "exact"))
_SUBSTRING = Grade((True, "substring"))
_NUMERIC_RANGE = Grade((True, "numeric-range"))
_NUMERIC_CONFLICT = Grade((False, "numeric-conflict"))
_OVERLAP_ACCEPT = Grade((True, "overlap-accept"))
_OVERLAP_REJECT = Grade((False, "overlap-reject"))

# Stands between texts that are normalised in one go. No character has an X in its lower case.
SEPARATOR = " X "

# What is kept of each byte: itself if in 0-9a-z or X, else a space. Text comes to the table lower-
# cased and in UTF-8, where what is not ASCII has no byte below 128. Only two characters outside it
# have ASCII letters in their lower case: U+0130 (an i, and a combining dot) and U+212A (a k).
_KEPT = bytes(
    code if chr(code) in "X0123456789abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256)
)
_WORDS = frozenset(NUMBER_WORDS)
_is_integer = str.isdecimal  # of a token, which is ASCII
_NOTHING_TO_EQUAL = "the reference has no token: expected an ASCII letter or digit in it"


def normalize_answer(text: str) -> list[str]:
    """Return the tokens of `text`: lower-cased runs of ASCII letters and digits, in order.

    The words one to ten and fifteen become digits. Raises ``TypeError`` unless `text` is a string.
    """
    return normalize_joined(str.lower(text))[0].split()


def grade_answer(prediction: str, reference: str) -> Grade:
    """Return whether `prediction` answers as `reference` does, and the rule that decided.

    Time is linear in the length of both. Raises ``TypeError`` unless both are strings, and
    ``ValueError`` where the reference has no ASCII letter or digit: nothing could equal it.
    """
    try:
        joined = SEPARATOR.join((str.lower(prediction), str.lower(reference)))
    except TypeError as error:
        raise TypeError(f"expected two strings: {error}") from None
    predicted, expected = normalize_joined(joined)
    return decide(predicted, expected)


def normalize_joined(lowered: str) -> list[str]:
    """Normalise lower-cased texts that ``SEPARATOR`` joins: return each one's tokens as a string.

    In it they are joined by and between single spaces. Without a token it is one space (two, where
    there is only one text). Each step takes all texts at once: of short ones the cost is the calls.
    """
    tokens = lowered.encode(errors="replace").translate(_KEPT).decode().split()
    text = f" {' '.join(tokens)} "
    if not _WORDS.isdisjoint(tokens):
        for word in _WORDS.intersection(tokens):
            spaced, digits = f" {word} ", f" {NUMBER_WORDS[word]} "
            # Of two in a row the first pass takes one: they share a space.
            text = text.replace(spaced, digits).replace(spaced, digits)
    return text.split("X")


def decide(prediction: str, reference: str) -> Grade:
    """Grade two texts that ``normalize_joined`` has normalised together.

    Raises ``ValueError`` if the reference has no token.
    """
    if reference == " ":
        raise ValueError(_NOTHING_TO_EQUAL)
    if prediction == " ":
        return _EMPTY_PREDICTION
    if prediction == " insufficient ":
        return _INSUFFICIENT
    if prediction == reference:
        return _EXACT
    if reference in prediction or prediction in reference:
        return _SUBSTRING

    predicted = set(prediction.split())
    expected = set(reference.split())
    stated = set(filter(_is_integer, expected))
    if stated:
        numbers = set(filter(_is_integer, predicted))
        if numbers:
            if " ranging from " in reference and _all_in_range(numbers, reference):
                return _NUMERIC_RANGE
            if " 0" in prediction or " 0" in reference:
                numbers = set(map(_significant, numbers))
                stated = set(map(_significant, stated))
            if numbers != stated:
                return _NUMERIC_CONFLICT

    shared = predicted & expected
    if not shared:  # so it is with most wrong answers
        return _OVERLAP_REJECT
    # shared / side >= 0.6 for both sides, in whole numbers.
    fifths = 5 * len(shared - STOPWORDS)
    if (
        fifths >= 3 * len(predicted - STOPWORDS)
        and fifths >= 3 * len(expected - STOPWORDS)
        and fifths
    ):
        return _OVERLAP_ACCEPT
    return _OVERLAP_REJECT


def _all_in_range(numbers: set[str], reference: str) -> bool:
    """Say whether `reference` states a range and all of `numbers` lie in it."""
    start, place = _integer_after(" ranging from ", reference)
    # The first start decides: an end that follows a later start follows the first one too.
    end, _ = _integer_after(" to ", reference, place)
    if not end:
        return False
    low, high = sorted((_order(start), _order(end)))
    return all(low <= _order(number) <= high for number in numbers)


def _integer_after(words: str, text: str, place: int = 0) -> tuple[str, int]:
    """Return the first integer right after `words` in `text`, from `place` on, and where it ends.

    Words and text are normalised. Without one: an empty string, and the end of the text.
    """
    place = text.find(words, place)
    while place >= 0:
        begin = place + len(words)
        end = text.find(" ", begin)
        if text[begin:end].isdecimal():
            return text[begin:end], end
        place = text.find(words, begin - 1)
    return "", len(text)


def _order(digits: str) -> tuple[int, str]:
    """Return a key that orders integers of any length by value."""
    significant = _significant(digits)
    return len(significant), significant


def _significant(digits: str) -> str:
    """Return an integer without leading zeros; nothing is left of zero."""
    return digits.lstrip("0")
