"""Verification of files as files: they are there, canonical, as their schemas and hashes say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
from attrs import define, field

from deermem_data import HISTORICAL_PROTOCOL, json_bytes, jsonl_line, load_schema, sha256_hex
from deermem_data.specs import specs_folder
from deermem_qa import ROWS_FILE, RUN_FILE, RunIdentity

from . import policy_run
from .grading import MANIFEST_FILE
from .qa_documents import ANALYSIS_FILE, STATS_FILE, SUMMARY_FILE
from .verification_report import Findings

_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64}) [ *](?P<name>[^/\\\n]+)")
_SCHEMAS = {
    RUN_FILE: "qa_run",
    SUMMARY_FILE: "qa.summary",
    STATS_FILE: "qa.stats",
    ANALYSIS_FILE: "qa.analysis",
    # Where a policy run lies in the same folder.
    policy_run.RUN_FILE: "run",
    policy_run.SUMMARY_FILE: "summary",
}
_ROW_SCHEMAS = {ROWS_FILE: "qa.rows", policy_run.RAW_FILE: "policy.raw"}


@define
class RunFiles:
    """A published folder as it was read.

    Attributes:
        data: file name -> bytes, of every artifact that is there.
        documents: file name -> parsed JSON, of each that is JSON.
        rows: the parsed lines of `qa.rows.jsonl`; `None` for one that is not JSON.
        decisions: likewise of `policy.raw.jsonl`, which need not be there.
        identity: `None` where `qa_run.json` is none.
        broken: names of files that are missing, not canonical or against their schema.
    """

    folder: Path
    data: dict[str, bytes] = field(factory=dict)
    documents: dict[str, Any] = field(factory=dict)
    rows: list[Any] = field(factory=list)
    decisions: list[Any] = field(factory=list)
    identity: RunIdentity | None = None
    broken: frozenset[str] = frozenset()


def read_files(folder: Path, findings: Findings) -> RunFiles:
    """Read the artifacts and check each by itself: JSON, canonical bytes, schema."""
    files = RunFiles(folder)
    for name in (*_SCHEMAS, *_ROW_SCHEMAS, MANIFEST_FILE):
        try:
            files.data[name] = (folder / name).read_bytes()
        except FileNotFoundError:
            continue
        except OSError as exc:
            findings.wrong(name, f"cannot be read: {exc.strerror or exc}")
    for name, schema in _SCHEMAS.items():
        if name in files.data:
            document = _parse(name, None, files.data[name], json_bytes, findings)
            if document is not None:
                files.documents[name] = document
                _check_schema(name, None, document, _validator(schema), findings)
    _read_identity(files, findings)
    files.rows = _read_rows(files, ROWS_FILE, findings)
    files.decisions = _read_rows(files, policy_run.RAW_FILE, findings)
    _require_files(files, findings)
    files.broken = frozenset(discrepancy.file for discrepancy in findings.discrepancies)
    rows = len(files.rows) + len(files.decisions)
    findings.did("schemas", f"{len(files.documents)} documents and {rows} rows")
    return files


def check_hashes(files: RunFiles, findings: Findings) -> None:
    """Check the manifest's hashes; for the published run of schema 2, the hashes shipped here."""
    if MANIFEST_FILE in files.data:
        _check_manifest(files, findings)
        return
    pins = _published_pins()
    found = {name: sha256_hex(data) for name, data in files.data.items()}
    if not any(found.get(name) == sha256 for name, sha256 in pins.items()):
        findings.skipped("hashes", f"the run has no {MANIFEST_FILE}")
        return
    # With one file of the published run the folder claims to be that run.
    for name, sha256 in pins.items():
        if name in found and found[name] != sha256:
            message = f"not the published file: expected SHA-256 {sha256}, found {found[name]}"
            findings.wrong(name, message)
    findings.did("hashes", f"{len(pins)} files against the hashes of the published run")


def _check_manifest(files: RunFiles, findings: Findings) -> None:
    text = files.data[MANIFEST_FILE].decode("utf-8", "replace")
    covered = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            findings.wrong(MANIFEST_FILE, "not a line of sha256sum", row=f"line {number}")
        else:
            covered[match["name"]] = match["sha256"]
    for name in sorted(files.data.keys() - covered.keys() - {MANIFEST_FILE}):
        findings.wrong(MANIFEST_FILE, f"does not cover {name}")
    for name, sha256 in covered.items():
        try:
            found = sha256_hex((files.folder / name).read_bytes())
        except OSError as exc:
            findings.wrong(name, f"{MANIFEST_FILE} covers it, but: {exc.strerror or exc}")
            continue
        if found != sha256:
            message = f"expected SHA-256 {sha256} of {MANIFEST_FILE}, found {found}"
            findings.wrong(name, message)
    findings.did("hashes", f"{len(covered)} files against {MANIFEST_FILE}")


def _published_pins() -> Mapping[str, str]:
    path = specs_folder() / "protocols" / HISTORICAL_PROTOCOL / "pins.json"
    pins: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return pins["published"]


def _read_identity(files: RunFiles, findings: Findings) -> None:
    if RUN_FILE not in files.documents:
        return
    try:
        files.identity = RunIdentity.of_document(files.documents[RUN_FILE])
    except ValueError as exc:
        findings.keyed(RUN_FILE, exc)


def _read_rows(files: RunFiles, file: str, findings: Findings) -> list[Any]:
    data = files.data.get(file, b"")
    validator = _validator(_ROW_SCHEMAS[file])
    if data and not data.endswith(b"\n"):
        findings.wrong(file, "cut off: the last line does not end")
    rows = []
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        row = _parse(file, f"line {number}", line + b"\n", jsonl_line, findings)
        rows.append(row)
        if row is not None:
            _check_schema(file, row_name(row, number), row, validator, findings)
    return rows


def row_name(row: Any, number: int) -> str:
    """How a message names a row: by its id or what it is about, else by its line."""
    if isinstance(row, dict):
        if isinstance(row.get("row_id"), str):
            return str(row["row_id"])
        if row.keys() >= {"case_id", "policy", "capacity"}:
            return f"{row['case_id']} {row['policy']} at {row['capacity']}"
    return f"line {number}"


def _require_files(files: RunFiles, findings: Findings) -> None:
    required = [RUN_FILE, ROWS_FILE, SUMMARY_FILE]
    identity = files.identity
    policies = identity.policies if identity else None
    if policies is None or len(policies) > 1:
        required.append(STATS_FILE)
    if policies is not None:  # schema 3
        required += [ANALYSIS_FILE, MANIFEST_FILE]
    for name in required:
        if name not in files.data:
            findings.wrong(name, "is not there; a published run has it")


def _parse(
    file: str,
    row: str | None,
    data: bytes,
    canonical: Callable[[object], bytes],
    findings: Findings,
) -> Any:
    try:
        document = json.loads(data.decode("utf-8"))
        again = canonical(document)
    except (RecursionError, ValueError) as exc:
        reason = "nested too deep" if isinstance(exc, RecursionError) else str(exc)
        findings.wrong(file, f"not JSON as artifacts are written: {reason}", row=row)
        return None
    if again != data:
        # A key that stands twice, for one, shows only here.
        findings.wrong(file, "its bytes are not those its content is written as", row=row)
    return document


def _validator(schema: str) -> jsonschema.Draft202012Validator:
    document = load_schema(schema)
    return jsonschema.Draft202012Validator(_inlined(document, document.get("$defs", {})))


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema with its definitions in place: following a reference costs more than checking."""
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    named = schema.get("$ref", "").removeprefix("#/$defs/")
    whole = {**definitions[named], **schema} if named else schema
    return {
        key: _inlined(value, definitions)
        for key, value in whole.items()
        if key not in {"$ref", "$defs"}
    }


def _check_schema(
    file: str,
    row: str | None,
    document: Any,
    validator: jsonschema.Draft202012Validator,
    findings: Findings,
) -> None:
    for error in validator.iter_errors(document):
        # Of several allowed forms, the one the document is nearest to.
        cause = jsonschema.exceptions.best_match(iter([error]))
        path = ".".join(map(str, cause.absolute_path))
        message = f"against its schema: {ascii(cause.message)[1:-1][:200]}"
        findings.wrong(file, message, row=row, key=path or None)
