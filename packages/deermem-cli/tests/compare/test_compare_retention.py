"""`deermem compare` on policy runs: what was kept, side by side."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., tuple[int, str, str]]
Compared = Callable[..., Any]
Row = dict[str, Any]

RAW = "policy.raw.jsonl"


def at(rows: list[Row], policy: str, capacity: int, *, kept: bool) -> list[Row]:
    """The official decisions of a policy and capacity that kept the support fact, or did not."""
    wanted = ("longmemeval", policy, capacity, kept)
    keys = ("source", "policy", "capacity", "support_all_retained")
    return [row for row in rows if tuple(row[key] for key in keys) == wanted]


def evict(row: Row) -> None:
    """Let a decision keep an evicted distractor in the place of the support fact."""
    support, other = row["support_fact_ids"][0], row["evicted"][0]["fact_id"]
    row["kept_fact_ids"] = [other if name == support else name for name in row["kept_fact_ids"]]
    row["support_all_retained"], row["support_recall"] = False, 0.0


@pytest.fixture
def policy_run(demo: Path, folders: Any) -> Path:
    """The demo's policy run alone."""
    folder: Path = folders.copy(demo, "policy", qa_run=False)
    return folder


@pytest.fixture
def forgetful(demo: Path, folders: Any) -> tuple[Path, list[Row]]:
    """A policy run that evicts two support facts more under `confidence` at 5; and the two."""
    folder = folders.copy(demo, "forgetful", qa_run=False)
    rows = folders.rows(folder, RAW)
    evicting = at(rows, "confidence", 5, kept=True)[:2]
    for row in evicting:
        evict(row)
    # The same facts in another order, and another distractor: decisions differ, no fate flips.
    at(rows, "hybrid-v1", 9, kept=True)[0]["kept_fact_ids"].reverse()
    swapped = at(rows, "hybrid-v1", 7, kept=True)[0]
    distractor = next(name for name in swapped["kept_fact_ids"] if name.startswith("d_"))
    place = swapped["kept_fact_ids"].index(distractor)
    swapped["kept_fact_ids"][place] = swapped["evicted"][0]["fact_id"]
    folders.write(folder, rows, RAW)
    return folder, evicting


def suite(document: Any, policy: str, capacity: int, name: str) -> Any:
    """The counts of a policy, capacity and suite."""
    [found] = [
        item
        for item in document["pairings"][0]["retention"]["suites"]
        if (item["policy"], item["capacity"], item["name"]) == (policy, capacity, name)
    ]
    return found


def test_a_policy_run_with_itself(call: Call, policy_run: Path, compared: Compared) -> None:
    """The published counts stand side by side, and no answer is spoken of."""
    document = compared(policy_run, policy_run)
    [pairing] = document["pairings"]
    assert pairing["answers"] is None
    assert pairing["retention"]["same_decisions"]
    assert [] == pairing["retention"]["flips"]
    # Design: what must come out, official cases under each policy at 5, 7 and 9.
    for policy, expected in (("confidence", [20, 26, 32]), ("hybrid-v1", [30, 40, 40])):
        found = [suite(document, policy, capacity, "official") for capacity in (5, 7, 9)]
        assert expected == [item["first_kept"] for item in found]
        assert expected == [item["second_kept"] for item in found]
    _, out, _ = call("compare", str(policy_run), str(policy_run))
    assert "note: A, B hold no graded answers, so that only retention is compared.\n" in out
    assert "\nB made the same decisions as A: no support fact's fate flips.\n" in out
    assert "Accuracy" not in out


def test_a_forgetful_selector(
    policy_run: Path, forgetful: tuple[Path, list[Row]], compared: Compared
) -> None:
    """Each support fact that one run alone kept is named; other facts are counted as sets."""
    folder, evicting = forgetful
    document = compared(policy_run, folder)
    retention = document["pairings"][0]["retention"]
    assert not retention["same_decisions"]
    assert [
        {
            "case_id": row["case_id"],
            "source": "longmemeval",
            "scenario": row["scenario"],
            "policy": "confidence",
            "capacity": 5,
            "kept_by_first": True,
        }
        for row in sorted(evicting, key=lambda row: row["case_id"])
    ] == retention["flips"]
    found = suite(document, "confidence", 5, "official")
    assert (20, 18, 2, 0, 2) == (
        found["first_kept"],
        found["second_kept"],
        found["only_first"],
        found["only_second"],
        found["other_facts"],
    )
    assert 20 == suite(document, "confidence", 5, "overall")["first_kept"]
    assert 1 == suite(document, "hybrid-v1", 7, "official")["other_facts"]
    assert 0 == suite(document, "hybrid-v1", 9, "official")["other_facts"]


def test_the_other_way_round(
    policy_run: Path, forgetful: tuple[Path, list[Row]], compared: Compared
) -> None:
    """What the second run alone kept is counted as its own."""
    document = compared(forgetful[0], policy_run)
    assert 2 == suite(document, "confidence", 5, "official")["only_second"]
    assert {False} == {
        flip["kept_by_first"] for flip in document["pairings"][0]["retention"]["flips"]
    }


def test_words_and_pages(call: Call, policy_run: Path, forgetful: tuple[Path, list[Row]]) -> None:
    """A terminal and a page say the same counts and name the same cases."""
    folder, evicting = forgetful
    _, out, _ = call("compare", str(policy_run), str(folder))
    row = next(line for line in out.splitlines() if re.match(r"  confidence +official +5 ", line))
    assert ["confidence", "official", "5", "40", "20", "18", "2", "0", "2"] == row.split()
    assert "\nSupport facts kept by one run only, B against A: 2\n" in out
    _, page, _ = call("compare", str(policy_run), str(folder), "--format", "html")
    for decision in evicting:
        assert f"  {decision['case_id']}  official, " in out
        assert f"<code>{decision['case_id']}</code>" in page
    assert "kept by A only, confidence with room for 5\n" in out
    assert 'id="results"' not in page


def test_retention_of_rows(demo: Path, folders: Any, compared: Compared) -> None:
    """Where a folder has answers alone, what was kept is read from the rows, at one capacity."""
    other = folders.copy(demo, policy_run=False)
    rows = folders.rows(other)
    row = next(row for row in rows if row["support_all_retained"])
    distractors = [name for name in row["kept_fact_ids"] if name.startswith("d_")]
    row["kept_fact_ids"], row["support_all_retained"] = distractors, False
    row["support_recall"] = 0.0
    folders.write(other, rows)
    document = compared(demo, other)
    assert "qa.rows.jsonl" == document["retention_file"]
    assert {7} == {item["capacity"] for item in document["pairings"][0]["retention"]["suites"]}
    [flip] = document["pairings"][0]["retention"]["flips"]
    assert (row["case_id"], row["policy"]) == (flip["case_id"], flip["policy"])


def test_answers_of_one_run_alone(
    call: Call, demo: Path, policy_run: Path, compared: Compared
) -> None:
    """Where one run has no answers, the policy runs are compared, and it is said."""
    document = compared(demo, policy_run)
    assert document["pairings"][0]["answers"] is None
    assert "policy.raw.jsonl" == document["retention_file"]
    _, out, _ = call("compare", str(demo), str(policy_run))
    assert "note: B holds no graded answers, so that only retention is compared.\n" in out
