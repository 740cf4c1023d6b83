"""Where the shipped protocols and JSON Schemas lie: inside a wheel, or at a checkout's root."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .errors import ProtocolError


def specs_folder() -> Path:
    """Return the folder that holds `protocols/` and `schemas/`.

    Raises:
        ProtocolError: the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    # A wheel carries it in the package; a checkout has it beside `packages/`.
    candidates = [package / "specs", *(parent / "specs" for parent in package.parents[3:4])]
    for candidate in candidates:
        if (candidate / "protocols").is_dir():
            return candidate
    raise ProtocolError(
        f"{candidates[0]}: the shipped protocols are missing; install deermem-data again"
    )


def shipped_protocols() -> tuple[str, ...]:
    """Return the names of the shipped protocols, sorted."""
    folder = specs_folder() / "protocols"
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))


def load_schema(name: str) -> dict[str, Any]:
    """Return one of the shipped JSON Schemas, e.g. `load_schema("summary")`.

    Raises:
        KeyError: there is no schema of that name.
    """
    path = specs_folder() / "schemas" / f"{name}.schema.json"
    if not path.is_file():
        raise KeyError(name)
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema
