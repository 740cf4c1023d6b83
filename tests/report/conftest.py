"""Run folders of every kind, their reports, and a page read back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from deermem_cli.grading import manifest_bytes
from deermem_cli.main import main
from deermem_cli.qa_documents import QASettings, document_bytes, qa_documents, rows_bytes
from deermem_cli.report import read_run, report_document
from deermem_cli.report.html import render_html
from deermem_data import json_bytes, jsonl_bytes
from deermem_qa import GradedRow, RunIdentity
from deermem_select import summarise

HASHES = (
    "answer_prompt_sha256",
    "config_sha256",
    "dataset_sha256",
    "official_manifest_sha256",
    "synthetic_manifest_sha256",
)
SCENARIOS = (
    ("longmemeval", "confirmation_help"),
    ("longmemeval", "access_help"),
    ("longmemeval", "confidence_control"),
    ("longmemeval", "noisy_signal_control"),
    ("synthetic", "correction_reserve"),
)
CAPACITIES = (5, 7, 9)
QA_CAPACITY = 7


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@frozen
class Shape:
    """What a made-up run consists of.

    `predict` gives the prediction of a case (by number) under a policy (by number).
    """

    cases: int = 45
    policies: tuple[str, ...] = ("confidence", "hybrid-v1")
    policy_run: bool = True
    qa_run: bool = True
    selector: str = "production"
    known: bool = True
    provider: str = "openai-compatible"
    model: str = "a-model"
    truncated: bool = False
    predict: Callable[[int, int], str] = field(default=lambda i, p: f"prediction {i} of {p}")

    def kept(self, case: int, policy: int, capacity: int) -> bool:
        return (case * 7 + 3 * policy) % 10 < capacity - 3 + 2 * policy

    def grade(self, case: int, policy: int) -> tuple[bool, str]:
        if self.kept(case, policy, QA_CAPACITY) and case % 9:
            return True, ("exact", "substring", "overlap-accept")[case % 3]
        return False, ("insufficient", "overlap-reject", "numeric-conflict")[case % 3]


def _source(case: int) -> tuple[str, str]:
    return SCENARIOS[case % len(SCENARIOS)]


def _selector(shape: Shape) -> dict[str, Any]:
    production = shape.selector == "production"
    return {
        "kind": shape.selector,
        "name": "my.module:select" if shape.selector == "custom" else shape.selector,
        "path": "some/eviction.py",
        "sha256": sha256("selector"),
        "commit": "c" * 40 if production else None,
        "dirty": False if production else None,
        "known": shape.known and production,
    }


def _common(shape: Shape) -> dict[str, Any]:
    return {
        "protocol_id": "a-protocol",
        "created_at": "2026-09-01T10:20:30Z",
        "artifacts": {name: sha256(name) for name in HASHES},
        "dataset": {
            "filename": "data.json",
            "repository": "someone/data",
            "revision": "r1",
            "sha256": sha256("dataset_sha256"),
        },
        "git": None,
        "selector": _selector(shape),
        "policies": list(shape.policies),
        "packages": {"deermem-cli": "0.1.0"},
    }


def _policy_files(shape: Shape) -> dict[str, bytes]:
    rows = [
        {
            "source": _source(case)[0],
            "scenario": _source(case)[1],
            "capacity": capacity,
            "policy": policy,
            "support_all_retained": shape.kept(case, number, capacity),
            "support_recall": float(shape.kept(case, number, capacity)),
        }
        for case in range(shape.cases)
        for capacity in CAPACITIES
        for number, policy in enumerate(shape.policies)
    ]
    groups = [group.to_row() for group in summarise(rows)]
    run = {
        **_common(shape),
        "schema_version": 1,
        "standing": "shipped",
        "evaluation_time": "2026-08-13T00:00:00Z",
        "capacities": list(CAPACITIES),
    }
    summary = {"schema_version": 1, "protocol_id": "a-protocol", "groups": groups}
    return {
        "run.json": json_bytes(run),
        "summary.json": json_bytes(summary),
        "policy.raw.jsonl": jsonl_bytes(rows),
    }


def _rows(shape: Shape) -> tuple[GradedRow, ...]:
    rows = []
    for case in range(shape.cases):
        source, scenario = _source(case)
        for number, policy in enumerate(shape.policies):
            correct, rule = shape.grade(case, number)
            kept = shape.kept(case, number, QA_CAPACITY)
            rows.append(
                GradedRow(
                    row_id=f"case{case:04}__{policy}",
                    case_id=f"case{case:04}",
                    source=source,
                    scenario=scenario,
                    question_type="knowledge-update",
                    policy=policy,
                    capacity=QA_CAPACITY,
                    kept_fact_ids=(f"gold_{case}",) if kept else (f"d_{case}",),
                    support_all_retained=kept,
                    support_recall=float(kept),
                    prediction=shape.predict(case, number),
                    attempts=1 + (case % 20 == 0),
                    request_fingerprint=sha256(f"{case} {policy}"),
                    response_model=shape.model,
                    usage={"prompt_tokens": 900 + case, "completion_tokens": 10},
                    grade_correct=correct,
                    grade_rule=rule,
                    grader_version="deterministic-overlap-v1",
                )
            )
    return tuple(sorted(rows, key=lambda row: row.row_id))


def _qa_files(shape: Shape) -> dict[str, bytes]:
    settings = QASettings(
        protocol_id="a-protocol",
        grader_version="deterministic-overlap-v1",
        qa_capacity=QA_CAPACITY,
        policies=shape.policies,
        alpha=0.05,
        seed=4789,
        iterations=500,
    )
    rows = _rows(shape)
    truncated = frozenset(row.row_id for row in rows[:2] if shape.truncated)
    identity = {
        **_common(shape),
        "schema_version": 3,
        "qa": {
            "api_key_env": "DEERMEM_EVAL_ANSWER_API_KEY",
            "base_url_env": "DEERMEM_EVAL_ANSWER_BASE_URL",
            "capacity": QA_CAPACITY,
            "grader_version": "deterministic-overlap-v1",
            "max_attempts": 3,
            "max_tokens": 2048,
            "model": shape.model,
            "stream": False,
            "temperature": 0.0,
            "timeout_seconds": 120,
            "workers": 3,
        },
        "provider": {
            "name": shape.provider,
            "endpoint": "https://example.org/v1",
            "endpoint_sha256": sha256("endpoint"),
            "replay_sha256": None,
        },
        "statistics": {"alpha": 0.05, "bootstrap_iterations": 500, "bootstrap_seed": 4789},
    }
    return {
        "qa_run.json": RunIdentity.of_document(identity).to_bytes(),
        "qa.rows.jsonl": rows_bytes(rows),
        **{
            name: document_bytes(document)
            for name, document in qa_documents(rows, settings, truncated).items()
        },
    }


MakeRun = Callable[..., Path]


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> MakeRun:
    """Write a run of the `Shape` that the keywords describe; return its folder."""

    def make(**keywords: Any) -> Path:
        shape = Shape(**keywords)
        folder = tmp_path_factory.mktemp("run")
        files = _policy_files(shape) if shape.policy_run else {}
        if shape.qa_run:
            files |= _qa_files(shape)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        if shape.qa_run:
            (folder / "MANIFEST.sha256").write_bytes(manifest_bytes(folder, files))
        return folder

    return make


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run of the embedded data set: decisions, answers of the lexical reader, grades."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    common = ["--protocol", "mini-v1", "--selector", "reference", "--output-dir", str(folder), "-q"]
    for command in (
        ["run-policy"],
        ["run-qa", "--provider", "lexical-reader-v1"],
        ["grade-qa"],
    ):
        assert 0 == main([*command, *common])
    return folder


@pytest.fixture(scope="session")
def historical_run(upstream_path: Path) -> Path:
    """The published run's folder."""
    return upstream_path / "results" / "pr4789-reproduction-v1"


def html_of(folder: Path) -> str:
    """Return the page of a run."""
    return render_html(report_document(read_run(folder)))


@pytest.fixture(scope="session")
def page_of() -> Callable[[Path], Page]:
    """Make a run's page and read it back."""
    return lambda folder: Page.of(html_of(folder))


@pytest.fixture(scope="session")
def page_text() -> Callable[[Path], str]:
    """Make a run's page."""
    return html_of


@frozen
class Shown:
    """A number on a page: its text, its whole value and where it says it is from."""

    text: str
    value: float
    source: str


@frozen
class Page:
    """What a reader of a page finds in it."""

    text: str
    html: str
    numbers: list[Shown]
    headings: list[tuple[int, str]]
    tables: dict[str, list[list[str]]]
    notes: list[str]
    quotes: list[str]
    ids: list[str]
    tags: set[str]

    @classmethod
    def of(cls, html: str) -> Page:
        reader = _Reader()
        reader.feed(html)
        reader.close()
        return cls(
            text=" ".join("".join(reader.all).split()),
            html=html,
            numbers=reader.numbers,
            headings=reader.headings,
            tables=reader.tables,
            notes=reader.notes,
            quotes=reader.quotes,
            ids=reader.ids,
            tags=reader.tags,
        )

    def table(self, caption: str) -> list[list[str]]:
        """The rows of the table of that caption, heading first."""
        return self.tables[caption]


class _Reader(HTMLParser):
    """Reads headings, tables, numbers, notes and quotes; ignores style, script and drawings."""

    _SILENT = ("style", "script", "svg", "title")

    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []
        self.numbers: list[Shown] = []
        self.headings: list[tuple[int, str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.notes: list[str] = []
        self.quotes: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self._silent = 0
        self._open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._rows: list[list[str]] = []
        self._caption = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag in self._SILENT:
            self._silent += 1
        if self._silent:
            return
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        if tag in {"data", "h1", "h2", "h3", "th", "td", "caption", "blockquote", "p"}:
            self._open.append((tag, given, []))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._SILENT:
            self._silent -= 1
        if self._silent:
            return
        if tag == "table":
            self.tables[self._caption] = self._rows
        if not self._open or self._open[-1][0] != tag:
            return
        _, given, pieces = self._open.pop()
        raw = "".join(pieces)
        text = " ".join(raw.split())
        if tag == "data":
            self.numbers.append(
                Shown(text, float(str(given["value"])), given.get("data-source") or "")
            )
        elif tag in {"h1", "h2", "h3"}:
            self.headings.append((int(tag[1]), text))
        elif tag == "caption":
            self._caption = text
        elif tag in {"th", "td"}:
            self._rows[-1].append(text)
        elif tag == "blockquote":
            self.quotes.append(raw)
        elif tag == "p" and given.get("role") == "note":
            self.notes.append(text)

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        self.all.append(data)
        for _, _, pieces in self._open:
            pieces.append(data)
