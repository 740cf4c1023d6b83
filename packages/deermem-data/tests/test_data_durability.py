"""What is flushed to disk, and when: a power cut must not show a name before its bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deermem_data import publish_new, write_file

FILES = {"a.json": b"first", "b.jsonl": b"second"}

# What was flushed (a file's bytes, or a folder's name and what each name in it led to).
Flush = bytes | tuple[str, dict[str, bytes]]


@pytest.fixture
def flushes(monkeypatch: pytest.MonkeyPatch) -> list[Flush]:
    """What has been flushed so far; each flush is still made."""
    seen: list[Flush] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.is_dir():
            inside = {item.name: item.read_bytes() for item in path.iterdir() if item.is_file()}
            seen.append((path.name, inside))
        else:
            seen.append(path.read_bytes())

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("a descriptor's file cannot be told here")
    monkeypatch.setattr(os, "fsync", fsync)
    return seen


def test_one_file(tmp_path: Path, flushes: list[Flush]) -> None:
    """The bytes before the name, then the name."""
    write_file(tmp_path / "a.json", b"first")
    assert flushes == [b"first", (tmp_path.name, {"a.json": b"first"})]


def test_new_folder(tmp_path: Path, flushes: list[Flush]) -> None:
    """Every file, the folder they are made in, and then the name of that folder."""
    publish_new(tmp_path / "run", FILES)
    assert [b"first", b"second"] == flushes[:2]
    (staging, inside), last = flushes[2:]
    assert isinstance(staging, str)
    assert staging.endswith(".tmp")
    assert inside == FILES
    assert last == (tmp_path.name, {})
    assert ["run"] == [path.name for path in tmp_path.iterdir()]


def test_folder_that_is_there(tmp_path: Path, flushes: list[Flush]) -> None:
    """All files are on disk before the names appear, and the names before they are settled."""
    folder = tmp_path / "run"
    folder.mkdir()
    publish_new(folder, FILES)
    assert [b"first", b"second"] == flushes[:2]
    (_, inside), *settling = flushes[2:]
    assert inside == FILES
    # When the set appears, when links have given way to files, when what it took is gone.
    assert [("run", FILES)] * 3 == settling
