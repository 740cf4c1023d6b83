"""Tasks: one answer to ask a model for, with its messages and its request fingerprint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import frozen

from deermem_data import AnswerPrompt, Case, Protocol, sha256_hex
from deermem_select import Decision, Selector, decide

from .errors import RunError

_PLACEHOLDER = re.compile(r"\{\{(CURRENT_DATE_SECTION|STORED_MEMORY|QUESTION)\}\}")


@frozen
class Task:
    """One answer to ask for: a case under a policy at the QA capacity.

    Attributes:
        row_id: `{case_id}__{policy}`.
        kept_fact_ids: what the policy kept, best first.
        memory: (fact id, content) of each kept fact, sorted by id, as the messages show them.
        messages: the chat messages, each with `role` and `content`.
        request: the JSON object that is sent, and nothing else.
        request_fingerprint: SHA-256 of the request (design: the protocol).
    """

    row_id: str
    case_id: str
    source: str
    scenario: str
    policy: str
    capacity: int
    kept_fact_ids: tuple[str, ...]
    question: str
    memory: tuple[tuple[str, str], ...]
    messages: tuple[dict[str, str], ...]
    request: dict[str, Any]
    request_fingerprint: str


def qa_decisions(
    protocol: Protocol, cases: Iterable[Case], selector: Selector
) -> Iterator[tuple[Case, Decision]]:
    """Decide each case at the QA capacity, under each policy in the protocol's order.

    Raises:
        SelectorError: the selector fails or returns what cannot be right.
    """
    config = protocol.config
    for case in cases:
        for policy in config.policies.values():
            yield (
                case,
                decide(case, policy, config.pool.qa_capacity, selector, config.evaluation_time),
            )


def build_tasks(protocol: Protocol, cases: Iterable[Case], selector: Selector) -> tuple[Task, ...]:
    """Return the tasks of a run, case by case, policies in the protocol's order.

    Raises:
        SelectorError: the selector fails or returns what cannot be right.
        RunError: two tasks have one row id, because an id or a policy holds `__`.
    """
    tasks: dict[str, Task] = {}
    for case, decision in qa_decisions(protocol, cases, selector):
        task = build_task(protocol, case, decision)
        other = tasks.setdefault(task.row_id, task)
        if other is not task:
            raise RunError(
                f"row {task.row_id}: case {other.case_id} under policy {other.policy} and case "
                f"{task.case_id} under policy {task.policy} have one id; rename a case or a policy"
            )
    return tuple(tasks.values())


def build_task(protocol: Protocol, case: Case, decision: Decision) -> Task:
    """Make the task of one decision about `case`."""
    contents = {fact["id"]: fact["content"] for fact in case.facts}
    memory = tuple((fact_id, contents[fact_id]) for fact_id in sorted(decision.kept_fact_ids))
    messages = render_messages(protocol.prompt, case.question, case.question_date, memory)
    qa = protocol.config.qa
    request = {
        "model": qa.model,
        "temperature": float(qa.temperature),
        "max_tokens": qa.max_tokens,
        "stream": qa.stream,
        "messages": list(messages),
    }
    return Task(
        row_id=row_id_of(case.case_id, decision.policy),
        case_id=case.case_id,
        source=case.source,
        scenario=case.scenario,
        policy=decision.policy,
        capacity=decision.capacity,
        kept_fact_ids=decision.kept_fact_ids,
        question=case.question,
        memory=memory,
        messages=messages,
        request=request,
        request_fingerprint=fingerprint(request),
    )


def row_id_of(case_id: str, policy: str) -> str:
    """The id of a case's row under a policy."""
    return f"{case_id}__{policy}"


def render_messages(
    prompt: AnswerPrompt,
    question: str,
    question_date: str | None,
    memory: Iterable[tuple[str, str]],
) -> tuple[dict[str, str], ...]:
    """Fill the prompt's two sections, in one pass: filled-in text is never read as a placeholder.

    Args:
        question_date: as the data set words it; `None` where the question has none.
        memory: (fact id, content) pairs, in the order they are to be shown.
    """
    values = {
        "CURRENT_DATE_SECTION": f"CURRENT DATE: {question_date}\n" if question_date else "",
        "STORED_MEMORY": "\n\n".join(f"[{fact_id}]\n{content}" for fact_id, content in memory),
        "QUESTION": question,
    }

    def fill(template: str) -> str:
        return _PLACEHOLDER.sub(lambda match: values[match[1]], template)

    return (
        {"role": "system", "content": fill(prompt.system)},
        {"role": "user", "content": fill(prompt.user)},
    )


def fingerprint(request: dict[str, Any]) -> str:
    """SHA-256 of a request as JSON with sorted keys and the default separators (design)."""
    return sha256_hex(json.dumps(request, ensure_ascii=False, sort_keys=True).encode("utf-8"))
