"""The deterministic baseline: which stored sentence answers a question."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_data import build_cases, load_dataset, load_protocol
from deermem_grade import grade_answer
from deermem_qa.lexical_reader import LexicalReader, content_words, read_lexically
from deermem_qa.provider import Answer
from deermem_qa.task import Task, build_tasks
from deermem_select import bind_selector

MEMORY = [
    "SESSION s1 AT 2025/01/01 (Wed) 10:00\nUSER: I cook a lot. My favourite pan is the copper one!",
    "SESSION s2 AT 2025/02/01\nUSER: The canoe club meets Tuesdays.\nASSISTANT: Bring a dry bag.",
    "CORRECTION FROM THE USER: The locker code is 4471.",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("On which day does the canoe club meet?", "The canoe club meets Tuesdays."),
        ("What is my favourite pan?", "My favourite pan is the copper one!"),
        ("WHAT IS THE LOCKER CODE?", "The locker code is 4471."),
        ("Which dry bag?", "Bring a dry bag."),
        ("What is the name of my dentist?", "INSUFFICIENT"),
        ("Which canoe did my dentist recommend in the library?", "INSUFFICIENT"),
        ("Which canoe club is my dentist in?", "The canoe club meets Tuesdays."),
        ("Which canoe has my dentist?", "INSUFFICIENT"),
        ("What is it?", "INSUFFICIENT"),
        ("", "INSUFFICIENT"),
    ],
)
def test_the_best_sentence_answers(question: str, answer: str) -> None:
    """The sentence with the question's content words answers, without its line's prefix."""
    assert answer == read_lexically(question, MEMORY)


def test_nothing_stored() -> None:
    """An empty memory is insufficient."""
    assert read_lexically("Where is the key?", []) == "INSUFFICIENT"


def test_session_lines_are_no_sentences() -> None:
    """The line that opens a session is never an answer."""
    memory = ["SESSION harbour AT 2025/01/01\nUSER: Hello there."]
    assert read_lexically("Which harbour session?", memory) == "INSUFFICIENT"


def test_a_title_ends_no_sentence() -> None:
    """Mr. and the like stay with the name that follows."""
    memory = ["USER: My landlord is Mr. Quill. He is kind."]
    assert read_lexically("Who is my landlord?", memory) == "My landlord is Mr. Quill."


def test_in_a_fact_the_last_of_equals_answers() -> None:
    """An update stands after what it replaces: of equal sentences the last one answers."""
    memory = ["USER: My desk is at window two.\n\nUSER: My desk is at window nine."]
    answer = read_lexically("Where is my desk?", memory)
    assert answer == "My desk is at window nine."


def test_between_facts_the_first_of_equals_answers() -> None:
    """Between facts the order of the memory decides, which says nothing about their age."""
    memory = ["My desk is at window two.", "My desk is at window nine."]
    assert read_lexically("Where is my desk?", memory) == "My desk is at window two."
    assert read_lexically("Where is my desk?", memory[::-1]) == "My desk is at window nine."


def test_the_rest_of_a_fact_counts_a_quarter() -> None:
    """Of two sentences alike, the one whose fact is about the question answers."""
    memory = ["It is painted red.", "It is painted red, as I wanted. This is my canoe."]
    assert read_lexically("Is my canoe painted red?", memory) == "It is painted red, as I wanted."
    assert read_lexically("Is it painted red?", memory) == "It is painted red."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Walking the walked walks", {"walk"}),
        ("The buses", {"bus"}),
        ("Škocjan CAVE-tour 2025", {"škocjan", "cave", "tour", "2025"}),
        ("as is, does, his", set()),
    ],
)
def test_content_words(text: str, words: set[str]) -> None:
    """Words are folded, function words left out, endings taken off words of three letters more."""
    assert words == content_words(text)


def test_the_answer_names_its_reader(task: Task) -> None:
    """Nobody takes these answers for a model's: the reader is the response model, without usage."""
    asked = attrs.evolve(
        task, question="What colour is the ship?", memory=(("f", "USER: The ship's colour: grey."),)
    )
    expected = Answer("The ship's colour: grey.", 1, "lexical-reader-v1", None, {})
    assert expected == LexicalReader().answer(asked)
    assert LexicalReader().identity() == {
        "name": "lexical-reader-v1",
        "endpoint": None,
        "endpoint_sha256": None,
        "replay_sha256": None,
    }


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_text_is_answered_from_the_memory(question: str, memory: list[str]) -> None:
    """For any text the answer stands in the memory, or is INSUFFICIENT; twice the same."""
    answer = read_lexically(question, memory)
    assert answer == "INSUFFICIENT" or any(answer in content for content in memory)
    assert answer == read_lexically(question, memory)


def test_the_order_of_sets_does_not_matter() -> None:
    """Under another hash seed the answers are the same, byte for byte."""
    program = (
        "from deermem_qa.lexical_reader import read_lexically as read\n"
        "words = [f'w{i}' for i in range(40)]\n"
        "facts = [' '.join(words[i::7]) + '.' for i in range(7)]\n"
        "print([read(' '.join(words[i::3] + words[i::5]), facts) for i in range(15)])\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_it_is_a_fair_baseline_on_the_embedded_data_set() -> None:
    """It answers a fair part where the support fact stayed, and abstains where it was evicted."""
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    cases = build_cases(protocol, load_dataset(protocol.embedded_dataset, protocol))
    by_id = {case.case_id: case for case in cases}
    seen: Counter[tuple[bool, str]] = Counter()
    for task in build_tasks(protocol, cases, bind_selector("reference", protocol=protocol)):
        case = by_id[task.case_id]
        prediction = LexicalReader().answer(task).prediction
        right = grade_answer(prediction, case.answer).correct
        kind = "right" if right else "abstained" if prediction == "INSUFFICIENT" else "wrong"
        seen[set(case.support_fact_ids) <= set(task.kept_fact_ids), kind] += 1
    kept = {kind: seen[True, kind] for kind in ("right", "abstained", "wrong")}
    evicted = {kind: seen[False, kind] for kind in ("right", "abstained", "wrong")}
    assert (sum(kept.values()), sum(evicted.values())) == (72, 18)
    assert kept["right"] > sum(kept.values()) / 2
    assert evicted["right"] == 0
    assert evicted["abstained"] > sum(evicted.values()) / 2
