"""What every test folder of the workspace shares: hypothesis profiles and the real inputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# "ci" is fixed, so that a run never depends on chance; HYPOTHESIS_PROFILE=wide searches further.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("wide", deadline=None, max_examples=2000, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

ROOT = Path(__file__).resolve().parent


def _real_input(variable: str, beside_checkout: str) -> Path:
    given = os.environ.get(variable)
    path = Path(given) if given else ROOT.parent / "shared" / beside_checkout
    if not path.exists():
        pytest.skip(f"needs {variable} or ../shared/{beside_checkout}: {path} is not there")
    return path


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def longmemeval_path() -> Path:
    """The pinned LongMemEval file; tests that need it are skipped where it is absent."""
    return _real_input("LONGMEMEVAL_ORACLE_PATH", "data/longmemeval_oracle.json")


@pytest.fixture(scope="session")
def upstream_path() -> Path:
    """The folder of the published reference run; tests are skipped where it is absent."""
    return _real_input("DEERMEM_UPSTREAM_PATH", "upstream/pr4789-reproduction-v1")
