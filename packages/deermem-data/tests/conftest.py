"""Protocol folders to break, and rows, data sets and protocols of any size to build."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from attrs import evolve, frozen

from deermem_data import (
    DatasetPin,
    Protocol,
    load_protocol,
    specs_folder,
)

T = TypeVar("T")


@frozen
class ProtocolFolder:
    """A protocol's folder that a test may change."""

    path: Path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def edit(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the content of one of the YAML or JSON files."""
        path = self.path / name
        is_yaml = path.suffix == ".yaml"
        text = path.read_text(encoding="utf-8")
        document = yaml.safe_load(text) if is_yaml else json.loads(text)
        change(document)
        written = yaml.safe_dump(document, sort_keys=False) if is_yaml else json.dumps(document)
        path.write_text(written, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a piece of text that stands once in one of the files."""
        text = (self.path / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        (self.path / name).write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> ProtocolFolder:
    """A copy of the default protocol's folder."""
    source = specs_folder() / "protocols" / "capacity-eviction-v1"
    return ProtocolFolder(Path(shutil.copytree(source, tmp_path / "protocol")))


def changed(instance: T, **changes: Any) -> T:
    """`attrs.evolve`, for values that are not yet of their narrow types."""
    made: T = evolve(instance, **changes)  # type: ignore[misc]
    return made


def make_row(
    record_id: str,
    question_type: str = "single-session-user",
    *,
    answer: object = "forty",
    evidence: str = "a sentence that is long enough to stand in a bank of distractors",
) -> dict[str, Any]:
    """Return a row with one session of one turn of the user."""
    return {
        "question_id": record_id,
        "question_type": question_type,
        "question": f"What about {record_id}?",
        "answer": answer,
        "question_date": "2026/03/02 (Mon) 10:00",
        "haystack_dates": ["2026/03/01 (Sun) 10:00"],
        "haystack_session_ids": [f"s_{record_id}"],
        "haystack_sessions": [[{"role": "user", "content": evidence}]],
        "answer_session_ids": [f"s_{record_id}"],
    }


@pytest.fixture(scope="session")
def row() -> Callable[..., dict[str, Any]]:
    """The maker of rows."""
    return make_row


@frozen
class World:
    """A protocol and the rows it is pinned to."""

    protocol: Protocol
    rows: list[dict[str, Any]]
    path: Path

    def order(self, indices: Iterable[int]) -> World:
        """The same rows in another order, pinned and written again."""
        return pinned(self.protocol, [self.rows[i] for i in indices], self.path)


def pinned(protocol: Protocol, rows: Sequence[object], path: Path) -> World:
    """Write the rows and pin the protocol to the file."""
    data = json.dumps(rows, ensure_ascii=False).encode()
    path.write_bytes(data)
    return World(pin_bytes(protocol, data), list(rows), path)  # type: ignore[arg-type]


def pin_bytes(protocol: Protocol, data: bytes) -> Protocol:
    """The protocol, pinned to a data set of these bytes."""
    pin = DatasetPin("here", "r1", "data.json", hashlib.sha256(data).hexdigest())  # type: ignore[arg-type]
    return evolve(protocol, config=evolve(protocol.config, dataset=pin))


def make_world(
    path: Path,
    *,
    types: Sequence[str] = ("knowledge-update", "temporal-reasoning"),
    scenarios: Sequence[str] = ("confirmation_help", "access_help"),
    per_type: int = 2,
    pool_size: int = 10,
    bank_size: int = 40,
    capacities: Sequence[int] = (5, 7, 9),
    loss_ranks: Sequence[int] | None = None,
    guards: int = 5,
    namespace: str = "deermem-medium-v1",
    bank_ids: Sequence[str] | None = None,
    extra_rows: Sequence[dict[str, Any]] = (),
    question_ids: Callable[[str, int], str] = lambda kind, i: f"{kind[:2]}{i:04x}",
) -> World:
    """Return a protocol of any size and a data set that fits it."""
    shipped = load_protocol()
    groups, rows = {}, []
    for index, scenario in enumerate(scenarios):
        groups[scenario] = tuple(
            question_ids(kind, index * per_type + j)
            for kind in sorted(types)
            for j in range(per_type)
        )
    for kind in types:
        rows += [
            make_row(question_ids(kind, i), kind, evidence=f"{kind} {i} is what I told you about")
            for i in range(per_type * len(scenarios))
        ]
    names = bank_ids or [f"b{i:05x}" for i in range(bank_size)]
    rows += [make_row(name) for name in names]
    rows += extra_rows
    rule = changed(
        shipped.official.selection,
        eligible_question_types=tuple(types),
        excluded_pilot_ids=("pilot",),
        take_per_question_type=per_type * len(scenarios),
        cases_per_type_per_scenario=per_type,
    )
    ranks = tuple(loss_ranks or [pool_size - 2] * (per_type * len(types)))
    pool = changed(
        shipped.config.pool,
        size=pool_size,
        distractors=pool_size - 1,
        distractor_bank_size=len(names),
        capacities=tuple(capacities),
        qa_capacity=capacities[0],
        offset_namespace=namespace,
    )
    cases = shipped.synthetic.cases[:guards]
    protocol = changed(
        shipped,
        config=changed(shipped.config, pool=pool),
        official=changed(
            shipped.official,
            selection=rule,
            scenario_order=tuple(scenarios),
            scenarios=groups,
            loss_ranks=ranks,
        ),
        synthetic=changed(
            shipped.synthetic,
            cases=tuple(changed(c, loss_rank=min(c.loss_rank, pool_size)) for c in cases),
        ),
        standing="custom",
    )
    return pinned(protocol, rows, path)


@pytest.fixture(scope="session")
def world() -> Callable[..., World]:
    """The maker of worlds."""
    return make_world


@pytest.fixture(scope="session")
def pin() -> Callable[[Protocol, bytes], Protocol]:
    """Pins a protocol to a data set's bytes."""
    return pin_bytes
