"""The bytes of every artifact, and how one file is put on disk whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .errors import ArtifactError


def json_bytes(document: object) -> bytes:
    """Return `document` as an artifact's JSON: UTF-8, sorted keys, two-space indent, newline.

    Raises:
        ValueError: the document holds NaN or an infinity, which JSON has no word for.
    """
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False)
    return (text + "\n").encode("utf-8")


def jsonl_line(row: object) -> bytes:
    """Return one row as a line of a JSONL artifact: sorted keys, default separators, newline.

    Raises:
        ValueError: the row holds NaN or an infinity, which JSON has no word for.
    """
    text = json.dumps(row, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return (text + "\n").encode("utf-8")


def jsonl_bytes(rows: Iterable[object]) -> bytes:
    """Return `rows` as a JSONL artifact, one line each, in the order given."""
    return b"".join(map(jsonl_line, rows))


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def read_bytes(path: Path, error: type[Exception]) -> bytes:
    """Return a file's bytes, or raise `error` with the path and the system's reason."""
    try:
        return path.read_bytes()
    except OSError as exc:
        raise error(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def write_file(path: Path, data: bytes) -> None:
    """Write one file so that it is there whole or not at all, replacing what stood there.

    Raises:
        ArtifactError: the file system refuses; what stood at `path` is unchanged.
    """
    with named_fault(path):
        temporary = stage_file(path.parent, path.name, data)
        try:
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def as_text(value: Any) -> str:
    """Return an answer as text: a string as it is, anything else as JSON (design: the protocol)."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def is_encodable(text: str) -> bool:
    """Whether `text` can be written as UTF-8: JSON may escape half a surrogate pair, alone."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def stage_file(folder: Path, name: str, data: bytes) -> Path:
    """Write `data`, flushed to disk, under a temporary name beside its target."""
    path = folder / temporary_name(name)
    # Not `mkstemp`: its files are for their owner alone, while an open file takes the umask's mode.
    with path.open("xb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path


def temporary_name(name: str) -> str:
    """Return a hidden name, like no other, for what will be called `name`."""
    return f".{name[:40]}.{secrets.token_hex(8)}.tmp"


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def named_fault(path: Path) -> Iterator[None]:
    """Turn the file system's refusals into an `ArtifactError` that names `path`."""
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise ArtifactError(
            f"{path}: cannot be written: {reason}; nothing was written there: "
            "make room or name another output folder"
        ) from exc
