"""`mini-v1`'s data set is what it is said to be, as far as that can be checked.

`mini_values.json` states, by hand, the older and the newer value of each official
knowledge-update record, and what happened when in each official temporal-reasoning one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from deermem_data import (
    Case,
    Dataset,
    Protocol,
    Record,
    build_cases,
    load_dataset,
    load_protocol,
)
from deermem_data.selection import is_bank_candidate, is_official_candidate

PROTOCOL = load_protocol("mini-v1")
PATH = PROTOCOL.files.folder / "data" / "deermem_mini.json"
ROWS: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))
DATASET = load_dataset(PATH, PROTOCOL)
CASES = {case.case_id: case for case in build_cases(PROTOCOL, DATASET)}
OFFICIAL = [case for case in CASES.values() if case.source == "longmemeval"]
VALUES = json.loads(Path(__file__).with_name("mini_values.json").read_text(encoding="utf-8"))
UPDATES, TIMES = VALUES["knowledge-update"], VALUES["temporal-reasoning"]

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def tokens(text: str) -> list[str]:
    """The words and numbers of a text, lower-cased."""
    return re.findall(r"[^\W_]+", text.lower())


# Words that carry no subject.
COMMON = set(
    tokens(
        """
        a about after ago all altogether an and any are at be been before can day days did do
        does doing each first for from get go had has have how i in is it keep last lie long
        many me much my not now of on one or our out place right should take than that the
        there these they this time to two up was we week weeks were what when where which
        while who whose will with would you your
        """
    )
)


def contains(text: str, phrase: str) -> bool:
    """Whether the phrase's tokens stand in the text's, contiguously."""
    inner = f" {' '.join(tokens(phrase))} "
    return inner in f" {' '.join(tokens(text))} "


def said(content: str) -> str:
    """Evidence without the lines that head its sessions."""
    return "\n".join(line for line in content.split("\n") if not line.startswith("SESSION "))


def moment(text: str) -> datetime:
    """A date of the data set, whose weekday must agree."""
    parsed = datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
    assert parsed.strftime("%Y/%m/%d (%a) %H:%M") == text
    return parsed


def support(case: Case) -> str:
    """The content of a case's support fact."""
    (content,) = [f["content"] for f in case.facts if f["id"] in case.support_fact_ids]
    return str(content)


def distractors(case: Case) -> list[str]:
    """The contents of a case's distractors."""
    return [said(f["content"]) for f in case.facts if f["id"] not in case.support_fact_ids]


def test_size() -> None:
    """150 records or more, six types; 48 or more could stand in the bank."""
    assert len(ROWS) >= 150
    assert {
        "knowledge-update",
        "temporal-reasoning",
        "single-session-user",
        "single-session-preference",
        "single-session-assistant",
        "multi-session",
    } == {row["question_type"] for row in ROWS}
    candidates = [is_bank_candidate(Record.from_row(row), PROTOCOL.config.pool) for row in ROWS]
    assert sum(candidates) >= 48
    assert len(DATASET.bank) == 40
    assert set(PROTOCOL.config.pool.distractor_types) == {r.question_type for r in DATASET.bank}


def test_formatting() -> None:
    """The file's bytes are one certain way of writing its rows, so that it can be made again."""
    written = json.dumps(ROWS, ensure_ascii=False, indent=1) + "\n"
    assert written == PATH.read_text(encoding="utf-8")


def test_keys() -> None:
    """Every record has LongMemEval's keys, every turn its own."""
    keys = {
        "question_id", "question_type", "question", "answer", "question_date", "haystack_dates",
        "haystack_session_ids", "haystack_sessions", "answer_session_ids",
    }  # fmt: skip
    assert {frozenset(keys)} == {frozenset(row) for row in ROWS}
    turns = [turn for row in ROWS for session in row["haystack_sessions"] for turn in session]
    assert {frozenset(turn) - {"has_answer"} for turn in turns} <= {frozenset(["role", "content"])}
    assert {"user", "assistant"} == {turn["role"] for turn in turns}
    assert all(turn["content"].strip() for turn in turns)
    for row in ROWS:
        assert set(row["answer_session_ids"]) <= set(row["haystack_session_ids"])


def test_dates_and_weekdays() -> None:
    """Weekdays are right, sessions follow each other, the question comes last."""
    for row in ROWS:
        dates = [moment(text) for text in row["haystack_dates"]]
        assert sorted(dates) == dates, row["question_id"]
        assert all(dates[-1] < moment(row["question_date"]) for _ in dates), row["question_id"]
        assert moment(row["question_date"]).date() < PROTOCOL.config.evaluation_time.date()


def test_ids() -> None:
    """Question and session ids are unique over the whole data set."""
    questions = [row["question_id"] for row in ROWS]
    sessions = [name for row in ROWS for name in row["haystack_session_ids"]]
    assert [name for name, count in Counter(questions).items() if count > 1] == []
    assert [name for name, count in Counter(sessions).items() if count > 1] == []
    assert all(re.fullmatch(r"[0-9a-f]{8}(_abs)?", name) for name in questions)


def test_no_text_twice() -> None:
    """No question is asked twice, and nothing of any length is said twice by a user."""
    said_by_user = [
        turn["content"]
        for row in ROWS
        for session in row["haystack_sessions"]
        for turn in session
        if turn["role"] == "user" and len(turn["content"]) > 40
    ]
    assert len(set(said_by_user)) == len(said_by_user)
    assert len({row["question"] for row in ROWS}) == len(ROWS)


def selection(protocol: Protocol) -> dict[str, list[str]]:
    """The ids that the protocol selects, and its bank, from the data set."""
    dataset: Dataset = load_dataset(PATH, protocol)
    ids = {kind: [r.record_id for r in found] for kind, found in dataset.selected.items()}
    return {**ids, "bank": [r.record_id for r in dataset.bank]}


RULE = PROTOCOL.official.selection
DROPPED_RULES: dict[str, dict[str, Any]] = {
    "pilots": {"excluded_pilot_ids": ()},
    **{
        f"pilot {pilot}": {
            "excluded_pilot_ids": tuple(p for p in RULE.excluded_pilot_ids if p != pilot)
        }
        for pilot in RULE.excluded_pilot_ids
    },
    "abstentions": {"exclude_abstention_suffix": "no such suffix"},
    "blank answers": {"answer_min_chars": 0},
    "long answers": {"answer_max_chars": 10_000},
    "answers one too long": {"answer_max_chars": 101},
    "not enough": {"answer_excluded_substrings": ("only mentioned",)},
    "only mentioned": {"answer_excluded_substrings": ("not enough",)},
    "no usable turn": {"evidence_min_chars": 0},
    "long evidence": {"evidence_max_chars": 100_000},
    "evidence one too long": {"evidence_max_chars": 2001},
}


@pytest.mark.parametrize("name", DROPPED_RULES)
def test_each_exclusion_bites(name: str) -> None:
    """Without any one of the rule's exclusions other questions would be selected."""
    rule = evolve(RULE, **DROPPED_RULES[name])
    changed = evolve(PROTOCOL, official=evolve(PROTOCOL.official, selection=rule))
    before, after = selection(PROTOCOL), selection(changed)
    kinds = RULE.eligible_question_types
    assert any(before[kind] != after[kind] for kind in kinds)
    assert all(len(after[kind]) == 20 for kind in kinds)


def test_stripping_bites() -> None:
    """A blank answer and a padded one stand among the near misses."""
    assert any(isinstance(row["answer"], str) and not row["answer"].strip() for row in ROWS)
    assert any(
        isinstance(row["answer"], str)
        and len(row["answer"]) > 100 >= len(row["answer"].strip())
        and is_official_candidate(Record.from_row(row), RULE)
        for row in ROWS
    )


def test_excluded_phrase_in_any_case_bites() -> None:
    """An excluded phrase stands in capitals too."""
    for phrase in RULE.answer_excluded_substrings:
        answers = [str(row["answer"]) for row in ROWS]
        assert any(phrase not in answer and phrase in answer.lower() for answer in answers)


@pytest.mark.parametrize(
    "change",
    [
        {"distractor_min_evidence_chars": 0},
        {"distractor_max_evidence_chars": 701},
        {"distractor_max_evidence_chars": 100_000},
        {"distractor_types": ("single-session-user",)},
        {"distractor_types": ("single-session-preference",)},
        {
            "distractor_types": (
                "single-session-user", "single-session-preference", "single-session-assistant"
            )
        },
    ],
    ids=str,
)  # fmt: skip
def test_each_bound_of_the_bank_bites(change: dict[str, Any]) -> None:
    """Without any one of the bank's bounds it would hold other records."""
    pool = evolve(PROTOCOL.config.pool, **change)
    changed = evolve(PROTOCOL, config=evolve(PROTOCOL.config, pool=pool))
    assert selection(PROTOCOL)["bank"] != selection(changed)["bank"]


def test_more_candidates_than_taken() -> None:
    """The rule's `first 20 by id` and the bank's `first 40` leave some out."""
    for kind in RULE.eligible_question_types:
        rows = [row for row in ROWS if row["question_type"] == kind]
        assert sum(is_official_candidate(Record.from_row(row), RULE) for row in rows) > 20


@pytest.mark.parametrize("case_id", UPDATES)
def test_knowledge_update_holds_both_values_in_order(case_id: str) -> None:
    """The older value is said first, the newer one later, and the newer is the answer."""
    older, newer = UPDATES[case_id]["older"], UPDATES[case_id]["newer"]
    case = CASES[case_id]
    sessions = support(case).split("\n\n")
    with_older = [i for i, session in enumerate(sessions) if contains(session, older)]
    with_newer = [i for i, session in enumerate(sessions) if contains(session, newer)]
    assert with_older == [0]
    assert [len(sessions) - 1] == with_newer
    assert len(sessions) - 1 > 0
    assert contains(case.answer, newer) or contains(newer, case.answer)
    assert not contains(case.answer, older)


def number_in(answer: str) -> int:
    """The one number of an answer, in digits or as a word."""
    (found,) = [
        int(token) if token.isdigit() else NUMBERS.index(token) + 1
        for token in tokens(answer)
        if token.isdigit() or token in NUMBERS
    ]
    return found


@pytest.mark.parametrize("case_id", TIMES)
def test_temporal_answer_follows_from_the_dates(case_id: str) -> None:
    """What happened when, by hand, gives the answer."""
    answer, ask = CASES[case_id].answer, TIMES[case_id]["ask"]
    events = {name: date.fromisoformat(day) for name, day in TIMES[case_id]["events"].items()}
    days = sorted(events.values())
    by_day = sorted(events, key=lambda name: events[name])
    at = date.fromisoformat(TIMES[case_id].get("at", "0001-01-01"))
    if ask in {"days", "weeks"}:
        unit = 7 if ask == "weeks" else 1
        assert len(days) == 2
        assert number_in(answer) * unit == (days[1] - days[0]).days
        words = set(tokens(answer)) - set(NUMBERS)
        assert {word for word in words if not word.isdigit()} <= {ask}
    elif ask == "weekday":
        assert answer == days[0].strftime("%A")
    elif ask == "date":
        assert answer == f"{days[0].day} {days[0]:%B}"
    elif ask == "on":
        assert [answer] == [name for name in by_day if events[name] == at]
    elif ask == "before":
        assert answer == [name for name in by_day if events[name] < at][-1]
    else:
        assert answer == by_day[{"first": 0, "last": -1}[ask]]
        assert len(set(days)) == len(days)


def test_values_are_those_of_the_official_cases() -> None:
    """The table speaks of every official case."""
    for kind, table in VALUES.items():
        assert set(table) == {case.case_id for case in OFFICIAL if case.question_type == kind}


COMPUTED = {"days", "weeks", "weekday", "date"}
EXTRACTABLE = [c for c in OFFICIAL if TIMES.get(c.case_id, {}).get("ask") not in COMPUTED]


def test_most_answers_can_be_extracted() -> None:
    """So that a simple reader has something to find."""
    assert len(EXTRACTABLE) >= 30


@pytest.mark.parametrize("case", EXTRACTABLE, ids=lambda case: case.case_id)
def test_answer_stands_in_the_support_evidence(case: Case) -> None:
    """The answer's words are said, contiguously; of a range, its value."""
    answer = case.answer.split(". ")[0]
    assert contains(said(support(case)), answer)


@pytest.mark.parametrize("case", OFFICIAL, ids=lambda case: case.case_id)
def test_answer_stands_in_no_distractor(case: Case) -> None:
    """No distractor of the pool says the answer, but for a bare small number."""
    if case.answer.isdigit() and int(case.answer) < 100:
        return
    answer = case.answer.split(". ")[0]
    assert [text for text in distractors(case) if contains(text, answer)] == []


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.case_id)
def test_no_distractor_is_about_the_question(case: Case) -> None:
    """No distractor shares more than half of the question's content words."""
    subject = set(tokens(case.question)) - COMMON
    assert subject
    for text in distractors(case):
        assert len(subject & set(tokens(text))) <= len(subject) / 2, text


@pytest.mark.parametrize("case", OFFICIAL, ids=lambda case: case.case_id)
def test_support_evidence_is_about_the_question(case: Case) -> None:
    """The support fact shares at least half of the question's content words."""
    subject = set(tokens(case.question)) - COMMON
    assert len(subject & set(tokens(said(support(case))))) >= len(subject) / 2


FORMS = {
    "a bare number": r"\d+",
    "an amount of money": r"\$\d+\.\d\d",
    "a time of day": r"\d+:\d\d [ap]m",
    "a time taken": r"\d:\d\d",
    "a duration in figures": r"\d+ (minutes|days|weeks)",
    "a duration in words": r"[a-z ]+ (hours|weeks)",
    "a person's name": r"[A-Z]\w+ [A-Z]\w+",
    "a bare name": r"[A-Z]\w+",
    "a weekday": r"\w+day",
    "a date": r"\d+ [A-Z]\w+",
    "a phrase": r"[a-z]+ing \w+ .*",
    "a place": r"with .* at number \d+",
}


@pytest.mark.parametrize("form", FORMS)
def test_answer_forms(form: str) -> None:
    """Answers are of many forms."""
    assert any(re.fullmatch(FORMS[form], case.answer) for case in OFFICIAL)


def test_one_range_and_one_list() -> None:
    """One answer admits a range, one is a list."""
    assert sum("ranging from" in case.answer for case in OFFICIAL) == 1
    assert sum(bool(re.search(r", .* and ", case.answer)) for case in OFFICIAL) == 1


def test_some_answers_are_json_integers() -> None:
    """As in LongMemEval, not every answer is text."""
    official = {case.case_id for case in OFFICIAL}
    kinds = {type(row["answer"]) for row in ROWS if row["question_id"] in official}
    assert {int, str} == kinds
