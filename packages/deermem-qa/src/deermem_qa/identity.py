"""A run's identity: what `qa_run.json` binds its folder to, and what has changed since.

Schema 3 adds to the published schema 2 what a run also depends on: selector, provider, policies
and the settings of the statistics. Schema 2 is read, so that a published run can be verified; it
cannot be resumed, because it does not say which selector and endpoint it was begun with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from deermem_data import Dataset, Protocol, json_bytes, read_bytes
from deermem_select import Selector

from ._checks import (
    BOOLEAN,
    COUNT,
    FRACTION,
    ID,
    NUMBER,
    SHA256,
    TEXT,
    TEXTS,
    UTC_TIME,
    WHOLE,
    Rule,
    check_object,
    exactly,
    optional,
)
from .errors import RunError

RUN_FILE = "qa_run.json"
SCHEMA_VERSION = 3
PUBLISHED_SCHEMA_VERSION = 2

_OBJECT = Rule(lambda value: type(value) is dict, "an object")
_ENTRY = Rule(lambda value: value is None or type(value) is dict, "an object or null")

_PARTS: dict[str, Mapping[str, Rule]] = {
    "artifacts": dict.fromkeys(
        (
            "answer_prompt_sha256",
            "config_sha256",
            "dataset_sha256",
            "official_manifest_sha256",
            "synthetic_manifest_sha256",
        ),
        SHA256,
    ),
    "dataset": {"filename": TEXT, "repository": TEXT, "revision": TEXT, "sha256": SHA256},
    "git": {"dirty": BOOLEAN, "head": TEXT},
    "qa": {
        "api_key_env": TEXT,
        "base_url_env": TEXT,
        "capacity": COUNT,
        "grader_version": TEXT,
        "max_attempts": COUNT,
        "max_tokens": COUNT,
        "model": TEXT,
        "stream": exactly(False),
        "temperature": NUMBER,
        "timeout_seconds": COUNT,
        "workers": COUNT,
    },
    "selector": {
        "kind": TEXT,
        "name": TEXT,
        "path": TEXT,
        "sha256": SHA256,
        "commit": optional(TEXT),
        "dirty": optional(BOOLEAN),
        "known": BOOLEAN,
    },
    "provider": {
        "name": TEXT,
        "endpoint": optional(TEXT),
        "endpoint_sha256": optional(SHA256),
        "replay_sha256": optional(SHA256),
    },
    "statistics": {"alpha": FRACTION, "bootstrap_iterations": COUNT, "bootstrap_seed": WHOLE},
}
_PUBLISHED: dict[str, Rule] = {
    "schema_version": exactly(PUBLISHED_SCHEMA_VERSION),
    "protocol_id": ID,
    "created_at": UTC_TIME,
    "artifacts": _OBJECT,
    "dataset": _OBJECT,
    "git": _ENTRY,
    "qa": _OBJECT,
}
_CURRENT: dict[str, Rule] = {
    **_PUBLISHED,
    "schema_version": exactly(SCHEMA_VERSION),
    "selector": _OBJECT,
    "provider": _OBJECT,
    "policies": TEXTS,
    "statistics": _OBJECT,
    "packages": Rule(
        lambda value: type(value) is dict and all(map(TEXT.holds, value.values())),
        "an object of package names and versions",
    ),
}

# What a resume must find unchanged, with the word a message uses for it (design: the runner).
# Recorded but not compared: git, packages, created_at, and where a selector of one hash lies.
_BOUND = {
    "protocol_id": "protocol",
    "artifacts.config_sha256": "config",
    "artifacts.official_manifest_sha256": "official manifest",
    "artifacts.synthetic_manifest_sha256": "synthetic manifest",
    "artifacts.answer_prompt_sha256": "answer prompt",
    "artifacts.dataset_sha256": "data set",
    "selector.name": "selector",
    "selector.sha256": "selector source",
    "provider.name": "provider",
    "provider.endpoint_sha256": "endpoint",
    "provider.replay_sha256": "replayed rows",
    **{f"qa.{key}": key.replace("_", " ") for key in _PARTS["qa"] if key != "max_tokens"},
    "qa.max_tokens": "max_tokens",
    "policies": "policies",
    "statistics.alpha": "alpha",
    "statistics.bootstrap_iterations": "bootstrap iterations",
    "statistics.bootstrap_seed": "bootstrap seed",
}


@frozen
class Change:
    """One thing that a run was begun with and that is another now."""

    key: str
    name: str
    before: Any
    now: Any

    def __str__(self) -> str:
        before, now = (json.dumps(value, ensure_ascii=True) for value in (self.before, self.now))
        return f"{self.name} ({self.key}: was {before}, is {now})"


@frozen
class RunIdentity:
    """What `qa_run.json` says: a checked document of schema 3 or 2."""

    document: dict[str, Any]

    @classmethod
    def of_document(cls, document: object) -> RunIdentity:
        """Check a document strictly: no key missing, none too many, each of its type.

        Raises:
            ValueError: it is no run's identity; the message names the key.
        """
        version = document.get("schema_version") if isinstance(document, dict) else None
        rules = _PUBLISHED if version == PUBLISHED_SCHEMA_VERSION else _CURRENT
        checked = check_object(document, rules)
        for name in rules.keys() & _PARTS.keys():
            if checked[name] is None:
                continue
            try:
                check_object(checked[name], _PARTS[name])
            except ValueError as exc:
                raise ValueError(f"{name}.{exc}") from None
        return cls(checked)

    @property
    def schema_version(self) -> int:
        """3, or 2 of the published run."""
        return int(self.document["schema_version"])

    @property
    def protocol_id(self) -> str:
        """The id of the protocol the run follows."""
        return str(self.document["protocol_id"])

    @property
    def policies(self) -> tuple[str, ...] | None:
        """The policies in the protocol's order; `None` in schema 2, which does not say."""
        policies = self.document.get("policies")
        return None if policies is None else tuple(policies)

    def at(self, key: str) -> Any:
        """The value at a key path such as `qa.model`; `None` where schema 2 has no such key."""
        value: Any = self.document
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def to_bytes(self) -> bytes:
        """The identity as the bytes of `qa_run.json`."""
        return json_bytes(self.document)

    def changes(self, now: RunIdentity) -> Iterator[Change]:
        """What of this run's identity is another in `now`; only what both of them state."""
        for key, name in _BOUND.items():
            if PUBLISHED_SCHEMA_VERSION in {self.schema_version, now.schema_version} and (
                key.partition(".")[0] not in _PUBLISHED
            ):
                continue
            if self.at(key) != now.at(key):
                yield Change(key, name, self.at(key), now.at(key))


def run_identity(
    protocol: Protocol,
    dataset: Dataset,
    selector: Selector,
    provider: Mapping[str, Any],
    *,
    created_at: str,
    packages: Mapping[str, str],
    git: Mapping[str, Any] | None,
) -> RunIdentity:
    """Return the identity of a run begun now.

    Args:
        provider: `Provider.identity()`.
        created_at: now, UTC, ISO with `Z`.
        packages: distribution -> version.
        git: `head` and `dirty` of this project's checkout; `None` outside one.
    """
    part = protocol_part(protocol)
    return RunIdentity.of_document(
        {
            "schema_version": SCHEMA_VERSION,
            **part,
            "created_at": created_at,
            "artifacts": {**part["artifacts"], "dataset_sha256": dataset.sha256},
            "git": None if git is None else dict(git),
            "selector": selector.provenance.to_row(),
            "provider": dict(provider),
            "packages": dict(packages),
        }
    )


def protocol_part(protocol: Protocol) -> dict[str, Any]:
    """What of an identity follows from the protocol alone, in the keys of `qa_run.json`."""
    config, qa = protocol.config, protocol.config.qa
    return {
        "protocol_id": protocol.protocol_id,
        "artifacts": asdict(protocol.hashes),
        "dataset": asdict(config.dataset),
        "qa": {
            "api_key_env": qa.api_key_env,
            "base_url_env": qa.base_url_env,
            "capacity": config.pool.qa_capacity,
            "grader_version": qa.grader_version,
            "max_attempts": qa.max_attempts,
            "max_tokens": qa.max_tokens,
            "model": qa.model,
            "stream": qa.stream,
            "temperature": float(qa.temperature),
            "timeout_seconds": qa.timeout_seconds,
            "workers": qa.workers,
        },
        "policies": [spec.policy for spec in config.policies.values()],
        "statistics": asdict(config.statistics),
    }


def read_identity(folder: Path) -> RunIdentity:
    """Read a run's `qa_run.json`.

    Raises:
        RunError: it cannot be read, or is no run's identity.
    """
    path = folder / RUN_FILE
    try:
        return RunIdentity.of_document(json.loads(read_bytes(path, RunError)))
    except RunError:
        raise
    except RecursionError:
        raise RunError(f"{path}: nested too deep for a run's identity") from None
    except ValueError as exc:
        raise RunError(
            f"{path}: not a QA run's identity: {exc}; restore it, or name another folder"
        ) from exc


def require_unchanged(folder: Path, stored: RunIdentity, now: RunIdentity) -> None:
    """Check that a run may go on under the identity it has now.

    Raises:
        RunError: something it is bound to has changed, each named; or it is of schema 2.
    """
    _require_current(folder, stored)
    changes = [str(change) for change in stored.changes(now)]
    if changes:
        raise RunError(
            f"{folder / RUN_FILE}: the run was begun with another {', another '.join(changes)}; "
            "undo the change, or name another folder"
        )


def require_belonging(
    folder: Path, stored: RunIdentity, protocol: Protocol, dataset: Dataset, selector: Selector
) -> None:
    """Check that a run was begun with these inputs, whatever its provider.

    Raises:
        RunError: as `require_unchanged`.
    """
    _require_current(folder, stored)
    now = run_identity(
        protocol,
        dataset,
        selector,
        stored.document["provider"],
        created_at=stored.document["created_at"],
        packages=stored.document["packages"],
        git=stored.document["git"],
    )
    require_unchanged(folder, stored, now)


def _require_current(folder: Path, stored: RunIdentity) -> None:
    if stored.schema_version != SCHEMA_VERSION:
        raise RunError(
            f"{folder / RUN_FILE}: schema_version {stored.schema_version} does not say which "
            "selector and endpoint the run was begun with: it can be verified, but neither "
            "resumed nor graded; name another folder"
        )
