"""Provenance: every hash and version a folder records, what each certifies, and what none can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from deermem_qa import ROWS_FILE
from deermem_qa import RUN_FILE as QA_RUN_FILE

from .document import Cell, Code, Column, DataTable, Number, Part, Section, Terms, Text
from .node import Node
from .numbers import count_text
from .results import text_cell
from .run_files import QAFiles, RunFiles
from .visible import name

MODEL_PROVIDER = "openai-compatible"

_ARTIFACTS = (
    ("dataset_sha256", "Data set", "the questions, their answers and dialogues are these bytes"),
    (
        "config_sha256",
        "Config",
        "policies, weights, capacities, scenarios and settings are these",
    ),
    ("official_manifest_sha256", "Official manifest", "the official cases are these, no others"),
    ("synthetic_manifest_sha256", "Synthetic manifest", "the corrections are these, no others"),
    ("answer_prompt_sha256", "Answer prompt", "every question was put in these words"),
)
_QA = (
    ("model", "Model", "the name that was asked for; what answers to it is the provider's"),
    ("temperature", "Temperature", "as requested; a provider may still vary"),
    ("max_tokens", "Token limit", "a longer answer is cut off there"),
    ("max_attempts", "Attempts at most", "a call that failed was repeated at most so often"),
    ("capacity", "Facts kept", "how much memory the answers had"),
    ("grader_version", "Grader", "verdicts come from this frozen grader, blind to the policy"),
)
_SHARED = (
    "protocol_id",
    *(f"artifacts.{key}" for key, _, _ in _ARTIFACTS),
    "selector.name",
    "selector.sha256",
)
_MISSING = object()

_Row = tuple[Cell, ...]


def provenance_section(run: RunFiles) -> Section:
    """Every hash, the selector, the model, versions and files, with what they certify."""
    return Section(
        "provenance",
        "Provenance",
        "Provenance",
        (
            DataTable(
                caption=("What this was made from, and what that certifies",),
                columns=(Column("What"), Column("Value", width=50), Column("What it certifies")),
                rows=tuple(_rows(run)),
                stacked=True,
            ),
            DataTable(
                caption=("The files this page was made from",),
                columns=(Column("File"), Column("SHA-256", width=50), Column("In the manifest")),
                rows=tuple(_file_rows(run)),
                note=() if run.manifest is not None else ("This folder has no MANIFEST.sha256.",),
                stacked=True,
            ),
            Terms(
                (
                    (
                        "What this certifies",
                        (
                            (
                                "Everyone who has these files can recompute every number on this "
                                "page; everyone who has the data set, the protocol and the "
                                "selector can make the same decisions and requests again."
                            ),
                        ),
                    ),
                    (
                        "What it cannot",
                        (
                            (
                                "No hash shows that the provider named here gave these answers, "
                                "which model stood behind a name, or that it would answer so "
                                "again: there is one answer per question and policy. The cases' "
                                "metadata is set by the scenarios, so nothing here says how a "
                                "policy fares where confidence, confirmations or accesses are "
                                "biased. And a verdict is the grader's, not a person's."
                            ),
                        ),
                    ),
                )
            ),
        ),
    )


def warnings(run: RunFiles) -> Iterator[Text]:
    """Yield what a reader must know before the numbers."""
    selectors = [_get(record.value, "selector") for record in _records(run)]
    for index, selector in enumerate(selectors):
        if selector not in selectors[:index]:
            yield from _selector_warning(selector)
    if run.qa is not None:
        provider = _get(_get(run.qa.run.value, "provider"), "name")
        if provider == "replay":
            yield (
                (
                    "No model was asked in this run: its answers are those of a run published "
                    "before, replayed."
                ),
            )
        elif provider not in {MODEL_PROVIDER, None}:
            yield (
                "No model answered: the answers are those of ",
                Code(name(str(provider))),
                ", a program that runs offline. They say nothing about any model.",
            )
    if run.ungraded:
        yield ("This folder also holds a QA run whose answers are not graded; it is not shown.",)
    yield from _disagreements(run)


def _selector_warning(selector: object) -> Iterator[Text]:
    kind = _get(selector, "kind")
    if kind == "reference":
        yield (
            (
                "What is kept was decided by the reference selector, an independent implementation "
                "of the published formula, not by DeerMem's own code."
            ),
        )
    elif kind == "custom":
        yield (
            "What is kept was decided by the selector ",
            Code(name(str(_get(selector, "name")))),
            ", not by DeerMem's own code.",
        )
    elif kind == "production" and _get(selector, "known") is False:
        yield (
            (
                "What is kept was decided by production code that the protocol does not list: it "
                "is another version than the one the protocol was made for."
            ),
        )


def _disagreements(run: RunFiles) -> Iterator[Text]:
    changed = [
        file
        for file, sha256 in run.hashes.items()
        if run.manifest is not None and run.manifest.get(file, sha256) != sha256
    ]
    for file in changed:
        yield (
            Code(file),
            " is not as it was published: its SHA-256 differs from the one in MANIFEST.sha256.",
        )
    if run.policy is not None and run.qa is not None:
        policy, qa = run.policy.run.value, run.qa.run.value
        differing = [
            key
            for key in _SHARED
            if _MISSING not in (values := (_path(policy, key), _path(qa, key)))
            and values[0] != values[1]
        ]
        if differing:
            yield (
                (
                    "The policy run and the QA run of this folder do not belong together: they "
                    f"differ in {', '.join(differing)}."
                ),
            )
    if run.qa is not None and _stats_differ(run.qa):
        yield (
            (
                "qa.stats.json does not state what the graded rows give: one of the two was "
                "changed after publication."
            ),
        )


def _stats_differ(qa: QAFiles) -> bool:
    if qa.stats is None:
        return False
    stats: Any = qa.stats.value
    stated = stats["pairs"] if type(stats) is dict and "pairs" in stats else [stats]
    given = qa.analysis.at("pairs").value
    return len(stated) != len(given) or any(
        _core(one) != _core(other) for one, other in zip(stated, given, strict=True)
    )


def _core(pair: Any) -> Any:
    """What `qa.stats.json` and `qa.analysis.json` both state of a pair."""
    suites = _get(pair, "suites")
    return {
        suite: {
            (part, key): _path(statistics, f"{part}.{key}")
            for part, keys in (
                ("mcnemar", ("both_correct", "both_wrong", "only_first_correct", "p_value")),
                ("bootstrap", ("mean_difference", "lower", "upper")),
            )
            for key in keys
        }
        for suite, statistics in (suites if type(suites) is dict else {}).items()
    }


def _rows(run: RunFiles) -> Iterator[_Row]:
    yield from _merged({_record_of(record): list(_record_rows(record)) for record in _records(run)})
    if run.policy is not None:
        clock = run.policy.run.at("evaluation_time").text()
        yield _row("Evaluation clock", name(clock), "the time at which facts' ages were taken")
    if run.qa is not None:
        yield from _qa_rows(run.qa)


def _merged(rows: dict[str, list[_Row]]) -> Iterator[_Row]:
    """Yield what all runs of the folder record alike once, and all else for each run."""
    seen: set[str] = set()
    for record, own in rows.items():
        for row in own:
            same = all(row in others for others in rows.values())
            if same and row[0].text not in seen:
                seen.add(row[0].text)
                yield row
            elif not same:
                yield (text_cell(f"{row[0].text} ({record.lower()})"), *row[1:])


def _record_rows(record: Node) -> Iterator[_Row]:
    yield _row("Protocol", name(record.at("protocol_id").text()), "the rules the run followed")
    yield from _source_rows(record)
    yield from _selector_rows(record)
    begun = name(record.at("created_at").text())
    yield _row("Begun", begun, "by the clock of the machine that ran it, in UTC")


def _source_rows(document: Node) -> Iterator[_Row]:
    value = document.value
    dataset = document.at("dataset")
    origin = (dataset.at(key).text() for key in ("filename", "repository", "revision"))
    yield _row(
        "Data set's origin",
        name("{} of {} at {}".format(*origin), 300),
        "where the pinned file is published",
    )
    for key, label, certifies in _ARTIFACTS:
        sha256 = document.at("artifacts", key).text()
        yield _row(f"{label}, SHA-256", Code(name(sha256)), certifies)
    git = value.get("git")
    yield _row(
        "deermem's commit",
        "not run from a git checkout" if git is None else _commit(_get(git, "head"), git),
        "the code that ran, where its checkout was clean",
    )
    packages = value.get("packages")
    if type(packages) is dict:
        listed = ", ".join(f"{package} {version}" for package, version in sorted(packages.items()))
        yield _row("Packages", name(listed, 400), "the versions that ran")


def _selector_rows(document: Node) -> Iterator[_Row]:
    selector = document.value.get("selector")
    if selector is None:
        yield _row("Selector", "not recorded", "nothing: this run does not say what decided")
        return
    shown = name(str(_get(selector, "name")))
    if _get(selector, "kind") == "production":
        listed = "listed" if _get(selector, "known") else "not listed"
        shown = f"{shown}, {listed} by the protocol"
    yield _row("Selector", shown, "which code decided what is kept")
    yield _row("Selector's file", Code(name(str(_get(selector, "path")), 300)), "where it is")
    yield _row(
        "Selector, SHA-256",
        Code(name(str(_get(selector, "sha256")))),
        "the decisions are those of exactly this code",
    )
    if _get(selector, "commit") is not None:
        yield _row(
            "Selector's commit",
            _commit(_get(selector, "commit"), selector),
            "the checkout it was taken from",
        )


def _qa_rows(qa: QAFiles) -> Iterator[_Row]:
    run = qa.run
    for key, label, certifies in _QA:
        place = run.at("qa", key)
        yield _row(label, _value(place), certifies)
    yield _row("Models that answered", tuple(_models(qa)), "as the provider names them")
    provider = run.value.get("provider")
    if provider is None:
        yield _row("Provider", "not recorded", "nothing: this run does not say who answered")
    else:
        yield _row("Provider", name(str(_get(provider, "name"))), "what answered the requests")
        for key, label in (
            ("endpoint", "Endpoint"),
            ("endpoint_sha256", "Endpoint, SHA-256"),
            ("replay_sha256", "Replayed file, SHA-256"),
        ):
            if _get(provider, key) is not None:
                yield _row(label, Code(name(str(_get(provider, key)), 300)), "where they came from")
    settings = qa.analysis.at("settings")
    yield _row(
        "Statistics",
        (
            "alpha ",
            _value(settings.at("alpha")),
            ", bootstrap seed ",
            _value(settings.at("bootstrap_seed")),
            ", ",
            settings.at("bootstrap_iterations").count(),
            " resamples",
        ),
        "the intervals can be drawn again, bit for bit",
    )


def _models(qa: QAFiles) -> Iterable[Part]:
    answered = Counter(row.response_model for row in qa.rows)
    for index, (model, count) in enumerate(
        sorted(answered.items(), key=lambda item: (-item[1], item[0] or ""))
    ):
        yield ", " if index else ""
        yield "unnamed" if model is None else Code(name(model))
        yield " ("
        yield Number(count_text(count), count)
        yield f" answer{'' if count == 1 else 's'})"


def _file_rows(run: RunFiles) -> Iterator[_Row]:
    for file, sha256 in run.hashes.items():
        stated = None if run.manifest is None else run.manifest.get(file)
        state = "not listed" if stated is None else "yes" if stated == sha256 else "DIFFERS"
        yield (text_cell(Code(file)), text_cell(Code(sha256)), text_cell(state))
    if run.qa is not None and run.qa.analysis_is_computed:
        yield (
            text_cell(Code("qa.analysis.json")),
            text_cell(f"not in the folder; made from {ROWS_FILE} for this page"),
            text_cell("not listed"),
        )


def _records(run: RunFiles) -> Iterator[Node]:
    if run.policy is not None:
        yield run.policy.run
    if run.qa is not None:
        yield run.qa.run


def _record_of(document: Node) -> str:
    return "The QA run" if document.name == QA_RUN_FILE else "The policy run"


def _row(label: str, value: Part | Text, certifies: str) -> _Row:
    parts = value if isinstance(value, tuple) else (value,)
    return (text_cell(label), text_cell(*parts), text_cell(certifies))


def _commit(head: object, state: object) -> str:
    dirty = {True: ", with changes", False: ", clean"}.get(_get(state, "dirty"), "")
    return f"{name(str(head))}{dirty}"


def _value(node: Node) -> Part:
    value = node.value
    if type(value) in {int, float}:
        return Number(str(value), value, node.source)
    return name(str(value))


def _get(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _path(value: Any, path: str) -> Any:
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return _MISSING
        value = value[key]
    return value
