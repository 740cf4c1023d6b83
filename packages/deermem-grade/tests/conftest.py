"""The second, naive implementation of the grader, which is kept beside the benchmarks."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def naive_path(project_root: Path) -> Path:
    """The file of the naive grader."""
    return project_root / "tests" / "benchmarks" / "naive_grader.py"


@pytest.fixture(scope="session")
def naive_grade(naive_path: Path) -> Callable[[Any, Any], Any]:
    """The naive grader's `grade_answer`."""
    spec = importlib.util.spec_from_file_location("naive_grader", naive_path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.grade_answer  # type: ignore[no-any-return]
