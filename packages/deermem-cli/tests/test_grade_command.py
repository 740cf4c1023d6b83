"""`deermem grade`: one pair, and files of pairs."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deermem_grade import GRADER_VERSION, grade_answer

Call = Callable[..., tuple[int, str, str]]
Run = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = [sys.executable, "-m", "deermem_cli", "grade"]


def write_jsonl(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pairs(count: int) -> list[dict[str, Any]]:
    return [{"n": n, "prediction": f"{n % 7} days", "reference": "3 days"} for n in range(count)]


@pytest.mark.parametrize(
    ("prediction", "reference", "status", "words"),
    [
        ("Seven WEEKS!", "7 weeks", 0, "correct: exact"),
        ("5", "25", 1, "not correct: numeric-conflict"),
        ("", "25", 1, "not correct: empty-prediction"),
    ],
)
def test_one_pair(call: Call, prediction: str, reference: str, status: int, words: str) -> None:
    """The verdict is printed and is the exit status: 0 correct, 1 not."""
    found, out, err = call("grade", prediction, reference)
    assert (status, words, "") == (found, out.splitlines()[0], err)


def test_explanation_names_every_rule_tried(call: Call) -> None:
    """With --explain the rules stand in their order, the deciding one marked."""
    _, out, _ = call("grade", "7", "ranging from 5 to about 10", "--explain")
    tried = [line.split()[1] for line in out.splitlines() if line[:2] in {"- ", "* "}]
    assert [
        "empty-prediction",
        "insufficient",
        "exact",
        "substring",
        "numeric-range",
        "numeric-conflict",
    ] == tried
    assert "* numeric-conflict" in out


def test_a_reference_without_a_token_is_an_error(call: Call) -> None:
    """What the grader raises is a wrong input: one line, exit 2."""
    status, out, err = call("grade", "a", "é")
    assert (2, "") == (status, out)
    assert err.startswith("deermem: error: grade: ")
    assert 1 == err.count("\n")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a",),
        ("--input", "in.jsonl"),
        ("--input", "in.jsonl", "--output", "-", "--json"),
        ("--input", "in.jsonl", "--output", "o", "--explain"),
        ("--input", "absent.jsonl", "--output", "o"),
    ],
)
def test_incomplete_or_contradictory_arguments(
    call: Call, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Exit 2, one line, no output file."""
    write_jsonl(tmp_path / "in.jsonl", pairs(1))
    status, out, err = call("grade", *arguments)
    assert (2, "", True) == (status, out, err.startswith("deermem: error: "))
    assert ["in.jsonl"] == sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize("workers", ["1", "3"])
def test_a_file_is_graded_in_its_order(call: Call, tmp_path: Path, workers: str) -> None:
    """Every row comes back in its place with its own keys and the grader's verdict."""
    rows = pairs(4100)
    write_jsonl(tmp_path / "in.jsonl", rows)
    options = ("--input", "in.jsonl", "--output", "out.jsonl", "--workers", workers, "--json")
    status, out, _ = call("grade", *options)
    expected = []
    for row in rows:
        grade = grade_answer(row["prediction"], row["reference"])
        verdict = {
            "grade_correct": grade.correct,
            "grade_rule": grade.rule,
            "grader_version": GRADER_VERSION,
        }
        expected.append(row | verdict)
    assert expected == read_jsonl(tmp_path / "out.jsonl")
    summary = json.loads(out)
    assert (0, 4100, 0) == (status, summary["graded"], summary["bad_lines"])
    assert 4100 == sum(summary["rules"].values())
    assert sum(row["grade_correct"] for row in expected) == summary["correct"]


def test_bad_lines_are_reported_by_number_and_good_ones_kept(call: Call, tmp_path: Path) -> None:
    """Exit 1; each bad line is named; the good ones are all there."""
    lines = [
        b'{"prediction": "a", "reference": "a"}',
        b"not json",
        b"[1]",
        b'{"prediction": "a"}',
        b'{"prediction": 3, "reference": "a"}',
        b"",
        b'{"prediction": "\xff", "reference": "a"}',
        b'{"prediction": "a", "reference": "\\u00e9"}',
        b"[" * 100_000,
        b'{"prediction": "b", "reference": "a"}',
    ]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    status, _, err = call("grade", "--input", "in.jsonl", "--output", "out.jsonl")
    assert 1 == status
    named = [line.split(": ")[1] for line in err.splitlines()]
    assert [f"line {number}" for number in (2, 3, 4, 5, 7, 8, 9)] == named
    kept = [row["prediction"] for row in read_jsonl(tmp_path / "out.jsonl")]
    assert ["a", "b"] == kept


def test_other_keys_and_a_lone_surrogate(call: Call, tmp_path: Path) -> None:
    """Keys can be named; what UTF-8 cannot hold is written as JSON's escape."""
    (tmp_path / "in.jsonl").write_bytes(b'{"p": "x \\ud800", "gold": "x"}\n')
    keys = ("--prediction-key", "p", "--reference-key", "gold")
    status, _, _ = call("grade", "--input", "in.jsonl", "--output", "out.jsonl", *keys)
    (row,) = read_jsonl(tmp_path / "out.jsonl")
    assert (0, "x \ud800", "exact") == (status, row["p"], row["grade_rule"])


def test_csv(call: Call, tmp_path: Path) -> None:
    """Quotes, line ends inside cells and a byte order mark are read; columns are added last."""
    lines = [
        "\ufeffid,prediction,reference,grade_rule",
        '1,"a\nb, c",c,old',
        "2,x",
        '3,d,"e ""q"""  ,z',
        "4,d,d,z\n",
    ]
    text = "\n".join(lines)
    (tmp_path / "in.csv").write_text(text, encoding="utf-8", newline="")
    status, _, err = call("grade", "--input", "in.csv", "--output", "out.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8"))))
    assert 1 == status
    assert ["id", "prediction", "reference", "grade_correct", "grade_rule", "grader_version"] == (
        rows[0]
    )
    assert [
        ["1", "a\nb, c", "c", "true", "substring", GRADER_VERSION],
        ["4", "d", "d", "true", "exact", GRADER_VERSION],
    ] == rows[1:]
    assert [4, 5] == [int(line.split("line ")[1].split(":")[0]) for line in err.splitlines()]


def test_csv_without_the_column(call: Call, tmp_path: Path) -> None:
    """A missing column is named with those that are there; nothing is written."""
    (tmp_path / "in.csv").write_text("a,reference\n1,2\n", encoding="utf-8")
    status, _, err = call("grade", "--input", "in.csv", "--output", "out.csv")
    assert 2 == status
    assert "no column 'prediction'; it has a, reference" in err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"prediction,reference\ra,a\r", "the input's column names are not CSV: "),
        (b'"prediction,reference\na,a\n', "the input's column names are not CSV: "),
        ("prediction,reference\na,a\n".encode("utf-16"), "the input's column names are not UTF-8"),
        (b"\n\n", "the input is empty"),
        (b"", "the input is empty"),
    ],
)
def test_a_csv_file_without_readable_column_names(
    call: Call, tmp_path: Path, content: bytes, reason: str
) -> None:
    """One line that says what is wrong with them, exit 2, nothing written."""
    (tmp_path / "in.csv").write_bytes(content)
    status, out, err = call("grade", "--input", "in.csv", "--output", "out.csv")
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert err.startswith(f"deermem: error: {reason}")
    assert ["in.csv"] == [path.name for path in tmp_path.iterdir()]


def test_csv_with_blank_lines_and_a_quote_left_open(call: Call, tmp_path: Path) -> None:
    """Blank lines are passed over, also before the names; the lines that a quote took are named."""
    text = '\n\nprediction,reference\n\na,a\n"b,b\nc,c\nd,d\n'
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    status, out, err = call("grade", "--input", "in.csv", "--output", "out.csv")
    assert (1, "1 graded, 1 correct, 1 bad lines") == (status, out.split(";")[0])
    assert err.startswith("in.csv: line 6: not CSV (lines to 8): ")


def test_an_existing_output_is_never_overwritten(call: Call, tmp_path: Path) -> None:
    """Exit 2; the file is as it was."""
    write_jsonl(tmp_path / "in.jsonl", pairs(1))
    (tmp_path / "out.jsonl").write_text("mine")
    status, _, err = call("grade", "--input", "in.jsonl", "--output", "out.jsonl")
    assert (2, "mine") == (status, (tmp_path / "out.jsonl").read_text())
    assert "is there already" in err


def test_standard_streams_carry_utf_8_in_any_locale(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """The graded lines are data: their bytes do not depend on the terminal's encoding."""
    line = '{"prediction": "é 😀 a", "reference": "a"}\n'.encode()
    done = subprocess.run(
        [*COMMAND, "--input", "-", "--output", "-"],
        input=line,
        capture_output=True,
        cwd=tmp_path,
        env=environment | {"PYTHONIOENCODING": "latin-1"},
        timeout=60,
        check=True,
    )
    (row,) = [json.loads(text) for text in done.stdout.decode("utf-8").splitlines()]
    assert ("é 😀 a", True) == (row["prediction"], row["grade_correct"])
    assert b"1 graded, 1 correct, 0 bad lines" in done.stderr


PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_input(tmp_path: Path, environment: dict[str, str]) -> None:
    """A file ten times as long takes at most a tenth more memory."""
    peaks = []
    for count in (5_000, 50_000):
        write_jsonl(tmp_path / f"{count}.jsonl", pairs(count))
        graded = [*COMMAND, "--input", f"{count}.jsonl", "--output", f"{count}.graded", "-q"]
        # A process's peak begins at that of the one it was forked from: a small one in between.
        measured = [sys.executable, "-c", PEAK, *graded]
        peak = subprocess.check_output(measured, cwd=tmp_path, env=environment, timeout=120)
        peaks.append(int(peak))
    assert peaks[1] < 1.1 * peaks[0], peaks


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the awaited state did not come"
        time.sleep(0.01)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_interrupted_it_leaves_no_output(
    tmp_path: Path, environment: dict[str, str], workers: str
) -> None:
    """SIGINT to the whole group, as Ctrl-C sends it: exit 130, no file, no traceback."""
    command = [*COMMAND, "--input", "-", "--output", "out.jsonl", "--workers", workers]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b'{"prediction": "a", "reference": "a"}\n' * 5000)
        process.stdin.flush()
        wait_for(lambda: any(tmp_path.iterdir()))
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read().decode()
    assert (130, []) == (process.returncode, list(tmp_path.iterdir()))
    assert "Traceback" not in said


def test_a_full_disk_is_an_error_and_leaves_nothing(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """A file-size limit ends the writing as a full disk does: exit 2, no file."""
    write_jsonl(tmp_path / "in.jsonl", pairs(2000))
    done = subprocess.run(
        [*COMMAND, "--input", "in.jsonl", "--output", "out.jsonl"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    assert 2 == done.returncode
    assert done.stderr.startswith("deermem: error: out.jsonl: cannot be written: ")
    assert ["in.jsonl"] == [path.name for path in tmp_path.iterdir()]
