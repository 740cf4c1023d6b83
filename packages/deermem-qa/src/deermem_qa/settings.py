"""The endpoint and the key, from the two environment variables that the protocol names."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from deermem_data import QASpec

from .endpoint import Endpoint, parse_endpoint
from .errors import ProviderError


@frozen
class ProviderSettings:
    """What a call needs beside the request; the key is in no `repr`."""

    endpoint: Endpoint
    api_key: str = field(repr=False)


def settings_from_environment(
    environ: Mapping[str, str], qa: QASpec, *, allow_http: bool = False
) -> ProviderSettings:
    """Return the settings, checked, before any call is made.

    Args:
        environ: the environment's variables, such as `os.environ`.
        qa: names the two variables.
        allow_http: whether plain `http` may go further than this machine.

    Raises:
        ProviderError: a variable is missing, empty or malformed; its name is in the message, its
            value is not.
    """
    missing = [
        name for name in (qa.api_key_env, qa.base_url_env) if not environ.get(name, "").strip()
    ]
    if missing:
        raise ProviderError(
            f"environment: {' and '.join(missing)} not set; the provider {qa.provider} needs the "
            f"key in {qa.api_key_env} and the endpoint in {qa.base_url_env}"
        )
    api_key = environ[qa.api_key_env]
    check_api_key(api_key, setting=qa.api_key_env)
    endpoint = parse_endpoint(
        environ[qa.base_url_env], allow_http=allow_http, setting=qa.base_url_env
    )
    return ProviderSettings(endpoint, api_key)


def check_api_key(api_key: str, *, setting: str = "API key") -> None:
    """Refuse a key that no HTTP header can carry.

    Raises:
        ProviderError: it is empty, or holds blanks, line breaks, control characters or characters
            outside ASCII; the key is not shown.
    """
    if not api_key:
        raise ProviderError(f"{setting}: the key is empty")
    if not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        raise ProviderError(
            f"{setting}: the key holds a blank, a line break, a control character or one outside "
            "ASCII; set it again without (it is not shown here)"
        )
