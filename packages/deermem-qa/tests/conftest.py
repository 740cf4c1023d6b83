"""What the tests of this package share: the fault-injecting server and a provider that asks it."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deermem_qa.endpoint import parse_endpoint
from deermem_qa.openai_compatible import OpenAICompatibleProvider
from deermem_qa.task import Task, fingerprint

# Long enough to be a secret; found nowhere but in the request that carries it.
CANARY_KEY = "canary-key-7f3d9a51c2e84b06"
CANARY_USER = "canary-user-info-5b1e"


def _load(name: str) -> ModuleType:
    """Import a helper that lies beside this file; its folder is on no path."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def faults() -> Any:
    """The module `fault_server`: `FaultServer` and the actions of its scripts."""
    return _load("fault_server")


@pytest.fixture
def serve(faults: Any) -> Iterator[Callable[..., Any]]:
    """Start servers: `serve(action, action, ...)`; they are closed after the test."""
    with contextlib.ExitStack() as stack:

        def start(*script: Any, **more: Any) -> Any:
            return stack.enter_context(faults.FaultServer(script, **more))

        yield start


@pytest.fixture
def canary_key() -> str:
    """The key that providers of `ask` send."""
    return CANARY_KEY


@pytest.fixture
def canary_user() -> str:
    """The user info in the base URL of providers of `ask`."""
    return CANARY_USER


@pytest.fixture
def ask() -> Iterator[Callable[..., OpenAICompatibleProvider]]:
    """Make providers: `ask(base_url, **settings)`; waits are not waited, and are noted.

    The waits between attempts, in seconds, are in the list `waits` if one is given.
    """
    with contextlib.ExitStack() as stack:

        def make(
            base_url: str,
            *,
            waits: list[float] | None = None,
            allow_http: bool = False,
            **more: Any,
        ) -> OpenAICompatibleProvider:
            noted = [] if waits is None else waits
            settings = {"timeout_seconds": 10, "max_attempts": 3, "sleep": noted.append, **more}
            scheme, _, rest = base_url.partition("://")
            endpoint = parse_endpoint(
                f"{scheme}://{CANARY_USER}:{CANARY_USER}@{rest}", allow_http=allow_http
            )
            provider = OpenAICompatibleProvider(endpoint, CANARY_KEY, **settings)
            stack.callback(provider.close)
            return provider

        yield make


@pytest.fixture
def task() -> Task:
    """A task with a request of its own; no protocol stands behind it."""
    request: dict[str, Any] = {
        "model": "test-model",
        "temperature": 0.0,
        "max_tokens": 2048,
        "stream": False,
        "messages": [{"role": "user", "content": "What colour is the møøse?"}],
    }
    return Task(
        row_id="case__hybrid-v1",
        case_id="case",
        source="longmemeval",
        scenario="access_help",
        policy="hybrid-v1",
        capacity=7,
        kept_fact_ids=("gold_case",),
        question="What colour is the møøse?",
        memory=(("gold_case", "USER: The møøse is brown."),),
        messages=tuple(request["messages"]),
        request=request,
        request_fingerprint=fingerprint(request),
    )
