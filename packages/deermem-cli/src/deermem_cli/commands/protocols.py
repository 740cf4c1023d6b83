"""`deermem protocols`: what is shipped."""

from __future__ import annotations

import argparse
from typing import Any

from attrs import asdict

from deermem_data import (
    DEFAULT_PROTOCOL,
    HISTORICAL_PROTOCOL,
    historical_pins,
    load_protocol,
    shipped_protocols,
)

from ..parser import EXIT_DONE
from ..terminal import Terminal


def run(_arguments: argparse.Namespace, terminal: Terminal) -> int:
    """List the shipped protocols."""
    documents = [_document(name) for name in shipped_protocols()]
    lines = [line for document in documents for line in _lines(document)]
    terminal.result({"protocols": documents}, *lines)
    return EXIT_DONE


def _document(name: str) -> dict[str, Any]:
    if name == HISTORICAL_PROTOCOL:
        return {
            "name": name,
            "about": "the published run's protocol; its text is read from a deer-flow checkout "
            "(--deerflow) and checked against these hashes",
            "artifacts": asdict(historical_pins()),
        }
    protocol = load_protocol(name)
    own = protocol.embedded_dataset is not None
    pin = protocol.config.dataset
    source = "its own data set" if own else f"{pin.filename} of {pin.repository}"
    default = " (the default)" if name == DEFAULT_PROTOCOL else ""
    return {
        "name": name,
        "about": f"{protocol.case_count} cases from {source}{default}",
        "artifacts": {**asdict(protocol.hashes), "dataset_sha256": pin.sha256},
    }


def _lines(document: dict[str, Any]) -> list[str]:
    return [
        f"{document['name']}: {document['about']}",
        *(
            f"  {key.removesuffix('_sha256').replace('_', ' '):<19}{value}"
            for key, value in document["artifacts"].items()
        ),
    ]
