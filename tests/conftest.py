"""The `deermem` command and protocols of the test's own, for tests that cross packages."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from deermem_cli.main import main
from deermem_data import specs_folder

Edit = Callable[[Any], object]


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment of a called command: what Python needs and nothing that deermem reads."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {"HOME": os.devnull, "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="session")
def run(environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `deermem` in a process of its own; variables may be added."""

    def call(
        *arguments: str, cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "deermem_cli", *arguments],
            cwd=cwd,
            env=environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run `deermem` in this process, in the test's folder; returns status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("LONGMEMEVAL_ORACLE_PATH", "DEERMEM_DEERFLOW_PATH", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run_here(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return run_here


def _rewrite(path: Path, edit: Edit | None) -> None:
    if edit is not None:
        # YAML reads JSON as well; both are written as what they were.
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        edit(document)
        text = (
            yaml.safe_dump(document, sort_keys=False)
            if path.suffix == ".yaml"
            else json.dumps(document, indent=2)
        )
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def edited_protocol(tmp_path: Path) -> Callable[..., Path]:
    """Copy `mini-v1` into the test's folder, changed, with its data set pinned anew."""

    def copy(
        *,
        config: Edit | None = None,
        official: Edit | None = None,
        synthetic: Edit | None = None,
        rows: Edit | None = None,
        data: Callable[[bytes], bytes] | None = None,
        repin: bool = True,
    ) -> Path:
        folder = tmp_path / "protocol"
        shutil.copytree(specs_folder() / "protocols" / "mini-v1", folder)
        (file,) = (folder / "data").iterdir()
        if rows is not None:
            records = json.loads(file.read_bytes())
            rows(records)
            file.write_text(json.dumps(records, indent=1), encoding="utf-8")
        if data is not None:
            file.write_bytes(data(file.read_bytes()))
        (config_file,) = (folder / "configs").iterdir()
        if repin:
            pin = hashlib.sha256(file.read_bytes()).hexdigest()
            _rewrite(config_file, lambda document: document["dataset"].update(sha256=pin))
        _rewrite(config_file, config)
        _rewrite(folder / "manifests" / "official.json", official)
        _rewrite(folder / "manifests" / "synthetic.json", synthetic)
        return folder

    return copy
