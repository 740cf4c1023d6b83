"""The model of a run: the protocol names one, a run may ask another, and says so."""

from __future__ import annotations

from typing import Any, cast

from attrs import evolve

from deermem_data import Protocol, ProtocolError


def with_model(protocol: Protocol, model: str | None) -> Protocol:
    """Return the protocol as it is used with this model; `None` leaves the one it names.

    The model stands in every request, so that fingerprints and the run's identity differ.

    Raises:
        ProtocolError: the name is blank.
    """
    if model is None or model == protocol.config.qa.model:
        return protocol
    if not model.strip():
        raise ProtocolError("--model: expected a name, found blanks")
    config = evolve(protocol.config, qa=evolve(protocol.config.qa, model=cast("Any", model)))
    return evolve(protocol, config=config)
