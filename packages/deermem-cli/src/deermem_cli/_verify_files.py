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

from .grading import MANIFEST_FILE
from .qa_documents import ANALYSIS_FILE, STATS_FILE, SUMMARY_FILE
from .verification_report import Findings

_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64}) [ *](?P<name>[^/\\\n]+)")
_SCHEMAS = {
    RUN_FILE: "qa_run",
    SUMMARY_FILE: "qa.summary",
    STATS_FILE: "qa.stats",
    ANALYSIS_FILE: "qa.analysis",
}


@define
class RunFiles:
    """A published folder as it was read.

    Attributes:
        data: file name -> bytes, of every artifact that is there.
        documents: file name -> parsed JSON, of each that is JSON.
        rows: the parsed lines of `qa.rows.jsonl`; `None` for one that is not JSON.
        identity: `None` where `qa_run.json` is none.
    """

    folder: Path
    data: dict[str, bytes] = field(factory=dict)
    documents: dict[str, Any] = field(factory=dict)
    rows: list[Any] = field(factory=list)
    identity: RunIdentity | None = None


def read_files(folder: Path, findings: Findings) -> RunFiles:
    """Read the artifacts and check each by itself: JSON, canonical bytes, schema."""
    files = RunFiles(folder)
    for name in (*_SCHEMAS, ROWS_FILE, MANIFEST_FILE):
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
    _read_rows(files, findings)
    _require_files(files, findings)
    findings.did("schemas", f"{len(files.documents)} documents and {len(files.rows)} rows")
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


def _read_rows(files: RunFiles, findings: Findings) -> None:
    data = files.data.get(ROWS_FILE, b"")
    validator = _validator("qa.rows")
    if data and not data.endswith(b"\n"):
        findings.wrong(ROWS_FILE, "cut off: the last line does not end")
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        row = _parse(ROWS_FILE, f"line {number}", line + b"\n", jsonl_line, findings)
        files.rows.append(row)
        if row is not None:
            _check_schema(ROWS_FILE, row_name(row, number), row, validator, findings)


def row_name(row: Any, number: int) -> str:
    """How a message names a row: by its id, or by its line where it has none."""
    row_id = row.get("row_id") if isinstance(row, dict) else None
    return row_id if isinstance(row_id, str) else f"line {number}"


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
