# A row of a table is a line.
# ruff: noqa: E501
"""A protocol's keys are held to their types and to each other; every fault is named at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from deermem_data import PolicyWeights, ProtocolError, load_protocol
from deermem_data._structure import Count, Fraction

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import ProtocolFolder

CONFIG = "configs/capacity-eviction-v1.yaml"
OFFICIAL = "manifests/official.json"
SYNTHETIC = "manifests/synthetic.json"
PROMPT = "prompts/answer.txt"


def faults(folder: ProtocolFolder) -> list[str]:
    """The lines of the error that loading the folder raises."""
    with pytest.raises(ProtocolError) as caught:
        load_protocol(folder.path)
    return str(caught.value).splitlines()


def put(part: str, key: str, value: object) -> Callable[[ProtocolFolder], None]:
    """A change of one key, given by its path, in a YAML or JSON file."""

    def change(folder: ProtocolFolder) -> None:
        def set_key(document: Any) -> None:
            *path, last = [int(k) if k.isdigit() else k for k in key.split("/")]
            for step in path:
                document = document[step]
            document[last] = value

        folder.edit(part, set_key)

    return change


def drop(part: str, key: str) -> Callable[[ProtocolFolder], None]:
    """The removal of one key."""

    def change(folder: ProtocolFolder) -> None:
        def delete(document: Any) -> None:
            *path, last = key.split("/")
            for step in path:
                document = document[step]
            del document[last]

        folder.edit(part, delete)

    return change


SHA = "a SHA-256 of 64 lower-case hex digits"
ID = "an id of 1 to 120 of A-Z a-z 0-9 . _ - (it names files)"
TIME = "a UTC time such as 2026-08-13T00:00:00Z"

ONE_FAULT = [
    # unknown and missing keys
    (CONFIG, put(CONFIG, "polices", {}), "top level: unknown key 'polices' (did you mean 'policies'?)"),
    (CONFIG, put(CONFIG, "pool/capacitys", [5]), "pool: unknown key 'capacitys' (did you mean 'capacities'?)"),
    (CONFIG, put(CONFIG, "statistics/zzz", 1), "statistics: unknown key 'zzz'; known: bootstrap_seed, bootstrap_iterations, alpha"),
    (CONFIG, put(CONFIG, "policies/hybrid_v1/weights/recency", 0.0), "policies.hybrid_v1.weights: unknown key 'recency'; known: confidence, confirmation, access"),
    (OFFICIAL, put(OFFICIAL, "selection/take", 20), "selection: unknown key 'take'; known: eligible_question_types, "),
    (SYNTHETIC, put(SYNTHETIC, "cases/2/notes", "x"), "cases[2]: unknown key 'notes'; known: case_id, support_fact, question, answer, loss_rank"),
    (CONFIG, drop(CONFIG, "pool/qa_capacity"), "pool.qa_capacity: the key is missing"),
    (CONFIG, drop(CONFIG, "policies/hybrid_v1/weights/access"), "policies.hybrid_v1.weights.access: the key is missing"),
    (OFFICIAL, drop(OFFICIAL, "loss_ranks"), "loss_ranks: the key is missing"),
    (OFFICIAL, drop(OFFICIAL, "selection"), "selection: the key is missing"),
    (SYNTHETIC, drop(SYNTHETIC, "cases"), "cases: the key is missing"),
    # wrong types: nothing is converted
    (CONFIG, put(CONFIG, "schema_version", "1"), "schema_version: expected 1, found str '1'"),
    (CONFIG, put(CONFIG, "schema_version", True), "schema_version: expected 1, found bool True"),
    (CONFIG, put(CONFIG, "schema_version", 2), "schema_version: expected 1, found int 2"),
    (CONFIG, put(CONFIG, "pool/size", True), "pool.size: expected a whole number of 1 or more, found bool True"),
    (CONFIG, put(CONFIG, "pool/size", 10.0), "pool.size: expected a whole number of 1 or more, found float 10.0"),
    (CONFIG, put(CONFIG, "pool/capacities", [5, 7.9]), "pool.capacities[1]: expected a whole number of 1 or more, found float 7.9"),
    (CONFIG, put(CONFIG, "pool/capacities", ["5"]), "pool.capacities[0]: expected a whole number of 1 or more, found str '5'"),
    (CONFIG, put(CONFIG, "pool/capacities", 7), "pool.capacities: expected a list, found int 7"),
    (CONFIG, put(CONFIG, "pool/distractor_types", "single-session-user"), "pool.distractor_types: expected a list, found str 'single-session-user'"),
    (CONFIG, put(CONFIG, "pool/distractor_min_evidence_chars", -1), "pool.distractor_min_evidence_chars: expected a whole number of 0 or more, found int -1"),
    (CONFIG, put(CONFIG, "pool/fact_order", "score"), "pool.fact_order: expected 'fact-id', found str 'score'"),
    (CONFIG, put(CONFIG, "pool/offset_namespace", " "), "pool.offset_namespace: expected text that is not blank, found str ' '"),
    (CONFIG, put(CONFIG, "pool", [1]), "pool: expected a mapping of keys to values, found list [1]"),
    (CONFIG, put(CONFIG, "policies", []), "policies: expected a mapping of keys to values, found list []"),
    (CONFIG, put(CONFIG, "qa/model", 7), "qa.model: expected text that is not blank, found int 7"),
    (CONFIG, put(CONFIG, "qa/temperature", "0"), "qa.temperature: expected a number, found str '0'"),
    (CONFIG, put(CONFIG, "qa/temperature", False), "qa.temperature: expected a number, found bool False"),
    (CONFIG, put(CONFIG, "qa/stream", True), "qa.stream: expected False, found bool True"),
    (CONFIG, put(CONFIG, "qa/stream", 0), "qa.stream: expected False, found int 0"),
    (CONFIG, put(CONFIG, "qa/provider", "other"), "qa.provider: expected 'openai-compatible', found str 'other'"),
    (CONFIG, put(CONFIG, "qa/api_key_env", "MY KEY"), "qa.api_key_env: expected the name of an environment variable, found str 'MY KEY'"),
    (CONFIG, put(CONFIG, "qa/workers", 0), "qa.workers: expected a whole number of 1 or more, found int 0"),
    (CONFIG, put(CONFIG, "dataset/sha256", "A" * 64), f"dataset.sha256: expected {SHA}, found str 'AAAA"),
    (CONFIG, put(CONFIG, "dataset/sha256", None), f"dataset.sha256: expected {SHA}, found NoneType None"),
    (CONFIG, put(CONFIG, "known_selectors", ["x"]), f"known_selectors[0]: expected {SHA}, found str 'x'"),
    (CONFIG, put(CONFIG, "evaluation_time", "2026-08-13T00:00:00+02:00"), f"evaluation_time: expected {TIME}, found str '2026-08-13T00:00:00+02:00'"),
    (CONFIG, put(CONFIG, "evaluation_time", "2026-02-30T00:00:00Z"), f"evaluation_time: expected {TIME}, found str '2026-02-30T00:00:00Z'"),
    (CONFIG, put(CONFIG, "evaluation_time", "0001-01-01T00:00:00Z"), f"evaluation_time: expected {TIME}, in 1970 or later, found str"),
    (CONFIG, put(CONFIG, "policies/hybrid_v1/confirmation_half_life_days", 0), "policies.hybrid_v1.confirmation_half_life_days: expected a number above 0, found int 0"),
    (CONFIG, put(CONFIG, "policies/hybrid_v1/correction_reserved_fraction", 1.1), "policies.hybrid_v1.correction_reserved_fraction: expected a number from 0 to 1, found float 1.1"),
    (OFFICIAL, put(OFFICIAL, "scenarios/access_help/3", 10000), f"scenarios.access_help[3]: expected {ID}, found int 10000"),
    (OFFICIAL, put(OFFICIAL, "selection/answer_max_chars", "100"), "selection.answer_max_chars: expected a whole number of 0 or more, found str '100'"),
    (SYNTHETIC, put(SYNTHETIC, "cases/0/loss_rank", 6.0), "cases[0].loss_rank: expected a whole number of 1 or more, found float 6.0"),
    (SYNTHETIC, put(SYNTHETIC, "cases", {"a": 1}), "cases: expected a list, found dict {'a': 1}"),
    # whole numbers that no machine could use
    (CONFIG, put(CONFIG, "qa/max_tokens", 2**53), "qa.max_tokens: expected a whole number of at most 9007199254740991, found int 9007199254740992"),
    (CONFIG, put(CONFIG, "statistics/bootstrap_seed", 10**400), "statistics.bootstrap_seed: expected a whole number of at most 9007199254740991, found int 1000"),
    (CONFIG, put(CONFIG, "qa/timeout_seconds", 86401), "qa.timeout_seconds: expected at most 86400 (a day), found 86401"),
    (CONFIG, put(CONFIG, "qa/workers", 1001), "qa.workers: expected at most 1000, found 1001"),
    # keys of the author's own
    (CONFIG, put(CONFIG, "policies/a\nb\x1b[31m", {"policy": 3}), f"policies.'a\\nb\\x1b[31m'.policy: expected {ID}, found int 3"),
    # ids unfit for file names
    *[
        (SYNTHETIC, put(SYNTHETIC, "cases/1/case_id", bad), f"cases[1].case_id: expected {ID}, found str ")
        for bad in ["", "a/b", "a\\b", "..", ".", "a b", "a\nb", "naïve", "a:b", "a" * 121]
    ],
    (OFFICIAL, put(OFFICIAL, "scenarios/access_help/0", "../x"), f"scenarios.access_help[0]: expected {ID}, found str '../x'"),
    (CONFIG, put(CONFIG, "policies/confidence/policy", "a/b"), f"policies.confidence.policy: expected {ID}, found str 'a/b'"),
    # rules over several keys
    (CONFIG, put(CONFIG, "pool/capacities", [5, 7, 10]), "pool.capacities: expected each below the pool size 10, found [10]"),
    (CONFIG, put(CONFIG, "pool/capacities", [7, 11, 12]), "pool.capacities: expected each below the pool size 10, found [11, 12]"),
    (CONFIG, put(CONFIG, "pool/capacities", [7, 7]), "pool.capacities: expected at least one, each once, found [7, 7]"),
    (CONFIG, put(CONFIG, "pool/qa_capacity", 6), "pool.qa_capacity: expected one of the capacities [5, 7, 9], found 6"),
    (CONFIG, put(CONFIG, "pool/size", 11), "pool.size: expected distractors + 1 support fact = 10, found 11"),
    (CONFIG, put(CONFIG, "pool/distractor_bank_size", 8), "pool.distractor_bank_size: expected at least the 9 distractors of a case, found 8"),
    (CONFIG, put(CONFIG, "pool/distractor_types", []), "pool.distractor_types: expected at least one, each once, found []"),
    (CONFIG, put(CONFIG, "pool/distractor_max_evidence_chars", 39), "pool.distractor_max_evidence_chars: expected at least the minimum 40, found 39"),
    (CONFIG, put(CONFIG, "policies/hybrid_v1/weights/access", 0.2), "policies.hybrid_v1.weights: expected weights that sum to 1, found a sum of 1.1"),
    (CONFIG, put(CONFIG, "policies/hybrid_v1/weights/access", 0.100001), "policies.hybrid_v1.weights: expected weights that sum to 1, found a sum of 1.000001"),
    (CONFIG, put(CONFIG, "policies/hybrid_v1/weights/access", -0.1), "policies.hybrid_v1.weights.access: expected a number from 0 to 1, found float -0.1"),
    (CONFIG, put(CONFIG, "policies/hybrid_v1/policy", "confidence"), "policies: expected at least one, each policy once, found ['confidence', 'confidence']"),
    (CONFIG, put(CONFIG, "policies", {}), "policies: expected at least one, each policy once, found []"),
    (CONFIG, put(CONFIG, "qa/temperature", -0.5), "qa.temperature: expected 0 or more, found -0.5"),
    (CONFIG, put(CONFIG, "statistics/alpha", 1), "statistics.alpha: expected a number between 0 and 1, found 1.0"),
    (CONFIG, put(CONFIG, "statistics/alpha", 0), "statistics.alpha: expected a number between 0 and 1, found 0.0"),
    (CONFIG, put(CONFIG, "dataset/filename", "../x.json"), "dataset.filename: expected a bare file name, found '../x.json'"),
    (OFFICIAL, put(OFFICIAL, "scenarios/access_help/0", "0DDFEC37"), "scenarios: expected each id once (in any case), found ['0DDFEC37', '0ddfec37'] more than once"),
    (OFFICIAL, put(OFFICIAL, "loss_ranks", [6] * 9), "loss_ranks: expected 10, one for each case of a scenario, found 9"),
    (OFFICIAL, put(OFFICIAL, "selection/take_per_question_type", 19), "selection.take_per_question_type: expected 20 (cases_per_type_per_scenario x 4 scenarios), found 19"),
    (OFFICIAL, put(OFFICIAL, "scenarios/access_help", ["a"]), "scenarios: expected 10 ids for each scenario, found 1 for access_help"),
    (OFFICIAL, drop(OFFICIAL, "scenarios/access_help"), "scenarios: expected the keys ['access_help', 'confidence_control', 'confirmation_help', 'noisy_signal_control'] of scenario_order, found ["),
    (OFFICIAL, put(OFFICIAL, "selection/answer_max_chars", 0), "selection.answer_max_chars: expected at least the minimum 1, found 0"),
    (OFFICIAL, put(OFFICIAL, "selection/evidence_min_chars", 3000), "selection.evidence_max_chars: expected at least the minimum 3000, found 2000"),
    (SYNTHETIC, put(SYNTHETIC, "scenario", "nope"), "scenario: expected one of ['access_help', 'confidence_control', 'confirmation_help', 'correction_reserve', 'noisy_signal_control'], found 'nope'"),
    (SYNTHETIC, put(SYNTHETIC, "cases/1/case_id", "correction_Milk"), "cases: expected each id once (in any case), found ['correction_milk', 'correction_Milk'] more than once"),
    # between files
    (SYNTHETIC, put(SYNTHETIC, "cases/1/case_id", "2A1811E2"), "cases[1].case_id: '2A1811E2' is an official case too"),
    (SYNTHETIC, put(SYNTHETIC, "cases/1/loss_rank", 11), "cases[1].loss_rank: a loss rank of 11 in a pool of 10"),
    (CONFIG, put(CONFIG, "pool/distractor_types", ["knowledge-update"]), "pool.distractor_types: ['knowledge-update'] are also eligible_question_types of official.json; "),
]  # fmt: skip


@pytest.mark.parametrize(
    ("part", "change", "expected"),
    ONE_FAULT,
    ids=[f"{i}-{f[2][:40]}" for i, f in enumerate(ONE_FAULT)],
)
def test_one_fault(
    folder: ProtocolFolder, part: str, change: Callable[[ProtocolFolder], None], expected: str
) -> None:
    """One wrong key gives one line: the file, the key's path, what was found and expected."""
    change(folder)
    found = faults(folder)
    assert [f"{folder / part}: {expected}"] == [
        line[: len(f"{folder / part}: {expected}")] for line in found
    ]


def test_every_fault_of_a_file_at_once(folder: ProtocolFolder) -> None:
    """Unknown, missing, wrong and contradicting keys of one file are named together."""

    def spoil(config: dict[str, Any]) -> None:
        config["extra"] = 1
        del config["required_policy_version"]
        config["pool"]["fact_order"] = "score"
        config["pool"]["extra"] = 1
        config["pool"]["capacities"] = [5, 7, 10]
        config["policies"]["hybrid_v1"]["weights"]["access"] = 0.3
        config["policies"]["confidence"]["policy"] = "a/b"
        config["qa"]["workers"] = "3"
        config["qa"]["temperature"] = -1
        config["statistics"]["alpha"] = float("nan")

    folder.edit(CONFIG, spoil)
    assert {
        "top level: unknown key 'extra'",
        "required_policy_version: the key is missing",
        "pool: unknown key 'extra'",
        "pool.fact_order: expected 'fact-id', found str 'score'",
        "pool.capacities: expected each below the pool size 10, found [10]",
        "policies.hybrid_v1.weights: expected weights that sum to 1, found a sum of 1.2",
        (
            "policies.confidence.policy: expected an id of 1 to 120 of A-Z a-z 0-9 . _ - "
            "(it names files), found str 'a/b'"
        ),
        "qa.workers: expected a whole number of 1 or more, found str '3'",
        "qa.temperature: expected 0 or more, found -1.0",
        "statistics.alpha: expected a finite number, found float nan",
    } == {line.removeprefix(f"{folder / CONFIG}: ").split("; known:")[0] for line in faults(folder)}


def test_wrong_key_hides_no_rule_of_the_others(folder: ProtocolFolder) -> None:
    """A manifest with a wrong id still has its ranks counted."""

    def spoil(official: dict[str, Any]) -> None:
        official["scenarios"]["access_help"][0] = 7
        official["loss_ranks"] = [6]
        official["scenario_order"] = [*official["scenario_order"][:3], "nope"]

    folder.edit(OFFICIAL, spoil)
    assert sorted(line.removeprefix(f"{folder / OFFICIAL}: ") for line in faults(folder)) == [
        "loss_ranks: expected 10, one for each case of a scenario, found 1",
        (
            "scenario_order: expected some of ['access_help', 'confidence_control', "
            "'confirmation_help', 'correction_reserve', 'noisy_signal_control'], found ['nope']"
        ),
        "scenarios.access_help[0]: expected " + ID + ", found int 7",
    ]


def test_faults_of_several_files_at_once(folder: ProtocolFolder) -> None:
    """A fault in one file does not hide those of the next."""
    put(CONFIG, "qa/workers", 0)(folder)
    put(OFFICIAL, "protocol_id", "")(folder)
    put(SYNTHETIC, "schema_version", 2)(folder)
    assert [line.removeprefix(f"{folder.path}/").split(": ")[0] for line in faults(folder)] == [
        CONFIG,
        OFFICIAL,
        SYNTHETIC,
    ]


def test_two_protocol_ids(folder: ProtocolFolder) -> None:
    """Parts of two protocols do not make one."""
    put(SYNTHETIC, "protocol_id", "other-v1")(folder)
    assert [
        (
            f"{folder.path}: protocol_id: expected one in all three files, found "
            "capacity-eviction-v1.yaml 'deermem-capacity-eviction-v1', "
            "official.json 'deermem-capacity-eviction-v1', synthetic.json 'other-v1'"
        )
    ] == faults(folder)


def test_long_value_is_shortened(folder: ProtocolFolder) -> None:
    """A message stays one readable line, whatever was found."""
    put(CONFIG, "qa/workers", "x" * 500 + "\n")(folder)
    (line,) = faults(folder)
    assert line.endswith("found str '" + "x" * 76 + "...")


def test_largest_numbers_are_taken(folder: ProtocolFolder) -> None:
    """The bounds themselves are allowed."""
    put(CONFIG, "qa/max_tokens", 2**53 - 1)(folder)
    put(CONFIG, "qa/timeout_seconds", 86400)(folder)
    put(CONFIG, "qa/workers", 1000)(folder)
    qa = load_protocol(folder.path).config.qa
    assert (9007199254740991, 86400, 1000) == (qa.max_tokens, qa.timeout_seconds, qa.workers)


def test_pool_of_any_number_of_distractors(folder: ProtocolFolder) -> None:
    """A pool too large for the scenario table is refused without counting it through."""

    def enlarge(config: dict[str, Any]) -> None:
        size = 2**53 - 1
        config["pool"].update(size=size, distractors=size - 1, distractor_bank_size=size - 1)

    folder.edit(CONFIG, enlarge)
    found = faults(folder)
    assert f"{folder / SYNTHETIC}: cases[0].loss_rank: 9007199254740990 distractors take the " in (
        "\n".join(found)
    )


def test_whole_number_becomes_a_float(folder: ProtocolFolder) -> None:
    """`temperature: 0` is `0.0`, as the request's fingerprint needs it; nothing else converts."""
    put(CONFIG, "qa/temperature", 0)(folder)
    put(CONFIG, "policies/hybrid_v1/weights", {"confidence": 1, "confirmation": 0, "access": 0})(
        folder
    )
    config = load_protocol(folder.path).config
    assert repr(config.qa.temperature) == "0.0"
    expected = PolicyWeights(Fraction(1.0), Fraction(0.0), Fraction(0.0))
    assert expected == config.policies["hybrid_v1"].weights
    assert float is type(config.policies["hybrid_v1"].confirmation_half_life_days)
    assert int is type(config.qa.timeout_seconds)


def test_rules_hold_for_changed_instances() -> None:
    """A protocol evolved in code is held to the same rules as one from a file."""
    pool = load_protocol().config.pool
    with pytest.raises(ValueError, match=re.escape("capacities: expected each below the pool")):
        evolve(pool, capacities=(Count(7), Count(10)))


PATHS = ["../answer.txt", "prompts/../../answer.txt", "ABSOLUTE", "link.txt", "loop.txt", "linked/answer.txt"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_prompt_path_leaves_the_folder(folder: ProtocolFolder, tmp_path: Path, path: str) -> None:
    """Neither dots, nor an absolute path, nor a link leads to a prompt outside the protocol."""
    outside = tmp_path / "answer.txt"
    outside.write_bytes((folder / PROMPT).read_bytes())
    (folder / "link.txt").symlink_to(outside)
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "linked").symlink_to(tmp_path)
    named = str(outside) if path == "ABSOLUTE" else path
    put(CONFIG, "qa/answer_prompt/path", named)(folder)
    assert [
        (
            f"{folder / CONFIG}: qa.answer_prompt.path: expected a path inside {folder.path}, "
            f"found {named!r}"
        )
    ] == faults(folder)


def test_prompt_path_with_a_nul(folder: ProtocolFolder) -> None:
    """A path that no system takes is no crash."""
    put(CONFIG, "qa/answer_prompt/path", "a\0b")(folder)
    (line,) = faults(folder)
    assert "qa.answer_prompt.path: expected a path inside" in line


def test_prompt_link_inside_the_folder(folder: ProtocolFolder) -> None:
    """A link that stays inside is followed."""
    (folder / "link.txt").symlink_to(PROMPT)
    put(CONFIG, "qa/answer_prompt/path", "link.txt")(folder)
    assert load_protocol().prompt == load_protocol(folder.path).prompt


def test_prompt_with_another_hash(folder: ProtocolFolder) -> None:
    """A changed prompt is named with both hashes."""
    before = load_protocol().hashes.answer_prompt_sha256
    (folder / PROMPT).write_text(
        "SYSTEM:\na\nUSER:\n{{STORED_MEMORY}}{{QUESTION}}", encoding="utf-8"
    )
    (line,) = faults(folder)
    assert f"{folder / CONFIG}: qa.answer_prompt.sha256: expected the SHA-256 of " in line
    assert f", found {before}; restore the prompt or pin the new one" in line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("USER:\n{{STORED_MEMORY}} {{QUESTION}}", "expected a line `SYSTEM:`, its text, a line `USER:`"),
        ("SYSTEM:\nx {{STORED_MEMORY}} {{QUESTION}}", "expected a line `SYSTEM:`, its text, a line"),
        ("SYSTEM:\nx\nUSER:\n{{STORED_MEMORY}}", "expected {{QUESTION}} once, found 0 times"),
        ("SYSTEM:\nx\nUSER:\n{{QUESTION}}{{STORED_MEMORY}}{{STORED_MEMORY}}", "expected {{STORED_MEMORY}} once, found 2 times"),
        ("SYSTEM:\n{{NAME}}\nUSER:\n{{STORED_MEMORY}}{{QUESTION}}", "unknown placeholder 'NAME'; known: CURRENT_DATE_SECTION, STORED_MEMORY, QUESTION"),
        ("\ufeffSYSTEM:\nx\nUSER:\n{{STORED_MEMORY}}{{QUESTION}}", "begins with a byte order mark"),
    ],
)  # fmt: skip
def test_prompt_faults(folder: ProtocolFolder, text: str, expected: str) -> None:
    """A template without its sections or placeholders is refused before anything is asked."""
    import hashlib

    data = text.encode()
    (folder / PROMPT).write_bytes(data)
    put(CONFIG, "qa/answer_prompt/sha256", hashlib.sha256(data).hexdigest())(folder)
    (line,) = faults(folder)
    assert line.startswith(f"{folder / PROMPT}: {expected}")


def test_prompt_sections(folder: ProtocolFolder) -> None:
    """Both sections lose leading and trailing newlines, and nothing else."""
    import hashlib

    data = b"\nSYSTEM:\n\n a \n\nUSER:\n\n{{STORED_MEMORY}}\nUSER:\n{{QUESTION}} \n\n"
    (folder / PROMPT).write_bytes(data)
    put(CONFIG, "qa/answer_prompt/sha256", hashlib.sha256(data).hexdigest())(folder)
    prompt = load_protocol(folder.path).prompt
    assert prompt.system == " a "
    assert prompt.user == "{{STORED_MEMORY}}\nUSER:\n{{QUESTION}} "
