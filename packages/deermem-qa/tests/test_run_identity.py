"""A run's identity: what it holds, what it refuses, and the names of what has changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from attrs import evolve

from deermem_data import Dataset, Protocol, load_dataset, load_protocol, load_schema
from deermem_qa import (
    RunError,
    RunIdentity,
    provider_identity,
    read_identity,
    require_belonging,
    require_unchanged,
    run_identity,
)
from deermem_select import Selector, bind_selector

HASH = "0" * 64
OTHER = "1" * 64


@pytest.fixture(scope="module")
def protocol() -> Protocol:
    return load_protocol("mini-v1")


@pytest.fixture(scope="module")
def dataset(protocol: Protocol) -> Dataset:
    assert protocol.embedded_dataset is not None
    return load_dataset(protocol.embedded_dataset, protocol)


@pytest.fixture(scope="module")
def selector(protocol: Protocol) -> Selector:
    return bind_selector("reference", protocol=protocol)


@pytest.fixture(scope="module")
def identity(protocol: Protocol, dataset: Dataset, selector: Selector) -> RunIdentity:
    return run_identity(
        protocol,
        dataset,
        selector,
        provider_identity("openai-compatible", endpoint="https://x/v1", endpoint_sha256=HASH),
        created_at="2026-08-13T00:00:00Z",
        packages={"deermem-qa": "0.1.0"},
        git={"head": "abc", "dirty": False},
    )


@pytest.fixture
def published(identity: RunIdentity) -> dict[str, Any]:
    """A document of schema 2: the published keys and no other."""
    document = copy.deepcopy(identity.document)
    for key in ("selector", "provider", "policies", "statistics", "packages"):
        del document[key]
    return document | {"schema_version": 2}


@pytest.fixture
def changed(identity: RunIdentity) -> Callable[[str, Any], RunIdentity]:
    """The identity with the value at one key path changed."""

    def change(key: str, value: Any) -> RunIdentity:
        document = copy.deepcopy(identity.document)
        *path, last = key.split(".")
        place = document
        for name in path:
            place = place[name]
        assert last in place
        assert place[last] != value
        place[last] = value
        return RunIdentity.of_document(document)

    return change


def test_written_and_read(identity: RunIdentity, tmp_path: Path) -> None:
    """What is written is read again, and fits its schema."""
    (tmp_path / "qa_run.json").write_bytes(identity.to_bytes())
    assert identity == read_identity(tmp_path)
    jsonschema.validate(json.loads(identity.to_bytes()), load_schema("qa_run"))


def test_hashes(identity: RunIdentity, protocol: Protocol, dataset: Dataset) -> None:
    """It binds the hashes of every part, the data set and the selector's source."""
    assert {
        "config_sha256": protocol.hashes.config_sha256,
        "official_manifest_sha256": protocol.hashes.official_manifest_sha256,
        "synthetic_manifest_sha256": protocol.hashes.synthetic_manifest_sha256,
        "answer_prompt_sha256": protocol.hashes.answer_prompt_sha256,
        "dataset_sha256": dataset.sha256,
    } == identity.document["artifacts"]
    assert identity.policies == ("confidence", "hybrid-v1")
    assert len(identity.at("selector.sha256")) == 64


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("artifacts.config_sha256", OTHER, "config"),
        ("artifacts.official_manifest_sha256", OTHER, "official manifest"),
        ("artifacts.synthetic_manifest_sha256", OTHER, "synthetic manifest"),
        ("artifacts.answer_prompt_sha256", OTHER, "answer prompt"),
        ("artifacts.dataset_sha256", OTHER, "data set"),
        ("selector.sha256", OTHER, "selector source"),
        ("selector.name", "production", "selector"),
        ("provider.name", "lexical-reader-v1", "provider"),
        ("provider.endpoint_sha256", OTHER, "endpoint"),
        ("provider.replay_sha256", OTHER, "replayed rows"),
        ("qa.model", "another-model", "model"),
        ("qa.temperature", 0.7, "temperature"),
        ("qa.max_tokens", 16, "max_tokens"),
        ("qa.capacity", 5, "capacity"),
        ("policies", ["confidence"], "policies"),
        ("statistics.alpha", 0.1, "alpha"),
        ("protocol_id", "another", "protocol"),
    ],
)
def test_change_is_refused_by_name(
    identity: RunIdentity,
    changed: Callable[[str, Any], RunIdentity],
    key: str,
    value: Any,
    named: str,
) -> None:
    """A resume names what has changed, what it was and what it is."""
    now = changed(key, value)
    assert [(key, named)] == [(change.key, change.name) for change in identity.changes(now)]
    with pytest.raises(RunError) as caught:
        require_unchanged(Path("run"), identity, now)
    before = json.dumps(identity.at(key))
    assert f"another {named} ({key}: was {before}, is {json.dumps(value)})" in str(caught.value)


def test_every_change_is_named(
    identity: RunIdentity, changed: Callable[[str, Any], RunIdentity]
) -> None:
    """Several changes are named together."""
    now = evolve(changed("qa.model", "m"), document=changed("qa.model", "m").document)
    now.document["qa"]["max_tokens"] = 1
    with pytest.raises(RunError, match=r"another model .*, another max_tokens "):
        require_unchanged(Path("run"), identity, now)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("created_at", "2030-01-01T00:00:00Z"),
        ("git", None),
        ("packages", {}),
        ("selector.commit", "def"),
        ("provider.endpoint", "https://x/v1/"),
    ],
)
def test_what_is_recorded_only(
    identity: RunIdentity, changed: Callable[[str, Any], RunIdentity], key: str, value: Any
) -> None:
    """Time, git state and versions do not bind a run."""
    require_unchanged(Path("run"), identity, changed(key, value))


def test_grading_accepts_any_provider(
    changed: Callable[[str, Any], RunIdentity],
    protocol: Protocol,
    dataset: Dataset,
    selector: Selector,
) -> None:
    """A run belongs to its inputs whatever answered it; with another data set it does not."""
    stored = changed("provider.name", "replay")
    require_belonging(Path("run"), stored, protocol, dataset, selector)
    with pytest.raises(RunError, match="another data set"):
        require_belonging(Path("run"), stored, protocol, evolve(dataset, sha256=OTHER), selector)


def test_schema_2_is_read_but_not_resumed(published: dict[str, Any], identity: RunIdentity) -> None:
    """The published schema is read; it states neither selector nor endpoint, so no resume."""
    stored = RunIdentity.of_document(published)
    assert (stored.schema_version, stored.policies) == (2, None)
    assert stored.at("selector.sha256") is None
    assert list(stored.changes(identity)) == []
    with pytest.raises(RunError, match="schema_version 2 does not say which selector"):
        require_unchanged(Path("run"), stored, identity)
    jsonschema.validate(published, load_schema("qa_run"))


def test_published_file_is_read(upstream_path: Path) -> None:
    """The identity of the published run."""
    folder = upstream_path / "results" / "pr4789-reproduction-v1"
    identity = read_identity(folder)
    assert identity.schema_version == 2
    assert identity.protocol_id == "deermem-hybrid-v1-pr4789-reproduction-v1"
    jsonschema.validate(identity.document, load_schema("qa_run"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("provider"), "provider: the key is missing"),
        (lambda d: d.update(extra=1), "'extra': unknown key"),
        (lambda d: d["qa"].update(extra=1), r"qa\.'extra': unknown key"),
        (lambda d: d["qa"].update(temperature=0), r"qa\.temperature: expected a number, found 0"),
        (lambda d: d["qa"].update(stream=True), r"qa\.stream: expected False"),
        (lambda d: d["artifacts"].update(config_sha256="x"), r"artifacts\.config_sha256: expected"),
        (lambda d: d.update(schema_version=4), "schema_version: expected 3, found 4"),
        (lambda d: d.update(schema_version=True), "schema_version: expected 3, found True"),
        (lambda d: d.update(git=[]), "git: expected an object or null"),
        (lambda d: d.update(policies="confidence"), "policies: expected a list"),
    ],
)
def test_a_spoilt_document_is_refused(
    identity: RunIdentity, tmp_path: Path, spoil: Callable[[dict[str, Any]], object], message: str
) -> None:
    """No key missing, none too many, each of its type; the schema agrees."""
    document = copy.deepcopy(identity.document)
    spoil(document)
    (tmp_path / "qa_run.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RunError, match=message):
        read_identity(tmp_path)
    if document["qa"].get("temperature") != 0 or len(document["qa"]) > 11:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, load_schema("qa_run"))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_no_document_at_all(tmp_path: Path, data: bytes) -> None:
    """A file that is no JSON object is named."""
    (tmp_path / "qa_run.json").write_bytes(data)
    with pytest.raises(RunError, match=r"qa_run\.json: "):
        read_identity(tmp_path)


def test_no_file(tmp_path: Path) -> None:
    """A folder without a run is named."""
    with pytest.raises(RunError, match=r"qa_run\.json: cannot be read"):
        read_identity(tmp_path)
