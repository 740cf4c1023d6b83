"""The bytes of artifacts, and one file written whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deermem_data import (
    ArtifactError,
    json_bytes,
    jsonl_bytes,
    jsonl_line,
    read_bytes,
    sha256_hex,
    write_file,
)


def names(folder: Path) -> list[str]:
    """What stands in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())


DOCUMENT = {"b": [1, 2.0, None], "a": {"é": "ü\u2028", "Z": True}}


def test_json_bytes() -> None:
    """UTF-8, sorted keys, two spaces, its own characters, final newline."""
    assert (
        '{\n  "a": {\n    "Z": true,\n    "é": "ü\u2028"\n  },\n  "b": [\n    1,\n    2.0,\n'
        "    null\n  ]\n}\n"
    ).encode() == json_bytes(DOCUMENT)


def test_jsonl_bytes() -> None:
    """One object a line, sorted keys, default separators."""
    line = '{"a": {"Z": true, "é": "ü\u2028"}, "b": [1, 2.0, null]}\n'.encode()
    assert line == jsonl_line(DOCUMENT)
    assert line + b'{"x": "a\\nb"}\n' == jsonl_bytes([DOCUMENT, {"x": "a\nb"}])
    assert jsonl_bytes([]) == b""


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_no_word_for_nan(number: float) -> None:
    """What JSON cannot say is not written."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_bytes({"a": [number]})
    with pytest.raises(ValueError, match="not JSON compliant"):
        jsonl_line({"a": number})


def test_sha256_hex() -> None:
    """The SHA-256 of `abc` (FIPS 180-2, appendix B.1)."""
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_read_bytes(tmp_path: Path) -> None:
    """The system's reason, with the path, as the caller's error."""
    (tmp_path / "a").write_bytes(b"x")
    assert read_bytes(tmp_path / "a", LookupError) == b"x"
    with pytest.raises(LookupError) as caught:
        read_bytes(tmp_path / "b", LookupError)
    assert f"{tmp_path / 'b'}: cannot be read: No such file or directory" == caught.value.args[0]


def test_write_file_replaces(tmp_path: Path) -> None:
    """What stood there is replaced, and no temporary file remains."""
    path = tmp_path / "a.json"
    write_file(path, b"one")
    write_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_write_file_mode(tmp_path: Path, mask: int) -> None:
    """The umask's ordinary mode, not a temporary file's."""
    before = os.umask(mask)
    try:
        write_file(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert 0o666 & ~mask == stat.S_IMODE((tmp_path / "a").stat().st_mode)


def test_writing_in_threads_leaves_the_umask(tmp_path: Path) -> None:
    """Several writers at once do not change the process's umask."""
    before = os.umask(0o027)

    def write(number: int) -> None:
        for j in range(20):
            write_file(tmp_path / f"{number}_{j}", b"x")

    try:
        threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = os.umask(0o027)
    finally:
        os.umask(before)
    assert after == 0o027
    assert {0o640} == {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(names(tmp_path)) == 80


def test_write_file_without_room(tmp_path: Path) -> None:
    """Where the file cannot grow, what stood there is unchanged and nothing is left beside it."""
    path = tmp_path / "a.json"
    write_file(path, b"one")
    child = Path(__file__).with_name("_publication_child.py")
    done = subprocess.run(
        [sys.executable, str(child), "refuse", str(path), "write"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert f"{path}: cannot be written: File too large; nothing was written" in done.stdout
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == ["a.json"]


def test_write_file_that_fails(tmp_path: Path) -> None:
    """Where the target is a folder, it stays, and nothing is left beside it."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x").touch()
    with pytest.raises(ArtifactError) as caught:
        write_file(tmp_path / "a", b"one")
    assert str(caught.value).startswith(f"{tmp_path / 'a'}: cannot be written: ")
    assert names(tmp_path) == ["a"]
    with pytest.raises(ArtifactError, match="No such file or directory"):
        write_file(tmp_path / "none/a", b"one")
