"""`deermem grade-qa`: grade a complete run and publish it."""

from __future__ import annotations

import argparse
from pathlib import Path

from deermem_data import build_cases
from deermem_qa import RUN_FILE, LockHeld, read_identity

from ..accuracy_table import accuracy_tables, one_policy_table
from ..grading import grade_run
from ..inputs import read_dataset, read_protocol, read_selector
from ..model import with_model
from ..parser import EXIT_DONE, EXIT_LOCKED
from ..qa_documents import ANALYSIS_FILE, SUMMARY_FILE
from ..terminal import Terminal


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Grade, publish, print the main figures."""
    folder = Path(arguments.output_dir)
    # The run says which model it asked; everything else must be as the protocol states.
    model = read_identity(folder).at("qa.model")
    protocol = with_model(read_protocol(arguments), model, setting=f"{folder / RUN_FILE}: qa.model")
    selector = read_selector(arguments, protocol)
    dataset = read_dataset(arguments, protocol)
    cases = build_cases(protocol, dataset)
    try:
        graded = grade_run(folder, protocol, dataset, cases, selector)
    except LockHeld as exc:
        terminal.error(f"deermem: error: {exc}")
        return EXIT_LOCKED
    terminal.say(f"written: {', '.join(graded.files)} in {folder}")
    tables = accuracy_tables(graded.documents[ANALYSIS_FILE])
    if not tables:
        tables = [one_policy_table(graded.documents[SUMMARY_FILE])]
    terminal.result({"output_dir": str(folder), "documents": graded.documents}, *tables)
    return EXIT_DONE
