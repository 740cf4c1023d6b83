"""Publication: a set of new files that appears in a folder all at once or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .artifacts import named_fault, stage_file, sync_folder, temporary_name
from .errors import ArtifactError

_PENDING = ".publication"


def require_new(folder: Path, names: Iterable[str]) -> None:
    """Check that `folder` can take files of these names: results are never overwritten.

    Raises:
        ArtifactError: the path is not a folder, or one of the names stands there already.
    """
    with named_fault(folder):
        if folder.is_symlink() and not folder.exists():
            raise ArtifactError(f"{folder}: is a dangling link; name another output folder")
        if folder.exists() and not folder.is_dir():
            raise ArtifactError(f"{folder}: is a file, not a folder; name another output folder")
        taken = [
            name
            for name in names
            if os.path.lexists(folder / name) and not _is_abandoned(folder / name)
        ]
    if taken:
        raise ArtifactError(
            f"{folder}: already holds a run ({', '.join(taken)}); results are never overwritten: "
            "name another output folder"
        )


def publish_new(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a set of new files into `folder`, all or none, also when killed on the way.

    Args:
        folder: where to write; made, with its parents, where absent.
        files: name -> bytes.

    Raises:
        ArtifactError: one of the names is taken, another process is publishing there, or the
            file system refuses (no room, no permission); nothing of the set is left behind.
    """
    require_new(folder, files)
    with named_fault(folder):
        if folder.is_dir():
            with _alone_in(folder):
                require_new(folder, files)
                _publish_into(folder, files)
        else:
            with _parents_of(folder):
                _publish_as(folder, files)


def recover_publication(folder: Path) -> None:
    """Tidy up after a process that was killed while it published into `folder`.

    A set that had appeared stays; of one that had not, nothing is left. Does nothing else.

    Raises:
        ArtifactError: another process is publishing there, or the file system refuses.
    """
    with named_fault(folder):
        if folder.is_dir():
            with _alone_in(folder):
                _recover(folder)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder itself, which the system drops when the process ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise ArtifactError(
                f"{folder}: another process is publishing there; let it finish"
            ) from exc
        except OSError as exc:
            # Some network file systems lock no folders; two publishers at once are rare there too.
            if exc.errno not in {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL}:
                raise
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _parents_of(folder: Path) -> Iterator[None]:
    """Make the folders above `folder`; take the new ones away again if what follows fails."""
    made = [parent for parent in folder.parents if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in made:
            with contextlib.suppress(OSError):
                parent.rmdir()
        raise


def _publish_as(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder with all its files in one rename."""
    staging = _stage_all(folder.parent, folder.name, files)
    try:
        staging.rename(folder)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    sync_folder(folder.parent)


def _publish_into(folder: Path, files: Mapping[str, bytes]) -> None:
    """Add files to a folder that is there, and that may hold other things.

    Several renames cannot be one step, so each name is first made a link to where the staged
    files are going to be; the rename of the staging folder to there makes all of them exist at
    once. Then each link gives way to the file itself.
    """
    _recover(folder)
    staging = _stage_all(folder, _PENDING.removeprefix("."), files)
    made = []
    try:
        for name in files:
            (folder / name).symlink_to(Path(_PENDING) / name)
            made.append(folder / name)
        staging.rename(folder / _PENDING)
    except BaseException:
        for link in made:
            link.unlink(missing_ok=True)
        shutil.rmtree(staging, ignore_errors=True)
        raise
    sync_folder(folder)
    _settle(folder)


def _recover(folder: Path) -> None:
    for path in folder.iterdir():
        if _is_abandoned(path):
            path.unlink()
        elif path.name.startswith(f"{_PENDING}.") and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
    if (folder / _PENDING).is_dir():
        _settle(folder)


def _settle(folder: Path) -> None:
    pending = folder / _PENDING
    for staged in sorted(pending.iterdir()):
        if (folder / staged.name).is_symlink():
            staged.replace(folder / staged.name)
    sync_folder(folder)
    shutil.rmtree(pending)
    sync_folder(folder)


def _is_abandoned(path: Path) -> bool:
    return path.is_symlink() and path.readlink().parent.name == _PENDING and not path.exists()


def _stage_all(parent: Path, name: str, files: Mapping[str, bytes]) -> Path:
    staging = parent / temporary_name(name)
    staging.mkdir()
    try:
        for file_name, data in files.items():
            stage_file(staging, file_name, data).replace(staging / file_name)
        sync_folder(staging)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return staging
