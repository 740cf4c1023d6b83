"""Run folders to compare: the demo's, and what one change makes of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from jsonschema import Draft202012Validator

from deermem_cli.main import main
from deermem_data import load_schema

Row = dict[str, Any]


@frozen
class Folders:
    """What can be done with a run's folder."""

    target: Path

    @staticmethod
    def rows(folder: Path, file: str = "qa.rows.jsonl") -> list[Row]:
        """The rows of a file of JSON lines."""
        lines = (folder / file).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    @staticmethod
    def write(folder: Path, rows: Iterable[Row], file: str = "qa.rows.jsonl") -> None:
        """Write the rows as artifacts are written."""
        text = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)
        (folder / file).write_text(text, encoding="utf-8")

    @staticmethod
    def edit(folder: Path, file: str, change: Callable[[Any], None]) -> None:
        """Change a JSON document in its place."""
        path = folder / file
        document = json.loads(path.read_text(encoding="utf-8"))
        change(document)
        path.write_text(json.dumps(document), encoding="utf-8")

    def copy(
        self, source: Path, name: str = "other", *, policy_run: bool = True, qa_run: bool = True
    ) -> Path:
        """Copy a run, or one of the two that its folder holds."""
        folder = self.target / name
        shutil.copytree(source, folder)
        if not policy_run:
            for file in ("run.json", "policy.raw.jsonl", "summary.json"):
                (folder / file).unlink()
        if not qa_run:
            for path in folder.glob("qa*"):
                path.unlink()
            shutil.rmtree(folder / "responses")
        return folder


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Copies go into the test's folder."""
    return Folders(tmp_path)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's run, of the reference selector."""
    folder = tmp_path_factory.mktemp("compare") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LONGMEMEVAL_ORACLE_PATH", "DEERMEM_DEERFLOW_PATH"):
            patch.delenv(name, raising=False)
        assert main(["demo", "--output-dir", str(folder), "-q", "--json"]) == 0
    return folder


@pytest.fixture
def compared(call: Callable[..., tuple[int, str, str]]) -> Callable[..., Any]:
    """Compare folders; returns the JSON document, which fits its schema."""

    def compare(*named: Path) -> Any:
        status, out, err = call("compare", *map(str, named), "--json")
        assert (status, err) == (0, "")
        document = json.loads(out)
        Draft202012Validator(load_schema("compare")).validate(document)
        return document

    return compare
