"""From the command's options and environment to protocol, data set and selector."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from deermem_data import Dataset, DatasetError, Protocol, load_dataset, load_protocol
from deermem_select import Selector, SelectorError, bind_selector

DATASET_VARIABLE = "LONGMEMEVAL_ORACLE_PATH"
DEERFLOW_VARIABLE = "DEERMEM_DEERFLOW_PATH"


def deerflow_path(arguments: argparse.Namespace) -> Path | None:
    """Return the deer-flow checkout that was named, if one was.

    Raises:
        SelectorError: it begins with `~` and there is no such home.
    """
    named = arguments.deerflow or os.environ.get(DEERFLOW_VARIABLE)
    try:
        return Path(named).expanduser() if named else None
    except RuntimeError as exc:
        raise SelectorError(f"{named}: no such home folder; give the whole path") from exc


def read_protocol(arguments: argparse.Namespace) -> Protocol:
    """Return the protocol that the options name.

    Raises:
        ProtocolError: as `load_protocol`.
    """
    return load_protocol(
        arguments.protocol,
        deerflow=deerflow_path(arguments),
        config=_path(arguments.config),
        official_manifest=_path(arguments.official_manifest),
        synthetic_manifest=_path(arguments.synthetic_manifest),
    )


def dataset_path(arguments: argparse.Namespace, protocol: Protocol) -> Path | None:
    """Return the data set's file: the one named, else the protocol's, else the environment's."""
    named = arguments.dataset or protocol.embedded_dataset or os.environ.get(DATASET_VARIABLE)
    return Path(named) if named else None


def read_dataset(arguments: argparse.Namespace, protocol: Protocol) -> Dataset:
    """Return the data set that `dataset_path` finds.

    Raises:
        DatasetError: none is named, or as `load_dataset`.
    """
    path = dataset_path(arguments, protocol)
    if path is None:
        pin = protocol.config.dataset
        raise DatasetError(
            f"no data set: give --dataset FILE or set {DATASET_VARIABLE}; {protocol.protocol_id} "
            f"takes {pin.filename} of {pin.repository} at revision {pin.revision}"
        )
    return load_dataset(path, protocol)


def read_selector(arguments: argparse.Namespace, protocol: Protocol) -> Selector:
    """Return the selector that the options name.

    Raises:
        SelectorError: as `bind_selector`.
    """
    if ":" in arguments.selector and "" not in sys.path:
        # `python -m` finds a module in the current folder; an installed script does not.
        sys.path.insert(0, "")
    return bind_selector(arguments.selector, protocol=protocol, deerflow=deerflow_path(arguments))


def read_selector_or_reference(
    arguments: argparse.Namespace, protocol: Protocol
) -> tuple[Selector, str | None]:
    """Return production where it is found; else the reference, and why production is not used.

    Raises:
        SelectorError: a deer-flow checkout was named and does not give the selector.
    """
    deerflow = deerflow_path(arguments)
    try:
        return bind_selector("production", protocol=protocol, deerflow=deerflow), None
    except SelectorError as exc:
        if deerflow is not None:
            raise
        return bind_selector("reference", protocol=protocol), str(exc)


def _path(named: str | None) -> Path | None:
    return Path(named) if named else None
