"""Terminals of every width: no line runs over, nothing is lost; colour only where it is wanted."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_cli.folding import cells, fold
from deermem_cli.parser import build_parser, command_parsers
from deermem_cli.table import Table

Run = Callable[..., subprocess.CompletedProcess[str]]
OnTerminal = Callable[..., tuple[int, str]]

MINI = ("--protocol", "mini-v1", "--selector", "reference")
READER = ("--provider", "lexical-reader-v1")
WIDTHS = (40, 80, 200)
ESCAPE = "\x1b"

# For each command a call whose whole output is looked at, and its exit status.
CALLS: dict[str, tuple[tuple[str, ...], int]] = {
    "demo": ((), 0),
    "validate-contracts": (MINI, 0),
    "validate": (MINI, 0),
    "run-policy": ((*MINI, "--output-dir", "policy"), 0),
    "run-qa": ((*MINI, *READER, "--output-dir", "qa"), 0),
    "grade-qa": ((*MINI, "--output-dir", "answered"), 0),
    "verify": (("demo-run", *MINI), 0),
    "report": (("demo-run",), 0),
    "compare": (("demo-run", "demo-run"), 0),
    "grade": (("a b c", "b d", "--explain"), 1),
    "selector": (("show", *MINI), 0),
    "protocols": ((), 0),
}
# A script for a shell is not for the eye; it is what it is.
NOT_FOLDED = {"completion"}
WITH_TABLES = {"demo", "run-policy", "grade-qa", "compare"}


def commands() -> list[str]:
    """Every command of the parser that prints for a person."""
    return [name for name in command_parsers(build_parser()) if name not in NOT_FOLDED]


def plain(shown: str) -> str:
    """What a terminal shows, without styles, and without how long it took."""
    return re.sub(r"\d+\.\d s\b", "", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown))


def words(text: str) -> str:
    """A text without its spaces and line ends."""
    return "".join(text.split())


def test_every_command_is_looked_at() -> None:
    """A new command needs a line here."""
    assert commands() == list(CALLS)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", commands())
def test_no_line_runs_over(
    on_terminal: OnTerminal,
    tmp_path: Path,
    made_runs: Callable[[Path], None],
    command: str,
    width: int,
) -> None:
    """Whatever a command says fits the terminal, line by line."""
    made_runs(tmp_path)
    arguments, expected = CALLS[command]
    status, shown = on_terminal(command, *arguments, width=width)
    assert expected == status
    assert width >= max(cells(line) for line in plain(shown).splitlines())


@pytest.mark.parametrize("command", [name for name in commands() if name not in WITH_TABLES])
def test_nothing_is_lost(
    run: Run,
    on_terminal: OnTerminal,
    tmp_path: Path,
    made_runs: Callable[[Path], None],
    command: str,
) -> None:
    """A narrow terminal shows what a pipe gets, broken over more lines."""
    arguments, _ = CALLS[command]
    if command == "run-qa":
        arguments = (*arguments, "-q")  # without the bar
    made_runs(tmp_path)
    piped = run(command, *arguments)
    for name in ("policy", "qa"):
        if (tmp_path / name).exists():
            (tmp_path / name).rename(tmp_path / f"{name}-piped")
    (tmp_path / "demo-run" / "report.html").unlink(missing_ok=True)
    status, shown = on_terminal(command, *arguments, width=40)
    assert piped.returncode == status
    assert words(plain(piped.stderr + piped.stdout)) == words(plain(shown))


@pytest.mark.parametrize("width", WIDTHS)
def test_accuracy_table_is_whole(
    run: Run,
    on_terminal: OnTerminal,
    tmp_path: Path,
    made_runs: Callable[[Path], None],
    width: int,
) -> None:
    """At every width each cell of the accuracy table stands on one line, with its column's name."""
    made_runs(tmp_path)
    (tmp_path / "answered").rename(tmp_path / "piped")
    made_again = run("grade-qa", *MINI, "--output-dir", "piped", "-q").stdout.splitlines()
    columns = re.split(" {2,}", made_again[1].strip())
    rows = [re.split(" {2,}", line.strip()) for line in made_again[2:]]
    assert [9] * 3 == [len(row) for row in rows] == [len(columns)] * 3
    (tmp_path / "piped").rename(tmp_path / "answered")
    for name in ("MANIFEST.sha256", *(f"qa.{part}" for part in PUBLISHED)):
        (tmp_path / "answered" / name).unlink()
    _, shown = on_terminal("grade-qa", *MINI, "-q", "--output-dir", "answered", width=width)
    lines = [" ".join(line.split()) for line in plain(shown).splitlines()]
    for row in rows:
        if width == 200:
            assert " ".join(row) in lines
        else:
            assert row[0] in lines
            for column, cell in zip(columns[1:], row[1:], strict=True):
                assert any(f"{column}: {cell}" in line for line in lines)


PUBLISHED = ("rows.jsonl", "summary.json", "stats.json", "analysis.json")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("command", [None, *command_parsers(build_parser())])
def test_help_fits(monkeypatch: pytest.MonkeyPatch, command: str | None, width: int) -> None:
    """Help runs over no line, loses nothing, and is no wider than can be read."""

    def help_at(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        parser = build_parser()
        return (command_parsers(parser)[command] if command else parser).format_help()

    shown = help_at(width)
    assert min(width, 100) >= max(map(len, shown.splitlines()))
    # Spaces, and the marks that join an example's lines, are all that differs.
    assert words(help_at(1000).replace("\\\n", "")) == words(shown.replace("\\\n", ""))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("arguments", [(), ("run-p",), ("verify", "no-such-folder"), ("grade",)])
def test_first_screen_and_errors_fit(
    run: Run, on_terminal: OnTerminal, arguments: tuple[str, ...], width: int
) -> None:
    """What is said before any command runs, and when one cannot, fits too."""
    status, shown = on_terminal(*arguments, width=width)
    assert width >= max(map(len, shown.splitlines()))
    piped = run(*arguments, COLUMNS=str(width))
    assert piped.returncode == status
    assert words(piped.stderr + piped.stdout) == words(shown)


@pytest.mark.parametrize("command", commands())
def test_files_hold_no_escape_code(
    run: Run, made_runs: Callable[[Path], None], tmp_path: Path, command: str
) -> None:
    """Output that goes to no terminal is lines alone, also where the terminal's name is set."""
    made_runs(tmp_path)
    arguments, status = CALLS[command]
    done = run(command, *arguments, TERM="xterm-256color", COLORTERM="truecolor")
    assert status == done.returncode
    assert ESCAPE not in done.stdout + done.stderr
    assert "\r" not in done.stdout + done.stderr


def test_colour_is_no_bar(run: Run) -> None:
    """FORCE_COLOR draws tables in a pipe, but moves no cursor in a log."""
    done = run("demo", FORCE_COLOR="1")
    assert "─────" in done.stdout
    assert ESCAPE in done.stdout
    assert [] == re.findall(r"\x1b\[[0-9;?]*[^0-9;?m]", done.stdout + done.stderr)
    assert "\r" not in done.stdout + done.stderr


def test_no_colour_wins(run: Run) -> None:
    """Where both are set a pipe gets plain lines."""
    policy = ("run-policy", *MINI, "-q", "--output-dir")
    done = run(*policy, "1", FORCE_COLOR="1", NO_COLOR="1")
    assert run(*policy, "2").stdout == done.stdout
    assert ESCAPE not in done.stdout + done.stderr


def test_empty_variables_say_nothing(on_terminal: OnTerminal, run: Run) -> None:
    """An empty FORCE_COLOR or NO_COLOR is as good as none, on a terminal and in a pipe."""
    empty = {"FORCE_COLOR": "", "NO_COLOR": ""}
    policy = ("run-policy", *MINI, "-q", "--output-dir")
    assert on_terminal(*policy, "1") == on_terminal(*policy, "2", **empty)
    assert ESCAPE not in run(*policy, "3", **empty).stdout


TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "))


@given(TEXT, st.integers(min_value=4, max_value=120))
def test_fold(text: str, width: int) -> None:
    """Each line fits, and only spaces are lost, whatever the text."""
    lines = fold(text, width)
    assert all(cells(line) <= width for line in lines)
    assert text.replace(" ", "") == "".join(lines).replace(" ", "")


@given(st.lists(st.text("abc", min_size=1, max_size=8), min_size=1), st.integers(12, 60))
def test_fold_breaks_at_spaces(parts: list[str], width: int) -> None:
    """A word that fits a line is not broken."""
    lines = fold(" ".join(parts), width)
    assert parts == [word for line in lines for word in line.split()]


@pytest.mark.parametrize(
    ("line", "width", "expected"),
    [
        ("short", 40, ["short"]),
        ("no terminal, no break", None, ["no terminal, no break"]),
        ("one two three four", 10, ["one two", "  three", "  four"]),
        ("  one two three four", 12, ["  one two", "    three", "    four"]),
        (
            "label   one two three four five",
            20,
            ["label   one two", "        three four", "        five"],
        ),
        ("k       " + "x" * 14, 20, ["k", "  " + "x" * 14]),
        ("x" * 12, 8, ["x" * 8, "  xxxx"]),
        ("日本語日本語", 8, ["日本語日", "  本語"]),
    ],
)
def test_fold_by_example(line: str, width: int | None, expected: list[str]) -> None:
    """Others are indented by two, or stand below the second column where they fit there."""
    assert expected == fold(line, width)


def test_cells() -> None:
    """Wide characters take two columns, marks none."""
    assert [3, 6, 1, 0] == [cells(text) for text in ("abc", "日本語", "e\u0301", "")]


def test_stacked_table_names_its_cells() -> None:
    """A row is headed by what tells it apart; every other cell stands beside its column's name."""
    table = Table(
        "T",
        ("suite", "n", "policy", "share"),
        (("all", 5, "hybrid", "3 (0.6)"),),
        ("suite", "policy"),
    )
    assert ["T", "all, hybrid", "  n: 5,", "  share: 3 (0.6)"] == list(table.stacked_lines(17))
    first = Table("T", ("suite", "share"), (("all", "3 (0.6)"),))
    assert ["T", "all", "  share: 3 (0.6)"] == list(first.stacked_lines(40))
