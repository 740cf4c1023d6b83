"""What differs between runs in what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from .runs import Run

# In the order of what a reader asks first; keys without an entry follow, by name.
_NAMES = {
    "qa.model": "model",
    "rows.response_model": "models that answered",
    "provider.name": "provider",
    "provider.endpoint": "endpoint",
    "provider.endpoint_sha256": "endpoint, SHA-256",
    "provider.replay_sha256": "replayed rows, SHA-256",
    "artifacts.answer_prompt_sha256": "prompt, SHA-256",
    "artifacts.config_sha256": "config, SHA-256",
    "qa.temperature": "temperature",
    "qa.max_tokens": "token limit",
    "selector.name": "selector",
    "selector.kind": "selector's kind",
    "selector.known": "selector known to the protocol",
    "selector.sha256": "selector, SHA-256",
    "selector.path": "selector's file",
    "selector.commit": "selector's commit",
    "selector.dirty": "selector's checkout changed",
    "policies": "policies",
}
# Recorded of a run's circumstances; a run is not bound to them (design: the runner).
_CIRCUMSTANCES = ("created_at", "git", "packages", "schema_version")


@frozen
class IdentityDifference:
    """Something that runs record and that is not the same in all of them.

    Attributes:
        key: its path in `qa_run.json` or `run.json`, such as `qa.model`; `rows.response_model` is
            read from the rows.
        name: what it is called.
        binding: whether a run is bound to it; else it was only recorded.
        values: by the run's label.
    """

    key: str
    name: str
    binding: bool
    values: dict[str, Any]


def identity_differences(
    runs: Sequence[Run],
) -> tuple[tuple[IdentityDifference, ...], dict[str, tuple[str, ...]]]:
    """Compare the records that all runs have.

    Returns:
        The differences between what all of them state, what a run is bound to first; and by the
        label of a run what it does not record, though another one does.
    """
    recorded = {run.label: _recorded(run, runs) for run in runs}
    keys = {key: None for values in recorded.values() for key in values}
    shared = [key for key in keys if all(key in values for values in recorded.values())]
    differences = [
        IdentityDifference(
            key,
            _name(key),
            _part(key) not in _CIRCUMSTANCES,
            {label: values[key] for label, values in recorded.items()},
        )
        for key in sorted(shared, key=_rank)
        if any(values[key] != recorded[runs[0].label][key] for values in recorded.values())
    ]
    unrecorded = {
        label: tuple(sorted({_part(key) for key in keys if key not in values}))
        for label, values in recorded.items()
    }
    return tuple(differences), {label: parts for label, parts in unrecorded.items() if parts}


def _recorded(run: Run, runs: Sequence[Run]) -> dict[str, Any]:
    """Key path to value; of both records the QA run's value stands."""
    values: dict[str, Any] = {}
    if all(other.files.policy is not None for other in runs):
        assert run.files.policy is not None
        values |= _flat(run.files.policy.run.value)
    if all(other.files.qa is not None for other in runs):
        assert run.files.qa is not None
        values |= _flat(run.files.qa.identity.document)
        models = {row.response_model for row in run.files.qa.rows}
        values["rows.response_model"] = sorted(models, key=lambda name: name or "")
    return values


def _flat(document: dict[str, Any]) -> dict[str, Any]:
    # Outside a git checkout null stands in the place of its parts.
    git = document.get("git") or {"head": None, "dirty": None}
    return dict(_entries("", {**document, "git": git}))


def _entries(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _entries(f"{prefix}.{key}" if prefix else str(key), item)
    else:
        yield prefix, value


def _part(key: str) -> str:
    return key.partition(".")[0]


def _rank(key: str) -> tuple[bool, int, str]:
    known = list(_NAMES)
    place = known.index(key) if key in known else len(known)
    return _part(key) in _CIRCUMSTANCES, place, key


def _name(key: str) -> str:
    return _NAMES.get(key) or key.replace("_", " ")
