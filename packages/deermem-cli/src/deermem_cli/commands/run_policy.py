"""`deermem run-policy`: the offline retention run."""

from __future__ import annotations

import argparse
from pathlib import Path

from deermem_data import build_cases, require_new

from ..contracts import historical_note
from ..inputs import read_dataset, read_protocol, read_selector
from ..parser import EXIT_DONE
from ..policy_run import FILES, run_policies
from ..retention_table import retention_table
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Decide every case, publish the three files, print the retention table."""
    folder = Path(arguments.output_dir)
    require_new(folder, FILES)
    protocol = read_protocol(arguments)
    selector = read_selector(arguments, protocol)
    dataset = read_dataset(arguments, protocol)
    cases = build_cases(protocol, dataset)
    terminal.detail(f"{len(cases)} cases from {dataset.path}")
    made = run_policies(protocol, dataset, cases, selector)
    made.publish(folder)
    policies = [spec.policy for spec in protocol.config.policies.values()]
    if note := historical_note(protocol):
        terminal.say(note)
    if selector.provenance.kind != "production":
        terminal.say(f"note: decided by the {selector.name} selector, not by DeerMem's own code")
    terminal.say(f"written: {', '.join(FILES)} in {folder}")
    terminal.result(
        {
            "protocol_id": protocol.protocol_id,
            "output_dir": str(folder),
            "selector": selector.provenance.to_row(),
            "groups": [group.to_row() for group in made.groups],
        },
        retention_table(made.groups, policies),
    )
    return EXIT_DONE
