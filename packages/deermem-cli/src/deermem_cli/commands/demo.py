"""`deermem demo`: the evaluation on the embedded data set, offline, in seconds."""

from __future__ import annotations

import argparse
import tempfile
import threading
from pathlib import Path

from deermem_data import build_cases, load_dataset, load_protocol, require_new
from deermem_qa import RUN_FILE, LockHeld
from deermem_qa.lexical_reader import LexicalReader

from ..accuracy_table import accuracy_tables
from ..contracts import check_grader, contract_document
from ..grading import PUBLISHED_FILES, grade_run
from ..inputs import read_selector_or_reference
from ..parser import EXIT_DONE, EXIT_LOCKED, EXIT_NO
from ..policy_run import FILES, run_policies
from ..qa_documents import ANALYSIS_FILE
from ..qa_run import exit_status, run_qa, summary_lines
from ..retention_table import retention_table
from ..terminal import Terminal
from ..verification import RunInputs, verify_run

_PROTOCOL = "mini-v1"


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Check, validate, run, answer, grade and verify `mini-v1`; print both tables."""
    if arguments.output_dir:
        folder = Path(arguments.output_dir)
        require_new(folder, (*FILES, RUN_FILE, *PUBLISHED_FILES))
        try:
            return _demo(arguments, terminal, folder)
        except LockHeld as exc:
            terminal.error(f"deermem: error: {exc}")
            return EXIT_LOCKED
    with tempfile.TemporaryDirectory(prefix="deermem-demo-") as temporary:
        return _demo(arguments, terminal, Path(temporary) / "run")


def _demo(arguments: argparse.Namespace, terminal: Terminal, folder: Path) -> int:
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
    made.publish(folder)
    terminal.say(f"policy run  {len(protocol.config.pool.capacities)} capacities decided")
    reader = LexicalReader()
    summary = run_qa(
        folder, protocol, dataset, cases, selector, reader, terminal, stop=threading.Event()
    )
    if not summary.complete:
        for line in summary_lines(summary, resumable=False):
            terminal.error(line)
        return exit_status(summary)
    terminal.say(
        f"answers     {summary.answered} by {reader.name}, which quotes the best matching "
        "sentence: no model was asked"
    )
    graded = grade_run(folder, protocol, dataset, cases, selector)
    inputs = RunInputs(protocol, dataset, cases, selector)
    verification = verify_run(folder, inputs=inputs)
    for discrepancy in verification.discrepancies:
        terminal.error(f"wrong: {discrepancy}")
    terminal.say(
        f"verified    {sum(not check.skipped for check in verification.checks)} checks, "
        f"{len(verification.discrepancies)} discrepancies"
    )
    if arguments.output_dir:
        terminal.say(f"kept        in {folder}")
    else:
        terminal.say("kept        nothing; --output-dir DIR keeps the files")
    analysis = graded.documents[ANALYSIS_FILE]
    document = contract_document(protocol, selector)
    document["groups"] = [group.to_row() for group in made.groups]
    document["analysis"] = analysis
    policies = [spec.policy for spec in protocol.config.policies.values()]
    terminal.result(document, retention_table(made.groups, policies), *accuracy_tables(analysis))
    return EXIT_DONE if verification.passed else EXIT_NO
