"""`deermem validate-contracts`: a protocol's files, grader version and selector; no data set."""

from __future__ import annotations

import argparse

from ..contracts import check_grader, contract_document, contract_lines
from ..inputs import read_protocol, read_selector
from ..parser import EXIT_DONE
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Check and print the contracts."""
    protocol = read_protocol(arguments)
    check_grader(protocol)
    selector = read_selector(arguments, protocol)
    terminal.result(
        contract_document(protocol, selector),
        *contract_lines(protocol, selector),
        "contracts hold",
    )
    return EXIT_DONE
