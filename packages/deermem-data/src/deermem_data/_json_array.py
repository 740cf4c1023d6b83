"""A JSON array read element by element, so that memory does not grow with the file."""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from .errors import DatasetError

_CHUNK = 1 << 19
_SPACE = re.compile(r"[ \t\n\r]*")
# What may stand at the end of a file that was cut off inside a word or a number.
_HALF_TOKEN = re.compile(r"[\w.+\\-]*\s*")
# The numbers that Python's reader takes or refuses without saying where, and what to step over.
_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<number>NaN|-?Infinity|-?\d+)', re.DOTALL)


def iter_array(
    path: Path, stream: BinaryIO, see: Callable[[bytes], object], *, chunk_size: int = _CHUNK
) -> Iterator[object]:
    """Yield the elements of the JSON array in `stream`, in order.

    Args:
        path: the file's name, for messages.
        stream: the file, open for reading bytes.
        see: told every chunk of bytes, in order (a hash's `update`).
        chunk_size: how many bytes to read at a time, at least.

    Raises:
        DatasetError: not UTF-8, a byte order mark, not JSON (with line and column), not an
            array, or cut off.
    """
    return _ArrayReader(path, stream, see, chunk_size).elements()


class _ArrayReader:
    """A window of decoded text over the file; `_at` is the next character to look at."""

    def __init__(
        self, path: Path, stream: BinaryIO, see: Callable[[bytes], object], chunk_size: int
    ) -> None:
        self._path = path
        self._stream = stream
        self._see = see
        self._chunk_size = chunk_size
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._scan = json.JSONDecoder(parse_constant=_no_constant).raw_decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._bytes_before = 0  # of the chunk last decoded
        self._line = 1  # of the window's first character
        self._column = 1

    def elements(self) -> Iterator[object]:
        first = self._next()
        if first == "\ufeff":
            self._fail("begins with a byte order mark; save it as UTF-8 without one")
        if not first:
            self._fail("is empty; expected a list of records")
        if first != "[":
            self._fail_at(f"not a list of records: expected '[', found {first!r}", self._at)
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
                if self._is_fault(exc):
                    reason = "cut off: " if self._is_cut_off(exc) else "not JSON: "
                    self._fail_at(reason + exc.msg, exc.pos)
            except RecursionError:
                self._fail_at("nested too deep for a data set", self._at)
            except ValueError:
                self._fail_number()
            else:
                # A bare number at the window's end may go on in the next chunk, as in 1 and e+9.
                if end < len(self._text) - 2 or self._ended:
                    self._at = end
                    return value
            # The window has moved, also where nothing came: look again.
            self._fill()

    def _is_fault(self, exc: json.JSONDecodeError) -> bool:
        """Whether more text could not mend this: it is neither a cut string nor at the end."""
        near_end = exc.pos >= len(self._text) - 16
        return self._ended or not (_is_unterminated(exc) or near_end)

    def _is_cut_off(self, exc: json.JSONDecodeError) -> bool:
        half_token = _HALF_TOKEN.fullmatch(self._text, exc.pos)
        return self._ended and bool(_is_unterminated(exc) or half_token)

    def _fail_number(self) -> NoReturn:
        """Fail at the number that the reader has just refused."""
        limit = sys.get_int_max_str_digits()
        for match in _STRING_OR_NUMBER.finditer(self._text, self._at):
            number = match["number"]
            if number and number[-1].isdigit() and limit and len(number.lstrip("-")) > limit:
                self._fail_at(
                    f"not JSON: a whole number of more than {limit} digits", match.start()
                )
            if number and not number[-1].isdigit():
                self._fail_at(f"not JSON: {number} is not a number", match.start())
        self._fail_at("not JSON: not a number", self._at)

    def _fill(self) -> bool:
        """Drop what was read, append the next chunk; return whether there was one."""
        if self._ended:
            return False
        chunk = self._stream.read(max(self._chunk_size, len(self._text) - self._at))
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


def _is_unterminated(exc: json.JSONDecodeError) -> bool:
    return exc.msg.startswith("Unterminated string")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
