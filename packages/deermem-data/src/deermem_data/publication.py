"""Publication: a set of new files that appears in a folder all at once or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from .artifacts import named_fault, ordinary_mode, stage_file, sync_folder
from .errors import ArtifactError

_PENDING = ".publication"


def require_new(folder: Path, names: Iterable[str]) -> None:
    """Check that `folder` can take files of these names: results are never overwritten.

    Raises:
        ArtifactError: the path is not a folder, or one of the names stands there already.
    """
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
        ArtifactError: one of the names is taken, or the file system refuses (no room, no
            permission); nothing of the set is left behind.
    """
    require_new(folder, files)
    with named_fault(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.is_dir() and any(folder.iterdir()):
            _publish_into(folder, files)
        else:
            _publish_as(folder, files)


def recover_publication(folder: Path) -> None:
    """Tidy up after a process that was killed while it published into `folder`.

    A set that had appeared stays; of one that had not, nothing is left. Does nothing else.
    """
    with named_fault(folder):
        for path in folder.iterdir():
            if _is_abandoned(path):
                path.unlink()
            elif path.name.startswith(f"{_PENDING}."):
                shutil.rmtree(path, ignore_errors=True)
        if (folder / _PENDING).is_dir():
            _settle(folder)


def _publish_as(folder: Path, files: Mapping[str, bytes]) -> None:
    """Give an absent or empty folder all its files in one rename."""
    folder = folder.resolve()
    staging = _stage_all(folder.parent, f".{folder.name}.", files)
    try:
        staging.rename(folder)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    sync_folder(folder.parent)


def _publish_into(folder: Path, files: Mapping[str, bytes]) -> None:
    """Add files to a folder that holds other things.

    Several renames cannot be one step, so each name is first made a link to where the staged
    files are going to be; the rename of the staging folder to there makes all of them exist at
    once. Then each link gives way to the file itself.
    """
    recover_publication(folder)
    staging = _stage_all(folder, f"{_PENDING}.", files)
    links = [folder / name for name in files]
    try:
        for link in links:
            link.symlink_to(Path(_PENDING) / link.name)
        staging.rename(folder / _PENDING)
    except BaseException:
        for link in links:
            if link.is_symlink():
                link.unlink()
        shutil.rmtree(staging, ignore_errors=True)
        raise
    sync_folder(folder)
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


def _stage_all(parent: Path, prefix: str, files: Mapping[str, bytes]) -> Path:
    staging = Path(tempfile.mkdtemp(prefix=prefix, suffix=".tmp", dir=parent))
    try:
        staging.chmod(ordinary_mode(0o777))
        for name, data in files.items():
            stage_file(staging, name, data).replace(staging / name)
        sync_folder(staging)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return staging
