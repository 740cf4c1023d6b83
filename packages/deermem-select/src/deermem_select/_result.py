"""Reading what a selector returned: an object with attributes, or a mapping, at each level."""

from __future__ import annotations

import copy
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

MAPPINGS = (dict, Mapping)  # dict first: the abstract check is slow
_SCALARS = (str, int, float, bool, type(None))
_LARGEST = int(sys.float_info.max)
_WORD = re.compile(r"[\w.:/+-]{1,64}", re.ASCII)


def read(result: Any, name: str) -> Any:
    """Read a field of a result.

    Raises:
        LookupError: there is no such field; the text names it.
    """
    try:
        return result[name] if isinstance(result, MAPPINGS) else getattr(result, name)
    except (AttributeError, KeyError):
        raise LookupError(f"{type(result).__name__} has no {name}") from None


def is_number(value: Any) -> bool:
    """Whether a value is a finite int or float, and no boolean."""
    if isinstance(value, float):
        return math.isfinite(value)
    # An int beyond the floats could not be read back from a file as the number it is.
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST


def is_word(value: Any) -> bool:
    """Whether a value is one word of at most 64 characters: a name, which holds no sentence."""
    return isinstance(value, str) and bool(_WORD.fullmatch(value))


def copy_mapping(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a fact or usage deeply; JSON scalars, which cannot change, are shared."""
    return {
        key: value if isinstance(value, _SCALARS) else copy.deepcopy(value)
        for key, value in mapping.items()
    }
