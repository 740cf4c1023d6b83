"""The package as others see it: its names, its README, its changelog, and the folder of specs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deermem_data
from deermem_data import (
    ArtifactError,
    DatasetError,
    DeermemError,
    ProtocolError,
    load_schema,
    specs_folder,
)

PACKAGE = Path(__file__).parents[1]


def test_all_is_sorted_and_complete() -> None:
    """`__all__` names every public class, function and constant, sorted as ruff sorts."""
    public = {
        name
        for name, value in vars(deermem_data).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert public == set(deermem_data.__all__)


def test_public_names_are_documented() -> None:
    """Every public class and function has a docstring of its own."""
    for name in deermem_data.__all__:
        value = getattr(deermem_data, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name


@pytest.mark.parametrize("error", [ProtocolError, DatasetError, ArtifactError])
def test_errors(error: type[Exception]) -> None:
    """What a user can cause is a `DeermemError`, and a `ValueError`."""
    assert issubclass(error, DeermemError)
    assert issubclass(error, ValueError)


def test_readme_snippet() -> None:
    """The README's snippet prints what the README says."""
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert printed == done.stdout


def test_readme_names_every_module() -> None:
    """The README's table has every public module, and no other."""
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    named = {
        name
        for line in readme.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    folder = PACKAGE / "src" / "deermem_data"
    assert {path.stem for path in folder.glob("[a-z]*.py")} == named


def test_changelog_has_the_version() -> None:
    """The changelog's top heading is the version's."""
    changelog = (PACKAGE / "CHANGELOG.md").read_text(encoding="utf-8")
    (first, *_) = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert deermem_data.__version__ == first


def keys_of(schema: dict[str, Any], document: Any, path: str = "") -> set[str]:
    """The key paths of a schema's properties, without those that stand for other keys."""
    if "$ref" in schema:
        schema = document["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    found = set()
    for key, inner in schema.get("properties", {}).items():
        below = keys_of(inner, document, f"{path}{key}.")
        found |= below or {f"{path}{key}"}
    if isinstance(schema.get("additionalProperties"), dict):
        below = keys_of(schema["additionalProperties"], document, f"{path}*.")
        found |= below
    if "items" in schema:
        found |= keys_of(schema["items"], document, f"{path.removesuffix('.')}[].")
    return found


@pytest.mark.parametrize("name", ["config", "official_manifest", "synthetic_manifest"])
def test_specs_readme_explains_every_key(name: str) -> None:
    """Each key of a protocol's files has its meaning in `specs/README.md`."""
    readme = (specs_folder() / "README.md").read_text(encoding="utf-8")
    explained = {
        word.removeprefix(".")
        for line in readme.splitlines()
        if line.startswith("| `")
        for word in re.findall(r"`([^`]+)`", line)
    }
    schema = load_schema(name)
    for path in keys_of(schema, schema) - {"schema_version", "protocol_id"}:
        parts = path.split(".")
        # `a.b.c` itself, the last key beside its neighbour's, or the table's whole object.
        assert {path, parts[-1], ".".join(parts[:-1])} & explained, path
