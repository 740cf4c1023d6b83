"""Streams that are closed, full or of another encoding; a machine without a home."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = [sys.executable, "-m", "deermem_cli"]
FULL = Path("/dev/full")
MINI = "run-policy --protocol mini-v1 --selector reference"
RUN_POLICY = f"{MINI} -q --output-dir out"


def shell(environment: dict[str, str], tmp_path: Path, line: str) -> tuple[int, str, str]:
    """Run a line of bash with `deermem` defined; the status is that of `deermem`, not of a pipe."""
    script = f'set -o pipefail\ndeermem() {{ {sys.executable} -m deermem_cli "$@"; }}\n{line}\n'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", [RUN_POLICY, "protocols", "--help"])
def test_reader_that_stops(environment: dict[str, str], tmp_path: Path, arguments: str) -> None:
    """`| head -1` gets its line, and nothing is said of the rest."""
    line = f"deermem {arguments} | head -1"
    status, out, err = shell(environment, tmp_path, line)
    assert (status, len(out.splitlines()), err) == (0, 1, "")


@pytest.mark.parametrize("arguments", [RUN_POLICY, "protocols", f"{RUN_POLICY} --json"])
def test_reader_that_has_gone(environment: dict[str, str], tmp_path: Path, arguments: str) -> None:
    """A pipe without a reader is no error: the work was done, and nobody wanted to hear of it."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, *arguments.split()],
        cwd=tmp_path,
        env=environment,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [RUN_POLICY, "protocols", f"{RUN_POLICY} --json"])
def test_stdout_on_a_full_device(
    environment: dict[str, str], tmp_path: Path, arguments: str
) -> None:
    """A result that cannot be written is an error that names the stream."""
    status, _, err = shell(environment, tmp_path, f"deermem {arguments} > {FULL}")
    expected = "deermem: error: standard output: No space left on device\n"
    assert (2, expected) == (status, err)


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_stderr_on_a_full_device(environment: dict[str, str], tmp_path: Path) -> None:
    """Remarks that cannot be made do not undo the work."""
    line = f"deermem {MINI} --output-dir kept 2> {FULL}"
    status, out, _ = shell(environment, tmp_path, line)
    assert status == 0
    assert out.startswith("Cases in which")
    assert len(list((tmp_path / "kept").iterdir())) == 3


@pytest.mark.parametrize(("closed", "shown"), [(">&-", ""), ("2>&-", "Cases in which")])
def test_stream_closed_from_the_start(
    environment: dict[str, str], tmp_path: Path, closed: str, shown: str
) -> None:
    """A stream that was never open takes nothing, and its words do not turn up in the other."""
    status, out, err = shell(environment, tmp_path, f"deermem {MINI} --output-dir kept -v {closed}")
    assert status == 0
    assert out.startswith(shown)
    assert "written" not in out
    assert "Cases in which" not in err


@pytest.mark.parametrize("utf8", ["0", "1"])
def test_c_locale(run: Run, tmp_path: Path, utf8: str) -> None:
    """In the C locale a name beyond ASCII neither fails nor is lost."""
    name = "läufe-日本"
    variables = {"LC_ALL": "C", "PYTHONUTF8": utf8, "PYTHONCOERCECLOCALE": "0"}
    done = run(*MINI.split(), "--output-dir", name, **variables)
    assert done.returncode == 0
    assert done.stdout.startswith("Cases in which")
    assert "Traceback" not in done.stderr
    assert [name] == [path.name for path in tmp_path.iterdir()]
    again = run(*MINI.split(), "--output-dir", name, **variables)
    assert (again.returncode, again.stdout) == (2, "")
    assert "already holds a run" in again.stderr


def test_stdout_of_a_poorer_encoding(run: Run, tmp_path: Path) -> None:
    """What stdout's encoding lacks is written as an escape, not failed at."""
    source = "from deermem_select.reference import select_facts_for_capacity as choose\n"
    source += "def select(facts, **rest):\n    return choose(facts, **rest)\n"
    (tmp_path / "wähler.py").write_text(source, encoding="utf-8")
    arguments = ("selector", "show", "--protocol", "mini-v1", "--selector", "wähler:select")
    done = run(*arguments, PYTHONIOENCODING="ascii", PYTHONPATH=os.pathsep.join(paths(tmp_path)))
    assert (done.returncode, done.stderr) == (0, "")
    assert "path     w\\xe4hler.py\n" in done.stdout


def paths(folder: Path) -> list[str]:
    """The import path of a called command with a folder before it."""
    return [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]


def test_no_home(environment: dict[str, str], tmp_path: Path) -> None:
    """A process without HOME runs, and `~` of nobody is named in the error."""
    bare = {name: value for name, value in environment.items() if name != "HOME"}
    status, out, _ = shell(bare, tmp_path, f"deermem {RUN_POLICY}")
    assert status == 0
    assert out.startswith("Cases in which")
    line = "deermem selector show --protocol mini-v1 --deerflow '~no-such-user/x'"
    status, out, err = shell(bare, tmp_path, line)
    assert (status, out) == (2, "")
    assert err == "deermem: error: ~no-such-user/x: no such home folder; give the whole path\n"


def test_name_that_is_not_unicode(environment: dict[str, str], tmp_path: Path) -> None:
    """A folder whose name is not UTF-8 is written to and spoken of without failing."""
    line = f"deermem {MINI} --output-dir $'run-\\xff'"
    status, out, err = shell(environment, tmp_path, line)
    assert status == 0
    assert out.startswith("Cases in which")
    assert "in run-" in err
    assert [os.fsencode(path.name) for path in tmp_path.iterdir()] == [b"run-\xff"]


def test_a_reader_that_has_gone_does_not_change_the_answer(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """What is not correct exits with 1, also where nobody reads the verdict."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, "grade", "5", "25"], cwd=tmp_path, env=environment, stdout=write, check=False
    )
    os.close(write)
    assert 1 == done.returncode
