"""How every artifact is put on disk: its exact bytes, and all of a set or none of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
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
    with _named_fault(path):
        temporary = _stage(path.parent, path.name, data)
        try:
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def require_new(folder: Path, names: Iterable[str]) -> None:
    """Check that `folder` can take files of these names: results are never overwritten.

    Raises:
        ArtifactError: the path is not a folder, or one of the names stands there already.
    """
    if folder.is_symlink() and not folder.exists():
        raise ArtifactError(f"{folder}: is a dangling link; name another output folder")
    if folder.exists() and not folder.is_dir():
        raise ArtifactError(f"{folder}: is a file, not a folder; name another output folder")
    taken = [name for name in names if os.path.lexists(folder / name)]
    if taken:
        raise ArtifactError(
            f"{folder}: already holds a run ({', '.join(taken)}); results are never overwritten: "
            "name another output folder"
        )


def publish_new(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a set of new files into `folder`, all or none.

    A folder that is absent or empty comes into being with all files in one rename. In a folder
    that holds other things the files are staged first and then renamed in the order given, the
    last one being what marks the set as complete; a fault on the way removes those renamed.

    Args:
        folder: where to write; made, with its parents, where absent.
        files: name -> bytes, in the order of appearance.

    Raises:
        ArtifactError: one of the names is taken, or the file system refuses (no room, no
            permission); nothing of the set is left behind.
    """
    require_new(folder, files)
    with _named_fault(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.is_dir() and any(folder.iterdir()):
            _publish_into(folder, files)
        else:
            _publish_as(folder, files)


def _publish_as(folder: Path, files: Mapping[str, bytes]) -> None:
    folder = folder.resolve()
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=folder.parent))
    try:
        staging.chmod(0o777 & ~_umask())
        for name, data in files.items():
            _stage(staging, name, data).replace(staging / name)
        _sync_folder(staging)
        staging.rename(folder)
    except OSError:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    _sync_folder(folder.parent)


def _publish_into(folder: Path, files: Mapping[str, bytes]) -> None:
    staged: dict[Path, Path] = {}
    placed: list[Path] = []
    try:
        for name, data in files.items():
            staged[folder / name] = _stage(folder, name, data)
        for target, temporary in staged.items():
            temporary.replace(target)
            placed.append(target)
        _sync_folder(folder)
    except OSError:
        for path in [*staged.values(), *placed]:
            path.unlink(missing_ok=True)
        raise


def _stage(folder: Path, name: str, data: bytes) -> Path:
    """Write `data`, flushed to disk, under a temporary name beside its target."""
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=folder)
    path = Path(temporary)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), 0o666 & ~_umask())
            os.fsync(stream.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return path


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _named_fault(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise ArtifactError(
            f"{path}: cannot be written: {reason}; nothing was written there: "
            "make room or name another output folder"
        ) from exc


def as_text(value: Any) -> str:
    """Return an answer as text: a string as it is, anything else as JSON (design: the protocol)."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
