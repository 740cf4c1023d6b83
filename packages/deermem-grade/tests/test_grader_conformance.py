"""The conformance kit on right and wrong graders: as functions, a command, a pytest plugin."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from deermem_grade import grade_answer
from deermem_grade.conformance import (
    Failure,
    Report,
    check_grader,
    check_vectors,
    load_grader,
    load_vectors,
    smallest_failure,
)
from deermem_grade.conformance.differential import check_differential
from deermem_grade.conformance.laws import LAWS, check_laws
from deermem_grade.conformance.outcome import agree, observe
from deermem_grade.deterministic_overlap_v1 import NUMBER_WORDS, STOPWORDS

Pair = tuple[bool, str]


class Right:
    """The rules once more, in pieces that the wrong graders replace one at a time."""

    stopwords = STOPWORDS
    number_words: Mapping[str, str] = NUMBER_WORDS

    def __call__(self, prediction: str, reference: str) -> Pair:
        if not isinstance(prediction, str) or not isinstance(reference, str):
            raise TypeError("no string")
        ours, theirs = self.tokens(prediction), self.tokens(reference)
        if not theirs:
            raise ValueError("no token")
        early = self.early(ours)
        if early:
            return False, early
        if ours == theirs:
            return True, "exact"
        if self.contains(ours, theirs) or self.contains(theirs, ours):
            return True, "substring"
        numbers, stated = self.numbers(ours), self.numbers(theirs)
        if numbers and self.in_range(numbers, " ".join(theirs)):
            return True, "numeric-range"
        if self.conflict(numbers, stated):
            return False, "numeric-conflict"
        words, others = set(ours) - self.stopwords, set(theirs) - self.stopwords
        enough = words and others and self.enough(len(words & others), len(words), len(others))
        return (True, "overlap-accept") if enough else (False, "overlap-reject")

    def tokens(self, text: str) -> list[str]:
        return [self.number_words.get(t, t) for t in re.findall("[0-9a-z]+", text.lower())]

    def early(self, ours: list[str]) -> str:
        return (
            ""
            if ours and ours != ["insufficient"]
            else "insufficient"
            if ours
            else "empty-prediction"
        )

    def contains(self, longer: list[str], shorter: list[str]) -> bool:
        return f" {' '.join(shorter)} " in f" {' '.join(longer)} "

    def value(self, digits: str) -> Any:
        return int(digits, 16)

    def numbers(self, tokens: list[str]) -> set[Any]:
        return {self.value(token) for token in tokens if token.isdecimal()}

    pattern = r"\branging from (\d+)(?:\s\S+)*?\sto (\d+)\b"

    def in_range(self, numbers: set[Any], reference: str) -> bool:
        match = re.search(self.pattern, reference)
        if not match:
            return False
        low, high = self.ends(*map(self.value, match.groups()))
        return self.inside(low, high, numbers)

    def ends(self, first: Any, second: Any) -> Iterable[Any]:
        return sorted((first, second))

    def inside(self, low: Any, high: Any, numbers: set[Any]) -> bool:
        return all(low <= number <= high for number in numbers)

    def conflict(self, numbers: set[Any], stated: set[Any]) -> bool:
        return bool(numbers and stated and numbers != stated)

    def enough(self, shared: int, ours: int, theirs: int) -> bool:
        return 5 * shared >= 3 * ours and 5 * shared >= 3 * theirs


class ContainsCharacters(Right):
    """Looks for the text of one in the other, not for whole tokens."""

    def contains(self, longer: list[str], shorter: list[str]) -> bool:
        return " ".join(shorter) in " ".join(longer)


class ContainsWithGaps(Right):
    """Takes tokens in order with gaps between as contiguous."""

    def contains(self, longer: list[str], shorter: list[str]) -> bool:
        rest = iter(longer)
        return all(token in rest for token in shorter)


class MoreThanThreeFifths(Right):
    """Wants more than three fifths."""

    def enough(self, shared: int, ours: int, theirs: int) -> bool:
        return 5 * shared > 3 * ours and 5 * shared > 3 * theirs


class OneSided(Right):
    """Looks at the reference's share only."""

    def enough(self, shared: int, ours: int, theirs: int) -> bool:
        return 5 * shared >= 3 * theirs


class NumbersAsText(Right):
    """Compares integers as text, in the range as well."""

    def value(self, digits: str) -> Any:
        return digits


class DecimalLimit(Right):
    """Fails on integers of more than 4,300 digits."""

    def value(self, digits: str) -> Any:
        return int(digits)


class OpenEnd(Right):
    """Takes the upper end of a range as outside it."""

    def inside(self, low: Any, high: Any, numbers: set[Any]) -> bool:
        return all(low <= number < high for number in numbers)


class RisingRange(Right):
    """Expects the lower end first."""

    def ends(self, first: Any, second: Any) -> Iterable[Any]:
        return first, second


class AnyInRange(Right):
    """Is content with one integer in the range."""

    def inside(self, low: Any, high: Any, numbers: set[Any]) -> bool:
        return any(low <= number <= high for number in numbers)


class FarthestEnd(Right):
    """Takes the last end of a range, not the first."""

    pattern = r"\branging from (\d+)(?:\s\S+)*\sto (\d+)\b"


class NoFifteen(Right):
    """Has forgotten fifteen."""

    number_words = MappingProxyType(dict(list(NUMBER_WORDS.items())[:-1]))


class TwelveAsWell(Right):
    """Reads twelve as a number."""

    number_words = NUMBER_WORDS | {"twelve": "12"}


class NegationIgnored(Right):
    """Takes yes, no and not for stopwords."""

    stopwords = STOPWORDS | {"yes", "no", "not"}


class StopwordMissing(Right):
    """Has forgotten one stopword."""

    stopwords = STOPWORDS - {"themselves", "yours"}


class UnicodeWords(Right):
    """Takes letters and digits of any script for token characters."""

    def tokens(self, text: str) -> list[str]:
        return [self.number_words.get(t, t) for t in re.findall(r"[^\W_]+", text.lower())]


class CaseFolded(Right):
    """Folds the case, so that a sharp s is ss."""

    def tokens(self, text: str) -> list[str]:
        return super().tokens(text.casefold())


class SubsetIsNoConflict(Right):
    """Sees no conflict where one has all integers of the other."""

    def conflict(self, numbers: set[Any], stated: set[Any]) -> bool:
        return not (numbers <= stated or stated <= numbers)


class InsufficientAnywhere(Right):
    """Takes any prediction with the word insufficient for an abstention."""

    def early(self, ours: list[str]) -> str:
        return "insufficient" if "insufficient" in ours else super().early(ours)


class WrongRuleName(Right):
    """Gives the right verdict under another name."""

    def early(self, ours: list[str]) -> str:
        return "empty" if not ours else super().early(ours)


WRONG = [
    ContainsCharacters,
    ContainsWithGaps,
    MoreThanThreeFifths,
    OneSided,
    NumbersAsText,
    DecimalLimit,
    OpenEnd,
    RisingRange,
    AnyInRange,
    FarthestEnd,
    NoFifteen,
    TwelveAsWell,
    NegationIgnored,
    StopwordMissing,
    UnicodeWords,
    CaseFolded,
    SubsetIsNoConflict,
    InsufficientAnywhere,
    WrongRuleName,
]


def test_naive_grader_passes_the_whole_kit(naive_grade: Callable[[Any, Any], Any]) -> None:
    """The naive grader passes golden vectors, laws and differential check."""
    reports = check_grader(naive_grade, examples=30)
    assert ["golden vectors", "laws", "differential check"] == [r.name for r in reports]
    assert [()] * 3 == [report.failures for report in reports]
    assert smallest_failure(reports) is None


def test_pieces_are_right_together() -> None:
    """What the wrong graders below are made of passes, so each is wrong in its own way alone."""
    assert [] == check_vectors(Right())
    assert [] == check_differential(Right(), examples=300)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_golden_vectors_catch_wrong_grader(wrong: type[Right]) -> None:
    """Each wrong grader fails golden vectors, the long inputs left out: the smallest is small."""
    vectors = [vector for vector in load_vectors() if vector.pins != "long inputs"]
    failures = check_vectors(wrong(), vectors)
    assert failures
    assert all(failure.expected != failure.found for failure in failures)
    report = Report("golden vectors", "some pairs", tuple(failures))
    smallest = smallest_failure([report])
    assert smallest is not None
    assert min(failure.size for failure in failures) == smallest.size
    assert wrong is DecimalLimit or 80 > smallest.size


FOUND_AT_RANDOM = [
    ContainsCharacters,
    ContainsWithGaps,
    MoreThanThreeFifths,
    OneSided,
    NumbersAsText,
    OpenEnd,
    UnicodeWords,
    SubsetIsNoConflict,
    InsufficientAnywhere,
    WrongRuleName,
]


@pytest.mark.parametrize("wrong", FOUND_AT_RANDOM, ids=lambda wrong: wrong.__name__)
def test_differential_check_finds_a_small_pair(wrong: type[Right]) -> None:
    """Random pairs alone show it too; without any one of its characters the pair shows nothing."""
    grade = wrong()
    (failure,) = check_differential(grade, examples=1000)
    pair = (failure.prediction, failure.reference)
    assert "differential check" == failure.check
    assert failure.expected != failure.found == observe(grade, *pair)
    for side in (0, 1):
        for place in range(len(pair[side])):
            shorter = list(pair)
            shorter[side] = pair[side][:place] + pair[side][place + 1 :]
            assert agree(observe(grade_answer, *shorter), observe(grade, *shorter))


BROKEN_LAWS = {
    OneSided: "symmetry",
    MoreThanThreeFifths: "overlap",
    DecimalLimit: "conflict",
    OpenEnd: "inside",
    RisingRange: "inside",
    AnyInRange: "outside",
    UnicodeWords: "silence",
    SubsetIsNoConflict: "conflict",
    InsufficientAnywhere: "containment",
    WrongRuleName: "silence",
}


@pytest.mark.parametrize("wrong", BROKEN_LAWS, ids=lambda wrong: wrong.__name__)
def test_laws_name_what_is_broken(wrong: type[Right]) -> None:
    """The law that a wrong grader breaks is found and named, with a pair that shows it."""
    (law,) = (law for law in LAWS if law.name == BROKEN_LAWS[wrong])
    (failure,) = check_laws(wrong(), examples=100, laws=[law])
    assert failure.check.startswith(f"law {law.name}: ")
    assert failure.expected != failure.found


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ((True, "exact"), "correct, exact"),
        ([False, "overlap-reject"], "not correct, overlap-reject"),
        (grade_answer("x", "x"), "correct, exact"),
        (
            (True, "overlap-reject"),
            "returned True with the rule overlap-reject: they do not go together",
        ),
        ((1, "exact"), "returned 1 with the rule exact: they do not go together"),
        ((True, "same"), "returned the rule 'same': there is none of that name"),
        ((True, ["exact"]), "returned the rule ['exact']: there is none of that name"),
        (True, "returned True: neither a pair nor with .correct and .rule"),
        (None, "returned None: neither a pair nor with .correct and .rule"),
        (
            (True, "exact", 1),
            "returned (True, 'exact', 1): neither a pair nor with .correct and .rule",
        ),
    ],
)
def test_what_a_grader_may_return(returned: Any, found: str) -> None:
    """A pair or an object with `correct` and `rule` is a grade; anything else is told as it is."""
    assert found == observe(lambda prediction, reference: returned, "x", "x")


@pytest.mark.parametrize(
    ("error", "found", "refusal"),
    [
        (ValueError("no token"), "raised ValueError: no token", True),
        (UnicodeEncodeError("ascii", "x", 0, 1, "no"), "raised UnicodeEncodeError", False),
        (KeyError("x"), "raised KeyError", False),
        (SystemExit(0), "raised SystemExit: 0", False),
        (pytest.skip.Exception("later"), "raised Skipped: later", False),
    ],
)
def test_what_a_grader_may_raise(error: BaseException, found: str, refusal: bool) -> None:
    """A ValueError refuses a reference; others are faults, also those that end a process or test.

    So is a Unicode error, though it is a ValueError.
    """

    def grade(prediction: str, reference: str) -> Pair:
        raise error

    assert observe(grade, "x", "?").startswith(found)
    assert refusal is agree("raised ValueError", observe(grade, "x", "?"))


def test_an_interrupt_ends_the_check() -> None:
    """Ctrl-C is not the grader's doing: it goes through."""

    def grade(prediction: str, reference: str) -> Pair:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observe(grade, "x", "x")


def test_failure_is_shown_in_ascii_and_short() -> None:
    """Texts are shown escaped; long ones cut, with their length."""
    shown = str(Failure("a check", "\u001b\u00e9", "x" * 5000, "this", "that")).splitlines()
    assert ["a check", r"  prediction '\x1b\xe9'"] == shown[:2]
    assert shown[2].endswith("... (5000 characters)")
    assert ["  expected   this", "  found      that"] == shown[3:]
    assert 200 > max(map(len, shown))


GRADERS = """
import sys
from deermem_grade import grade_answer as right

def exits(prediction, reference):
    sys.exit(0)

def contains_characters(prediction, reference):
    grade = right(prediction, reference)
    if not grade.correct and prediction.strip() and prediction in reference:
        return True, "substring"
    return grade

class Holder:
    grade = staticmethod(right)

not_callable = 7
"""


@pytest.fixture
def graders(tmp_path: Path) -> Path:
    """A folder with a module of graders in it."""
    (tmp_path / "graders.py").write_text(GRADERS)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


KIT = "deermem_grade.conformance"


def test_command_passes(graders: Path) -> None:
    """The command says which checks passed against which grader, and exits 0."""
    done = run(graders, KIT, "graders:Holder.grade", "--examples", "5")
    assert (0, "") == (done.returncode, done.stderr)
    assert [
        "graders:Holder.grade against deterministic-overlap-v1@dccae4f58850",
        f"passed  golden vectors: {len(load_vectors())} pairs",
        "passed  laws: 16 laws, 5 cases each",
        "passed  differential check: 50 random pairs",
    ] == done.stdout.splitlines()


def test_command_fails_with_the_smallest_pair(graders: Path) -> None:
    """The command exits 1 and shows the smallest pair of all that fail."""
    done = run(graders, KIT, "graders:contains_characters", "--check", "golden")
    assert (1, "") == (done.returncode, done.stderr)
    lines = done.stdout.splitlines()
    assert lines[1].startswith("FAILED  golden vectors: ")
    failures = check_vectors(load_from(graders, "graders:contains_characters"))
    size = min(failure.size for failure in failures)
    prediction, reference = (line[13:].strip("'") for line in lines[5:7])
    assert size == len(prediction) + len(reference)
    assert "The smallest pair of all that fail:" == lines[3]


def load_from(folder: Path, name: str) -> Callable[[str, str], Any]:
    sys.path.insert(0, str(folder))
    try:
        sys.modules.pop("graders", None)
        return load_grader(name)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("graders", None)


def test_a_grader_that_exits_does_not_pass(graders: Path) -> None:
    """A grader that ends the process with status 0 is reported as any other wrong one."""
    done = run(graders, KIT, "graders:exits", "--check", "golden")
    assert (1, "") == (done.returncode, done.stderr)
    assert "found      raised SystemExit: 0" in done.stdout


@pytest.mark.parametrize(
    ("source", "raised"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("def grade(:", "SyntaxError: invalid syntax"),
        ("grade = undefined", "NameError: name 'undefined' is not defined"),
    ],
)
def test_a_module_that_cannot_be_imported_is_wrong_usage(
    graders: Path, source: str, raised: str
) -> None:
    """Whatever its import raises, also an exit with status 0: one line, exit status 2."""
    (graders / "broken.py").write_text(source)
    done = run(graders, KIT, "broken:grade")
    assert 2 == done.returncode
    assert f"no grader 'broken:grade': its import raised {raised}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["graders"], "no grader 'graders': expected MODULE:FUNCTION"),
        (["nowhere:grade"], "no grader 'nowhere:grade': No module named 'nowhere'"),
        (["graders:nothing"], "no grader 'graders:nothing': module 'graders' has no attribute"),
        (["graders:not_callable"], "no grader 'graders:not_callable': int is not callable"),
        (["graders:right", "--examples", "0"], "--examples is 0: expected 1 or more"),
    ],
)
def test_command_refuses(graders: Path, arguments: list[str], message: str) -> None:
    """Wrong usage is one line that says what is wrong, and exit status 2."""
    done = run(graders, KIT, *arguments)
    assert 2 == done.returncode
    assert f"error: {message}" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_command_without_hypothesis(graders: Path) -> None:
    """Without hypothesis the golden vectors still run; the others say what to install."""
    (graders / "hypothesis.py").write_text("raise ModuleNotFoundError(name='hypothesis')\n")
    done = run(graders, KIT, "graders:right", "--check", "golden")
    assert (0, "") == (done.returncode, done.stderr)
    done = run(graders, KIT, "graders:right")
    assert 2 == done.returncode
    assert "needs hypothesis: pip install 'deermem-grade[conformance]'" in done.stderr


def test_plugin_adds_three_tests(graders: Path) -> None:
    """With the option the kit's checks run beside the tests of a project, warnings as errors."""
    (graders / "test_own.py").write_text("def test_own(): pass\n")
    done = run(
        graders,
        "pytest",
        "-v",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
        "--deermem-grader",
        "graders:right",
        "--deermem-examples",
        "5",
    )
    assert 0 == done.returncode, done.stdout
    for name in ("golden", "laws", "differential"):
        assert f"conformance[{name}] PASSED" in done.stdout
    assert "4 passed" in done.stdout


def test_plugin_names_the_smallest_pair(graders: Path) -> None:
    """A failing check is a failing test that shows the pair, without a traceback."""
    done = run(
        graders,
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "golden",
        "--deermem-grader",
        "graders:contains_characters",
    )
    assert 1 == done.returncode
    assert "The smallest pair that fails:" in done.stdout
    assert "found      correct, substring" in done.stdout
    assert "Traceback" not in done.stdout
    assert "1 failed, 2 deselected" in done.stdout


@pytest.mark.parametrize("number", ["0", "-1", "few"])
def test_plugin_refuses_a_number_of_examples(graders: Path, number: str) -> None:
    """Wrong usage is one line and pytest's exit status for it, 4; no test is run."""
    options = ("--deermem-grader", "graders:right", f"--deermem-examples={number}")
    done = run(graders, "pytest", "-q", "-p", "no:cacheprovider", *options)
    assert (4, "") == (done.returncode, done.stdout)
    assert f"{number!r}: expected 1 or more" in done.stderr


def test_plugin_does_nothing_without_the_option(graders: Path) -> None:
    """Without the option no test is added, and neither the kit nor hypothesis is imported by it."""
    (graders / "test_own.py").write_text(
        "import sys\n"
        "def test_own():\n"
        "    loaded = {'deermem_grade.conformance.kit', 'deermem_grade.conformance.laws'}\n"
        "    assert not loaded & set(sys.modules)\n"
    )
    done = run(
        graders,
        "pytest",
        "-q",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
    )
    assert 0 == done.returncode, done.stdout
    assert "1 passed" in done.stdout
