"""Published files appear together or not at all: killed, refused, taken, or at the same time."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from deermem_data import ArtifactError, publish_new, recover_publication, require_new

CHILD = Path(__file__).with_name("_publication_child.py")
FILES = {"a.json": b"first " * 3000, "b.jsonl": b"second " * 3000, "c.json": b"third\n" * 3000}


def child(*arguments: object, prefix: tuple[str, ...] = ()) -> list[str]:
    """Run the child; return what it prints."""
    command = [*prefix, sys.executable, str(CHILD), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def names(folder: Path) -> list[str]:
    """What stands in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())


def content(folder: Path) -> dict[str, bytes]:
    """Name -> bytes of the files one can open in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def fault(folder: Path, files: dict[str, bytes] = FILES) -> str:
    """The one line of the error that publishing raises."""
    with pytest.raises(ArtifactError) as caught:
        publish_new(folder, files)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_fresh_folder(tmp_path: Path) -> None:
    """The folder and those above it are made; nothing else is left."""
    folder = tmp_path / "runs" / "one"
    publish_new(folder, FILES)
    assert content(folder) == FILES
    assert sorted(FILES) == names(folder)
    assert names(tmp_path / "runs") == ["one"]


@pytest.mark.parametrize("others", [{}, {"notes.txt": b"mine", "policy": b"x"}])
def test_folder_that_is_there(tmp_path: Path, others: dict[str, bytes]) -> None:
    """Empty or not, it stays the folder it was, with its mode and what it held."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o750)
    for name, data in others.items():
        (folder / name).write_bytes(data)
    before = folder.stat()
    publish_new(folder, FILES)
    assert {**others, **FILES} == content(folder)
    assert sorted({**others, **FILES}) == names(folder)
    assert not any(path.is_symlink() for path in folder.iterdir())
    assert (before.st_ino, before.st_mode) == (folder.stat().st_ino, folder.stat().st_mode)
    assert names(tmp_path) == ["run"]


def test_link_to_a_folder(tmp_path: Path) -> None:
    """A link to a folder is followed and stays."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    publish_new(tmp_path / "link", FILES)
    assert content(tmp_path / "real") == FILES
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_umask(tmp_path: Path, mask: int) -> None:
    """Files and folders get the umask's ordinary mode."""
    before = os.umask(mask)
    try:
        publish_new(tmp_path / "new", FILES)
        (tmp_path / "old").mkdir()
        (tmp_path / "old/other").touch()
        publish_new(tmp_path / "old", FILES)
    finally:
        os.umask(before)
    assert 0o777 & ~mask == (tmp_path / "new").stat().st_mode & 0o7777
    for folder in ["new", "old"]:
        assert {0o666 & ~mask} == {
            (tmp_path / folder / name).stat().st_mode & 0o7777 for name in FILES
        }


@pytest.mark.parametrize("taken", ["a.json", "b.jsonl", "c.json"])
@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling"])
def test_nothing_is_overwritten(tmp_path: Path, taken: str, kind: str) -> None:
    """A name that is taken, by whatever, stops the whole set; what stands there stays."""
    folder = tmp_path / "run"
    folder.mkdir()
    path = folder / taken
    if kind == "file":
        path.write_bytes(b"mine")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/" if kind == "link" else "nowhere")
    assert (
        f"{folder}: already holds a run ({taken}); results are never overwritten: name another "
        "output folder"
    ) == fault(folder)
    assert [taken] == names(folder)
    with pytest.raises(ArtifactError):
        require_new(folder, FILES)


def test_published_once(tmp_path: Path) -> None:
    """A second publication of the same names is refused, and all of them are named."""
    publish_new(tmp_path / "run", FILES)
    other = dict.fromkeys(FILES, b"other")
    assert "already holds a run (a.json, b.jsonl, c.json)" in fault(tmp_path / "run", other)
    assert content(tmp_path / "run") == FILES


def test_paths_that_are_no_folder(tmp_path: Path) -> None:
    """A file, a folder below a file, a dangling link."""
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "link").symlink_to("nowhere")
    assert f"{tmp_path / 'file'}: is a file, not a folder; name another output folder" == fault(
        tmp_path / "file"
    )
    assert f"{tmp_path / 'link'}: is a dangling link; name another output folder" == fault(
        tmp_path / "link"
    )
    assert f"{tmp_path / 'file/below/run'}: cannot be written: " in fault(
        tmp_path / "file/below/run"
    )
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert names(tmp_path) == ["file", "link"]


def test_name_that_is_too_long(tmp_path: Path) -> None:
    """What the file system refuses half-way leaves nothing, new parents included."""
    files = {**FILES, "x" * 300: b"x"}
    assert "cannot be written: File name too long; nothing was written there: " in fault(
        tmp_path / "a/b/run", files
    )
    (tmp_path / "old").mkdir()
    (tmp_path / "old/other").write_bytes(b"mine")
    assert "File name too long" in fault(tmp_path / "old", files)
    assert names(tmp_path) == ["old"]
    assert names(tmp_path / "old") == ["other"]


@pytest.mark.parametrize("others", [{}, {"notes.txt": b"mine"}])
def test_no_room(tmp_path: Path, others: dict[str, bytes]) -> None:
    """No file may grow beyond 7,000 bytes, the files have 18,000: refused, nothing left."""
    folder = tmp_path / "run"
    if others:
        folder.mkdir()
        (folder / "notes.txt").write_bytes(b"mine")
    (line,) = child("refuse", folder, "size")
    assert (
        f"{folder}: cannot be written: File too large; nothing was written there: make room or "
        "name another output folder"
    ) == line
    assert (["notes.txt"] if others else []) == (names(folder) if others else [])
    assert (["run"] if others else []) == names(tmp_path)


def test_folder_that_appears_meanwhile(tmp_path: Path) -> None:
    """Another process's folder, made at the last moment, is not touched; nothing is left."""
    folder = tmp_path / "run"
    (line,) = child("refuse", folder, "appear")
    assert f"{folder}: cannot be written: Directory not empty; nothing was written" in line
    assert names(tmp_path) == ["run"]
    assert names(folder) == ["other"]


def test_name_that_is_taken_meanwhile(tmp_path: Path) -> None:
    """A name that another process took before the lock was had is found to be taken."""
    folder = tmp_path / "run"
    folder.mkdir()
    (line,) = child("refuse", folder, "take")
    assert (
        f"{folder}: already holds a run (b.jsonl); results are never overwritten: name another "
        "output folder"
    ) == line
    assert content(folder) == {"b.jsonl": b"mine"}


def test_refused_at_the_last_step(tmp_path: Path) -> None:
    """Where the set cannot be made to appear, the names made ready for it are taken away."""
    (tmp_path / "other").touch()
    # The name of the folder that the files would appear in.
    assert "cannot be written: " in fault(tmp_path, {**FILES, ".publication": b""})
    assert names(tmp_path) == ["other"]


@pytest.mark.parametrize("fresh", [True, False])
def test_full_disk(tmp_path: Path, fresh: bool) -> None:
    """On a disk of 32 KiB there is no room for 55: refused, and the disk as it was."""
    if shutil.which("unshare") is None:
        pytest.skip("no file system can be mounted here: there is no unshare")
    disk, folder = tmp_path / "disk", tmp_path / "disk/run"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size=32k none {disk} || exit 77; "
        f"{'' if fresh else f'mkdir {folder}; touch {folder}/other; '}"
        f"{sys.executable} {CHILD} refuse {folder} nothing && find {disk} -mindepth 1"
    )
    # In a mount namespace of its own, so that nothing remains mounted.
    maps = ["-m"] if os.geteuid() == 0 else ["-r", "-m"]
    done = subprocess.run(
        ["unshare", *maps, "sh", "-c", script], capture_output=True, text=True, check=False
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    line, *left = done.stdout.splitlines()
    assert f"{folder}: cannot be written: No space left on device; nothing was written" in line
    assert ([] if fresh else [f"{folder}", f"{folder}/other"]) == left


@pytest.mark.parametrize("below", ["", "run", "a/run"])
def test_read_only_folder(below: str) -> None:
    """A folder that may not be written to, as an unprivileged user: refused, nothing left."""
    # Not below `tmp_path`, which another user may not enter.
    parent = Path(tempfile.mkdtemp())
    try:
        (parent / "other").touch()
        parent.chmod(0o555)
        (line,) = child("refuse", parent / below, "user")
        assert f"{parent / below}: cannot be written: Permission denied; nothing was" in line
        assert names(parent) == ["other"]
    finally:
        parent.chmod(0o755)
        shutil.rmtree(parent)


def test_folder_one_may_not_look_into() -> None:
    """A folder without permission to search is named, not a crash."""
    parent = Path(tempfile.mkdtemp())
    try:
        parent.chmod(0o000)
        (line,) = child("refuse", parent / "run", "user")
        assert f"{parent / 'run'}: cannot be written: Permission denied; nothing was" in line
    finally:
        parent.chmod(0o755)
        shutil.rmtree(parent)


@pytest.mark.parametrize(
    ("there", "others"), [(False, {}), (True, {}), (True, {"notes.txt": b"mine"})]
)
def test_killed_at_every_step(tmp_path: Path, there: bool, others: dict[str, bytes]) -> None:
    """Killed before any step, the names all exist, whole, or none does; then tidied up."""

    def prepare(folder: Path) -> Path:
        if there:
            folder.mkdir()
            for name, data in others.items():
                (folder / name).write_bytes(data)
        return folder

    (steps,) = map(int, child("count", prepare(tmp_path / "whole")))
    assert {**others, **FILES} == content(tmp_path / "whole")
    # Each file is opened and renamed, at least, and the set appears.
    assert steps >= 2 * len(FILES) + 2
    for step in range(steps):
        prepare(tmp_path / f"run{step}")
    assert ["9"] * steps == child("kill", tmp_path / "run", steps)

    appeared = []
    for step in range(steps):
        folder = tmp_path / f"run{step}"
        found = content(folder) if folder.is_dir() else {}
        appeared.append({**others, **FILES} == found)
        assert found in (others, {**others, **FILES}), step
        recover_publication(folder)
        if folder.is_dir():
            assert sorted(found) == names(folder)
            assert found == content(folder)
            assert not any(path.is_symlink() for path in folder.iterdir())
        if not appeared[-1]:
            publish_new(folder, FILES)
            assert {**others, **FILES} == content(folder)
            assert sorted({**others, **FILES}) == names(folder)
    # Once there, the set stays there.
    assert sorted(appeared) == appeared
    assert False is appeared[0]


def test_publishing_again_after_a_kill_needs_no_recovery(tmp_path: Path) -> None:
    """What a killed publication left does not stand in the way of the next."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".publication.0123.tmp").mkdir()
    (folder / ".publication.0123.tmp/a.json").write_bytes(b"old")
    (folder / "a.json").symlink_to(".publication/a.json")
    publish_new(folder, FILES)
    assert content(folder) == FILES
    assert sorted(FILES) == names(folder)


def test_recovery_does_nothing_else(tmp_path: Path) -> None:
    """A folder without a killed publication, or none at all, is left alone."""
    recover_publication(tmp_path / "absent")
    (tmp_path / "data").write_bytes(b"x")
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "sub").mkdir()
    recover_publication(tmp_path)
    assert names(tmp_path) == ["data", "link", "sub"]


def test_one_publisher_at_a_time(tmp_path: Path) -> None:
    """Two processes that publish into one folder do not take each other's files away."""
    folder = tmp_path / "run"
    folder.mkdir()
    holder = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        expected = f"{folder}: another process is publishing there; let it finish"
        assert expected == fault(folder)
        with pytest.raises(ArtifactError) as caught:
            recover_publication(folder)
        assert expected == str(caught.value)
    finally:
        os.close(holder)
    assert names(folder) == []
    publish_new(folder, FILES)
    assert content(folder) == FILES
