"""Where a protocol is found, and what standing it has: shipped, historical, changed, custom."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deermem_data import (
    ProtocolError,
    ProtocolHashes,
    historical_pins,
    load_protocol,
    sha256_hex,
    shipped_protocols,
    specs_folder,
)

if TYPE_CHECKING:
    from conftest import ProtocolFolder

HISTORICAL = "pr4789-reproduction-v1"
PRODUCTION = "84549abe8592fea1ca1611b5ef37d4a7cea59c563a87378c3ce1658f54c12986"
UPSTREAM_CONFIG = "configs/pr4789-reproduction-v1.yaml"
UPSTREAM_PARTS = [
    UPSTREAM_CONFIG,
    "manifests/longmemeval-pr4789-v1.json",
    "manifests/synthetic-corrections-pr4789-v1.json",
    "prompts/answer-v1.txt",
]


def fault(*args: object, **kwargs: object) -> str:
    """The error that loading raises."""
    with pytest.raises(ProtocolError) as caught:
        load_protocol(*args, **kwargs)  # type: ignore[arg-type]
    return str(caught.value)


def test_shipped_names() -> None:
    """Three protocols are shipped, of the historical one its pins alone."""
    assert shipped_protocols() == ("capacity-eviction-v1", "mini-v1", HISTORICAL)
    shipped = specs_folder() / "protocols" / HISTORICAL
    assert [path.name for path in shipped.iterdir()] == ["pins.json"]


@pytest.mark.parametrize("name", ["capacity-eviction-v1", "mini-v1"])
def test_shipped_protocol(name: str) -> None:
    """A shipped protocol loads by name, knows the production selector, and has 45 cases."""
    protocol = load_protocol(name)
    assert f"deermem-{name}" == protocol.protocol_id
    assert protocol.standing == "shipped"
    assert protocol.known_selectors == (PRODUCTION,)
    assert protocol.case_count == 45
    assert protocol == load_protocol(specs_folder() / "protocols" / name)


def test_default_protocol() -> None:
    """Without a name it is the self-contained one."""
    assert load_protocol("capacity-eviction-v1") == load_protocol()


@pytest.mark.parametrize("name", ["capacity-eviction-v1", "mini-v1"])
def test_parameters(name: str) -> None:
    """Both shipped protocols state the design's parameters."""
    config = load_protocol(name).config
    pool, hybrid = config.pool, config.policies["hybrid_v1"]
    assert config.evaluation_time.isoformat() == "2026-08-13T00:00:00+00:00"
    assert (
        pool.size, pool.capacities, pool.qa_capacity, pool.distractors, pool.distractor_bank_size
    ) == (10, (5, 7, 9), 7, 9, 40)  # fmt: skip
    assert pool.distractor_types == ("single-session-user", "single-session-preference")
    assert (pool.distractor_min_evidence_chars, pool.distractor_max_evidence_chars) == (40, 700)
    assert pool.offset_namespace == "deermem-medium-v1"
    assert [spec.policy for spec in config.policies.values()] == ["confidence", "hybrid-v1"]
    assert hybrid.weights is not None
    assert (
        hybrid.weights.confidence, hybrid.weights.confirmation, hybrid.weights.access
    ) == (0.65, 0.25, 0.10)  # fmt: skip
    assert (hybrid.confirmation_half_life_days, hybrid.access_half_life_days) == (90.0, 30.0)
    assert (hybrid.correction_reserved_fraction, hybrid.correction_reserved_max) == (0.10, 10)
    qa = config.qa
    assert (qa.max_tokens, qa.timeout_seconds, qa.max_attempts, qa.workers) == (2048, 120, 3, 3)
    assert (
        qa.api_key_env, qa.base_url_env
    ) == ("DEERMEM_EVAL_ANSWER_API_KEY", "DEERMEM_EVAL_ANSWER_BASE_URL")  # fmt: skip
    statistics = config.statistics
    assert (
        statistics.bootstrap_seed, statistics.bootstrap_iterations, statistics.alpha
    ) == (4789, 10_000, 0.05)  # fmt: skip


def test_hashes_are_those_of_the_files(folder: ProtocolFolder) -> None:
    """Each part's hash is that of its bytes."""
    expected = ProtocolHashes(
        *(
            sha256_hex((folder / part).read_bytes())
            for part in [
                "configs/capacity-eviction-v1.yaml",
                "manifests/official.json",
                "manifests/synthetic.json",
                "prompts/answer.txt",
            ]
        )
    )
    assert expected == load_protocol(folder.path).hashes


def test_copy_is_custom(folder: ProtocolFolder) -> None:
    """A copy of a shipped protocol is not the shipped one: nothing pins its bytes."""
    assert load_protocol(folder.path).standing == "custom"


@pytest.mark.parametrize("part", ["official_manifest", "synthetic_manifest"])
def test_shipped_protocol_with_another_part_is_custom(folder: ProtocolFolder, part: str) -> None:
    """A part put in place of a shipped one is found, used, and seen in the standing."""
    name = part.removesuffix("_manifest")
    given = folder / f"manifests/{name}.json"
    protocol = load_protocol(**{part: given})
    assert given == getattr(protocol.files, part)
    assert protocol.standing == "custom"


def test_config_alone_brings_its_own_folder(folder: ProtocolFolder) -> None:
    """The reference's `--config` takes manifests and prompt from the folder it stands in."""
    config = folder / "configs/capacity-eviction-v1.yaml"
    protocol = load_protocol(config=config)
    assert folder.path == protocol.files.folder
    assert folder / "manifests/official.json" == protocol.files.official_manifest
    assert protocol.standing == "custom"


def test_unknown_name_suggests(tmp_path: Path) -> None:
    """A slip in a name gets a suggestion and the list."""
    assert (
        "mini-v2: neither a shipped protocol nor a folder; did you mean 'mini-v1'? shipped: "
        f"capacity-eviction-v1, mini-v1, {HISTORICAL}"
    ) == fault("mini-v2")
    assert str(tmp_path / "none") in fault(tmp_path / "none")


def test_a_file_is_no_protocol(folder: ProtocolFolder) -> None:
    """A config's path is not a protocol's."""
    path = folder / "configs/capacity-eviction-v1.yaml"
    assert f"{path}: neither a shipped protocol nor a folder; " in fault(path)


def test_historical_needs_a_checkout(tmp_path: Path) -> None:
    """Asked for by name it is read from a checkout; without one, both ways are told."""
    without = fault(HISTORICAL)
    assert "no deer-flow checkout is known" in without
    elsewhere = fault(HISTORICAL, deerflow=tmp_path)
    assert f"{tmp_path / 'backend/scripts/benchmark/deermem_eviction'}: not there" in elsewhere
    for message in (without, elsewhere):
        assert "name a deer-flow checkout with --deerflow PATH" in message
        assert "or give the benchmark's folder itself as the protocol" in message
        assert len(message.splitlines()) == 1


def test_pins() -> None:
    """The pins are the published ones."""
    pins = historical_pins()
    assert (
        pins.config_sha256[:8],
        pins.official_manifest_sha256[:8],
        pins.synthetic_manifest_sha256[:8],
        pins.answer_prompt_sha256[:8],
    ) == ("e0bcd158", "7f9b26f3", "2f0c7f9b", "2bd4f166")


@pytest.fixture
def checkout(upstream_path: Path, tmp_path: Path) -> Path:
    """A stand-in for a deer-flow checkout, with the benchmark's folder where it lies there."""
    root = tmp_path / "deer-flow"
    benchmark = root / "backend/scripts/benchmark/deermem_eviction"
    shutil.copytree(upstream_path, benchmark)
    (root / "backend/packages/harness").mkdir(parents=True)
    return root


@pytest.mark.parametrize("below", ["", "backend", "backend/packages/harness"])
def test_historical_by_name(checkout: Path, below: str) -> None:
    """The root, the backend and the harness folder of a checkout are all accepted."""
    protocol = load_protocol(HISTORICAL, deerflow=checkout / below)
    assert protocol.standing == "historical"
    assert historical_pins() == protocol.hashes
    assert protocol.protocol_id == "deermem-hybrid-v1-pr4789-reproduction-v1"
    assert protocol.case_count == 45


@pytest.mark.parametrize("below", ["", "backend", "backend/packages/harness"])
def test_historical_from_a_relative_folder(
    checkout: Path, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is `.` inside it."""
    monkeypatch.chdir(checkout / below)
    assert load_protocol(HISTORICAL, deerflow=Path()).standing == "historical"


def test_historical_knows_the_production_selector(upstream_path: Path) -> None:
    """Its config has no key for it; the pins have."""
    assert load_protocol(upstream_path).known_selectors == (PRODUCTION,)


def test_historical_by_path(upstream_path: Path) -> None:
    """The benchmark's folder given by path is known for what it is."""
    assert load_protocol(upstream_path).standing == "historical"


@pytest.mark.parametrize("part", UPSTREAM_PARTS)
def test_changed_part_of_the_historical_protocol(checkout: Path, part: str) -> None:
    """By name a changed part is an error that names it and both hashes."""
    path = checkout / "backend/scripts/benchmark/deermem_eviction" / part
    before = sha256_hex(path.read_bytes())
    path.write_bytes(path.read_bytes() + b"\n")
    after = sha256_hex(path.read_bytes())
    message = fault(HISTORICAL, deerflow=checkout)
    assert len(message.splitlines()) == 1
    assert str(path) in message
    assert before in message
    assert after in message


@pytest.mark.parametrize("part", UPSTREAM_PARTS)
def test_historical_changed(checkout: Path, part: str) -> None:
    """By path it is read as it is, and said to be changed."""
    benchmark = checkout / "backend/scripts/benchmark/deermem_eviction"
    path = benchmark / part
    before = sha256_hex(path.read_bytes())
    path.write_bytes(path.read_bytes() + b"\n")
    if part.startswith("prompts"):
        config = benchmark / UPSTREAM_CONFIG
        pinned = config.read_text(encoding="utf-8")
        config.write_text(pinned.replace(before, sha256_hex(path.read_bytes())), encoding="utf-8")
    protocol = load_protocol(benchmark)
    assert protocol.standing == "historical-changed"
    assert protocol.known_selectors == ()


def test_embedded_data_set(folder: ProtocolFolder) -> None:
    """Only a protocol that brings its data set has one."""
    assert load_protocol().embedded_dataset is None
    mini = specs_folder() / "protocols/mini-v1/data/deermem_mini.json"
    assert mini == load_protocol("mini-v1").embedded_dataset
    (folder / "data").mkdir()
    (folder / "data/longmemeval_oracle.json").write_bytes(b"[]")
    assert folder / "data/longmemeval_oracle.json" == load_protocol(folder.path).embedded_dataset
