"""Protocols, data set, evidence, selection and pools: from pinned files to cases."""

from __future__ import annotations

from .artifacts import (
    as_text,
    json_bytes,
    jsonl_bytes,
    jsonl_line,
    read_bytes,
    sha256_hex,
    write_file,
)
from .case import OFFICIAL_SOURCE, SYNTHETIC_SOURCE, Case, build_cases
from .config import (
    DatasetPin,
    PolicySpec,
    PolicyWeights,
    PoolSpec,
    ProtocolConfig,
    QASpec,
    StatisticsSpec,
)
from .dataset import Dataset, load_dataset
from .errors import ArtifactError, DatasetError, DeermemError, ProtocolError
from .evidence import render_evidence
from .manifest import CorrectionGuard, OfficialManifest, SelectionRule, SyntheticManifest
from .pool import build_pool, distractor_offset, draw_distractors, iso_z, support_fact_id
from .prompt import AnswerPrompt
from .protocol import (
    DEFAULT_PROTOCOL,
    HISTORICAL_PROTOCOL,
    Protocol,
    ProtocolFiles,
    ProtocolHashes,
    historical_pins,
    load_protocol,
    shipped_protocol_of,
)
from .publication import publish_new, recover_publication, require_new
from .record import Record
from .scenario import SCENARIOS, Scenario, Signals
from .specs import load_schema, shipped_protocols, specs_folder

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_PROTOCOL",
    "HISTORICAL_PROTOCOL",
    "OFFICIAL_SOURCE",
    "SCENARIOS",
    "SYNTHETIC_SOURCE",
    "AnswerPrompt",
    "ArtifactError",
    "Case",
    "CorrectionGuard",
    "Dataset",
    "DatasetError",
    "DatasetPin",
    "DeermemError",
    "OfficialManifest",
    "PolicySpec",
    "PolicyWeights",
    "PoolSpec",
    "Protocol",
    "ProtocolConfig",
    "ProtocolError",
    "ProtocolFiles",
    "ProtocolHashes",
    "QASpec",
    "Record",
    "Scenario",
    "SelectionRule",
    "Signals",
    "StatisticsSpec",
    "SyntheticManifest",
    "as_text",
    "build_cases",
    "build_pool",
    "distractor_offset",
    "draw_distractors",
    "historical_pins",
    "iso_z",
    "json_bytes",
    "jsonl_bytes",
    "jsonl_line",
    "load_dataset",
    "load_protocol",
    "load_schema",
    "publish_new",
    "read_bytes",
    "recover_publication",
    "render_evidence",
    "require_new",
    "sha256_hex",
    "shipped_protocol_of",
    "shipped_protocols",
    "specs_folder",
    "support_fact_id",
    "write_file",
]
