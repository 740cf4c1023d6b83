"""From a selector's name to the selector."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from ._errors import SelectorError
from .custom import bind_custom
from .production import bind_production
from .reference import POLICY_HYBRID_V1, select_facts_for_capacity
from .selector import Provenance, Selector

if TYPE_CHECKING:
    from pathlib import Path

    from deermem_data import Protocol

PRODUCTION = "production"
REFERENCE = "reference"


def bind_selector(name: str, *, protocol: Protocol, deerflow: Path | None = None) -> Selector:
    """Bind the selector a user named.

    Args:
        name: `production`, `reference` or `MODULE:FUNCTION`.
        protocol: states the required policy version and the hashes it knows.
        deerflow: for `production`, a deer-flow checkout; None for an installed `deerflow`.

    Raises:
        SelectorError: it cannot be bound; one line says why and what to do.
    """
    if name == PRODUCTION:
        return bind_production(protocol, deerflow)
    if name == REFERENCE:
        return _bind_reference(protocol)
    return bind_custom(name, protocol)


def _bind_reference(protocol: Protocol) -> Selector:
    required = protocol.config.required_policy_version
    if required != POLICY_HYBRID_V1:
        raise SelectorError(
            f"selector reference: implements policy version {POLICY_HYBRID_V1!r}, "
            f"the protocol requires {required!r}"
        )
    path = "deermem_select/reference.py"
    source = files(__package__).joinpath("reference.py").read_bytes()
    sha256 = hashlib.sha256(source).hexdigest()
    known = sha256 in protocol.known_selectors
    provenance = Provenance("reference", REFERENCE, path, sha256, None, None, known)
    return Selector(select_facts_for_capacity, provenance)
