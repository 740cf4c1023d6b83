"""A place in an artifact: read with its type checked, and remembered by every number from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from deermem_data import ArtifactError

from .document import Number
from .numbers import count_text, p_text, percent_text, points_text, size_text


@frozen
class Node:
    """A value within a JSON document.

    Attributes:
        path: the file, for messages.
        name: the file's name, for sources.
        pointer: JSON pointer to the value.
        value: the value.
    """

    path: Path
    name: str
    value: Any
    pointer: str = ""

    def at(self, *keys: str | int) -> Node:
        """Return the place below this one.

        Raises:
            ArtifactError: there is none; the message names file and place.
        """
        node = self
        for key in keys:
            fits = type(node.value) is (list if isinstance(key, int) else dict)
            if not fits:
                raise node.fault("a list" if isinstance(key, int) else "an object")
            escaped = str(key).replace("~", "~0").replace("/", "~1")
            pointer = f"{node.pointer}/{escaped}"
            try:
                value = node.value[key]
            except LookupError:
                raise ArtifactError(
                    f"{self.path}: {pointer}: is not there; make the file again"
                ) from None
            node = Node(self.path, self.name, value, pointer)
        return node

    def items(self) -> Iterator[Node]:
        """Yield the places of a list."""
        if type(self.value) is not list:
            raise self.fault("a list")
        for index in range(len(self.value)):
            yield self.at(index)

    def keys(self) -> tuple[str, ...]:
        """Return the keys of an object, in its order."""
        if type(self.value) is not dict:
            raise self.fault("an object")
        return tuple(self.value)

    def text(self) -> str:
        """Return the text that stands here."""
        if type(self.value) is not str:
            raise self.fault("text")
        return self.value

    def boolean(self) -> bool:
        """Return the boolean that stands here."""
        if type(self.value) is not bool:
            raise self.fault("true or false")
        return self.value

    def whole(self) -> int:
        """Return the whole number that stands here."""
        if type(self.value) is not int:
            raise self.fault("a whole number")
        return self.value

    def real(self) -> float:
        """Return the finite number that stands here."""
        if type(self.value) not in {int, float} or not math.isfinite(self.value):
            raise self.fault("a number")
        return float(self.value)

    def count(self) -> Number:
        """Return a count, ready to show."""
        return Number(count_text(self.whole()), self.whole(), self.source)

    def percent(self) -> Number:
        """Return a share as per cent, ready to show."""
        return self._shown(percent_text)

    def points(self) -> Number:
        """Return a signed difference in percentage points, ready to show."""
        return self._shown(points_text)

    def size(self) -> Number:
        """Return a difference in percentage points without its sign, ready to show."""
        return self._shown(size_text)

    def p_value(self, alpha: float) -> Number:
        """Return a p-value, ready to show."""
        return self._shown(lambda value: p_text(value, alpha))

    @property
    def source(self) -> str:
        """File and pointer."""
        return f"{self.name}#{self.pointer}"

    def fault(self, expected: str) -> ArtifactError:
        """Return the error that something else was expected here."""
        found = ascii(self.value)
        found = found if len(found) <= 60 else f"{found[:57]}..."
        return ArtifactError(
            f"{self.path}: {self.pointer or 'the document'}: expected {expected}, found {found}; "
            "make the file again"
        )

    def _shown(self, form: Callable[[float], str]) -> Number:
        return Number(form(self.real()), self.real(), self.source)
