# A row of a table is a line.
# ruff: noqa: E501
"""A wrong data set is named in one line: what is wrong and where."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from deermem_data import DatasetError, build_cases, load_dataset
from deermem_data._structure import FileId

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import World

    from deermem_data import Protocol


@pytest.fixture
def good(world: Callable[..., World], tmp_path: Path) -> World:
    """A world without a fault."""
    return world(tmp_path / "data.json")


def fault(path: Path, protocol: Protocol) -> str:
    """The one line of the error that loading raises, without the file's name."""
    with pytest.raises(DatasetError) as caught:
        load_dataset(path, protocol)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def not_pinned(protocol: Protocol, data: bytes) -> str:
    """What is said of a file that is not the pinned one."""
    return (
        f"not the data set {protocol.protocol_id} is pinned to: expected SHA-256 "
        f"{protocol.config.dataset.sha256}, found {hashlib.sha256(data).hexdigest()}; "
        "get data.json of here at revision r1"
    )


def test_another_hash(good: World) -> None:
    """A well-formed file with other bytes is not the pinned one."""
    data = good.path.read_bytes() + b"\n"
    good.path.write_bytes(data)
    assert not_pinned(good.protocol, data) == fault(good.path, good.protocol)


def test_truncated(good: World) -> None:
    """A cut file says so, with the place, and that its hash differs."""
    data = good.path.read_bytes()[:-20]
    good.path.write_bytes(data)
    found = fault(good.path, good.protocol)
    assert re.match(r"line 1, column \d+: cut off: ", found)
    assert found.endswith(": " + not_pinned(good.protocol, data))


def test_byte_order_mark(good: World) -> None:
    """A byte order mark changes the hash and the text."""
    data = b"\xef\xbb\xbf" + good.path.read_bytes()
    good.path.write_bytes(data)
    assert (
        "begins with a byte order mark; save it as UTF-8 without one: "
        + not_pinned(good.protocol, data)
    ) == fault(good.path, good.protocol)


def test_hash_covers_what_is_behind_the_fault(good: World) -> None:
    """The hash that is told is the whole file's, though reading stopped early."""
    data = b"[{}, " + b" " * (1 << 20) + good.path.read_bytes()
    good.path.write_bytes(data)
    assert (
        "record 1: the key 'question_id' is missing: " + not_pinned(good.protocol, data)
    ) == fault(good.path, good.protocol)


def test_not_json_far_into_the_file(good: World) -> None:
    """Line and column are right in a file of several chunks."""
    text = (
        json.dumps(good.rows, indent=1)[:-1] + "," + "\n" * (3 << 19) + '  {"question_id": nope}]'
    )
    good.path.write_text(text, encoding="utf-8")
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    expected = f"line {caught.value.lineno}, column {caught.value.colno}: not JSON: "
    assert fault(good.path, good.protocol).startswith(expected)


def test_folder_and_absent_file(good: World, tmp_path: Path) -> None:
    """What cannot be read is named with the system's reason."""
    assert fault(tmp_path, good.protocol) == "cannot be read: Is a directory"
    assert fault(tmp_path / "no", good.protocol) == "cannot be read: No such file or directory"


def spoil(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    """A change of one key; the ellipsis removes it."""

    def change(row: dict[str, Any]) -> object:
        if value is ...:
            return row.pop(key)
        return row.update({key: value})

    return change


ROW_FAULTS = [
    (spoil("question_id", ...), "the key 'question_id' is missing"),
    (spoil("question_id", 7), "question_id: expected text, found int"),
    (spoil("question_id", None), "question_id: expected text, found NoneType"),
    (spoil("question_id", " "), "question_id: expected text that is not blank"),
    (spoil("question_type", ...), "the key 'question_type' is missing"),
    (spoil("question_type", ["a"]), "question_type: expected text, found list"),
    (spoil("question", ...), "the key 'question' is missing"),
    (spoil("question_date", ...), "the key 'question_date' is missing"),
    (spoil("question_date", 20260301), "question_date: expected text, found int"),
    (spoil("answer", ...), "the key 'answer' is missing"),
    (spoil("answer", None), "answer: expected text or a number, found null"),
    (spoil("haystack_dates", ...), "the key 'haystack_dates' is missing"),
    (spoil("haystack_sessions", {}), "haystack_sessions: expected a list, found dict"),
    (spoil("haystack_session_ids", "s"), "haystack_session_ids: expected a list, found str"),
    (spoil("haystack_dates", []), "the haystack arrays differ in length: 0 dates, 1 session ids, 1 sessions"),
    (spoil("haystack_session_ids", ["a", "b"]), "the haystack arrays differ in length: 1 dates, 2 session ids, 1 sessions"),
    (spoil("haystack_sessions", []), "the haystack arrays differ in length: 1 dates, 1 session ids, 0 sessions"),
    (spoil("haystack_sessions", ["turns"]), "haystack_sessions[0]: expected a list, found str"),
    (spoil("haystack_sessions", [{"role": "user"}]), "haystack_sessions[0]: expected a list, found dict"),
    (spoil("haystack_session_ids", [3]), "haystack_session_ids[0]: expected text, found int"),
    (spoil("haystack_dates", [None]), "haystack_dates[0]: expected text, found NoneType"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["knowledge-update", "single-session-user", "of-no-interest"])
@pytest.mark.parametrize(
    ("change", "expected"), ROW_FAULTS, ids=[f"{i}-{f[1][:30]}" for i, f in enumerate(ROW_FAULTS)]
)
def test_row_faults(
    good: World,
    pin: Callable[[Protocol, bytes], Protocol],
    row: Callable[..., dict[str, Any]],
    kind: str,
    change: Callable[[dict[str, Any]], object],
    expected: str,
) -> None:
    """A malformed row is named by its number, also where no rule would select it."""
    broken = row("broken", kind)
    change(broken)
    data = json.dumps([*good.rows[:3], broken, *good.rows[3:]]).encode()
    good.path.write_bytes(data)
    assert f"record 4: {expected}" == fault(good.path, pin(good.protocol, data))


@pytest.mark.parametrize("broken", [7, "text", None, [], 1.5, True])
def test_row_that_is_no_object(
    good: World, pin: Callable[[Protocol, bytes], Protocol], broken: object
) -> None:
    """So is one that is no object at all."""
    data = json.dumps([*good.rows, broken]).encode()
    good.path.write_bytes(data)
    assert f"record {len(good.rows) + 1}: expected an object, found {type(broken).__name__}" == (
        fault(good.path, pin(good.protocol, data))
    )


def test_repeated_question_id(good: World, pin: Callable[[Protocol, bytes], Protocol]) -> None:
    """Both records of a repeated id are named."""
    data = json.dumps([*good.rows, {**good.rows[4], "question_type": "other"}]).encode()
    good.path.write_bytes(data)
    assert (
        f"record {len(good.rows) + 1}: question_id: {good.rows[4]['question_id']!r} is that of "
        "record 5"
    ) == fault(good.path, pin(good.protocol, data))


@pytest.mark.parametrize("key", ["question_id", "question", "answer", "question_date"])
def test_half_a_surrogate_pair(
    good: World, pin: Callable[[Protocol, bytes], Protocol], key: str
) -> None:
    """Text that no file could hold is refused where it comes in."""
    good.rows[0][key] = "a\ud800"
    data = json.dumps(good.rows).encode()
    good.path.write_bytes(data)
    assert f"record 1: {key}: expected text, found half a surrogate pair in it" == fault(
        good.path, pin(good.protocol, data)
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"rows": []}', "line 1, column 1: not a list of records: expected '[', found '{'"),
        (b"3", "line 1, column 1: not a list of records: expected '[', found '3'"),
        (b"", "is empty; expected a list of records"),
    ],
)
def test_not_a_list(
    good: World, pin: Callable[[Protocol, bytes], Protocol], data: bytes, expected: str
) -> None:
    """A pinned file that is no list is still no data set."""
    good.path.write_bytes(data)
    assert expected == fault(good.path, pin(good.protocol, data))


def test_too_few_records_for_the_bank(
    good: World, pin: Callable[[Protocol, bytes], Protocol]
) -> None:
    """A bank that cannot be filled is an error with both counts and the bounds."""
    rows = [row for row in good.rows if row["question_id"] != "b00007"]
    data = json.dumps(rows).encode()
    good.path.write_bytes(data)
    protocol = pin(good.protocol, data)
    dataset = load_dataset(good.path, protocol)
    assert len(dataset.bank) == 39
    with pytest.raises(DatasetError) as caught:
        build_cases(protocol, dataset)
    assert (
        f"{good.path}: 39 records fit the bank of 40 (types single-session-user, "
        "single-session-preference, evidence of 40 to 700 characters); lower "
        "pool.distractor_bank_size or use a larger data set"
    ) == str(caught.value)


def test_manifest_that_does_not_match(good: World) -> None:
    """A manifest with other ids than the rule gives is shown beside the selection."""
    dataset = load_dataset(good.path, good.protocol)
    official = good.protocol.official
    swapped = tuple(map(FileId, ["kn0003", "kn0002", "te0002", "te0003"]))
    groups = {**official.scenarios, "access_help": swapped}
    protocol = evolve(good.protocol, official=evolve(official, scenarios=groups))
    with pytest.raises(DatasetError) as caught:
        build_cases(protocol, dataset)
    assert (
        f"{protocol.files.official_manifest}: scenarios.access_help: not what the rule selects "
        f"from {good.path}: the manifest states kn0003 kn0002 te0002 te0003; the data set gives "
        "kn0002 kn0003 te0002 te0003"
    ) == str(caught.value)


def test_selection_that_is_too_short(
    good: World, pin: Callable[[Protocol, bytes], Protocol]
) -> None:
    """So is one that the data set cannot fill."""
    rows = [row for row in good.rows if row["question_id"] != "te0003"]
    data = json.dumps(rows).encode()
    good.path.write_bytes(data)
    protocol = pin(good.protocol, data)
    dataset = load_dataset(good.path, protocol)
    with pytest.raises(DatasetError) as caught:
        build_cases(protocol, dataset)
    assert str(caught.value).endswith(
        "the manifest states kn0002 kn0003 te0002 te0003; the data set gives kn0002 kn0003 te0002"
    )
