"""The contracts: what must hold of a protocol before any data set is read."""

from __future__ import annotations

from typing import Any

from attrs import asdict

import deermem_grade
from deermem_data import Protocol, ProtocolError
from deermem_select import Selector

_STANDING = {
    "shipped": "a shipped protocol",
    "historical": "the pinned historical protocol, unchanged",
    "historical-changed": "the historical protocol's id with CHANGED files: not comparable to it",
    "custom": "a protocol of your own",
}


def check_grader(protocol: Protocol) -> None:
    """Check that the grader the protocol names is the one installed.

    Raises:
        ProtocolError: it is another.
    """
    named, here = protocol.config.qa.grader_version, deermem_grade.GRADER_VERSION
    if named != here:
        raise ProtocolError(
            f"{protocol.files.config}: qa.grader_version: expected {here!r} (the installed "
            f"grader), found {named!r}"
        )


def historical_note(protocol: Protocol) -> str | None:
    """Say whether what has the historical protocol's id is it; `None` for any other protocol."""
    if not protocol.standing.startswith("historical"):
        return None
    return f"note: {protocol.protocol_id} is {_STANDING[protocol.standing]}"


def contract_lines(protocol: Protocol, selector: Selector) -> list[str]:
    """Return what was checked, for a person."""
    config, provenance = protocol.config, selector.provenance
    known = ", which the protocol knows" if provenance.known else ""
    capacities = ", ".join(map(str, config.pool.capacities))
    shown = {
        "protocol": f"{protocol.protocol_id}, {_STANDING[protocol.standing]}",
        "cases": f"{protocol.case_count}, pools of {config.pool.size}, capacities {capacities}",
        "policies": ", ".join(spec.policy for spec in config.policies.values()),
        **{
            name.removesuffix("_sha256").replace("_", " "): f"SHA-256 {value}"
            for name, value in asdict(protocol.hashes).items()
        },
        "grader": config.qa.grader_version,
        "selector": f"{selector.name}, {provenance.path}",
        "selector source": f"SHA-256 {provenance.sha256}{known}",
    }
    return [f"{name:<20}{value}" for name, value in shown.items()]


def contract_document(protocol: Protocol, selector: Selector) -> dict[str, Any]:
    """Return what was checked, for `--json`."""
    return {
        "protocol_id": protocol.protocol_id,
        "standing": protocol.standing,
        "cases": protocol.case_count,
        "artifacts": asdict(protocol.hashes),
        "grader_version": protocol.config.qa.grader_version,
        "policy_version": protocol.config.required_policy_version,
        "selector": selector.provenance.to_row(),
    }
