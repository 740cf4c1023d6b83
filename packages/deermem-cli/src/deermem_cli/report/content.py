"""The report: what a run's artifacts say, in the order a reader wants it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deermem_data import ArtifactError

from . import words
from .cases import cases_section
from .document import Code, Document, Number, Section, Terms, Text
from .pairs import SUITE_NAMES, Pair, shown_pairs
from .provenance import MODEL_PROVIDER, provenance_section, warnings
from .results import forest_section, results_section
from .retention import (
    Retention,
    retention_of_policy_run,
    retention_of_rows,
    retention_section,
)
from .robustness import answers_section, detectable_section, stricter_section
from .run_files import QAFiles, RunFiles
from .visible import label, name


def report_document(run: RunFiles) -> Document:
    """Return the report of a run.

    Raises:
        ArtifactError: an artifact does not hold what it must; the message names file and place.
    """
    pairs = () if run.qa is None else shown_pairs(run.qa.analysis)
    retention = _retention(run)
    return Document(
        kind="report",
        title=_title(retention.policies),
        subject=name(_protocol_id(run)),
        answer=tuple(_answer(pairs, retention, run)),
        facts=Terms(tuple(_facts(run, pairs, retention))),
        sections=tuple(_sections(run, pairs, retention)),
        warnings=tuple(warnings(run)),
    )


def _sections(run: RunFiles, pairs: tuple[Pair, ...], retention: Retention) -> Iterator[Section]:
    qa = run.qa
    if qa is not None and pairs:
        yield results_section(pairs)
        yield forest_section(pairs)
    yield retention_section(retention, from_rows=run.policy is None)
    if qa is not None:
        if pairs:
            yield cases_section(pairs, qa)
            yield stricter_section(pairs)
            yield detectable_section(pairs)
        yield answers_section(qa)
    yield provenance_section(run)


def _retention(run: RunFiles) -> Retention:
    if run.policy is not None:
        made = retention_of_policy_run(run.policy)
        path = run.policy.summary.path
    else:
        assert run.qa is not None
        made = retention_of_rows(run.qa)
        path = run.qa.run.path
    if not made.groups:
        raise ArtifactError(f"{path}: holds no group of cases; make the file again")
    return made


def _title(policies: tuple[str, ...]) -> str:
    first, *others = map(label, policies)
    return f"{_listed(others)} against {first}" if others else first


def _protocol_id(run: RunFiles) -> str:
    record = run.qa.run if run.qa is not None else run.policy.run if run.policy else None
    assert record is not None
    return record.at("protocol_id").text()


def _answer(pairs: tuple[Pair, ...], retention: Retention, run: RunFiles) -> Iterator[Text]:
    if pairs:
        for pair in pairs:
            yield words.answer(pair, pair.suites[0])
        return
    suite = retention.main_suite()
    for capacity in _capacities_of_interest(retention, run.qa):
        kept = [retention.kept(suite, policy, capacity) for policy in retention.policies]
        yield words.retention_answer(
            tuple(map(label, retention.policies)),
            tuple(one.kept for one in kept),
            kept[0].cases,
            capacity,
            suite,
        )


def _capacities_of_interest(retention: Retention, qa: QAFiles | None) -> list[int]:
    """The capacity that answers were asked for at; else the middle one."""
    if qa is not None:
        return [qa.rows[0].capacity]
    return [retention.capacities[len(retention.capacities) // 2]]


def _facts(
    run: RunFiles, pairs: tuple[Pair, ...], retention: Retention
) -> Iterator[tuple[str, Text]]:
    yield "Policies", (", ".join(map(name, retention.policies)),)
    yield "Cases", tuple(_cases(pairs, retention))
    capacities = ", ".join(map(str, retention.capacities))
    if run.qa is None:
        yield "Room for facts", (capacities,)
    else:
        qa = run.qa
        asked = qa.run.at("qa", "capacity").count()
        others = () if capacities == asked.text else (f", of {capacities} tried",)
        yield "Room for facts", (asked, *others)
        provider = qa.run.value.get("provider", {}).get("name", MODEL_PROVIDER)
        if provider == MODEL_PROVIDER:
            yield "Model", (Code(name(qa.run.at("qa", "model").text())),)
        else:
            yield "Answered by", (Code(name(str(provider))), ", no model")
        yield "Grader", (Code(name(qa.analysis.at("grader_version").text())),)
    record = run.qa.run if run.qa is not None else run.policy.run if run.policy else None
    assert record is not None
    selector = record.value.get("selector")
    known = selector["name"] if isinstance(selector, dict) and "name" in selector else None
    yield "Selector", ("not recorded" if known is None else name(str(known)),)
    begun = name(record.at("created_at").text())
    yield "Run begun", (f"{begun[:10]} {begun[11:16]} UTC",)


def _cases(pairs: tuple[Pair, ...], retention: Retention) -> Iterable[str | Number]:
    suites = [suite for suite, scenario in retention.groups if scenario is None]
    for index, suite in enumerate(suites):
        yield " + " if index else ""
        if pairs:
            yield pairs[0].suite(suite).at("cases").count()
        else:
            cases = retention.kept(suite, retention.policies[0], retention.capacities[0]).cases
            yield Number(f"{cases:,}", cases)
        yield f" {SUITE_NAMES[suite].lower()}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
