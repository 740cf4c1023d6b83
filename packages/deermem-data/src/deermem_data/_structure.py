"""Protocol files into attrs classes: strict in types and keys, every fault named at once."""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NewType, TypeVar, get_args

import attrs
import cattrs
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, make_mapping_structure_fn
from cattrs.v import transform_error

from .errors import ProtocolError

T = TypeVar("T")
_Hook = Callable[[Any, Any], Any]

Text = NewType("Text", str)  # not blank
FileId = NewType("FileId", str)  # fit to be part of a file name
Sha256 = NewType("Sha256", str)
EnvironmentName = NewType("EnvironmentName", str)
Count = NewType("Count", int)  # 1 or more
Size = NewType("Size", int)  # 0 or more
Fraction = NewType("Fraction", float)  # 0 to 1
Positive = NewType("Positive", float)

_FILE_ID = re.compile(r"[A-Za-z0-9._-]+")
_MAX_ID = 120  # two ids, a policy and a suffix stay below the 255 bytes of a file name


class Faults(ValueError):  # noqa: N818  (several, not one error)
    """Several faults of one object, each a sentence of its own."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))


def raise_faults(*faults: str | None) -> None:
    """Raise the faults that are not `None`, together; do nothing where there are none."""
    found = [fault for fault in faults if fault]
    if found:
        raise Faults(found)


def is_file_id(value: str) -> bool:
    """Whether `value` may become part of a file name (design: the runner)."""
    return bool(_FILE_ID.fullmatch(value)) and value.strip(".") != "" and len(value) <= _MAX_ID


def structure(document: object, cls: type[T], path: Path) -> T:
    """Return `document` as an instance of `cls`.

    Raises:
        ProtocolError: the document does not fit; one line for each fault, with its key path.
    """
    try:
        return _converter().structure(document, cls)
    except (cattrs.BaseValidationError, ValueError, TypeError) as exc:
        lines = [
            _as_line(text) for text in transform_error(exc, path="$", format_exception=_describe)
        ]
        raise ProtocolError("\n".join(f"{path}: {line}" for line in lines)) from exc


def _as_line(text: str) -> str:
    fault, _, where = text.rpartition(" @ ")
    key = where.removeprefix("$").removeprefix(".").replace("['", ".").replace("']", "")
    return f"{key.removeprefix('.') or 'top level'}: {fault}"


def _describe(exc: BaseException, _type: type | None) -> str:
    if isinstance(exc, ForbiddenExtraKeysError):
        known = [attribute.name for attribute in attrs.fields(exc.cl)] if exc.cl else []
        return "; ".join(_unknown_key(key, known) for key in sorted(map(str, exc.extra_fields)))
    if isinstance(exc, KeyError):
        return "the key is missing"
    return str(exc) or type(exc).__name__


def _unknown_key(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else f"; known: {', '.join(known)}"
    return f"unknown key {key!r}{hint}"


def _found(value: object) -> str:
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 80 else shown[:77] + '...'}"


def _require(holds: bool, expected: str, value: object) -> None:
    if not holds:
        raise ValueError(f"expected {expected}, found {_found(value)}")


def _to_str(value: object, _: object = None) -> str:
    _require(isinstance(value, str), "text", value)
    return str(value)


def _to_text(value: object, _: object = None) -> Text:
    _require(isinstance(value, str) and bool(value.strip()), "text that is not blank", value)
    return Text(str(value))


def _to_file_id(value: object, _: object = None) -> FileId:
    fits = isinstance(value, str) and is_file_id(value)
    _require(fits, f"an id of 1 to {_MAX_ID} of A-Z a-z 0-9 . _ - (it names files)", value)
    return FileId(str(value))


def _to_sha256(value: object, _: object = None) -> Sha256:
    fits = isinstance(value, str) and bool(re.fullmatch(r"[0-9a-f]{64}", value))
    _require(fits, "a SHA-256 of 64 lower-case hex digits", value)
    return Sha256(str(value))


def _to_environment_name(value: object, _: object = None) -> EnvironmentName:
    fits = isinstance(value, str) and bool(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value))
    _require(fits, "the name of an environment variable", value)
    return EnvironmentName(str(value))


def _to_bool(value: object, _: object = None) -> bool:
    _require(isinstance(value, bool), "true or false", value)
    return bool(value)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _to_int(value: object, _: object = None) -> int:
    _require(_is_int(value), "a whole number", value)
    return int(value)  # type: ignore[call-overload, no-any-return]


def _to_count(value: object, _: object = None) -> Count:
    _require(_is_int(value) and value >= 1, "a whole number of 1 or more", value)  # type: ignore[operator]
    return Count(_to_int(value))


def _to_size(value: object, _: object = None) -> Size:
    _require(_is_int(value) and value >= 0, "a whole number of 0 or more", value)  # type: ignore[operator]
    return Size(_to_int(value))


def _to_float(value: object, _: object = None) -> float:
    _require(_is_int(value) or isinstance(value, float), "a number", value)
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    _require(math.isfinite(number), "a finite number", value)
    return number


def _to_fraction(value: object, _: object = None) -> Fraction:
    number = _to_float(value)
    _require(0.0 <= number <= 1.0, "a number from 0 to 1", value)
    return Fraction(number)


def _to_positive(value: object, _: object = None) -> Positive:
    number = _to_float(value)
    _require(number > 0.0, "a number above 0", value)
    return Positive(number)


def _to_datetime(value: object, _: object = None) -> datetime:
    expected = "a UTC time such as 2026-08-13T00:00:00Z"
    _require(isinstance(value, str) and value.endswith("Z"), expected, value)
    try:
        return datetime.strptime(str(value), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"expected {expected}, found {_found(value)}") from None


def _literal_hook(value: object, literal: Any) -> Any:
    allowed = get_args(literal)
    fits = any(value == choice and type(value) is type(choice) for choice in allowed)
    _require(fits, " or ".join(map(repr, allowed)), value)
    return value


def _is_literal(cls: Any) -> bool:
    return getattr(cls, "__origin__", None) is Literal


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    hooks: dict[Any, _Hook] = {
        str: _to_str,
        bool: _to_bool,
        int: _to_int,
        float: _to_float,
        datetime: _to_datetime,
        Text: _to_text,
        FileId: _to_file_id,
        Sha256: _to_sha256,
        EnvironmentName: _to_environment_name,
        Count: _to_count,
        Size: _to_size,
        Fraction: _to_fraction,
        Positive: _to_positive,
    }
    for cls, hook in hooks.items():
        converter.register_structure_hook_func(partial(operator.is_, cls), hook)
    converter.register_structure_hook_func(_is_literal, _literal_hook)
    converter.register_structure_hook_factory(_is_tuple, _tuple_hook)
    converter.register_structure_hook_factory(_is_dict, _dict_hook)
    converter.register_structure_hook_factory(attrs.has, _class_hook)
    return converter


def _is_tuple(cls: Any) -> bool:
    return getattr(cls, "__origin__", None) is tuple


def _is_dict(cls: Any) -> bool:
    return getattr(cls, "__origin__", None) is dict


# cattrs iterates over whatever it is given, text included; these three look at the shape first.
def _tuple_hook(cls: Any, converter: cattrs.Converter) -> _Hook:
    as_list: Any = list.__class_getitem__(get_args(cls)[0])

    def hook(value: object, _: Any) -> Any:
        _require(isinstance(value, list), "a list", value)
        return tuple(converter.structure(value, as_list))

    return hook


def _dict_hook(cls: Any, converter: cattrs.Converter) -> _Hook:
    return _require_mapping(make_mapping_structure_fn(cls, converter, dict))


def _class_hook(cls: Any, converter: cattrs.Converter) -> _Hook:
    return _require_mapping(make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True))


def _require_mapping(inner: _Hook) -> _Hook:
    def hook(value: object, cls: Any) -> Any:
        _require(isinstance(value, dict), "a mapping of keys to values", value)
        return inner(value, cls)

    return hook
