"""JSON and YAML documents, read strictly: no repeated key, no NaN, no alias, no guess."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import yaml

from .errors import ProtocolError

# Far above any protocol file; a document this large is some other file.
_MAX_BYTES = 1 << 20


def parse_document(path: Path, data: bytes) -> object:
    """Return the content of a protocol's JSON or YAML file, told apart by its suffix.

    Raises:
        ProtocolError: it is not UTF-8, not JSON or YAML (with line and column), too large, or
            repeats a key.
    """
    if len(data) > _MAX_BYTES:
        raise ProtocolError(f"{path}: {len(data)} bytes; a protocol file has at most {_MAX_BYTES}")
    text = decode_text(path, data)
    if path.suffix in {".yaml", ".yml"}:
        return _parse_yaml(path, text)
    return _parse_json(path, text)


def decode_text(path: Path, data: bytes) -> str:
    """Return a protocol file's text.

    Raises:
        ProtocolError: it is not UTF-8, or begins with a byte order mark.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise ProtocolError(f"{path}: begins with a byte order mark; save it as UTF-8 without one")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ProtocolError(f"{path}: not UTF-8 at byte {exc.start}; save it as UTF-8") from exc


def _parse_json(path: Path, text: str) -> object:
    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = next(name for name in names if names.count(name) > 1)
            raise ProtocolError(f"{path}: the key {repeated!r} stands twice in one object")
        return found

    def no_constant(name: str) -> NoReturn:
        raise ProtocolError(f"{path}: {name} is not a number; write a finite one")

    try:
        return json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constant)
    except json.JSONDecodeError as exc:
        raise ProtocolError(
            f"{path}: line {exc.lineno}, column {exc.colno}: not JSON: {exc.msg}"
        ) from exc
    except ProtocolError:
        raise
    except ValueError as exc:  # Python's bound on the digits of a whole number
        raise ProtocolError(f"{path}: a number has too many digits") from exc
    except RecursionError as exc:
        raise ProtocolError(f"{path}: nested too deep for a protocol file") from exc


class _StrictLoader(yaml.SafeLoader):
    """YAML without repeated keys, aliases, tags, or text turned into dates."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _not_allowed("aliases", event.start_mark)
        # `!!int ""` and its kin make PyYAML fail in ways of its own.
        if event.tag is not None:
            raise _not_allowed("tags", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is not text; quote it", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def _not_allowed(what: str, mark: Any) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, f"{what} are not allowed", mark)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _parse_yaml(path: Path, text: str) -> object:
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506  (a SafeLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ProtocolError(f"{path}: {where}not YAML as expected: {exc.problem}") from exc
    except (yaml.YAMLError, ValueError) as exc:
        reason = " ".join(str(exc).split())
        raise ProtocolError(f"{path}: not YAML as expected: {reason}") from exc
    except RecursionError as exc:
        raise ProtocolError(f"{path}: nested too deep for a protocol file") from exc
