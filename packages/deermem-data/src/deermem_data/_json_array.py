"""A JSON array read element by element, so that memory does not grow with the file."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from .errors import DatasetError

_CHUNK = 1 << 19
_SPACE = re.compile(r"[ \t\n\r]*")


def iter_array(path: Path, stream: BinaryIO, see: Callable[[bytes], object]) -> Iterator[object]:
    """Yield the elements of the JSON array in `stream`, in order.

    Args:
        path: the file's name, for messages.
        stream: the file, open for reading bytes.
        see: told every chunk of bytes, in order (a hash's `update`).

    Raises:
        DatasetError: not UTF-8, a byte order mark, not JSON (with line and column), not an
            array, or cut off.
    """
    return _ArrayReader(path, stream, see).elements()


class _ArrayReader:
    """A window of decoded text over the file; `_at` is the next character to look at."""

    def __init__(self, path: Path, stream: BinaryIO, see: Callable[[bytes], object]) -> None:
        self._path = path
        self._stream = stream
        self._see = see
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._scan = json.JSONDecoder(parse_constant=_no_constant).raw_decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._bytes_before = 0  # of the chunk last decoded
        self._line = 1  # of the window's first character
        self._column = 1

    def elements(self) -> Iterator[object]:
        self._fill()
        if self._text.startswith("\ufeff"):
            self._fail("begins with a byte order mark; save it as UTF-8 without one")
        if self._next() != "[":
            self._fail("not a list of records")
        self._at += 1
        if self._next() == "]":
            self._at += 1
        else:
            yield from self._items()
        if self._next():
            self._fail_at("not JSON: more text after the list", self._at)

    def _items(self) -> Iterator[object]:
        while True:
            self._next()
            yield self._element()
            mark = self._next()
            if mark not in {",", "]"}:
                self._fail_at("not JSON: expected ',' or ']'" if mark else "cut off", self._at)
            self._at += 1
            if mark == "]":
                return

    def _next(self) -> str:
        """Skip white space; return the character there, or nothing at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def _element(self) -> Any:
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as exc:
                if self._is_fault(exc) or not self._fill():
                    cut_off = self._ended and exc.pos >= len(self._text) - 1
                    reason = "cut off: " if cut_off else "not JSON: "
                    self._fail_at(reason + exc.msg, exc.pos)
            except RecursionError:
                self._fail_at("nested too deep for a data set", self._at)
            except ValueError as exc:
                self._fail_at(f"not JSON: {exc}", self._at)
            else:
                # A bare number at the window's end may go on in the next chunk.
                if end < len(self._text) or not self._fill():
                    self._at = end
                    return value

    def _is_fault(self, exc: json.JSONDecodeError) -> bool:
        """Whether more text could not mend this: it is neither a cut string nor at the end."""
        cut_string = exc.msg.startswith("Unterminated string")
        near_end = exc.pos >= len(self._text) - 16
        return self._ended or not (cut_string or near_end)

    def _fill(self) -> bool:
        """Drop what was read, append the next chunk; return whether there was one."""
        if self._ended:
            return False
        chunk = self._stream.read(max(_CHUNK, len(self._text) - self._at))
        self._see(chunk)
        self._ended = not chunk
        try:
            more = self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as exc:
            pending = len(exc.object) - len(chunk)
            self._fail(f"not UTF-8 at byte {self._bytes_before - pending + exc.start}")
        self._bytes_before += len(chunk)
        self._line, self._column = self._position(self._at)
        self._text = self._text[self._at :] + more
        self._at = 0
        return not self._ended

    def _position(self, at: int) -> tuple[int, int]:
        lines = self._text.count("\n", 0, at)
        if not lines:
            return self._line, self._column + at
        return self._line + lines, at - self._text.rindex("\n", 0, at)

    def _fail_at(self, reason: str, at: int) -> NoReturn:
        line, column = self._position(at)
        self._fail(f"line {line}, column {column}: {reason}")

    def _fail(self, reason: str) -> NoReturn:
        raise DatasetError(f"{self._path}: {reason}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
