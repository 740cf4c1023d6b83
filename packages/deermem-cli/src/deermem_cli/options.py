"""The options that several commands share.

Standard library only, as `parser`.
"""

from __future__ import annotations

import argparse

#: The titles of the groups whose options mean the same wherever they are taken.
PROTOCOL_GROUP, OUTPUT_GROUP = "protocol options", "output options"


def add_protocol(
    parser: argparse.ArgumentParser, default: str | None = "capacity-eviction-v1"
) -> None:
    """Add what names the protocol; without a default it is the run's own."""
    group = parser.add_argument_group(PROTOCOL_GROUP)
    group.add_argument(
        "--protocol",
        type=name,
        metavar="NAME|DIR",
        default=default,
        help="a shipped protocol, a protocol's folder or a deer-flow benchmark folder (default: "
        + ("%(default)s)" if default else "the run's own, where it is shipped)"),
    )
    for option, part in (
        ("--config", "config"),
        ("--official-manifest", "official manifest"),
        ("--synthetic-manifest", "synthetic manifest"),
    ):
        group.add_argument(
            option,
            type=name,
            metavar="FILE",
            help=f"use this {part} instead (default: the protocol's)",
        )


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """Add what names the data set."""
    parser.add_argument(
        "--dataset",
        type=name,
        metavar="FILE",
        help="the data set (default: the protocol's own where it brings one, else "
        "$LONGMEMEVAL_ORACLE_PATH)",
    )


def add_selector(parser: argparse.ArgumentParser, default: str | None = "production") -> None:
    """Add what names the selector; without a default it is the run's own."""
    parser.add_argument(
        "--selector",
        type=name,
        metavar="NAME",
        default=default,
        help="production, reference or MODULE:FUNCTION (default: "
        + ("%(default)s)" if default else "the run's own)"),
    )
    add_deerflow(parser)


def add_deerflow(parser: argparse.ArgumentParser) -> None:
    """Add where the production selector is looked for."""
    parser.add_argument(
        "--deerflow",
        type=name,
        metavar="DIR",
        help="a deer-flow checkout, for the production selector (default: "
        "$DEERMEM_DEERFLOW_PATH, then an installed deerflow)",
    )


def add_output_dir(parser: argparse.ArgumentParser) -> None:
    """Add where a run goes."""
    parser.add_argument(
        "--output-dir", type=name, metavar="DIR", required=True, help="where the run's files go"
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add how much is said, and in what form; every command takes these."""
    group = parser.add_argument_group(OUTPUT_GROUP)
    group.add_argument(
        "--json", action="store_true", help="print the result as one JSON document on stdout"
    )
    group.add_argument("-v", "--verbose", action="store_true", help="say more on stderr")
    group.add_argument("-q", "--quiet", action="store_true", help="say only errors on stderr")


def name(text: str) -> str:
    """Return a name that is one: an unset variable gives none."""
    if not text:
        raise argparse.ArgumentTypeError("expected a name, found nothing (an unset variable?)")
    return text


def count(text: str) -> int:
    """Return a whole number of 1 or more."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, found {text!r}")
    return number
