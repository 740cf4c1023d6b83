"""`deermem validate`: the contracts, then the data set and every case made from it."""

from __future__ import annotations

import argparse

from deermem_data import build_cases

from ..contracts import check_grader, contract_document, contract_lines
from ..inputs import read_dataset, read_protocol, read_selector
from ..parser import EXIT_DONE
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Check contracts and data set, build the cases, print what was found."""
    protocol = read_protocol(arguments)
    check_grader(protocol)
    selector = read_selector(arguments, protocol)
    dataset = read_dataset(arguments, protocol)
    cases = build_cases(protocol, dataset)
    document = contract_document(protocol, selector)
    document["dataset"] = {
        "sha256": dataset.sha256,
        "records": dataset.record_count,
        "bank": len(dataset.bank),
        "cases": len(cases),
    }
    terminal.result(
        document,
        *contract_lines(protocol, selector),
        f"{'data set':<20}{dataset.record_count} records, SHA-256 {dataset.sha256}",
        f"{'selection':<20}as the manifest states; bank of {len(dataset.bank)}; {len(cases)} cases",
        "the data set fits the protocol",
    )
    return EXIT_DONE
