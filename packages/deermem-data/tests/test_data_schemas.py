"""The JSON Schemas: what is shipped validates, and nothing with a key too many does."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator, ValidationError

from deermem_data import load_schema, specs_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROTOCOL_SCHEMAS = ("config", "official_manifest", "synthetic_manifest")
ARTIFACT_SCHEMAS = ("run", "policy.raw", "summary")
SHA = "0" * 64

RUN = {
    "schema_version": 1,
    "protocol_id": "p-v1",
    "created_at": "2026-11-30T18:00:00.123456Z",
    "standing": "shipped",
    "git": {"head": "a" * 40, "dirty": False},
    "dataset": {"repository": "a/b", "revision": "r", "filename": "d.json", "sha256": SHA},
    "artifacts": {
        "config_sha256": SHA,
        "official_manifest_sha256": SHA,
        "synthetic_manifest_sha256": SHA,
        "answer_prompt_sha256": SHA,
        "dataset_sha256": SHA,
    },
    "selector": {
        "kind": "production",
        "name": "production",
        "path": "backend/eviction.py",
        "sha256": SHA,
        "commit": "b" * 40,
        "dirty": True,
        "known": True,
    },
    "packages": {"deermem-data": "0.1.0"},
    "evaluation_time": "2026-08-13T00:00:00Z",
    "policies": ["confidence", "hybrid-v1"],
    "capacities": [5, 7, 9],
}
COMPONENTS = {"confidence": 0.7}
RAW = {
    "schema_version": 1,
    "case_id": "c1",
    "source": "synthetic",
    "scenario": "correction_reserve",
    "question_type": "synthetic-correction",
    "policy": "confidence",
    "capacity": 5,
    "support_fact_ids": ["gold_c1"],
    "kept_fact_ids": ["gold_c1"],
    "evicted": [
        {"fact_id": "d_c1_0_x", "category": "context", "score": 0.5, "components": COMPONENTS}
    ],
    "scores": {"gold_c1": {"value": 0.7, "components": COMPONENTS}},
    "support_all_retained": True,
    "support_recall": 1.0,
    "reserved_correction_slots": 0,
}
SUMMARY = {
    "schema_version": 1,
    "protocol_id": "p-v1",
    "groups": [
        {
            "source": "longmemeval",
            "scenario": "access_help",
            "capacity": 5,
            "policy": "confidence",
            "cases": 10,
            "support_all_retained": 3,
            "support_all_retained_rate": 0.3,
            "mean_support_recall": 0.3,
        }
    ],
}


def shipped(name: str, protocol: str) -> Any:
    """A shipped protocol file's content."""
    folder = specs_folder() / "protocols" / protocol
    if name == "config":
        (path,) = (folder / "configs").iterdir()
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    kind = name.removesuffix("_manifest")
    return json.loads((folder / f"manifests/{kind}.json").read_text(encoding="utf-8"))


EXAMPLES = {
    **{name: shipped(name, "mini-v1") for name in PROTOCOL_SCHEMAS},
    "run": RUN,
    "policy.raw": RAW,
    "summary": SUMMARY,
}


def check(name: str, document: object) -> None:
    """Validate; raises what does not fit."""
    Draft202012Validator(load_schema(name)).validate(document)


def objects(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all objects with keys of their own in a document."""
    if isinstance(document, dict):
        yield path
        for key, value in document.items():
            yield from objects(value, (*path, key))
    elif isinstance(document, list) and document:
        yield from objects(document[0], (*path, 0))


# Their keys are names of the user's, not of the format.
FREE = {
    ("config", ("policies",)),
    ("run", ("packages",)),
    ("policy.raw", ("scores",)),
    ("policy.raw", ("evicted", 0, "components")),
    ("policy.raw", ("scores", "gold_c1", "components")),
}
CLOSED = [
    (name, path)
    for name, document in EXAMPLES.items()
    for path in objects(document)
    if (name, path) not in FREE
]


def test_names() -> None:
    """There is a schema for each kind of file, and a name without one is a KeyError."""
    folder: Path = specs_folder() / "schemas"
    names = {path.name.removesuffix(".schema.json") for path in folder.iterdir()}
    assert {*PROTOCOL_SCHEMAS, *ARTIFACT_SCHEMAS} <= names
    with pytest.raises(KeyError):
        load_schema("none")


@pytest.mark.parametrize("name", EXAMPLES)
def test_schema_is_valid(name: str) -> None:
    """Each is a schema of the draft it states."""
    schema = load_schema(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("protocol", ["capacity-eviction-v1", "mini-v1"])
@pytest.mark.parametrize("name", PROTOCOL_SCHEMAS)
def test_shipped_protocol_files(name: str, protocol: str) -> None:
    """What is shipped fits."""
    check(name, shipped(name, protocol))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("config", "configs/pr4789-reproduction-v1.yaml"),
        ("official_manifest", "manifests/longmemeval-pr4789-v1.json"),
        ("synthetic_manifest", "manifests/synthetic-corrections-pr4789-v1.json"),
    ],
)
def test_historical_protocol_files(upstream_path: Path, name: str, part: str) -> None:
    """And the historical files too."""
    check(name, yaml.safe_load((upstream_path / part).read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ARTIFACT_SCHEMAS)
def test_examples(name: str) -> None:
    """The artifacts' examples fit."""
    check(name, EXAMPLES[name])


def test_run_without_git() -> None:
    """Outside git there is no git state, and the selector may have no commit."""
    selector = {**RUN["selector"], "commit": None, "dirty": None}  # type: ignore[dict-item]
    check("run", {**RUN, "git": None, "selector": selector})


def test_policy_without_components() -> None:
    """A policy of one's own need not say what its scores are made of."""
    check("policy.raw", changed("policy.raw", ("evicted", 0), "components", {}))
    check("policy.raw", changed("policy.raw", ("scores", "gold_c1"), "components", {}))


def changed(name: str, path: tuple[Any, ...], key: str, value: object) -> Any:
    """An example with one key changed; the ellipsis removes it."""
    document = copy.deepcopy(EXAMPLES[name])
    target = document
    for step in path:
        target = target[step]
    if value is ...:
        del target[key]
    else:
        target[key] = value
    return document


@pytest.mark.parametrize(("name", "path"), CLOSED)
def test_extra_key(name: str, path: tuple[Any, ...]) -> None:
    """No object of the format takes a key that it does not name."""
    with pytest.raises(ValidationError):
        check(name, changed(name, path, "extra", 1))


OPTIONAL = {
    "known_selectors",
    "weights",
    "confirmation_half_life_days",
    "access_half_life_days",
    "correction_reserved_fraction",
    "correction_reserved_max",
}


@pytest.mark.parametrize(("name", "path"), CLOSED)
def test_missing_key(name: str, path: tuple[Any, ...]) -> None:
    """Every key but the named few is required."""
    target = EXAMPLES[name]
    for step in path:
        target = target[step]
    for key in target:
        if path == ("scenarios",) or key in OPTIONAL:
            check(name, changed(name, path, key, ...))
            continue
        with pytest.raises(ValidationError):
            check(name, changed(name, path, key, ...))


@pytest.mark.parametrize(
    ("name", "path", "key", "value"),
    [
        ("config", (), "schema_version", 2),
        ("config", (), "protocol_id", "a/b"),
        ("config", (), "protocol_id", ".."),
        ("config", (), "evaluation_time", "2026-08-13"),
        ("config", ("dataset",), "sha256", "x"),
        ("config", ("dataset",), "filename", "../x"),
        ("config", ("pool",), "size", "10"),
        ("config", ("pool",), "capacities", []),
        ("config", ("pool",), "fact_order", "score"),
        ("config", ("policies", "hybrid_v1", "weights"), "access", 1.5),
        ("config", ("policies", "hybrid_v1"), "access_half_life_days", 0),
        ("config", ("qa",), "stream", True),
        ("config", ("qa",), "workers", 1001),
        ("config", ("qa",), "timeout_seconds", 86401),
        ("config", ("qa",), "max_tokens", 2**53),
        ("config", ("statistics",), "alpha", 1),
        ("official_manifest", (), "scenario_order", ["nope"]),
        ("official_manifest", ("selection",), "answer_max_chars", -1),
        ("synthetic_manifest", (), "scenario", "nope"),
        ("synthetic_manifest", ("cases", 0), "loss_rank", 0),
        ("run", (), "standing", "pinned"),
        ("run", (), "git", {"head": None, "dirty": None}),
        ("run", (), "created_at", "yesterday"),
        ("run", (), "evaluation_time", "2026-08-13T00:00:00"),
        ("run", ("selector",), "kind", "other"),
        ("run", ("selector",), "known", None),
        ("run", ("packages",), "deermem-data", 1),
        ("run", (), "policies", []),
        ("policy.raw", (), "source", "other"),
        ("policy.raw", (), "support_recall", 1.5),
        ("policy.raw", (), "support_all_retained", 1),
        ("policy.raw", (), "kept_fact_ids", ["a", "a"]),
        ("policy.raw", ("evicted", 0), "components", {"a sentence": 1}),
        ("policy.raw", ("evicted", 0), "category", "a sentence"),
        ("policy.raw", ("evicted", 0), "category", ""),
        ("policy.raw", ("evicted", 0), "components", {"confidence": "0.7"}),
        ("policy.raw", ("scores",), "gold_c1", 0.7),
        ("summary", ("groups", 0), "cases", 0),
        ("summary", ("groups", 0), "support_all_retained_rate", 2),
    ],
)
def test_wrong_value(name: str, path: tuple[Any, ...], key: str, value: object) -> None:
    """A value of the wrong kind does not fit."""
    with pytest.raises(ValidationError):
        check(name, changed(name, path, key, value))
