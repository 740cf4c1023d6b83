"""Stand-in deer-flow trees, written with rules of the tests' own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deermem_data import Case, Protocol, build_cases, load_dataset, load_protocol

HARNESS = "backend/packages/harness"
IN_HARNESS = "deerflow/agents/memory/backends/deermem/deermem/core/eviction.py"

# Keeps the newest of the list. The dataclasses and the postponed annotations are there because
# they need the module to be registered while it is executed.
STANDIN = """\
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

EVICTION_POLICY_HYBRID_V1 = "hybrid-v1"


@dataclass(frozen=True)
class Row:
    kind: ClassVar[str] = "row"
    fact_id: str
    category: str
    score: float
    components: dict[str, float]


@dataclass(frozen=True)
class Value:
    value: float
    components: dict[str, float]


@dataclass(frozen=True)
class Result:
    kept: list[dict[str, Any]]
    evicted: list[Row]
    scores: dict[str, Value]
    policy: str
    reserved_correction_slots: int


def select_facts_for_capacity(
    facts: list[dict[str, Any]],
    *,
    max_facts: int,
    policy: str,
    usage: dict[str, Any] | None = None,
    now: Any = None,
    confidence_weight: float = 0.65,
    confirmation_weight: float = 0.25,
    access_weight: float = 0.10,
    confirmation_half_life_days: float = 90,
    access_half_life_days: float = 30,
    correction_reserved_fraction: float = 0.10,
    correction_reserved_max: int = 10,
) -> Result:
    cut = max(0, len(facts) - max(0, max_facts))
    return Result(
        kept=facts[cut:][::-1],
        evicted=[Row(fact["id"], fact["category"], 1, {"place": 1}) for fact in facts[:cut]],
        scores={fact["id"]: Value(1, {"place": 1}) for fact in facts},
        policy=policy,
        reserved_correction_slots=0,
    )
"""


@pytest.fixture(scope="session")
def standin() -> str:
    """The source of a stand-in selector with the real signature."""
    return STANDIN


@pytest.fixture(scope="session")
def write_tree() -> Callable[..., Path]:
    """Write a tree whose packages all fail on import; returns the selector's file."""

    def write(root: Path, source: str = STANDIN, harness: str = HARNESS) -> Path:
        file = root / harness / IN_HARNESS
        file.parent.mkdir(parents=True)
        file.write_text(source, encoding="utf-8")
        folder = file.parent
        while folder != root / harness:
            (folder / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
            folder = folder.parent
        return file

    return write


@pytest.fixture(scope="session")
def run_git() -> Callable[..., str]:
    """Run git with settings of its own, so that the machine's do not matter."""

    def run(folder: Path, *arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    return run


@pytest.fixture(scope="session")
def protocol() -> Protocol:
    """The embedded protocol."""
    return load_protocol("mini-v1")


@pytest.fixture(scope="session")
def cases(protocol: Protocol) -> tuple[Case, ...]:
    """The embedded protocol's cases."""
    assert protocol.embedded_dataset is not None
    return build_cases(protocol, load_dataset(protocol.embedded_dataset, protocol))
