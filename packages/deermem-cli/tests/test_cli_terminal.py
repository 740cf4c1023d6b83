"""What stands on a terminal, and what must not get to one."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_cli.clean import clean
from deermem_cli.table import Table
from deermem_data import specs_folder

Run = Callable[..., subprocess.CompletedProcess[str]]
OnTerminal = Callable[..., tuple[int, str]]

ESCAPE = "\x1b"
RUN_POLICY = (
    *("run-policy", "--protocol", "mini-v1", "--selector", "reference"),
    *("-q", "--output-dir", "out"),
)
HOSTILE = "\x1b]0;owned\x07\x9b31m\u202eid\u2066\r\x08\x7f"
# Every code point of Unicode 15's property Bidi_Control.
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def without_styles(shown: str) -> str:
    """What a terminal shows, without the codes that style it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


def cells(shown: str) -> list[list[str]]:
    """The rows of the retention table, as words."""
    lines = without_styles(shown).splitlines()
    return [re.findall(r"[\w-]+", line) for line in lines if re.match(r"\W*(over|offi|synt)", line)]


EXPECTED = [
    ["overall", "45", "confidence", "20", "27", "35"],
    ["overall", "45", "hybrid-v1", "35", "45", "45"],
    ["official", "40", "confidence", "20", "26", "32"],
    ["official", "40", "hybrid-v1", "30", "40", "40"],
    ["synthetic", "5", "confidence", "0", "1", "3"],
    ["synthetic", "5", "hybrid-v1", "5", "5", "5"],
]


def test_table_on_a_terminal(on_terminal: OnTerminal) -> None:
    """On a terminal the table is drawn, with a rule below its head."""
    status, shown = on_terminal(*RUN_POLICY)
    assert status == 0
    assert cells(shown) == EXPECTED
    assert "─────" in shown
    assert ESCAPE in shown


def test_no_colour_on_request(on_terminal: OnTerminal) -> None:
    """Under NO_COLOR no code sets a colour."""
    status, shown = on_terminal(*RUN_POLICY, NO_COLOR="1")
    assert status == 0
    assert cells(shown) == EXPECTED
    assert re.findall(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9\d|10\d)[0-9;]*m", shown) == []


def test_dumb_terminal(on_terminal: OnTerminal) -> None:
    """A terminal that knows no codes gets the lines that a pipe gets."""
    status, shown = on_terminal(*RUN_POLICY, TERM="dumb")
    assert status == 0
    assert cells(shown) == EXPECTED
    lines = shown.splitlines()
    assert lines[1] == "  suite      cases  policy      keep 5  keep 7  keep 9"
    assert len(lines) == 2 + len(EXPECTED)
    assert shown.isascii()
    assert ESCAPE not in shown


def test_terminal_of_the_c_locale(on_terminal: OnTerminal) -> None:
    """In an ASCII locale the table is drawn in ASCII."""
    status, shown = on_terminal(*RUN_POLICY, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert status == 0
    assert cells(shown) == EXPECTED
    assert shown.isascii()


@pytest.mark.parametrize("width", [40, 25])
def test_narrow_terminal(on_terminal: OnTerminal, width: int) -> None:
    """A terminal too narrow for the table loses no cell and breaks no line of its own."""
    status, shown = on_terminal(*RUN_POLICY, width=width)
    assert status == 0
    plain = without_styles(shown)
    assert width >= max(map(len, plain.splitlines()))
    words = re.findall(r"[\w-]+", plain)
    for row in EXPECTED:
        assert {row[0], row[2]} <= set(words)
    counts = re.findall(r"(?:cases|keep \d): (\d+)", plain)
    expected = [number for suite, cases, policy, *kept in EXPECTED for number in (cases, *kept)]
    assert expected == counts


@pytest.mark.parametrize("arguments", [("demo",), ("protocols",), ("--help",)])
def test_piped_output_has_no_escape_code(run: Run, arguments: tuple[str, ...]) -> None:
    """Where nobody looks there are lines alone."""
    done = run(*arguments)
    assert done.returncode == 0
    assert ESCAPE not in done.stdout + done.stderr
    assert "\r" not in done.stdout + done.stderr


def test_colour_on_demand(run: Run) -> None:
    """FORCE_COLOR draws the table also into a pipe."""
    done = run(*RUN_POLICY, FORCE_COLOR="1")
    assert ESCAPE in done.stdout
    assert cells(done.stdout) == EXPECTED


@pytest.fixture
def hostile_data(tmp_path: Path) -> Path:
    """A copy of the embedded protocol whose first official record has a hostile id."""
    folder = tmp_path / "hostile"
    source = specs_folder() / "protocols" / "mini-v1"
    for path in source.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    (data,) = (folder / "data").iterdir()
    (config,) = (folder / "configs").iterdir()
    (manifest,) = (path for path in (folder / "manifests").iterdir() if "off" in path.name)
    first = next(iter(json.loads(manifest.read_text("utf-8"))["scenarios"].values()))[0]
    rows = json.loads(data.read_text("utf-8"))
    for row in rows:
        if row["question_id"] == first:
            row["question_id"] = f"0{HOSTILE}"
    data.write_text(json.dumps(rows), encoding="utf-8")
    text = config.read_text("utf-8")
    pinned = re.search(r"filename: .*\n +sha256: ([0-9a-f]{64})", text)
    assert pinned
    found = hashlib.sha256(data.read_bytes()).hexdigest()
    config.write_text(text.replace(pinned[1], found), encoding="utf-8")
    return folder


def assert_harmless(text: str) -> None:
    """Nothing in `text` could steer a terminal: lines of printable characters."""
    steering = [c for c in text if c != "\n" and (not c.isprintable() or c in BIDI)]
    assert steering == []


def test_ids_of_a_data_set_are_cleaned(
    run: Run, on_terminal: OnTerminal, hostile_data: Path
) -> None:
    """An id that holds control and direction characters reaches no terminal as it is."""
    arguments = ("validate", "--protocol", str(hostile_data), "--selector", "reference")
    done = run(*arguments)
    assert done.returncode == 2
    assert "not what the rule selects" in done.stderr
    assert "]0;owned31mid" in done.stderr  # what is left of it when the rest is gone
    assert_harmless(done.stderr)
    status, shown = on_terminal(*arguments)
    assert status == 2
    assert_harmless(shown)


@pytest.mark.parametrize(
    "arguments",
    [
        (*RUN_POLICY[:-3], "--output-dir", f"run{HOSTILE}"),
        ("validate", "--protocol", f"no{HOSTILE}"),
        ("validate", "--protocol", "mini-v1", "--selector", "reference", "--dataset", HOSTILE),
        ("selector", "show", "--protocol", "mini-v1", "--deerflow", HOSTILE),
        ("selector", "show", "--protocol", "mini-v1", "--selector", f"m{HOSTILE}:f"),
        ("demo", HOSTILE),
        (HOSTILE,),
        ("demo", f"--{HOSTILE}"),
    ],
)
def test_paths_and_arguments_are_cleaned(
    on_terminal: OnTerminal, arguments: tuple[str, ...]
) -> None:
    """What a path or an argument holds reaches no terminal as it is."""
    _, shown = on_terminal(*arguments)
    assert_harmless(without_styles(shown))


@given(st.text())
def test_cleaned_text_cannot_steer(text: str) -> None:
    """Whatever goes in, no control and no direction character comes out."""
    cleaned = clean(text)
    assert not set(cleaned) & set(BIDI)
    assert not [c for c in cleaned if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0]


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "M"])))
def test_clean_leaves_ordinary_text(text: str) -> None:
    """Letters, marks, digits, punctuation, symbols and spaces of any script stay as they are."""
    assert text == clean(text)


def test_clean_by_example() -> None:
    """Line ends and tabs become spaces; everything that steers is gone."""
    assert clean("a\tb\nc\rd") == "a b c d"
    assert clean("\x1b[31mred\x1b]0;t\x07") == "[31mred]0;t"
    assert clean(BIDI + "\x00\x7f\x80\x9f\u2028\u2029\ud800") == ""


def test_table_aligns_numbers_right() -> None:
    """A column of whole numbers is aligned right, one with any text left."""
    table = Table("T", ("name", "n", "mixed"), (("a", 5, 1), ("bcdef", 12, "x")))
    expected = ["T", "  name    n  mixed", "  a       5  1", "  bcdef  12  x"]
    assert expected == list(table.plain_lines())


def test_stacked_table_keeps_every_cell() -> None:
    """In a narrow terminal a row is its text, then its numbers by name, none broken in two."""
    table = Table("A title", ("who", "keep 5", "keep 7"), (("first", 1, 22), ("second", 3, 4)))
    expected = ["A title", "first", "  keep 5: 1,", "  keep 7: 22", "second", "  keep 5: 3,"]
    assert [*expected, "  keep 7: 4"] == list(table.stacked_lines(14))
