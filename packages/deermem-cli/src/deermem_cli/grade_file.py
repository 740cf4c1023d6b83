"""Grading a file of pairs: any size, constant memory, several processes, nothing good lost."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import Any, BinaryIO, TextIO

from attrs import frozen

from deermem_data import DeermemError
from deermem_grade import GRADER_VERSION
from deermem_grade.batch import try_grade_many

COLUMNS = ("grade_correct", "grade_rule", "grader_version")

_ROWS_AT_ONCE = 2000
# Batches waiting for each process: one in work, one ready.
_BATCHES_PER_WORKER = 2


@frozen
class Row:
    """One line of the input: its number, and its values or why there are none."""

    number: int
    values: dict[str, Any] | None
    fault: str = ""
    size: int = 0


@frozen
class Graded:
    """A batch after grading: output lines, bad lines by number, and counts per rule."""

    lines: list[str]
    faults: list[tuple[int, str]]
    rules: Counter[str]
    correct: int
    size: int


@frozen
class Keys:
    """Under which names a row holds its two texts; the columns to write, where it is CSV."""

    prediction: str
    reference: str
    columns: tuple[str, ...] | None = None


def read_jsonl(stream: BinaryIO) -> Iterator[Row]:
    """Yield the rows of a JSONL stream; blank lines are passed over."""
    for number, line in enumerate(stream, start=1):
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            continue
        try:
            values = json.loads(text)
        except UnicodeDecodeError as exc:
            yield Row(number, None, f"not UTF-8 at byte {exc.start}", len(line))
        except RecursionError:
            yield Row(number, None, "nested too deep", len(line))
        except ValueError as exc:
            yield Row(number, None, f"not JSON: {exc}", len(line))
        else:
            if isinstance(values, dict):
                yield Row(number, values, size=len(line))
            else:
                yield Row(number, None, f"not an object but {type(values).__name__}", len(line))


def csv_reader(stream: BinaryIO) -> tuple[tuple[str, ...], Iterator[Row]]:
    """Return the columns and the rows of a CSV stream with a header line.

    Raises:
        DeermemError: there is no header, it cannot be read, or a column stands twice.
    """
    csv.field_size_limit(sys.maxsize)
    # A byte that is not UTF-8 is kept aside here and named with its line.
    text = codecs.iterdecode(stream, "utf-8-sig", errors="surrogateescape")
    reader = csv.reader(text, strict=True)
    try:
        columns = next((tuple(cells) for cells in reader if cells), ())
    except csv.Error as exc:
        raise DeermemError(f"the input's column names are not CSV: {exc}") from exc
    if any(map(_undecoded, columns)):
        raise DeermemError("the input's column names are not UTF-8: save the file as UTF-8")
    if not columns:
        raise DeermemError("the input is empty: a CSV file begins with its column names")
    if len(set(columns)) < len(columns):
        raise DeermemError(f"the input's columns are not distinct: {', '.join(columns)}")
    return columns, _csv_rows(reader, columns)


def _csv_rows(reader: Any, columns: tuple[str, ...]) -> Iterator[Row]:
    while True:
        before = reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as exc:
            # A quote that is not closed takes the lines after it into its cell.
            lost = f" (lines to {reader.line_num})" if reader.line_num > before + 1 else ""
            yield Row(before + 1, None, f"not CSV{lost}: {exc}")
            continue
        size = sum(map(len, cells)) + len(cells)
        if not cells:
            continue
        if len(cells) != len(columns):
            fault = f"{len(cells)} cells under {len(columns)} columns"
            yield Row(before + 1, None, fault, size)
        elif any(map(_undecoded, cells)):
            yield Row(before + 1, None, "not UTF-8", size)
        else:
            yield Row(before + 1, dict(zip(columns, cells, strict=True)), size=size)


def _undecoded(cell: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in cell)


def grade_rows(rows: Iterable[Row], keys: Keys, workers: int) -> Iterator[Graded]:
    """Yield the graded batches in the order of the input.

    No more than a few batches for each process are held at once, however fast the input is.
    """
    batches = _batches(rows)
    if workers == 1:
        for batch in batches:
            yield grade_batch(batch, keys)
        return
    # Fresh processes, so that none inherits an open file or a half-written buffer.
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as executor:
        waiting: deque[Future[Graded]] = deque()
        try:
            for batch in batches:
                with _without_interrupts():
                    waiting.append(executor.submit(grade_batch, batch, keys))
                if len(waiting) >= workers * _BATCHES_PER_WORKER:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as exc:
            raise DeermemError(
                "grade: a grading process was killed; run again, with fewer --workers if memory "
                "was short"
            ) from exc
        finally:
            executor.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back: a process begun meanwhile never sees it and is ended by its parent."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _ROWS_AT_ONCE)):
        yield batch


def grade_batch(batch: list[Row], keys: Keys) -> Graded:
    """Grade one batch of rows."""
    graded = Graded([], [], Counter(), 0, sum(row.size for row in batch))
    checked = [(row, row.fault or _fault(row, keys)) for row in batch]
    good = [row for row, fault in checked if not fault]
    pairs = [_pair(row, keys) for row in good]
    grades = dict(zip((row.number for row in good), try_grade_many(pairs), strict=True))
    write = _csv_row if keys.columns else _jsonl_line
    correct = 0
    for row, fault in checked:
        grade = grades.get(row.number)
        if fault or grade is None or isinstance(grade, Exception):
            graded.faults.append((row.number, fault or str(grade)))
            continue
        assert row.values is not None
        verdict = (grade.correct, grade.rule, GRADER_VERSION)
        values = row.values | dict(zip(COLUMNS, verdict, strict=True))
        graded.lines.append(write(values, keys))
        graded.rules[grade.rule] += 1
        correct += grade.correct
    return Graded(graded.lines, graded.faults, graded.rules, correct, graded.size)


def _fault(row: Row, keys: Keys) -> str:
    assert row.values is not None
    for key in (keys.prediction, keys.reference):
        if key not in row.values:
            return f"the key {key!r} is missing"
        if not isinstance(row.values[key], str):
            return f"{key}: expected text, found {type(row.values[key]).__name__}"
    return ""


def _pair(row: Row, keys: Keys) -> tuple[str, str]:
    assert row.values is not None
    return row.values[keys.prediction], row.values[keys.reference]


def _jsonl_line(values: dict[str, Any], _keys: Keys) -> str:
    line = json.dumps(values, ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in line):
        # UTF-8 has no bytes for a lone surrogate; JSON's escape has.
        line = json.dumps(values)
    return line + "\n"


def _csv_row(values: dict[str, Any], keys: Keys) -> str:
    return csv_line(_cell(values[name]) for name in keys.columns or ())


def csv_line(cells: Iterable[Any]) -> str:
    """Return one line of a CSV file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def write_graded(
    batches: Iterable[Graded],
    stream: TextIO,
    report: Callable[[int, str], None],
    advance: Callable[[int], None],
) -> tuple[Counter[str], int, int]:
    """Write the graded lines; return counts per rule, how many were correct, how many bad."""
    rules: Counter[str] = Counter()
    correct = bad = 0
    for batch in batches:
        stream.writelines(batch.lines)
        for number, fault in batch.faults:
            report(number, fault)
        rules += batch.rules
        correct += batch.correct
        bad += len(batch.faults)
        advance(batch.size)
    return rules, correct, bad
