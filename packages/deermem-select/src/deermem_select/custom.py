"""A user's own selector, named `MODULE:FUNCTION`."""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from ._errors import SelectorError, one_line
from ._signature import check_signature
from .git import git_state
from .selector import Provenance, Selector

if TYPE_CHECKING:
    from collections.abc import Callable

    from deermem_data import Protocol


def bind_custom(name: str, protocol: Protocol) -> Selector:
    """Import `MODULE:FUNCTION` from the import path and check that it can be called.

    The hash in its provenance is that of the source file that defines the function; what that
    file imports is not covered.

    Raises:
        SelectorError: not of this form, not importable, not there, not callable as a selector
            is, or without a source file to hash.
    """
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise SelectorError(f"selector {name!r}: expected production, reference or MODULE:FUNCTION")
    function = _function(name, module_name, attribute)
    check_signature(function, f"selector {name}", exact=False)
    file, below_root = _source(name, function, module_name)
    try:
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise SelectorError(
            f"selector {name}: its source {file} cannot be read ({error.strerror}), so that a run "
            "could not be tied to it"
        ) from error
    commit, dirty = git_state(file)
    known = sha256 in protocol.known_selectors
    return Selector(function, Provenance("custom", name, below_root, sha256, commit, dirty, known))


def _function(name: str, module_name: str, attribute: str) -> Callable[..., Any]:
    try:
        found: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may raise anything, SystemExit too
        raise SelectorError(
            f"selector {name}: module {module_name} cannot be imported: {one_line(error)}"
        ) from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise SelectorError(f"selector {name}: module {module_name} has no function {attribute}")
    return found  # type: ignore[no-any-return]


def _source(name: str, function: Callable[..., Any], module_name: str) -> tuple[Path, str]:
    """The file that defines the function, and its path below the folder it is imported from."""
    defining = module_name
    # What is no function of its own, as a `partial` or an object, is defined where it is named.
    if isinstance(function, FunctionType | MethodType | type) or hasattr(function, "__wrapped__"):
        defining = getattr(function, "__module__", None) or module_name
    if getattr(sys.modules.get(defining), "__file__", None) is None:
        defining = module_name
    file = getattr(sys.modules.get(defining), "__file__", None)
    if file is None:
        raise SelectorError(
            f"selector {name}: has no source file, so that a run could not be tied to it"
        )
    path = Path(file).resolve()
    depth = defining.count(".") + (2 if path.stem == "__init__" else 1)
    return path, "/".join(path.parts[-depth:])
