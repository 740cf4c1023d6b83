"""The URL that is called, from a base URL as people write it.

| written | called |
|---|---|
| `https://host` | `https://host/v1/chat/completions` |
| `https://host/v1`, `https://host/v1/` | `https://host/v1/chat/completions` |
| `https://host/v1/chat/completions` | itself |
| `https://host/openai?api-version=1` | `https://host/openai/chat/completions?api-version=1` |
| `https://user:password@host/v1` | as without them: user info is never sent, stored or shown |

No message quotes what was written: it may hold a password, or be the key in the wrong variable.
"""

from __future__ import annotations

import ipaddress
import re

import httpx
from attrs import field, frozen

from deermem_data import sha256_hex

from .errors import ProviderError

_CALL = "/chat/completions"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,15}")
_HOST_LABEL = re.compile(r"[a-z0-9_-]{1,63}", re.IGNORECASE)
_EXAMPLE = "write it as https://HOST/v1 (what was found is not shown: it may hold a secret)"


@frozen
class Endpoint:
    """Where chat completions are asked for.

    Attributes:
        url: the whole URL, without user info.
        shown: the URL fit to be stored and shown: of its query only an `api-version` is left.
        dropped_user_info: whether the base URL held user info.
    """

    url: str = field(repr=False)
    shown: str
    dropped_user_info: bool = False

    @property
    def sha256(self) -> str:
        """SHA-256 of the URL, 64 hex digits: what binds a run to its endpoint."""
        return sha256_hex(self.url.encode("utf-8"))


def parse_endpoint(
    base_url: str, *, allow_http: bool = False, setting: str = "base URL"
) -> Endpoint:
    """Return the endpoint of a base URL.

    Args:
        base_url: as in the table above; blanks around it do not count.
        allow_http: whether plain `http` may go further than this machine.
        setting: what messages call it, such as the environment variable it comes from.

    Raises:
        ProviderError: no scheme, another scheme, not a URL, or plain `http` to another machine.
    """
    text = base_url.strip()
    scheme, separator, rest = text.partition("://")
    if not separator:
        raise ProviderError(f"{setting}: a URL without a scheme; {_EXAMPLE}")
    if scheme.lower() not in {"http", "https"}:
        found = f" {scheme!r}" if _SCHEME.fullmatch(scheme) else ""
        raise ProviderError(f"{setting}: expected the scheme https, found another{found}")
    if fault := _fault(rest):
        raise ProviderError(f"{setting}: {fault}; {_EXAMPLE}")
    authority, tail = _split_authority(rest)
    user_info, _, place = authority.rpartition("@")
    path, question_mark, query = tail.partition("?")
    url = _parse(f"{scheme.lower()}://{place}{_call_path(path)}{question_mark}{query}")
    if url is None:
        raise ProviderError(f"{setting}: not a URL; {_EXAMPLE}")
    if url.scheme == "http" and not allow_http and not _is_loopback(url.host):
        raise ProviderError(
            f"{setting}: plain http would send the key unencrypted to {url.host}; "
            "use https, or allow it with --allow-http"
        )
    return Endpoint(str(url), _shown(url), dropped_user_info=bool(user_info))


def _fault(rest: str) -> str | None:
    authority, tail = _split_authority(rest)
    if not rest.isprintable() or " " in rest or "\\" in rest:
        return "a blank, a control character or a backslash in the URL"
    if "#" in tail:
        return "a fragment (#...) in the URL; percent-encode a # of the password as %23"
    if "@" in tail:
        return "an @ after the host; percent-encode a / of the password as %2F, an @ as %40"
    return None if authority.rpartition("@")[2] else "a URL without a host"


def _split_authority(rest: str) -> tuple[str, str]:
    end = min((at for mark in "/?#" if (at := rest.find(mark)) >= 0), default=len(rest))
    return rest[:end], rest[end:]


def _call_path(path: str) -> str:
    base = path.rstrip("/")
    if base.endswith(_CALL):
        return base
    return (base or "/v1") + _CALL


def _parse(text: str) -> httpx.URL | None:
    # No exception of httpx leaves: its text quotes the URL.
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        return None
    fits = _is_host(url.raw_host.decode("ascii")) and (url.port is None or 0 < url.port < 65536)
    return url if fits else None


def _is_host(host: str) -> bool:
    if _address(host) is not None:
        return True
    labels = host.removesuffix(".").split(".")
    return len(host) <= 253 and all(map(_HOST_LABEL.fullmatch, labels))


def _is_loopback(host: str) -> bool:
    address = _address(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _shown(url: httpx.URL) -> str:
    bare = str(url.copy_with(query=None))
    parts = url.query.decode("ascii").split("&") if url.query else []
    shown = "&".join(part if part.startswith("api-version=") else "..." for part in parts)
    return f"{bare}?{shown}" if shown else bare
