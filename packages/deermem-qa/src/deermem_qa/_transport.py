"""The `httpx.Client` of a provider: our sockets, no cookies, no redirects, no proxy unasked."""

from __future__ import annotations

import http.cookiejar
import ssl
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from .errors import ProviderError


class _NoCookies(http.cookiejar.CookieJar):
    """Keeps nothing a server sets: no call depends on an earlier one."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Leave the response's cookies where they are."""


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stream.close()


class _Transport(httpx.BaseTransport):
    """Hands requests to a pool of `httpcore`, whose exceptions it passes on as they are."""

    def __init__(self, pool: httpcore.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, Iterable)
        response = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=_core_url(request.url),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response.stream)
        )

    def close(self) -> None:
        self._pool.close()


def make_client(url: str, backend: httpcore.NetworkBackend, *, trust_env: bool) -> httpx.Client:
    """Return a client for calls to `url`; it may be used by several threads at once.

    Args:
        url: the URL that will be called.
        backend: makes the connections.
        trust_env: whether proxies (`HTTPS_PROXY`, `NO_PROXY`, ...) and certificates
            (`SSL_CERT_FILE`, `SSL_CERT_DIR`) of the environment are used.

    Raises:
        ProviderError: the environment's proxy or certificates cannot be used.
    """
    target = httpx.URL(url)
    options: dict[str, Any] = {"network_backend": backend, "max_connections": None}
    if target.scheme == "https":
        options["ssl_context"] = _tls(trust_env)
    proxy = _environment_proxy(target) if trust_env else None
    if proxy is None:
        pool = httpcore.ConnectionPool(**options)
    else:
        pool = httpcore.HTTPProxy(_core_url(proxy.url), proxy_auth=proxy.raw_auth, **options)
    return httpx.Client(
        transport=_Transport(pool), trust_env=False, follow_redirects=False, cookies=_NoCookies()
    )


def _tls(trust_env: bool) -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context(trust_env=trust_env)
    except OSError as exc:
        raise ProviderError(
            f"environment: the certificates of SSL_CERT_FILE or SSL_CERT_DIR cannot be read: "
            f"{exc.strerror or exc}; correct the variable, or run without --trust-env"
        ) from exc


def _environment_proxy(target: httpx.URL) -> httpx.Proxy | None:
    found = getproxies()
    name = next((name for name in (target.scheme, "all") if found.get(name)), None)
    place = target.host if target.port is None else f"{target.host}:{target.port}"
    if name is None or proxy_bypass(place):
        return None
    text = found[name] if "://" in found[name] else f"http://{found[name]}"
    proxy = _parse_proxy(text)
    if proxy is None:
        raise ProviderError(
            f"environment: the proxy of {name}_proxy is not an http:// or https:// URL (it is not "
            "shown: it may hold a password); correct it, or run without --trust-env"
        )
    return proxy


def _parse_proxy(text: str) -> httpx.Proxy | None:
    try:
        proxy = httpx.Proxy(text)
    except (httpx.InvalidURL, ValueError):
        return None
    return proxy if proxy.url.scheme in {"http", "https"} and proxy.url.host else None


def _core_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
