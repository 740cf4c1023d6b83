"""Protocol files into attrs classes: strict in types and keys, every fault named at once."""

from __future__ import annotations

import contextlib
import difflib
import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NewType, TypeVar, get_args

import attrs
import cattrs
from cattrs.errors import (
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
)
from cattrs.gen import make_dict_structure_fn, make_mapping_structure_fn

from .artifacts import is_encodable
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

LARGEST = 2**53 - 1  # beyond it not every reader of JSON gives a whole number back unchanged

_FILE_ID = re.compile(r"[A-Za-z0-9._-]+")
_MAX_ID = 120  # two ids, a policy and a suffix stay below the 255 bytes of a file name


# A key below the object ("" for the object itself) and what is wrong there.
Fault = tuple[str, str]
# Rules over several keys are looked at one by one, so that a wrong key hides no rule of the others.
Rules = tuple[Callable[[], Fault | None], ...]


class Faults(ValueError):  # noqa: N818  (several, not one error)
    """What is wrong with one object whose keys are each as they should be."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__("; ".join(f"{key}: {text}" if key else text for key, text in faults))


class Ruled:
    """A class whose `rules` hold for every instance."""

    __slots__ = ()

    def __attrs_post_init__(self) -> None:
        if found := [fault for rule in self.rules() if (fault := rule())]:
            raise Faults(found)

    def rules(self) -> Rules:
        """The rules over several keys; each gives a fault, or `None` where it holds."""
        raise NotImplementedError


def fault_if(wrong: bool, key: str, text: str) -> Fault | None:
    """Return the fault where there is one."""
    return (key, text) if wrong else None


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
        lines = [f"{path}: {key or 'top level'}: {text}" for key, text in _faults(exc, "")]
        raise ProtocolError("\n".join(lines)) from exc


def _faults(exc: BaseException, where: str) -> Iterator[Fault]:
    """Walk a nest of structuring errors; `where` is the key path so far."""
    if isinstance(exc, ClassValidationError):
        named, others = exc.group_exceptions()
        for inner, note in named:
            yield from _faults(inner, _below(where, note.name))
        for inner in others:
            yield from _faults(inner, where)
    elif isinstance(exc, IterableValidationError):
        for inner, index in exc.group_exceptions()[0]:
            at = index.index
            yield from _faults(inner, f"{where}[{at}]" if _is_int(at) else _below(where, str(at)))
    elif isinstance(exc, ForbiddenExtraKeysError):
        known = [attribute.name for attribute in attrs.fields(exc.cl)] if exc.cl else []
        for key in sorted(map(str, exc.extra_fields)):
            yield where, _unknown_key(key, known)
    elif isinstance(exc, Faults):
        for key, text in exc.faults:
            yield _below(where, key), text
    elif isinstance(exc, KeyError):
        yield where, "the key is missing"
    else:
        yield where, str(exc)


def _below(where: str, key: str) -> str:
    # A name of the file's author: a line end in it would break the line that names it.
    key = key if key.isprintable() else repr(key)
    return f"{where}.{key}" if where and key else where or key


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
    _require(is_encodable(str(value)), "text without half a surrogate pair", value)
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
    return Count(_at_most(LARGEST, value))


def _to_size(value: object, _: object = None) -> Size:
    _require(_is_int(value) and value >= 0, "a whole number of 0 or more", value)  # type: ignore[operator]
    return Size(_at_most(LARGEST, value))


def _at_most(limit: int, value: object) -> int:
    number = _to_int(value)
    _require(number <= limit, f"a whole number of at most {limit}", value)
    return number


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
        moment = datetime.strptime(str(value), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"expected {expected}, found {_found(value)}") from None
    # Facts are dated back from it.
    _require(moment.year >= 1970, f"{expected}, in 1970 or later", value)
    return moment


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
        # Not by a predicate: cattrs has hooks of its own for these classes, which would win.
        converter.register_structure_hook(cls, hook)
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
    structured = make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True)

    def hook(value: Any, _: Any) -> Any:
        try:
            return structured(value, cls)
        except ClassValidationError as exc:
            if faults := _rules_of_the_rest(exc, value, cls, converter):
                raise exc.derive([*exc.exceptions, Faults(faults)]) from exc
            raise

    return _require_mapping(hook)


def _rules_of_the_rest(
    exc: ClassValidationError, value: dict[str, Any], cls: Any, converter: cattrs.Converter
) -> list[Fault]:
    """Return what the rules find in an object some of whose keys are wrong."""
    wrong = {note.name for _, note in exc.group_exceptions()[0]}
    made = any(isinstance(inner, Faults) for inner in exc.exceptions)
    if made or not issubclass(cls, Ruled):
        return []
    partial_object = object.__new__(cls)
    for attribute in attrs.fields(cls):
        if attribute.name in value and attribute.name not in wrong:
            structured = converter.structure(value[attribute.name], attribute.type)
            object.__setattr__(partial_object, attribute.name, structured)
    found = []
    for rule in partial_object.rules():
        with contextlib.suppress(AttributeError):  # it needs a key that is wrong
            found.append(rule())
    return [fault for fault in found if fault]


def _require_mapping(inner: _Hook) -> _Hook:
    def hook(value: object, cls: Any) -> Any:
        _require(isinstance(value, dict), "a mapping of keys to values", value)
        return inner(value, cls)

    return hook
