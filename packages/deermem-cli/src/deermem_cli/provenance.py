"""Which code a run was made with: git state and package versions."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deermem_data import iso_z
from deermem_select import git_state


def created_at() -> str:
    """Return now, UTC, to the second."""
    return iso_z(datetime.now(UTC).replace(microsecond=0))


def git_document() -> dict[str, Any] | None:
    """Return `head` and `dirty` of the checkout this code stands in; `None` outside of one."""
    commit, dirty = git_state(Path(__file__))
    return None if commit is None else {"head": commit, "dirty": dirty}


def package_versions(*packages: str) -> dict[str, str]:
    """Return distribution -> version of those of our packages that a run was made with."""
    return {
        package: importlib.import_module(package.replace("-", "_")).__version__
        for package in packages
    }
