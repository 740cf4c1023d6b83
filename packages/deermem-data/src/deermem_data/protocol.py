"""A protocol: its four files, read from one folder, checked one by one and against each other."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeVar

from attrs import evolve, frozen

from ._documents import decode_text, parse_document
from ._structure import structure
from .artifacts import read_bytes, sha256_hex
from .config import ProtocolConfig
from .errors import ProtocolError
from .manifest import OfficialManifest, SyntheticManifest
from .prompt import AnswerPrompt
from .scenario import SCENARIOS
from .specs import shipped_protocols, specs_folder

DEFAULT_PROTOCOL = "capacity-eviction-v1"
HISTORICAL_PROTOCOL = "pr4789-reproduction-v1"

# Where a deer-flow checkout keeps the historical protocol's folder (design: the protocol).
_BENCHMARK_FOLDER = Path("backend/scripts/benchmark/deermem_eviction")

# The keys that tell a manifest's kind, however wrong the rest of it is.
_OFFICIAL_KEYS = {"selection", "scenarios", "scenario_order", "loss_ranks"}
_SYNTHETIC_KEYS = {"cases", "scenario"}

T = TypeVar("T")
Standing = Literal["shipped", "historical", "historical-changed", "custom"]


@frozen
class ProtocolHashes:
    """The SHA-256 of each part, as artifacts record them."""

    config_sha256: str
    official_manifest_sha256: str
    synthetic_manifest_sha256: str
    answer_prompt_sha256: str


@frozen
class ProtocolFiles:
    """Where a protocol's parts lie; the prompt's path is in the config."""

    config: Path
    official_manifest: Path
    synthetic_manifest: Path

    @property
    def folder(self) -> Path:
        """The protocol's folder: the config's, or the one above where that is `configs`."""
        parent = self.config.parent
        return parent.parent if parent.name == "configs" else parent


@frozen
class Protocol:
    """A checked protocol.

    Attributes:
        standing: `shipped`; `historical` (every part is the pinned one) or `historical-changed`
            (its id with other bytes); `custom` for any other.
        known_selectors: SHA-256 values of production selectors this protocol was tried with.
    """

    config: ProtocolConfig
    official: OfficialManifest
    synthetic: SyntheticManifest
    prompt: AnswerPrompt
    hashes: ProtocolHashes
    files: ProtocolFiles
    standing: Standing
    known_selectors: tuple[str, ...]

    @property
    def protocol_id(self) -> str:
        """The id that all three files state."""
        return self.config.protocol_id

    @property
    def embedded_dataset(self) -> Path | None:
        """The data set that lies in the protocol's own folder, if it brings one."""
        path = self.files.folder / "data" / self.config.dataset.filename
        return path if path.is_file() else None

    @property
    def case_count(self) -> int:
        """How many cases the protocol has, official and synthetic together."""
        return sum(map(len, self.official.scenarios.values())) + len(self.synthetic.cases)


def load_protocol(
    source: str | Path = DEFAULT_PROTOCOL,
    *,
    deerflow: Path | None = None,
    config: Path | None = None,
    official_manifest: Path | None = None,
    synthetic_manifest: Path | None = None,
) -> Protocol:
    """Read and check a protocol.

    Args:
        source: the name of a shipped protocol, or the path of a protocol's or a deer-flow
            benchmark's folder (`configs/*.yaml`, `manifests/*.json`, the prompt the config names).
        deerflow: a deer-flow checkout, for the historical protocol asked for by name.
        config: a config file to use instead; its own folder then also gives the manifests,
            unless `source` is not the default.
        official_manifest: an official manifest to use instead.
        synthetic_manifest: a synthetic manifest to use instead.

    Raises:
        ProtocolError: a part is missing or wrong; one line for each fault.
    """
    if config is not None and source == DEFAULT_PROTOCOL:
        source = ProtocolFiles(config, config, config).folder
    folder, pinned = _find_folder(source, deerflow)
    given = {
        "config": config,
        "official_manifest": official_manifest,
        "synthetic_manifest": synthetic_manifest,
    }
    files = _find_files(folder, given)
    protocol = _read(files)
    if pinned:
        _require_pins(protocol)
    return _with_standing(protocol)


def shipped_protocol_of(protocol_id: str) -> str | None:
    """Return the name of the shipped protocol that has this id; `None` where none has."""
    if protocol_id == _historical()["protocol"]["protocol_id"]:
        return HISTORICAL_PROTOCOL
    names = (name for name in shipped_protocols() if name != HISTORICAL_PROTOCOL)
    return next((name for name in names if load_protocol(name).protocol_id == protocol_id), None)


def historical_pins() -> ProtocolHashes:
    """Return the pinned SHA-256 values of the historical protocol's parts."""
    return ProtocolHashes(**_historical()["hashes"])


def _historical() -> dict[str, dict[str, str]]:
    path = specs_folder() / "protocols" / HISTORICAL_PROTOCOL / "pins.json"
    pins: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return pins


def _find_folder(source: str | Path, deerflow: Path | None) -> tuple[Path, bool]:
    """Return the folder, and whether its parts must be the pinned ones."""
    if str(source) == HISTORICAL_PROTOCOL:
        return _benchmark_folder(deerflow), True
    if str(source) in shipped_protocols():
        return specs_folder() / "protocols" / str(source), False
    folder = Path(source)
    if _is_folder(folder):
        return folder, False
    names = shipped_protocols()
    close = difflib.get_close_matches(str(source), names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ProtocolError(
        f"{source}: neither a shipped protocol nor a folder; {hint}shipped: {', '.join(names)}"
    )


def _benchmark_folder(deerflow: Path | None) -> Path:
    remedy = (
        "its prompt and guards are not shipped: name a deer-flow checkout with --deerflow PATH "
        f"or $DEERMEM_DEERFLOW_PATH (it holds {_BENCHMARK_FOLDER}), or give the benchmark's "
        "folder itself as the protocol"
    )
    if deerflow is None:
        raise ProtocolError(f"{HISTORICAL_PROTOCOL}: no deer-flow checkout is known; {remedy}")
    # The same three folders are accepted here as for the selector: root, backend, harness.
    inside = deerflow.absolute()
    for root in (inside, inside.parent, inside.parent.parent.parent):
        if _is_folder(root / _BENCHMARK_FOLDER):
            return root / _BENCHMARK_FOLDER
    raise ProtocolError(f"{deerflow / _BENCHMARK_FOLDER}: not there; {remedy}")


def _find_files(folder: Path, given: dict[str, Path | None]) -> ProtocolFiles:
    config = given["config"] or _only_config(folder)
    official, synthetic = given["official_manifest"], given["synthetic_manifest"]
    if official is None or synthetic is None:
        found = _kinds_of_manifests(folder)
        official = official or _only_manifest(folder, found, "official", _OFFICIAL_KEYS)
        synthetic = synthetic or _only_manifest(folder, found, "synthetic", _SYNTHETIC_KEYS)
    return ProtocolFiles(config, official, synthetic)


def _only_config(folder: Path) -> Path:
    found = [
        path
        for path in _entries(folder / "configs")
        if path.suffix in {".yaml", ".yml", ".json"} and not _is_folder(path)
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(path.name for path in found) or "none"
    raise ProtocolError(
        f"{folder / 'configs'}: expected one config (.yaml), found {names}; name one with --config"
    )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as exc:  # no permission, or a name too long
        raise ProtocolError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def _entries(folder: Path) -> list[Path]:
    """Return what lies in a folder, sorted; nothing where there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as exc:
        raise ProtocolError(f"{folder}: cannot be read: {exc.strerror or exc}") from exc


def _kinds_of_manifests(folder: Path) -> dict[Path, str]:
    found = {}
    for path in _entries(folder / "manifests"):
        if path.suffix != ".json":
            continue
        document = parse_document(path, read_bytes(path, ProtocolError))
        keys = set(document) if isinstance(document, dict) else set()
        official, synthetic = len(keys & _OFFICIAL_KEYS), len(keys & _SYNTHETIC_KEYS)
        if official > synthetic:
            found[path] = "official"
        elif synthetic:
            found[path] = "synthetic"
    return found


def _only_manifest(folder: Path, found: dict[Path, str], kind: str, keys: set[str]) -> Path:
    paths = [path for path in found if found[path] == kind]
    if len(paths) == 1:
        return paths[0]
    names = ", ".join(path.name for path in paths) or "none"
    raise ProtocolError(
        f"{folder / 'manifests'}: expected one {kind} manifest (.json with the keys "
        f"{', '.join(sorted(keys))}), found {names}; name one with --{kind}-manifest"
    )


def _read(files: ProtocolFiles) -> Protocol:
    faults: list[str] = []
    config, config_hash = _part(files.config, ProtocolConfig, faults)
    official, official_hash = _part(files.official_manifest, OfficialManifest, faults)
    synthetic, synthetic_hash = _part(files.synthetic_manifest, SyntheticManifest, faults)
    prompt, prompt_hash = _prompt(files, config, faults) if config else (None, "")
    if config and official and synthetic:
        faults += _disagreements(files, config, official, synthetic)
    if faults or not (config and official and synthetic and prompt):
        raise ProtocolError("\n".join(faults))
    return Protocol(
        config=config,
        official=official,
        synthetic=synthetic,
        prompt=prompt,
        hashes=ProtocolHashes(config_hash, official_hash, synthetic_hash, prompt_hash),
        files=files,
        standing="custom",
        known_selectors=config.known_selectors,
    )


def _part(path: Path, cls: type[T], faults: list[str]) -> tuple[T | None, str]:
    try:
        data = read_bytes(path, ProtocolError)
        return structure(parse_document(path, data), cls, path), sha256_hex(data)
    except ProtocolError as exc:
        faults.append(str(exc))
        return None, ""


def _prompt(
    files: ProtocolFiles, config: ProtocolConfig, faults: list[str]
) -> tuple[AnswerPrompt | None, str]:
    pin = config.qa.answer_prompt
    path = files.folder / pin.path
    where = f"{files.config}: qa.answer_prompt"
    try:
        if not _is_inside(path, files.folder):
            raise ProtocolError(
                f"{where}.path: expected a path inside {files.folder}, found {pin.path!r}"
            )
        data = read_bytes(path, ProtocolError)
        found = sha256_hex(data)
        if found != pin.sha256:
            raise ProtocolError(
                f"{where}.sha256: expected the SHA-256 of {path}, which is {found}, "
                f"found {pin.sha256}; restore the prompt or pin the new one"
            )
        return AnswerPrompt.parse(decode_text(path, data), path), found
    except ProtocolError as exc:
        faults.append(str(exc))
        return None, ""


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether the path stays in the folder, links followed."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL
        return False


def _disagreements(
    files: ProtocolFiles,
    config: ProtocolConfig,
    official: OfficialManifest,
    synthetic: SyntheticManifest,
) -> Iterable[str]:
    ids = {
        files.config: config.protocol_id,
        files.official_manifest: official.protocol_id,
        files.synthetic_manifest: synthetic.protocol_id,
    }
    if len(set(ids.values())) > 1:
        listed = ", ".join(f"{path.name} {protocol_id!r}" for path, protocol_id in ids.items())
        yield f"{files.folder}: protocol_id: expected one in all three files, found {listed}"
    pool, types = config.pool, official.selection.eligible_question_types
    if shared := sorted(set(pool.distractor_types) & set(types)):
        yield (
            f"{files.config}: pool.distractor_types: {shared} are also eligible_question_types "
            f"of {files.official_manifest.name}; a support fact could be its own distractor"
        )
    for name in official.scenario_order:
        for rank in sorted(set(official.loss_ranks)):
            if fault := SCENARIOS[name].fault(rank, pool.distractors):
                yield f"{files.official_manifest}: loss_ranks: {name}: {fault}"
    # File names may fold case.
    official_ids = {case_id.lower() for group in official.scenarios.values() for case_id in group}
    for index, case in enumerate(synthetic.cases):
        where = f"{files.synthetic_manifest}: cases[{index}]"
        if fault := SCENARIOS[synthetic.scenario].fault(case.loss_rank, pool.distractors):
            yield f"{where}.loss_rank: {fault}"
        if case.case_id.lower() in official_ids:
            yield f"{where}.case_id: {case.case_id!r} is an official case too"


def _require_pins(protocol: Protocol) -> None:
    pins, hashes = historical_pins(), protocol.hashes
    paths = {
        "config_sha256": protocol.files.config,
        "official_manifest_sha256": protocol.files.official_manifest,
        "synthetic_manifest_sha256": protocol.files.synthetic_manifest,
        "answer_prompt_sha256": protocol.files.folder / protocol.config.qa.answer_prompt.path,
    }
    changed = [
        f"{path}: not the pinned part of {HISTORICAL_PROTOCOL}: expected SHA-256 "
        f"{getattr(pins, key)}, found {getattr(hashes, key)}; restore the file, or give its "
        "folder by path to use it as a protocol of its own"
        for key, path in paths.items()
        if getattr(pins, key) != getattr(hashes, key)
    ]
    if changed:
        raise ProtocolError("\n".join(changed))


def _with_standing(protocol: Protocol) -> Protocol:
    historical = _historical()
    if protocol.protocol_id == historical["protocol"]["protocol_id"]:
        if protocol.hashes != historical_pins():
            return evolve(protocol, standing="historical-changed")
        # The historical config has no key for it.
        known = (historical["selectors"]["production"],)
        return evolve(protocol, standing="historical", known_selectors=known)
    files = protocol.files
    shipped = specs_folder().resolve() / "protocols"
    parts = (files.config, files.official_manifest, files.synthetic_manifest)
    folders = {path.resolve().parent.parent for path in parts}
    if len(folders) == 1 and folders.pop().parent == shipped:
        return evolve(protocol, standing="shipped")
    return protocol
