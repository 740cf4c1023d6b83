"""Tasks: the messages, the request and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from deermem_data import AnswerPrompt, build_cases, load_dataset, load_protocol
from deermem_qa import RunError, Task, build_tasks
from deermem_qa.task import fingerprint, render_messages
from deermem_select import bind_selector

PROMPT = AnswerPrompt(
    system="Answer from memory.",
    user="{{CURRENT_DATE_SECTION}}MEMORY:\n{{STORED_MEMORY}}\nASKED: {{QUESTION}}",
)


@pytest.fixture(scope="module")
def tasks() -> tuple[Task, ...]:
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    cases = build_cases(protocol, load_dataset(protocol.embedded_dataset, protocol))
    return build_tasks(protocol, cases, bind_selector("reference", protocol=protocol))


def test_messages() -> None:
    """Blocks of id and content in the order given, joined by a blank line, below the date."""
    system, user = render_messages(
        PROMPT, "Which cup?", "2023/05/30 (Tue) 23:40", [("d_1", "one\n"), ("gold_1", "two")]
    )
    assert system == {"role": "system", "content": "Answer from memory."}
    assert user["role"] == "user"
    assert user["content"] == (
        "CURRENT DATE: 2023/05/30 (Tue) 23:40\n"
        "MEMORY:\n[d_1]\none\n\n\n[gold_1]\ntwo\nASKED: Which cup?"
    )


@pytest.mark.parametrize("date", [None, ""])
def test_messages_without_date(date: str | None) -> None:
    """A question without a date has no date line."""
    _, user = render_messages(PROMPT, "Q", date, [("f", "c")])
    assert user["content"] == "MEMORY:\n[f]\nc\nASKED: Q"


@given(
    st.text(),
    st.text(min_size=1),
    st.lists(st.tuples(st.text(), st.sampled_from(["{{QUESTION}}", "{{STORED_MEMORY}}", "\\1 x"]))),
)
def test_filled_text_is_no_placeholder(
    question: str, date: str, memory: list[tuple[str, str]]
) -> None:
    """What is filled in is never filled again, wherever it looks like a placeholder."""
    question += "{{CURRENT_DATE_SECTION}}"
    _, user = render_messages(PROMPT, question, date, memory)
    blocks = "\n\n".join("[" + fact_id + "]\n" + content for fact_id, content in memory)
    expected = f"CURRENT DATE: {date}\nMEMORY:\n{blocks}\nASKED: {question}"
    assert expected == user["content"]


def test_fingerprint() -> None:
    """SHA-256 of the request as JSON: sorted keys, default separators, no ASCII escapes."""
    request = {"model": "m", "temperature": 0.0, "messages": [{"role": "user", "content": "ö"}]}
    text = '{"messages": [{"content": "ö", "role": "user"}], "model": "m", "temperature": 0.0}'
    assert hashlib.sha256(text.encode("utf-8")).hexdigest() == fingerprint(request)


def test_tasks(tasks: tuple[Task, ...]) -> None:
    """45 cases under two policies: ids, the memory sorted by id, the request as the design says."""
    assert len(tasks) == 90
    for index, task in enumerate(tasks):
        assert ("confidence", "hybrid-v1")[index % 2] == task.policy
        assert f"{task.case_id}__{task.policy}" == task.row_id
        assert 7 == task.capacity == len(task.kept_fact_ids)
        assert sorted(task.kept_fact_ids) == [fact_id for fact_id, _ in task.memory]
        assert all(
            f"[{fact_id}]\n{text}" in task.messages[1]["content"] for fact_id, text in task.memory
        )
        assert {
            "model": "deepseek-v4-flash",
            "temperature": 0.0,
            "max_tokens": 2048,
            "stream": False,
            "messages": list(task.messages),
        } == task.request
        assert isinstance(task.request["temperature"], float)
        assert fingerprint(task.request) == task.request_fingerprint


def test_same_facts_same_request(tasks: tuple[Task, ...]) -> None:
    """The order in which facts are kept does not reach the request; which are kept does."""
    pairs = list(zip(tasks[::2], tasks[1::2], strict=True))
    same = [set(one.kept_fact_ids) == set(two.kept_fact_ids) for one, two in pairs]
    assert same == [one.request_fingerprint == two.request_fingerprint for one, two in pairs]
    assert {True, False} == set(same)


def test_published_fingerprints(longmemeval_path: Path, upstream_path: Path) -> None:
    """All 90 kept facts and fingerprints equal those of the published run."""
    protocol = load_protocol(upstream_path)
    cases = build_cases(protocol, load_dataset(longmemeval_path, protocol))
    made = {
        task.row_id: (list(task.kept_fact_ids), task.request_fingerprint)
        for task in build_tasks(protocol, cases, bind_selector("reference", protocol=protocol))
    }
    lines = upstream_path / "results" / "pr4789-reproduction-v1" / "qa.rows.jsonl"
    published = {
        row["row_id"]: (row["kept_fact_ids"], row["request_fingerprint"])
        for row in map(json.loads, lines.read_text(encoding="utf-8").splitlines())
    }
    assert len(published) == 90
    assert published == made


def test_two_tasks_with_one_row_id() -> None:
    """`a` under `b__hybrid-v1` and `a__b` under `hybrid-v1` would share a file: refused, named."""
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    cases = build_cases(protocol, load_dataset(protocol.embedded_dataset, protocol))
    selector = bind_selector("reference", protocol=protocol)
    twins = (cases[0], evolve(cases[1], case_id=cases[0].case_id))
    with pytest.raises(RunError, match=f"row {cases[0].case_id}__confidence: .* have one id"):
        build_tasks(protocol, twins, selector)
