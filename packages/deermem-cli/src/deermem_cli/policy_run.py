"""The offline retention run: decisions, their summary, and the three files that record them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from deermem_data import (
    Case,
    Dataset,
    Protocol,
    iso_z,
    json_bytes,
    jsonl_bytes,
    publish_new,
)
from deermem_select import RetentionGroup, Selector, decisions, summarise

from .provenance import created_at, git_document, package_versions

RUN_FILE = "run.json"
RAW_FILE = "policy.raw.jsonl"
SUMMARY_FILE = "summary.json"

# What marks a folder as holding a policy run comes last.
FILES = (RAW_FILE, SUMMARY_FILE, RUN_FILE)


@frozen
class PolicyRun:
    """What a policy run found: the groups of its summary, and its files by name."""

    groups: tuple[RetentionGroup, ...]
    files: dict[str, bytes]

    def publish(self, folder: Path) -> None:
        """Write the files into `folder`, all or none.

        Raises:
            ArtifactError: the folder holds a run already, or cannot be written.
        """
        publish_new(folder, self.files)


def run_policies(
    protocol: Protocol, dataset: Dataset, cases: tuple[Case, ...], selector: Selector
) -> PolicyRun:
    """Decide every case at every capacity under every policy.

    Raises:
        SelectorError: the selector fails, or returns what cannot be right.
    """
    made = tuple(decisions(protocol, cases, selector))
    groups = tuple(summarise(made))
    summary = {
        "schema_version": 1,
        "protocol_id": protocol.protocol_id,
        "groups": [group.to_row() for group in groups],
    }
    files = {
        RAW_FILE: jsonl_bytes(decision.to_row() for decision in made),
        SUMMARY_FILE: json_bytes(summary),
        RUN_FILE: json_bytes(run_record(protocol, dataset, selector)),
    }
    return PolicyRun(groups, files)


def run_record(protocol: Protocol, dataset: Dataset, selector: Selector) -> dict[str, Any]:
    """Return `run.json`: what the run was made from, and when (design: artifacts)."""
    return {
        "schema_version": 1,
        "protocol_id": protocol.protocol_id,
        "standing": protocol.standing,
        "created_at": created_at(),
        "git": git_document(),
        "dataset": asdict(protocol.config.dataset),
        "artifacts": {**asdict(protocol.hashes), "dataset_sha256": dataset.sha256},
        "selector": selector.provenance.to_row(),
        "packages": package_versions("deermem-cli", "deermem-data", "deermem-select"),
        "evaluation_time": iso_z(protocol.config.evaluation_time),
        "policies": [spec.policy for spec in protocol.config.policies.values()],
        "capacities": list(protocol.config.pool.capacities),
    }
