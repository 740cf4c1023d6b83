"""`deermem grade`: the grader alone, on one pair or on a file of pairs."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from deermem_data import ArtifactError, DeermemError
from deermem_grade import explain, get_grader, grade_answer

from ..grade_file import COLUMNS, Keys, csv_line, csv_reader, grade_rows, read_jsonl, write_graded
from ..parser import EXIT_DONE, EXIT_NO
from ..progress import Progress
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Grade what the arguments name."""
    if arguments.input is None:
        if arguments.prediction is None or arguments.reference is None:
            raise DeermemError(
                "grade: give PREDICTION and REFERENCE, or a file of pairs with --input and --output"
            )
        return _grade_pair(arguments, terminal)
    if arguments.prediction is not None or arguments.explain:
        raise DeermemError("grade: --input takes no PREDICTION, REFERENCE or --explain")
    if arguments.output is None:
        raise DeermemError("grade: --input needs --output FILE (- for standard output)")
    if arguments.output == "-" and arguments.json:
        raise DeermemError("grade: --output - and --json both want standard output; choose one")
    return _grade_file(arguments, terminal)


def _grade_pair(arguments: argparse.Namespace, terminal: Terminal) -> int:
    prediction, reference = arguments.prediction, arguments.reference
    try:
        grade = grade_answer(prediction, reference)
    except ValueError as exc:
        raise DeermemError(f"grade: {exc}") from exc
    document: dict[str, Any] = {
        "grader": get_grader().identity,
        "grade_correct": grade.correct,
        "grade_rule": grade.rule,
    }
    lines = [f"{'correct' if grade.correct else 'not correct'}: {grade.rule}"]
    if arguments.explain:
        explanation = explain(prediction, reference)
        document["explanation"] = {
            name: value
            for name in explanation.__slots__
            if name not in {"grade", "steps"} and (value := getattr(explanation, name)) is not None
        }
        document["steps"] = [asdict(step) for step in explanation.steps]
        lines = str(explanation).split("\n")
    terminal.result(document, *lines, f"grader {get_grader().identity}")
    return EXIT_DONE if grade.correct else EXIT_NO


def _grade_file(arguments: argparse.Namespace, terminal: Terminal) -> int:
    with _open_input(arguments.input) as source, _open_output(arguments.output) as sink:
        keys = Keys(arguments.prediction_key, arguments.reference_key)
        if _format(arguments) == "csv":
            columns, rows = csv_reader(source)
            for key in (keys.prediction, keys.reference):
                if key not in columns:
                    raise DeermemError(
                        f"{arguments.input}: no column {key!r}; it has {', '.join(columns)}"
                    )
            kept = tuple(column for column in columns if column not in COLUMNS)
            keys = Keys(keys.prediction, keys.reference, kept + COLUMNS)
            sink.write(csv_line(keys.columns or ()))
        else:
            rows = read_jsonl(source)

        def report(number: int, fault: str) -> None:
            terminal.error(f"{arguments.input}: line {number}: {fault}")

        with Progress(terminal, "bytes graded", _size(arguments.input)) as progress:
            rules, correct, bad = write_graded(
                grade_rows(rows, keys, arguments.workers), sink, report, progress.advance
            )
    graded = rules.total()
    document = {
        "grader": get_grader().identity,
        "graded": graded,
        "correct": correct,
        "bad_lines": bad,
        "rules": dict(sorted(rules.items())),
    }
    lines = [
        f"{graded} graded, {correct} correct, {bad} bad lines; {get_grader().identity}",
        *(f"  {rule:<18}{count:>8}" for rule, count in sorted(rules.items())),
    ]
    if arguments.output == "-":
        for line in lines:
            terminal.say(line)
    else:
        terminal.result(document, *lines)
    return EXIT_NO if bad else EXIT_DONE


def _format(arguments: argparse.Namespace) -> str:
    if arguments.format:
        return str(arguments.format)
    return "csv" if arguments.input.lower().endswith(".csv") else "jsonl"


def _size(name: str) -> int | None:
    return None if name == "-" else Path(name).stat().st_size or None


@contextlib.contextmanager
def _open_input(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(name).open("rb")  # noqa: SIM115
    except OSError as exc:
        raise DeermemError(f"{name}: cannot be read: {exc.strerror or exc}") from exc
    with stream:
        yield stream


@contextlib.contextmanager
def _open_output(name: str) -> Iterator[TextIO]:
    """Open the output under a temporary name that becomes the real one when all is written."""
    if name == "-":
        # UTF-8 whatever the locale: the lines are data, not words for a person.
        stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            yield stream
            stream.flush()
        finally:
            stream.detach()
        return
    target = Path(name)
    if os.path.lexists(target):
        raise ArtifactError(f"{target}: is there already; name another output file")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except OSError as exc:
        raise ArtifactError(
            f"{target}: cannot be written: {exc.strerror or exc}; name another output file"
        ) from exc
    finally:
        temporary.unlink(missing_ok=True)
