"""The model of a run: the protocol names one, a run may ask another, and says so."""

from __future__ import annotations

from typing import Any, cast

from attrs import evolve

from deermem_data import Protocol, ProtocolError
from deermem_data.artifacts import is_encodable


def with_model(protocol: Protocol, model: str | None, *, setting: str = "--model") -> Protocol:
    """Return the protocol as it is used with this model; `None` leaves the one it names.

    The model stands in every request, so that fingerprints and the run's identity differ.

    Args:
        setting: where the name comes from, for messages.

    Raises:
        ProtocolError: the name is blank, or no text that a request can hold.
    """
    if model is None or model == protocol.config.qa.model:
        return protocol
    if not model.strip():
        raise ProtocolError(f"{setting}: expected a name, found blanks")
    if not is_encodable(model):
        raise ProtocolError(f"{setting}: expected a name, found bytes that are not UTF-8")
    config = evolve(protocol.config, qa=evolve(protocol.config.qa, model=cast("Any", model)))
    return evolve(protocol, config=config)
