"""`deermem verify`: does all that a published run states follow from its files and inputs?"""

from __future__ import annotations

import argparse
from pathlib import Path

from attrs import asdict

from deermem_data import (
    HISTORICAL_PROTOCOL,
    DeermemError,
    Protocol,
    build_cases,
    shipped_protocol_of,
)
from deermem_qa import RUN_FILE, RunError, RunIdentity, read_identity
from deermem_select import Selector

from ..inputs import (
    dataset_path,
    deerflow_path,
    read_dataset,
    read_protocol,
    read_selector,
    read_selector_or_reference,
)
from ..model import with_model
from ..parser import EXIT_DONE, EXIT_NO
from ..terminal import Terminal
from ..verification import RunInputs, Verification, verify_run


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Verify, and print each check and each discrepancy."""
    folder = Path(arguments.folder)
    identity = _identity(folder)
    protocol = _protocol(arguments, identity) if identity else None
    if identity and protocol is None and arguments.dataset:
        raise DeermemError(
            f"verify: {folder} does not follow a shipped protocol; with --dataset, also name its "
            "own with --protocol (for the historical one a deer-flow checkout with --deerflow)"
        )
    inputs = _inputs(arguments, identity, protocol, terminal) if identity and protocol else None
    verification = verify_run(folder, protocol=protocol, inputs=inputs)
    terminal.result(
        {"folder": str(folder), "passed": verification.passed, **asdict(verification)},
        *verification_lines(verification),
    )
    return EXIT_DONE if verification.passed else EXIT_NO


def verification_lines(verification: Verification) -> list[str]:
    """Return checks, discrepancies and what the outcome means, for a person."""
    lines = [
        f"{'left out' if check.skipped else 'checked':<10}{check.name}: {check.detail}"
        for check in verification.checks
    ]
    lines += [f"{'not read':<10}{name}" for name in verification.unchecked_files]
    lines += [f"{'WRONG':<10}{discrepancy}" for discrepancy in verification.discrepancies]
    if verification.passed:
        lines.append("everything that was checked holds. It shows that")
        lines += [f"  - {statement}" for statement in verification.certifies]
        lines.append("It cannot show")
        lines += [f"  - {statement}" for statement in verification.cannot_certify]
    else:
        lines.append(f"{len(verification.discrepancies)} discrepancies: this is not a sound run")
    return lines


def _identity(folder: Path) -> RunIdentity | None:
    """Return what the run says of itself; what is wrong with it is verification's to say."""
    try:
        return read_identity(folder)
    except RunError:
        return None


def _protocol(arguments: argparse.Namespace, identity: RunIdentity) -> Protocol | None:
    """Return the protocol named, else the shipped one of the run's id, where it can be read."""
    if arguments.protocol is None:
        name = shipped_protocol_of(identity.protocol_id)
        if name is None or (name == HISTORICAL_PROTOCOL and deerflow_path(arguments) is None):
            return None
        arguments.protocol = name
    setting = f"{Path(arguments.folder) / RUN_FILE}: qa.model"
    return with_model(read_protocol(arguments), identity.at("qa.model"), setting=setting)


def _inputs(
    arguments: argparse.Namespace,
    identity: RunIdentity,
    protocol: Protocol,
    terminal: Terminal,
) -> RunInputs | None:
    if not dataset_path(arguments, protocol):
        return None
    selector = _selector(arguments, identity, protocol)
    if selector is None:
        needed = (
            f"the run was made with the selector {identity.at('selector.name')}; name it with "
            "--selector to check what it keeps (a run's own word does not load code)"
        )
        if arguments.dataset:
            raise DeermemError(f"verify: {needed}")
        terminal.say(f"data set    left out: {needed}")
        return None
    dataset = read_dataset(arguments, protocol)
    return RunInputs(protocol, dataset, build_cases(protocol, dataset), selector)


def _selector(
    arguments: argparse.Namespace, identity: RunIdentity, protocol: Protocol
) -> Selector | None:
    """Return the selector named, else the run's own, or for production that is not here reference.

    A folder under verification is not trusted: of its words only those that name no code count.
    `None` where the run was made with a selector that only its user can name.
    """
    stated = identity.at("selector.name")
    if arguments.selector is None and stated == "reference":
        arguments.selector = stated
    if arguments.selector:
        return read_selector(arguments, protocol)
    if stated in {None, "production"}:
        selector, _ = read_selector_or_reference(arguments, protocol)
        return selector
    return None
