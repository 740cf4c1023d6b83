"""The two environment variables of a provider."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from deermem_data import QASpec, load_protocol
from deermem_qa.errors import ProviderError
from deermem_qa.settings import settings_from_environment

KEY, URL = "DEERMEM_EVAL_ANSWER_API_KEY", "DEERMEM_EVAL_ANSWER_BASE_URL"


@pytest.fixture(scope="module")
def qa() -> QASpec:
    return load_protocol("mini-v1").config.qa


def test_both_are_read(qa: QASpec) -> None:
    """The endpoint and the key come from the variables that the protocol names."""
    settings = settings_from_environment({KEY: "a-key", URL: "https://host/v1"}, qa)
    assert settings.endpoint.url == "https://host/v1/chat/completions"
    assert settings.api_key == "a-key"
    assert "a-key" not in repr(settings)


def test_the_protocol_names_them(qa: QASpec) -> None:
    """Another protocol may name other variables."""
    names: Any = {"api_key_env": "MY_KEY", "base_url_env": "MY_URL"}
    other = attrs.evolve(qa, **names)
    settings = settings_from_environment({"MY_KEY": "k", "MY_URL": "https://host"}, other)
    assert settings.api_key == "k"


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({}, f"{KEY} and {URL} not set"),
        ({KEY: "canary"}, f"environment: {URL} not set"),
        ({URL: "https://canary"}, f"environment: {KEY} not set"),
        ({KEY: "", URL: "https://canary"}, f"environment: {KEY} not set"),
        ({KEY: " \n", URL: "https://canary"}, f"environment: {KEY} not set"),
        ({KEY: "canary", URL: " "}, f"environment: {URL} not set"),
        ({KEY: "canary", URL: "canary"}, f"{URL}: a URL without a scheme"),
        ({KEY: "canary", URL: "http://canary.example"}, f"{URL}: plain http"),
    ],
)
def test_what_is_missing_is_named(qa: QASpec, environ: dict[str, str], named: str) -> None:
    """A missing or malformed variable is named before any call."""
    with pytest.raises(ProviderError) as caught:
        settings_from_environment(environ, qa)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    "key",
    ["canary\n", "\ncanary", "can ary", "can\tary", "canary\r\nX-Evil: 1", "canary\0", "canäry"],
)
def test_a_key_that_no_header_carries_is_refused_unseen(qa: QASpec, key: str) -> None:
    """Blanks, line breaks, control characters and non-ASCII in the key are refused, not shown."""
    with pytest.raises(ProviderError) as caught:
        settings_from_environment({KEY: key, URL: "https://host/v1"}, qa)
    assert str(caught.value).startswith(f"{KEY}: the key holds a blank, a line break")
    assert "ary" not in str(caught.value).removeprefix(KEY)


def test_plain_http_can_be_allowed(qa: QASpec) -> None:
    """`allow_http` reaches the endpoint."""
    environ = {KEY: "k", URL: "http://other.example/v1"}
    settings = settings_from_environment(environ, qa, allow_http=True)
    assert settings.endpoint.url == "http://other.example/v1/chat/completions"
