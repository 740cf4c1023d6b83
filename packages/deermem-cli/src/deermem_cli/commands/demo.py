"""`deermem demo`: the evaluation on the embedded data set, offline, in seconds."""

from __future__ import annotations

import argparse
from pathlib import Path

from deermem_data import build_cases, load_dataset, load_protocol, require_new

from ..contracts import check_grader, contract_document
from ..inputs import read_selector_or_reference
from ..parser import EXIT_DONE
from ..policy_run import FILES, run_policies
from ..retention_table import retention_table
from ..terminal import Terminal

_PROTOCOL = "mini-v1"


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Check, validate and run `mini-v1`; print the retention table."""
    folder = Path(arguments.output_dir) if arguments.output_dir else None
    if folder:
        require_new(folder, FILES)
    protocol = load_protocol(_PROTOCOL)
    check_grader(protocol)
    selector, reason = read_selector_or_reference(arguments, protocol)
    terminal.say(f"contracts   {protocol.protocol_id}: config, manifests, prompt and grader agree")
    if reason:
        terminal.detail(reason)
        terminal.say(
            "selector    reference: DeerMem's own could not be bound (-v says why), so an "
            "independent implementation decides; --deerflow PATH binds the real one"
        )
    else:
        terminal.say(f"selector    production: {selector.provenance.path}")
    dataset = load_dataset(str(protocol.embedded_dataset), protocol)
    cases = build_cases(protocol, dataset)
    terminal.say(f"data set    {dataset.record_count} records, {len(cases)} cases, all as pinned")
    made = run_policies(protocol, dataset, cases, selector)
    if folder:
        made.publish(folder)
        terminal.say(f"policy run  {', '.join(FILES)} in {folder}")
    else:
        terminal.say("policy run  done; --output-dir DIR keeps its files")
    document = contract_document(protocol, selector)
    document["groups"] = [group.to_row() for group in made.groups]
    policies = [spec.policy for spec in protocol.config.policies.values()]
    terminal.result(document, retention_table(made.groups, policies))
    return EXIT_DONE
