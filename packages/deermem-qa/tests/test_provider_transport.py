"""Certificates and proxies."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from deermem_qa.errors import ProviderError, RunStopped
from deermem_qa.openai_compatible import OpenAICompatibleProvider
from deermem_qa.task import Task

Ask = Callable[..., OpenAICompatibleProvider]
Serve = Callable[..., Any]
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """An authority that no machine trusts."""
    return trustme.CA()


def _tls(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def test_a_certificate_that_does_not_verify(
    serve: Serve, faults: Any, ask: Ask, task: Task, authority: trustme.CA, canary_key: str
) -> None:
    """An unknown authority stops the run, and no request was sent."""
    server = serve(faults.answer(), tls=_tls(authority, "127.0.0.1"))
    with pytest.raises(RunStopped) as caught:
        ask(server.base_url).answer(task)
    assert caught.value.reason.startswith("the server's certificate does not verify: ")
    assert (caught.value.attempts, server.count) == (1, 0)
    assert caught.value.__context__ is None


def test_a_certificate_for_another_host(
    serve: Serve,
    faults: Any,
    ask: Ask,
    task: Task,
    authority: trustme.CA,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A trusted authority's certificate for another name does not verify."""
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    server = serve(faults.answer(), tls=_tls(authority, "other.example"))
    with pytest.raises(RunStopped, match="certificate does not verify") as caught:
        ask(server.base_url, trust_env=True).answer(task)
    assert (caught.value.attempts, server.count) == (1, 0)


def test_certificates_of_the_environment_need_the_flag(
    serve: Serve,
    faults: Any,
    ask: Ask,
    task: Task,
    authority: trustme.CA,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`SSL_CERT_FILE` counts with `trust_env` only; then the call over TLS is answered."""
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    server = serve(faults.answer("secured"), tls=_tls(authority, "127.0.0.1"))
    with pytest.raises(RunStopped, match="certificate does not verify"):
        ask(server.base_url).answer(task)
    assert ask(server.base_url, trust_env=True).answer(task).prediction == "secured"


def test_certificates_that_cannot_be_read(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate file that is not there is named by its variable, before any call."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent.pem"))
    with pytest.raises(ProviderError, match=r"^environment: the certificates of SSL_CERT_FILE"):
        ask("https://127.0.0.1:9/v1", trust_env=True)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_needs_the_flag(
    serve: Serve,
    faults: Any,
    ask: Ask,
    task: Task,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
) -> None:
    """A proxy variable changes nothing without `trust_env`, and is used with it."""
    server, proxy = serve(faults.answer("direct")), serve(faults.answer("by proxy"))
    # CGI programs take HTTP_PROXY from a header; urllib then ignores it.
    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
    assert ask(server.base_url).answer(task).prediction == "direct"
    assert (server.count, proxy.count) == (1, 0)
    assert ask(server.base_url, trust_env=True).answer(task).prediction == "by proxy"
    assert (server.count, proxy.count) == (1, 1)
    assert f"{server.base_url}/chat/completions" == proxy.requests[0].target


def test_a_host_can_be_exempt_from_the_proxy(
    serve: Serve, faults: Any, ask: Ask, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`NO_PROXY` is heeded."""
    server, proxy = serve(faults.answer("direct")), serve(faults.answer("by proxy"))
    monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{proxy.port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert ask(server.base_url, trust_env=True).answer(task).prediction == "direct"


def test_a_proxy_sees_no_key_of_a_secured_call(
    serve: Serve, faults: Any, ask: Ask, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an https call a proxy is asked for a tunnel only; one that refuses is tried again."""
    proxy = serve(faults.status(403))
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:word@127.0.0.1:{proxy.port}")
    provider = ask("https://model.example/v1", trust_env=True)
    with pytest.raises(Exception, match="the proxy refused the connection") as caught:
        provider.answer(task)
    assert caught.value.attempts == 3  # type: ignore[attr-defined]
    assert {"CONNECT"} == {received.method for received in proxy.requests}
    assert all("authorization" not in received.header_names for received in proxy.requests)
    assert "proxy-authorization" in proxy.requests[0].header_names


@pytest.mark.parametrize(
    "proxy", ["socks5://canary@127.0.0.1:1", "http://canary:x@[::1", "ftp://canary"]
)
def test_a_proxy_that_cannot_be_used_is_refused(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    """A proxy variable that is no http URL is named, and not shown: it may hold a password."""
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ProviderError) as caught:
        ask("http://127.0.0.1:9/v1", trust_env=True)
    assert str(caught.value).startswith("environment: the proxy of http_proxy is not an http")
    assert "canary" not in str(caught.value)
