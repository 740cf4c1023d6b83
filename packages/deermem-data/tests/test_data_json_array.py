# A row of a table is a line.
# ruff: noqa: E501
"""The array reader agrees with `json.loads` on every document, however the file is cut up."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_data import DatasetError
from deermem_data._json_array import iter_array

PATH = Path("data.json")
# The size that ordinary reading uses.
CHUNK = 1 << 19

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(
        ["\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), '\\"', "\\u"]
    )
)
documents = st.lists(
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    ),
    max_size=5,
)
formats = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 0, 1, "\t"]),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n", " :\t")]),
    }
)
chunk_sizes = st.integers(1, 80)


def read(data: bytes, chunk_size: int = CHUNK) -> list[Any]:
    """The elements that the reader yields."""
    return list(iter_array(PATH, io.BytesIO(data), lambda _: None, chunk_size=chunk_size))


def fault(data: bytes, chunk_size: int = CHUNK) -> str:
    """The reader's error, without the file's name."""
    with pytest.raises(DatasetError) as caught:
        read(data, chunk_size)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value).removeprefix(f"{PATH}: ")


def position(text: str) -> str:
    """Where `json.loads` finds its fault, in the reader's words."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    return f"line {caught.value.lineno}, column {caught.value.colno}: "


@given(documents, formats, chunk_sizes)
def test_agrees_with_the_whole_reader(
    document: list[Any], form: dict[str, Any], chunk_size: int
) -> None:
    """Elements are those of `json.loads`, with types, for every chunk size."""
    text = json.dumps(document, **form)
    expected = json.loads(text)
    assert repr(expected) == repr(read(f" {text}\n ".encode(), chunk_size))


@given(documents, formats, chunk_sizes)
def test_sees_every_byte_once(document: list[Any], form: dict[str, Any], chunk_size: int) -> None:
    """The hash is told the file's bytes, in order."""
    data = json.dumps(document, **form).encode() + b"\n"
    seen: list[bytes] = []
    list(iter_array(PATH, io.BytesIO(data), seen.append, chunk_size=chunk_size))
    assert data == b"".join(seen)


@given(documents, formats, chunk_sizes, st.data())
def test_every_truncation_is_cut_off(
    document: list[Any], form: dict[str, Any], chunk_size: int, data: st.DataObject
) -> None:
    """A file cut anywhere behind its first bracket is told to be cut off."""
    encoded = json.dumps([document], **{**form, "ensure_ascii": True}).encode()
    end = data.draw(st.integers(1, len(encoded) - 1))
    assert "cut off" in fault(encoded[:end], chunk_size)


@given(documents, chunk_sizes, st.data())
def test_fault_has_the_position_of_the_whole_reader(
    document: list[Any], chunk_size: int, data: st.DataObject
) -> None:
    """A character put where none may stand is found at the same line and column."""
    text = json.dumps([[{"a": 1}, "b"], *document], indent=1)
    at = data.draw(st.integers(2, len(text) - 1))
    broken = f"{text[:at]}\x01{text[at:]}"
    expected = position(broken)
    assert expected == fault(broken.encode(), chunk_size)[: len(expected)]


@pytest.mark.parametrize("before", [CHUNK - 9, CHUNK - 1, CHUNK, CHUNK + 5, 3 * CHUNK])
def test_position_far_into_the_file(before: int) -> None:
    """Line and column are right beyond the first chunk and across the borders of chunks."""
    line = json.dumps({"content": "ä" * 300}, ensure_ascii=False)
    lines = before // (len(line.encode()) + 2) + 1
    text = "[" + f"{line},\n" * lines + '   {"a": 1, oops}]'
    expected = position(text)
    assert f"line {lines + 1}, column 13: " == expected
    assert expected == fault(text.encode())[: len(expected)]


@pytest.mark.parametrize("chunk_size", range(1, 24))
def test_numbers_at_the_borders_of_chunks(chunk_size: int) -> None:
    """A number that a chunk cuts off is not taken for a shorter one."""
    text = "[1.5, -2.25e-07, 1E+20, 0, 12345678901234567890, true, -3]"
    assert json.loads(text) == read(text.encode(), chunk_size)


def test_element_larger_than_a_chunk() -> None:
    """One record may span many chunks."""
    document = [{"content": "x" * (3 * CHUNK)}, {"content": "é" * CHUNK}]
    assert document == read(json.dumps(document, ensure_ascii=False).encode())


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "is empty; expected a list of records"),
        (b" \n ", "is empty; expected a list of records"),
        (b"\xef\xbb\xbf[]", "begins with a byte order mark; save it as UTF-8 without one"),
        (b"\xff\xfe[\0]\0", "not UTF-8 at byte 0"),
        (b'["\xe9"]', "not UTF-8 at byte 2"),
        (b'["a\xf0\x9f"]', "not UTF-8 at byte 3"),
        (b'["a\xf0\x9f', "not UTF-8 at byte 3"),
        (b'\n {"a": 1}', "line 2, column 2: not a list of records: expected '[', found '{'"),
        (b"hello", "line 1, column 1: not a list of records: expected '[', found 'h'"),
        (b"[1, 2]\n,", "line 2, column 1: not JSON: more text after the list"),
        (b"[1 2]", "line 1, column 4: not JSON: expected ',' or ']'"),
        (b"[1,\n  NaN]", "line 2, column 3: not JSON: NaN is not a number"),
        (b'[{"a": "NaN",\n"b": -Infinity}]', "line 2, column 6: not JSON: -Infinity is not a number"),
        (b"[" + b"1" * 5000 + b"]", "line 1, column 2: not JSON: a whole number of more than 4300 digits"),
        (b"[" + b"[" * 100_000, "line 1, column 2: nested too deep for a data set"),
    ],
)  # fmt: skip
def test_faults(data: bytes, expected: str, size: int) -> None:
    """Each fault has its own words, whatever the size of a chunk."""
    if len(data) > 1000:
        size *= 997
    assert expected == fault(data, size)


def test_reads_no_further_than_asked() -> None:
    """Elements come while the file is being read."""
    stream = io.BytesIO(b"[1, 2, 3]" + b" " * 1000)
    rows = iter_array(PATH, stream, lambda _: None, chunk_size=4)
    assert next(rows) == 1
    assert stream.tell() < 20
