"""The man page: every command, what surrounds it, sound roff, the same bytes everywhere."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deermem_cli import manual
from deermem_cli.parser import build_parser, command_parsers

Run = Callable[..., subprocess.CompletedProcess[str]]

PACKAGE = Path(__file__).resolve().parent.parent
MAKE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import hatch_build
sys.stdout.write(hatch_build.make_man_page(Path(sys.argv[1])))
"""

for module in ("argparse_manpage", "hatchling"):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"needs {module}, with which the page is built", allow_module_level=True)


def make(**variables: str) -> str:
    """The man page, made by a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", MAKE, str(PACKAGE)],
        env={"PATH": os.environ["PATH"], "HOME": os.devnull} | variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.fixture(scope="module")
def roff() -> str:
    """The man page as it is built."""
    return make()


@pytest.fixture
def page(roff: str, tmp_path: Path) -> Path:
    """The man page in a file."""
    path = tmp_path / "deermem.1"
    path.write_text(roff, encoding="utf-8")
    return path


def rendered(page: Path, width: int) -> str:
    """What `man -l` shows of the page, without a warning."""
    if shutil.which("man") is None:
        pytest.skip("needs man (apt: man-db)")
    done = subprocess.run(
        ["man", "--warnings=w", "-l", page],
        env={
            "PATH": os.environ["PATH"],
            "HOME": os.devnull,
            "LC_ALL": "C.UTF-8",
            "MANPAGER": "cat",
            "MANWIDTH": str(width),
            "TERM": "dumb",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return re.sub(".\b", "", done.stdout)


@pytest.mark.parametrize("width", [80, 200])
def test_man_renders_it(page: Path, width: int) -> None:
    """`man -l` shows the page without a warning, each of its lines within the width."""
    lines = rendered(page, width).splitlines()
    assert width >= max(map(len, lines))
    assert "       deermem - what a capacity policy costs an agent's memory" in lines


def test_sections(page: Path) -> None:
    """The page has the sections that a reader of manuals looks for, in one order."""
    shown = rendered(page, 80)
    expected = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "PROTOCOL OPTIONS"]
    expected += ["OUTPUT OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES"]
    assert expected == re.findall(r"^([A-Z][A-Z ]+)$", shown, re.MULTILINE)


def test_each_command_has_a_section(page: Path) -> None:
    """A section for each command, with its usage, its description and all of its options."""
    shown = rendered(page, 200)
    commands = command_parsers(build_parser())
    parts = re.split(r"^   deermem ([a-z-]+)$", shown, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(commands) == list(sections)
    shared = parts[-1].partition("\nOPTIONS\n")[2]
    for name, parser in commands.items():
        section = " ".join(sections[name].split())
        assert parser.format_usage().strip().removeprefix("usage: ") in section
        assert parser.description is not None
        assert parser.description in section
        for action in parser._actions:
            for option in action.option_strings:
                assert option in section or option in shared or option in {"-h", "--help"}


def test_environment_exit_statuses_and_files(page: Path) -> None:
    """Each variable, exit status and file is listed with what it is."""
    shown = " ".join(rendered(page, 200).split())
    for name, meaning in manual.ENVIRONMENT:
        assert f"{name} {meaning}" in shown
    for status, meaning in manual.EXIT_STATUSES:
        assert f"{status} {meaning}" in shown
    for name, command, content in manual.FILES:
        assert f"{name} ({command}) {content}" in shown


def test_files_are_those_of_a_run(run: Run, tmp_path: Path) -> None:
    """The manual lists exactly what a run, its grading and its report leave, and the two others."""
    assert run("demo", "-q", "--output-dir", "run").returncode == 0
    listed = {name for name, _, _ in manual.FILES}
    found = {
        path.relative_to(tmp_path / "run").as_posix()
        for path in (tmp_path / "run").rglob("*")
        if path.is_file()
    }
    answers = {name for name in found if name.startswith("responses/")}
    assert all(name.endswith(".json") for name in answers)
    elsewhere = {"responses/*.corrupt", ".lock", "report.html"}
    assert listed - elsewhere == (found - answers - {".lock"}) | {"responses/*.json"}


def test_variables_are_those_that_are_read() -> None:
    """Every variable the command's own code names is in the manual."""
    source = PACKAGE / "src" / "deermem_cli"
    text = "".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py"))
    read = re.findall(
        r"environ\.get\(\s*\"([A-Z_]+)\"|^[A-Z]+_VARIABLE = \"(\w+)\"", text, re.MULTILINE
    )
    names = {first or second for first, second in read} - {"TERM"}
    assert len(names) >= 4
    assert names <= {name for name, _ in manual.ENVIRONMENT}


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff (apt: groff-base)")
def test_groff_has_nothing_to_warn_of(page: Path) -> None:
    """Every warning of groff is asked for; there is none."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", page], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_examples_can_be_copied(page: Path) -> None:
    """An example that is broken over lines is one command to a shell."""
    examples = rendered(page, 80).partition("\nEXAMPLES\n")[2].replace("\\\n", "")
    shown = {" ".join(line.split()) for line in examples.splitlines()}
    for parser in command_parsers(build_parser()).values():
        assert set(parser.examples) <= shown


def test_same_bytes_everywhere(roff: str) -> None:
    """Terminal, locale, time zone and hash seed do not get into the page; the date is pinned."""
    other = make(COLUMNS="40", LC_ALL="C", TZ="Pacific/Auckland", PYTHONHASHSEED="7")
    assert roff == other
    dated = make(SOURCE_DATE_EPOCH="86400")
    assert dated.startswith('.TH DEERMEM "1" "1970\\-01\\-02" ')
    assert roff.splitlines()[1:] == dated.splitlines()[1:]
