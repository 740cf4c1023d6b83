"""Each wrong input is one line on stderr that names it, status 2, and nothing written."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deermem_data import load_protocol

Call = Callable[..., tuple[int, str, str]]
EditedProtocol = Callable[..., Path]

SELECTOR = ("--selector", "reference")


def tree(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Everything below a folder, with what would tell that it was touched."""
    return {
        str(path.relative_to(folder)): (stat.st_mode, stat.st_size, stat.st_mtime_ns)
        for path in folder.rglob("*")
        for stat in [path.lstat()]
    }


def refusal(call: Call, folder: Path, *arguments: str) -> str:
    """The one line a run is refused with; checks status, streams and that nothing was written."""
    before = tree(folder)
    status, out, err = call("run-policy", *arguments)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    assert err.startswith("deermem: error: ")
    assert tree(folder) == before
    return err


def ids(text: str, scenario: str) -> list[str]:
    """The ids a manifest gives a scenario."""
    found: list[str] = json.loads(text)["scenarios"][scenario]
    return found


def replace(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """An edit of a file's bytes, at the first place."""

    def edit(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new, 1)

    return edit


# --- the data set's file ------------------------------------------------------------------------

BYTES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "truncated": (lambda data: data[: len(data) // 2], "cut off"),
    "cut-before-the-end": (lambda data: data.rstrip()[:-1], "cut off"),
    "empty": (lambda _: b"", "expected a list of records"),
    "bom": (lambda data: b"\xef\xbb\xbf" + data, "byte order mark"),
    "utf-16": (lambda data: data.decode().encode("utf-16"), "not UTF-8 at byte 0"),
    "latin-1": (lambda _: b'[{"question_id": "\xe9"}]', "not UTF-8 at byte 18"),
    "object": (lambda _: b'{"rows": []}', "not a list of records"),
    "number": (lambda _: b"12", "not a list of records"),
    "comma": (lambda _: b'[\n {"a" 2}]', "line 2, column 7: not JSON"),
    "quote": (lambda _: b"[\n\n   'a']", "line 3, column 4: not JSON"),
    "nan": (lambda _: b'[\n{"answer": NaN}]', "line 2, column 12: not JSON: NaN"),
    "two-lists": (lambda _: b"[]\n[]", "line 2, column 1: not JSON: more text after the list"),
    "nested": (lambda _: b"[" * 100_000, "nested too deep"),
}


@pytest.mark.parametrize(("edit", "expected"), BYTES.values(), ids=BYTES)
@pytest.mark.parametrize("pinned", [False, True], ids=["other-hash", "pinned"])
def test_malformed_file(
    call: Call,
    tmp_path: Path,
    edited_protocol: EditedProtocol,
    edit: Callable[[bytes], bytes],
    expected: str,
    pinned: bool,
) -> None:
    """A malformed data set is named with the place, and with the pin where that is not met."""
    protocol = edited_protocol(data=edit, repin=pinned)
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert expected in error
    assert "deermem_mini.json" in error
    pin = load_protocol("mini-v1").config.dataset.sha256
    assert (pin in error) == (not pinned)


def test_another_data_set(call: Call, tmp_path: Path, edited_protocol: EditedProtocol) -> None:
    """A sound file that is not the pinned one is refused with both hashes and where to get it."""
    protocol = edited_protocol(data=lambda data: data + b"\n", repin=False)
    (file,) = (protocol / "data").iterdir()
    found = subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True).stdout
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    pin = load_protocol("mini-v1").config.dataset
    for part in (found.split()[0], pin.sha256, pin.repository, pin.revision, pin.filename):
        assert part in error


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_file_that_cannot_be_read(call: Call, tmp_path: Path, name: str) -> None:
    """A path that is no file is named with the system's reason."""
    arguments = ("--protocol", "mini-v1", *SELECTOR, "--dataset", name, "--output-dir", "out")
    error = refusal(call, tmp_path, *arguments)
    assert f"{name}: cannot be read: " in error


def _drop(key: str) -> Callable[[list[Any]], object]:
    return lambda rows: rows[4].pop(key)


def _set(key: str, value: Any) -> Callable[[list[Any]], object]:
    return lambda rows: rows[4].update({key: value})


def _not_an_object(rows: list[Any]) -> None:
    rows[4] = 7


def _repeat(rows: list[Any]) -> None:
    rows[4]["question_id"] = rows[1]["question_id"]


def _session_of_one_turn(rows: list[Any]) -> None:
    rows[4]["haystack_sessions"][0] = rows[4]["haystack_sessions"][0][0]


def _longer(key: str) -> Callable[[list[Any]], object]:
    return lambda rows: rows[4][key].append(rows[4][key][0])


ROWS: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "not-an-object": (_not_an_object, "record 5: expected an object, found int"),
    "no-id": (_drop("question_id"), "record 5: the key 'question_id' is missing"),
    "id-of-another-type": (_set("question_id", 5), "record 5: question_id: expected text"),
    "blank-id": (_set("question_id", " "), "record 5: question_id: expected text that is not"),
    "repeated-id": (_repeat, "is that of record 2"),
    "more-dates": (_longer("haystack_dates"), "record 5: the haystack arrays differ in length"),
    "more-ids": (_longer("haystack_session_ids"), "record 5: the haystack arrays differ"),
    "more-sessions": (_longer("haystack_sessions"), "record 5: the haystack arrays differ"),
    "no-dates": (_drop("haystack_dates"), "record 5: the key 'haystack_dates' is missing"),
    "session-not-a-list": (
        _session_of_one_turn,
        "record 5: haystack_sessions[0]: expected a list, found dict",
    ),
    "no-answer": (_drop("answer"), "record 5: the key 'answer' is missing"),
    "null-answer": (_set("answer", None), "record 5: answer: expected text or a number"),
    "no-question": (_drop("question"), "record 5: the key 'question' is missing"),
}


@pytest.mark.parametrize(("edit", "expected"), ROWS.values(), ids=ROWS)
def test_malformed_row(
    call: Call,
    tmp_path: Path,
    edited_protocol: EditedProtocol,
    edit: Callable[[list[Any]], object],
    expected: str,
) -> None:
    """A malformed row is named by its place in the file, from 1, and its key."""
    protocol = edited_protocol(rows=edit)
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert f"deermem_mini.json: {expected}" in error or expected in error


# --- the data set against the protocol ------------------------------------------------------------


def test_manifest_that_does_not_match(
    call: Call, tmp_path: Path, edited_protocol: EditedProtocol
) -> None:
    """Official ids that the rule does not select are refused, and both lists are shown."""
    text = load_protocol("mini-v1").files.official_manifest.read_text(encoding="utf-8")
    selected = ids(text, "access_help")
    stated = [*selected[1:], selected[0]]
    protocol = edited_protocol(
        official=lambda document: document["scenarios"].update(access_help=stated)
    )
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert "official.json: scenarios.access_help: " in error
    assert f"the manifest states {' '.join(stated)}" in error
    assert f"the data set gives {' '.join(selected)}" in error


def test_data_set_without_an_official_record(
    call: Call, tmp_path: Path, edited_protocol: EditedProtocol
) -> None:
    """Where a selected record is gone, the next would be taken: refused, both lists shown."""
    text = load_protocol("mini-v1").files.official_manifest.read_text(encoding="utf-8")
    order = json.loads(text)["scenario_order"]
    stated = ids(text, order[0])

    def remove(rows: list[Any]) -> None:
        rows[:] = [row for row in rows if row["question_id"] != stated[0]]

    protocol = edited_protocol(rows=remove)
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert f"the manifest states {' '.join(stated)}; the data set gives {stated[1]} " in error


def test_too_few_records_for_the_bank(
    call: Call, tmp_path: Path, edited_protocol: EditedProtocol
) -> None:
    """A bank that cannot be filled is refused, with how many records fit it."""
    types = load_protocol("mini-v1").config.pool.distractor_types

    def keep_nine(rows: list[Any]) -> None:
        bank = [row for row in rows if row["question_type"] in types]
        surplus = {row["question_id"] for row in bank[9:]}
        rows[:] = [row for row in rows if row["question_id"] not in surplus]

    protocol = edited_protocol(rows=keep_nine)
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert "records fit the bank of 40" in error


# --- the protocol's files -------------------------------------------------------------------------


def _at(*path: str | int, value: Any) -> Callable[[Any], object]:
    def edit(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return edit


NAN = float("nan")
CONFIG: dict[str, tuple[Callable[[Any], object], str]] = {
    "unknown-key": (_at("seed", value=1), "unknown key 'seed'"),
    "misspelt-key": (_at("pool", "capacites", value=[5]), "did you mean 'capacities'?"),
    "missing-key": (lambda document: document["pool"].pop("size"), "pool.size: the key is missing"),
    "text-for-a-number": (_at("pool", "size", value="10"), "pool.size: expected a whole number"),
    "float-for-a-count": (_at("pool", "size", value=10.0), "pool.size: expected a whole number"),
    "true-for-a-number": (_at("qa", "max_tokens", value=True), "qa.max_tokens: expected a whole"),
    "number-for-text": (_at("qa", "model", value=7), "qa.model: expected text"),
    "text-for-a-list": (_at("pool", "capacities", value="579"), "pool.capacities: expected a list"),
    "list-for-a-mapping": (_at("pool", value=[]), "pool: expected a mapping"),
    "capacity-at-the-pool-size": (_at("pool", "capacities", value=[5, 7, 10]), "pool.capacities: "),
    "capacity-above-it": (_at("pool", "capacities", value=[7, 11]), "pool.capacities: "),
    "qa-capacity-that-is-none": (_at("pool", "qa_capacity", value=6), "pool.qa_capacity: "),
    "weights": (
        _at("policies", "hybrid_v1", "weights", "access", value=0.2),
        "policies.hybrid_v1.weights: expected weights that sum to 1, found a sum of 1.1",
    ),
    "nan-weight": (
        _at("policies", "hybrid_v1", "weights", "access", value=NAN),
        "policies.hybrid_v1.weights.access: expected a finite number",
    ),
    "infinite-half-life": (
        _at("policies", "hybrid_v1", "access_half_life_days", value=float("inf")),
        "access_half_life_days: expected a finite number",
    ),
    "nan-temperature": (_at("qa", "temperature", value=NAN), "qa.temperature: expected a finite"),
    "prompt-outside": (
        _at("qa", "answer_prompt", "path", value="../outside.txt"),
        "qa.answer_prompt.path: expected a path inside",
    ),
    "prompt-absolute": (
        _at("qa", "answer_prompt", "path", value="/etc/hostname"),
        "qa.answer_prompt.path: expected a path inside",
    ),
    "prompt-changed": (
        _at("qa", "answer_prompt", "sha256", value="0" * 64),
        "qa.answer_prompt.sha256: ",
    ),
    "protocol-id-unfit": (_at("protocol_id", value="a/b"), "protocol_id: expected an id of"),
    "policy-name-unfit": (
        _at("policies", "confidence", "policy", value="../up"),
        "policies.confidence.policy: expected an id of",
    ),
    "two-protocol-ids": (
        _at("protocol_id", value="another-id"),
        "protocol_id: expected one in all three files",
    ),
    "bank-smaller-than-a-draw": (
        _at("pool", "distractor_bank_size", value=8),
        "pool.distractor_bank_size: ",
    ),
    "another-policy-version": (
        _at("required_policy_version", value="hybrid-v2"),
        "the protocol requires 'hybrid-v2'",
    ),
}


@pytest.mark.parametrize(("edit", "expected"), CONFIG.values(), ids=CONFIG)
def test_wrong_config(
    call: Call,
    tmp_path: Path,
    edited_protocol: EditedProtocol,
    edit: Callable[[Any], object],
    expected: str,
) -> None:
    """A config that cannot be is refused with its file, the key's path and what was expected."""
    (tmp_path / "outside.txt").write_text("SYSTEM:\na\nUSER:\nb\n", encoding="utf-8")
    protocol = edited_protocol(config=edit)
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert expected in error


def _first(document: Any) -> Any:
    return document["scenarios"][document["scenario_order"][0]]


def _official_id(value: Any) -> Callable[[Any], object]:
    return lambda document: _first(document).__setitem__(0, value)


OFFICIAL: dict[str, tuple[Callable[[Any], object], str]] = {
    "id-with-a-slash": (_official_id("a/b"), "[0]: expected an id of"),
    "id-of-dots": (_official_id(".."), "[0]: expected an id of"),
    "id-with-a-space": (_official_id("a b"), "[0]: expected an id of"),
    "id-beyond-ascii": (_official_id("é"), "[0]: expected an id of"),
    "id-too-long": (_official_id("a" * 300), "[0]: expected an id of"),
    "id-number": (_official_id(7), "[0]: expected an id of"),
    "unknown-key": (_at("scenaros", value=1), "unknown key 'scenaros'"),
    "unknown-scenario": (
        lambda document: document["scenario_order"].__setitem__(0, "other_help"),
        "scenario_order: expected some of",
    ),
    "id-missing": (
        lambda document: _first(document).pop(),
        "expected 10 ids for each scenario, found 9",
    ),
    "rank-missing": (lambda document: document["loss_ranks"].pop(), "loss_ranks: expected 10"),
    "rank-beyond-the-pool": (
        lambda document: document["loss_ranks"].__setitem__(9, 11),
        "loss_ranks: ",
    ),
    "another-protocol": (
        _at("protocol_id", value="another-id"),
        "protocol_id: expected one in all three files",
    ),
    "nan": (_at("loss_ranks", 0, value=NAN), "NaN is not a number"),
}


@pytest.mark.parametrize(("edit", "expected"), OFFICIAL.values(), ids=OFFICIAL)
def test_wrong_official_manifest(
    call: Call,
    tmp_path: Path,
    edited_protocol: EditedProtocol,
    edit: Callable[[Any], object],
    expected: str,
) -> None:
    """An official manifest that cannot be is refused with its file and the key's path."""
    protocol = edited_protocol(official=edit)
    status, out, err = call(
        "run-policy", "--protocol", str(protocol), *SELECTOR, "--output-dir", "out"
    )
    assert (status, out) == (2, "")
    first = err.splitlines()[0]
    assert first.startswith("deermem: error: ")
    assert expected in first
    assert not (tmp_path / "out").exists()


SYNTHETIC: dict[str, tuple[Callable[[Any], object], str]] = {
    "id-unfit": (_at("cases", 0, "case_id", value="../a"), "cases[0].case_id: expected an id of"),
    "id-twice": (
        lambda document: document["cases"][1].update(case_id=document["cases"][0]["case_id"]),
        "cases: expected each id once",
    ),
    "id-twice-in-another-case": (
        lambda document: document["cases"][1].update(
            case_id=document["cases"][0]["case_id"].upper()
        ),
        "cases: expected each id once",
    ),
    "blank-fact": (_at("cases", 0, "support_fact", value=" "), "cases[0].support_fact: expected"),
    "unknown-scenario": (_at("scenario", value="guards"), "scenario: expected one of"),
    "another-protocol": (
        _at("protocol_id", value="another-id"),
        "protocol_id: expected one in all three files",
    ),
}


@pytest.mark.parametrize(("edit", "expected"), SYNTHETIC.values(), ids=SYNTHETIC)
def test_wrong_synthetic_manifest(
    call: Call,
    tmp_path: Path,
    edited_protocol: EditedProtocol,
    edit: Callable[[Any], object],
    expected: str,
) -> None:
    """A synthetic manifest that cannot be is refused with its file and the key's path."""
    protocol = edited_protocol(synthetic=edit)
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert expected in error


def test_every_fault_of_the_files_is_named_at_once(
    call: Call, tmp_path: Path, edited_protocol: EditedProtocol
) -> None:
    """Faults in several keys and files are listed together, a line each."""

    def three(document: Any) -> None:
        document["seed"] = 1
        document["pool"]["size"] = "10"
        document["qa"]["workers"] = 0

    protocol = edited_protocol(config=three, synthetic=_at("cases", 0, "case_id", value="../a"))
    status, out, err = call(
        "run-policy", "--protocol", str(protocol), *SELECTOR, "--output-dir", "out"
    )
    assert (status, out) == (2, "")
    assert err.startswith("deermem: error: ")
    expected = ["unknown key 'seed'", "pool.size: ", "qa.workers: ", "cases[0].case_id: "]
    assert [part for part in expected if part not in err] == []
    assert len(err.splitlines()) == len(expected)
    assert not (tmp_path / "out").exists()


def test_prompt_behind_a_link_that_leaves_the_folder(
    call: Call, tmp_path: Path, edited_protocol: EditedProtocol
) -> None:
    """A prompt that lies inside the folder by name alone is outside it."""
    protocol = edited_protocol()
    prompt = next((protocol / "prompts").iterdir())
    (tmp_path / "outside.txt").write_bytes(prompt.read_bytes())
    prompt.unlink()
    prompt.symlink_to(tmp_path / "outside.txt")
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert "qa.answer_prompt.path: expected a path inside" in error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a: 1\na: 2\n", "line 2, column 1: not YAML as expected: the key 'a' stands twice"),
        (b"a: [1\n", "not YAML as expected"),
        (b"\xef\xbb\xbfa: 1\n", "byte order mark"),
        (b"a: \xff\n", "not UTF-8 at byte 3"),
        (b"- a\n", "top level: expected a mapping"),
        (b"", "top level: expected a mapping"),
        (b"a: &x 1\nb: *x\n", "aliases are not allowed"),
        (b"1: 2\n", "the key 1 is not text"),
    ],
)
def test_config_that_is_no_config(
    call: Call, tmp_path: Path, edited_protocol: EditedProtocol, text: bytes, expected: str
) -> None:
    """A config file that YAML cannot read strictly is named with line and column."""
    protocol = edited_protocol()
    (config,) = (protocol / "configs").iterdir()
    config.write_bytes(text)
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert f"{config.name}: " in error
    assert expected in error


@pytest.mark.parametrize("part", ["configs", "manifests", "prompts"])
def test_protocol_without_a_part(
    call: Call, tmp_path: Path, edited_protocol: EditedProtocol, part: str
) -> None:
    """A folder that lacks a part is no protocol; the part is named."""
    protocol = edited_protocol()
    (protocol / part).rename(tmp_path / "elsewhere")
    error = refusal(call, tmp_path, "--protocol", str(protocol), *SELECTOR, "--output-dir", "out")
    assert part in error


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mini-v2", "did you mean 'mini-v1'?"),
        ("no-such-folder", "neither a shipped protocol nor a folder"),
        ("pr4789-reproduction-v1", "no deer-flow checkout is known"),
    ],
)
def test_unknown_protocol(call: Call, tmp_path: Path, name: str, expected: str) -> None:
    """A name that is no protocol is refused with the names that are."""
    error = refusal(call, tmp_path, "--protocol", name, *SELECTOR, "--output-dir", "out")
    assert expected in error


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("referense", "expected production, reference or MODULE:FUNCTION"),
        ("no_such_module:select", "module no_such_module cannot be imported"),
        ("json:no_such_function", "has no function no_such_function"),
        ("os.path:join", "the signature differs"),
        (":", "expected production, reference or MODULE:FUNCTION"),
    ],
)
def test_wrong_selector(call: Call, tmp_path: Path, selector: str, expected: str) -> None:
    """A selector that cannot be bound is refused before any data is read."""
    arguments = ("--protocol", "mini-v1", "--selector", selector, "--output-dir", "out")
    assert expected in refusal(call, tmp_path, *arguments)


# --- the output folder ----------------------------------------------------------------------------

MINI = ("--protocol", "mini-v1", *SELECTOR)


@pytest.mark.parametrize("name", ["run.json", "policy.raw.jsonl", "summary.json"])
def test_folder_that_holds_a_run(call: Call, tmp_path: Path, name: str) -> None:
    """One file of a run is enough for the folder to be taken."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("kept", encoding="utf-8")
    error = refusal(call, tmp_path, *MINI, "--output-dir", "out")
    assert f"out: already holds a run ({name})" in error


def test_folder_that_is_a_file(call: Call, tmp_path: Path) -> None:
    """A file is not a folder, nor can one be made below it."""
    (tmp_path / "out").write_text("kept", encoding="utf-8")
    assert "out: is a file" in refusal(call, tmp_path, *MINI, "--output-dir", "out")
    error = refusal(call, tmp_path, *MINI, "--output-dir", "out/below")
    assert "out/below: " in error


def test_other_files_in_the_folder_are_left(call: Call, tmp_path: Path) -> None:
    """A folder that holds other things takes a run, and keeps them."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("kept", encoding="utf-8")
    status, _, _ = call("run-policy", *MINI, "--output-dir", "out")
    assert status == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["notes.txt", "policy.raw.jsonl", "run.json", "summary.json"]
    assert (tmp_path / "out" / "notes.txt").read_text(encoding="utf-8") == "kept"


# Root may write anywhere, so the command is run without the capabilities that let it: they are
# dropped from the set that a new program can get.
UNPRIVILEGED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
for capability in range(64):
    libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.executable, [sys.executable, "-m", "deermem_cli", *sys.argv[1:]])
"""


@pytest.fixture
def call_unprivileged(
    tmp_path: Path, environment: dict[str, str]
) -> Callable[..., tuple[int, str, str]]:
    """Run `deermem` as a user to whom permissions apply."""

    def call(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that may be looked into and not written to."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="drops capabilities of Linux")
@pytest.mark.parametrize("below", ["", "below", "deep/below"])
def test_read_only_folder(
    call_unprivileged: Call, tmp_path: Path, read_only: Path, below: str
) -> None:
    """A folder that may not be written to is named with the system's reason."""
    error = refusal(call_unprivileged, tmp_path, *MINI, "--output-dir", str(read_only / below))
    assert f"{read_only / below}: cannot be written: Permission denied" in error


@pytest.mark.skipif(sys.platform != "linux", reason="drops capabilities of Linux")
def test_unreadable_data_set(call_unprivileged: Call, tmp_path: Path) -> None:
    """A data set that may not be read is named with the system's reason."""
    file = tmp_path / "secret.json"
    file.write_text("[]", encoding="utf-8")
    file.chmod(0o000)
    error = refusal(
        call_unprivileged, tmp_path, *MINI, "--dataset", str(file), "--output-dir", "out"
    )
    assert "secret.json: cannot be read: Permission denied" in error


@pytest.mark.skipif(sys.platform != "linux", reason="drops capabilities of Linux")
@pytest.mark.parametrize("part", ["configs", "manifests"])
def test_unreadable_part_of_a_protocol(
    call_unprivileged: Call, tmp_path: Path, edited_protocol: EditedProtocol, part: str
) -> None:
    """A folder that may not be looked into is not taken for an empty one."""
    protocol = edited_protocol()
    (protocol / part).chmod(0o000)
    status, out, err = call_unprivileged("validate-contracts", "--protocol", "protocol", *SELECTOR)
    (protocol / part).chmod(0o755)
    expected = f"deermem: error: protocol/{part}: cannot be read: Permission denied\n"
    assert (2, "", expected) == (status, out, err)


@pytest.mark.skipif(sys.platform != "linux", reason="drops capabilities of Linux")
def test_unreadable_protocol(
    call_unprivileged: Call, tmp_path: Path, edited_protocol: EditedProtocol
) -> None:
    """Nor is a protocol in such a folder said to be no folder."""
    protocol = edited_protocol()
    protocol.chmod(0o000)
    found = [
        call_unprivileged("validate-contracts", "--protocol", name, *SELECTOR)
        for name in ("protocol", "protocol/below")
    ]
    protocol.chmod(0o755)
    assert [(2, ""), (2, "")] == [(status, out) for status, out, _ in found]
    for _, _, err in found:
        assert err.startswith("deermem: error: protocol/")
        assert err.endswith("cannot be read: Permission denied\n")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("raise SystemExit(0)", "raises SystemExit: 0"),
        ("return Odd()", "its result raises ZeroDivisionError"),
        ("return kept(facts) | {'policy': 'x' * 100_000}", "policy is 'xxx"),
        ("return kept(facts, facts[0]['content'])", "expected one word"),
    ],
    ids=["exits", "lazy", "long", "text"],
)
def test_selector_that_misbehaves(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, body: str, expected: str
) -> None:
    """Whatever a selector of the user's own does, the error is one line and nothing is written."""
    source = f"""
class Odd:
    def __getattr__(self, name):
        1 / 0

def kept(facts, category="any"):
    evicted = [
        {{"fact_id": f["id"], "category": category, "score": 0, "components": {{}}}} for f in facts
    ]
    scores = {{fact["id"]: {{"value": 0, "components": {{}}}} for fact in facts}}
    return {{"kept": [], "evicted": evicted, "scores": scores, "policy": "confidence",
            "reserved_correction_slots": 0}}

def select(facts, **named):
    {body}
"""
    (tmp_path / "odd_rule.py").write_text(source, encoding="utf-8")
    arguments = ("--protocol", "mini-v1", "--selector", "odd_rule:select", "--output-dir", "out")
    done = run("run-policy", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("deermem: error: selector odd_rule:select: case ")
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 1500
    assert expected in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB: less than the rows of a run."""
    folder = tmp_path / "disk"
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"deermem-test", os.fsencode(folder), b"tmpfs", 0, b"size=64k") != 0:
        pytest.skip(f"a file system cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    yield folder
    libc.umount(os.fsencode(folder))


@pytest.mark.parametrize("below", ["", "run", "deep/run"])
@pytest.mark.parametrize("holds_other_files", [False, True])
def test_full_disk(call: Call, full_disk: Path, below: str, holds_other_files: bool) -> None:
    """A run that does not fit leaves the disk as it was, also beside other files."""
    if holds_other_files:
        (full_disk / below).mkdir(parents=True, exist_ok=True)
        (full_disk / below / "notes.txt").write_text("kept", encoding="utf-8")
    before = {name: value[:2] for name, value in tree(full_disk).items()}
    status, out, err = call("run-policy", *MINI, "--output-dir", str(full_disk / below))
    assert (status, out) == (2, "")
    assert err == (
        f"deermem: error: {full_disk / below}: cannot be written: No space left on device; "
        "nothing was written there: make room or name another output folder\n"
    )
    after = {name: value[:2] for name, value in tree(full_disk).items()}
    assert after == before


@pytest.mark.parametrize("limit", [0, 1, 4096, 100_000])
def test_file_size_limit(tmp_path: Path, environment: dict[str, str], limit: int) -> None:
    """The system's refusal to let a file grow is met as a full disk is: nothing is left."""
    done = subprocess.run(
        [sys.executable, "-m", "deermem_cli", "run-policy", *MINI, "--output-dir", "out"],
        cwd=tmp_path,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("deermem: error: out: cannot be written: File too large")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
