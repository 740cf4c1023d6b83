"""Verification: does all that a published run states follow from its files and its inputs?

Four circles, each wider than the one before: the files as files (schemas, hashes); the rows among
themselves and every number made again from them; with the protocol, its hashes, settings and cases;
with the data set, the selection, kept facts, fingerprints and grades, and that no text of the data
set stands in any file. A run of ours and the historical published one are both read.

Nothing is raised for what does not hold: it is named by file, row and key in the result.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deermem_data import Protocol
from deermem_grade import GRADER_VERSION
from deermem_qa import (
    RESPONSES,
    ROWS_FILE,
    RUN_FILE,
    AnswerRow,
    GradedRow,
    RunError,
    protocol_part,
    row_id_of,
)

from ._text_search import TextIndex, artifact_words, dataset_texts, strings_of
from ._verify_documents import check_documents
from ._verify_files import RunFiles, check_hashes, read_files, row_name
from ._verify_inputs import RunInputs, check_inputs, check_protocol
from ._verify_policy import check_policy_run
from ._verify_rows import check_rows, read_answers
from .grading import qa_settings
from .policy_run import RAW_FILE
from .qa_documents import STATS_FILE, QASettings
from .verification_report import Check, Discrepancy, Findings, Verification

__all__ = ["Check", "Discrepancy", "RunInputs", "Verification", "verify_run"]


def verify_run(
    folder: Path, *, protocol: Protocol | None = None, inputs: RunInputs | None = None
) -> Verification:
    """Verify a published run.

    Args:
        protocol: to check the run against a protocol without its data set.
        inputs: protocol, data set, cases and selector, to check everything.

    Raises:
        RunError: the folder holds no run at all.
        SelectorError: the selector fails.
    """
    if not (folder / ROWS_FILE).is_file():
        raise RunError(f"{folder / ROWS_FILE}: not there; name the folder of a published run")
    protocol = inputs.protocol if inputs else protocol
    findings = Findings()
    files = read_files(folder, findings)
    check_hashes(files, findings)
    rows, answers = _verify_numbers(files, protocol, findings)
    check_policy_run(files, rows, inputs, findings)
    own_selector = False
    if files.identity is None or rows is None:
        findings.skipped("protocol and data set", "the run's own files do not hold together")
    elif protocol is None:
        findings.skipped("protocol", "none was given")
    else:
        check_protocol(files.identity, rows, protocol, findings)
        if inputs is not None:
            own_selector = check_inputs(files.identity, rows, inputs, findings)
    if inputs is None:
        names = "selection, kept facts, fingerprints, grades, data set text"
        findings.skipped(names, "the data set was not given")
    else:
        _search_text(files, answers, inputs, findings)
    return Verification(
        checks=tuple(findings.checks),
        discrepancies=tuple(findings.discrepancies),
        certifies=() if findings.discrepancies else _certified(protocol, inputs, own_selector),
        unchecked_files=_unchecked(files),
    )


def _verify_numbers(
    files: RunFiles, protocol: Protocol | None, findings: Findings
) -> tuple[tuple[GradedRow, ...] | None, dict[str, AnswerRow] | None]:
    settings = _settings(files, protocol)
    if settings is None:
        findings.wrong(RUN_FILE, "the files do not say what the numbers were computed with")
        return None, None
    rows = check_rows(files, settings.policies, findings)
    if rows is None:
        findings.skipped("numbers", "the rows are not one for each case and policy")
        return None, None
    answers = read_answers(files.folder, rows, findings)
    check_documents(files, rows, settings, answers, findings)
    return rows, answers


def _settings(files: RunFiles, protocol: Protocol | None) -> QASettings | None:
    """What the numbers were computed with: as the run says, or in schema 2 its statistics."""
    identity = files.identity
    if identity is None:
        return None
    if identity.policies is not None:
        policies, stated = identity.policies, identity.at("statistics")
        alpha, seed = stated["alpha"], stated["bootstrap_seed"]
        iterations = stated["bootstrap_iterations"]
    elif protocol is not None:
        return qa_settings(protocol)
    else:
        try:
            stats = files.documents[STATS_FILE]
            policies = tuple(map(str, stats["policies"]))
            stated = stats["suites"]["overall"]["bootstrap"]
            alpha, seed = float(stated["alpha"]), int(stated["seed"])
            iterations = int(stated["iterations"])
        except (KeyError, TypeError, ValueError):
            return None
    if not 0 < alpha < 1 or iterations < 1:
        return None
    return QASettings(
        protocol_id=identity.protocol_id,
        grader_version=identity.at("qa.grader_version"),
        qa_capacity=identity.at("qa.capacity"),
        policies=policies,
        alpha=alpha,
        seed=seed,
        iterations=iterations,
    )


def _search_text(
    files: RunFiles, answers: dict[str, AnswerRow] | None, inputs: RunInputs, findings: Findings
) -> None:
    index = TextIndex(dataset_texts(inputs.dataset.path, inputs.protocol))
    known = artifact_words() | _own_words(inputs)
    places: list[tuple[str, str | None, Any]] = [
        (name, None, document) for name, document in files.documents.items()
    ]
    places += [
        (file, row_name(row, number), row)
        for file, rows in ((ROWS_FILE, files.rows), (RAW_FILE, files.decisions))
        for number, row in enumerate(rows, start=1)
    ]
    places += [
        (f"{RESPONSES}/{row_id}.json", row_id, row.to_document())
        for row_id, row in (answers or {}).items()
    ]
    verdicts: dict[str, bool] = dict.fromkeys(known, False)
    for file, row_id, document in places:
        for key, string in strings_of(document, but="prediction"):
            if string not in verdicts:
                verdicts[string] = index.holds(string)
            if verdicts[string]:
                findings.wrong(file, "holds text of the data set", row=row_id, key=key)
    findings.did("data set text", f"{len(verdicts)} strings against {len(index)} texts")


def _own_words(inputs: RunInputs) -> set[str]:
    """What legitimately stands in artifacts: ids and names of the protocol and its cases."""
    words = {GRADER_VERSION}
    stated = protocol_part(inputs.protocol)
    words |= {string for _, string in strings_of(stated)}
    for case in inputs.cases:
        words |= {case.case_id, case.scenario, case.question_type, case.source}
        words |= {fact[key] for fact in case.facts for key in ("id", "category")}
        words |= {row_id_of(case.case_id, policy) for policy in stated["policies"]}
    return words


def _unchecked(files: RunFiles) -> tuple[str, ...]:
    return tuple(
        sorted(
            path.name
            for path in files.folder.iterdir()
            if path.name not in {*files.data, RESPONSES} and not path.name.startswith(".")
        )
    )


def _certified(
    protocol: Protocol | None, inputs: RunInputs | None, own_selector: bool
) -> tuple[str, ...]:
    certified = ["its numbers follow from its rows"]
    if inputs is not None:
        selector = "selector" if own_selector else f"what the {inputs.selector.name} selector keeps"
        certified.append(
            f"its rows belong to this protocol, data set, prompt and {selector}; its grades are "
            f"those of {GRADER_VERSION}"
        )
    elif protocol is not None:
        certified.append("its rows are those of this protocol's cases and policies")
    return tuple(certified)
