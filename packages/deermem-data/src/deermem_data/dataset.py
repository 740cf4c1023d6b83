"""The data set: read once, row by row, checked against its pin, reduced to what cases need."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from ._json_array import iter_array
from .errors import DatasetError
from .protocol import Protocol
from .record import Record, check_row
from .selection import FirstById, is_bank_candidate, is_official_candidate


@frozen
class Dataset:
    """What a protocol takes from a data set's file.

    Attributes:
        path: the file.
        sha256: of its bytes.
        record_count: how many records the file has.
        selected: question type -> the first candidates by id, as many as the rule takes.
        bank: the records distractors are drawn from, sorted by id.
    """

    path: Path
    sha256: str
    record_count: int
    selected: dict[str, tuple[Record, ...]]
    bank: tuple[Record, ...]


def load_dataset(path: str | Path, protocol: Protocol) -> Dataset:
    """Read a data set's file and take from it what the protocol's cases are made of.

    Memory grows with the pools kept and, by an id each, with the number of records; not with
    the text of the file.

    Raises:
        DatasetError: the file cannot be read, is malformed (with line and column, or row and
            key), or is not the pinned one.
    """
    path = Path(path)
    hasher = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            try:
                loaded = _read(path, iter_array(path, stream, hasher.update), protocol)
            except DatasetError as exc:
                while chunk := stream.read(1 << 20):
                    hasher.update(chunk)
                raise DatasetError(f"{exc}{_mismatch(hasher.hexdigest(), protocol)}") from exc
    except OSError as exc:
        raise DatasetError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    found = hasher.hexdigest()
    if mismatch := _mismatch(found, protocol):
        raise DatasetError(f"{path}{mismatch}")
    count, selected, bank = loaded
    return Dataset(path=path, sha256=found, record_count=count, selected=selected, bank=bank)


def _mismatch(found: str, protocol: Protocol) -> str:
    pin = protocol.config.dataset
    if found == pin.sha256:
        return ""
    return (
        f": not the data set {protocol.protocol_id} is pinned to: expected SHA-256 {pin.sha256}, "
        f"found {found}; get {pin.filename} of {pin.repository} at revision {pin.revision}"
    )


def _record(path: Path, number: int, row: dict[str, Any]) -> Record:
    try:
        return Record.from_row(row)
    except ValueError as exc:
        raise DatasetError(f"{path}: record {number}: {exc}") from exc


def _read(
    path: Path, rows: Iterator[object], protocol: Protocol
) -> tuple[int, dict[str, tuple[Record, ...]], tuple[Record, ...]]:
    rule, pool = protocol.official.selection, protocol.config.pool
    selected: dict[str, FirstById] = {
        name: FirstById(rule.take_per_question_type) for name in rule.eligible_question_types
    }
    bank = FirstById(pool.distractor_bank_size)
    wanted = {*selected, *pool.distractor_types}
    row_of_id: dict[str, int] = {}
    number = 0
    for number, row in enumerate(rows, start=1):
        try:
            checked = check_row(row)
        except ValueError as exc:
            raise DatasetError(f"{path}: record {number}: {exc}") from exc
        record_id = checked["question_id"]
        first = row_of_id.setdefault(record_id, number)
        if first != number:
            raise DatasetError(
                f"{path}: record {number}: question_id: {record_id!r} is that of record {first}"
            )
        if checked["question_type"] not in wanted:
            continue
        record = _record(path, number, checked)
        if is_official_candidate(record, rule):
            selected[record.question_type].offer(record)
        elif is_bank_candidate(record, pool):
            bank.offer(record)
    return number, {name: first.records() for name, first in selected.items()}, bank.records()
