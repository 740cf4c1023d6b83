"""The production selector: deer-flow's own function, found and loaded by itself.

One file is read, hashed and executed; none of deer-flow's packages is imported, so none of its
dependencies is needed and the hash covers all the deer-flow code that decides.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ._errors import SelectorError, one_line
from ._signature import check_signature
from .git import git_state
from .selector import Provenance, Selector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deermem_data import Protocol

PACKAGE = "deerflow"
HARNESS = "backend/packages/harness"
IN_PACKAGE = "agents/memory/backends/deermem/deermem/core/eviction.py"
FUNCTION = "select_facts_for_capacity"
POLICY_VERSION = "EVICTION_POLICY_HYBRID_V1"

_IN_HARNESS = f"{PACKAGE}/{IN_PACKAGE}"
# Below the harness folder itself, below backend/, below the root of a checkout.
_CHECKOUT_FOLDERS = (".", "packages/harness", HARNESS)
_HOW_TO_PROVIDE = (
    "give a deer-flow checkout with --deerflow PATH or DEERMEM_DEERFLOW_PATH, "
    f"or install {PACKAGE} beside deermem"
)


@frozen
class ProductionFile:
    """The file that holds the production selector.

    `path` is absolute; `below_root` is its path below the checkout or the folder it is
    installed in, whichever way it was found.
    """

    path: Path
    below_root: str


def bind_production(protocol: Protocol, deerflow: Path | None) -> Selector:
    """Find, load and check the production selector.

    Args:
        deerflow: a checkout's root, its `backend/` or its harness folder; None for an
            installed `deerflow`.

    Raises:
        SelectorError: not found, not loadable, or not what the protocol requires.
    """
    found = find_production(deerflow)
    try:
        source = found.path.read_bytes()
    except OSError as error:
        raise SelectorError(f"{found.path}: cannot be read ({error.strerror})") from error
    sha256 = hashlib.sha256(source).hexdigest()
    module = _execute(source, found.path, f"_deermem_production_{sha256[:16]}")
    function = _checked(module, found.path, protocol.config.required_policy_version)
    commit, dirty = git_state(found.path)
    known = sha256 in protocol.known_selectors
    return Selector(
        function,
        Provenance("production", "production", found.below_root, sha256, commit, dirty, known),
    )


def find_production(deerflow: Path | None = None) -> ProductionFile:
    """Find the production selector's file without importing anything.

    Args:
        deerflow: as for `bind_production`.

    Raises:
        SelectorError: it is not there; the message says where it was looked for.
    """
    if deerflow is None:
        return _find_installed()
    if not _is(deerflow, Path.is_dir):
        raise SelectorError(f"{deerflow}: no such folder; expected a deer-flow checkout")
    for folder in _CHECKOUT_FOLDERS:
        candidate = (deerflow / folder).resolve() / _IN_HARNESS
        if _is(candidate, Path.is_file):
            return _production_file(candidate)
    raise SelectorError(
        f"{deerflow}: holds no {HARNESS}/{_IN_HARNESS}; expected the root of a deer-flow checkout "
        "that has the hybrid-v1 policy, its backend/ or its harness folder"
    )


def _find_installed() -> ProductionFile:
    locations = list(_installed_locations())
    for location in locations:
        candidate = Path(location).resolve() / IN_PACKAGE
        if _is(candidate, Path.is_file):
            return _production_file(candidate)
    if locations:
        raise SelectorError(
            f"production selector not found: the installed {PACKAGE} at {', '.join(locations)} "
            f"holds no {IN_PACKAGE}; {_HOW_TO_PROVIDE}"
        )
    raise SelectorError(
        f"production selector not found: no {PACKAGE} is installed; {_HOW_TO_PROVIDE}"
    )


def _installed_locations() -> Iterator[str]:
    """The folders of the top-level package; finding a top-level name imports nothing."""
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        return
    if spec is not None and spec.submodule_search_locations is not None:
        yield from spec.submodule_search_locations


def _is(path: Path, kind: Callable[[Path], bool]) -> bool:
    try:
        return kind(path)
    except OSError as error:
        raise SelectorError(f"{path}: cannot be read ({error.strerror})") from error


def _production_file(path: Path) -> ProductionFile:
    in_checkout = f"{HARNESS}/{_IN_HARNESS}"
    is_checkout = path.as_posix().endswith(f"/{in_checkout}")
    return ProductionFile(path, in_checkout if is_checkout else _IN_HARNESS)


class _Alone:
    """An import finder that refuses deer-flow's packages while its one file is executed."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name.partition(".")[0] == PACKAGE:
            raise ImportError(f"{name} is not imported: the selector is loaded by itself")


def _execute(source: bytes, path: Path, name: str) -> ModuleType:
    """Execute the very bytes that were hashed; nothing is cached and no module stays behind."""
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = ""  # belongs to no package, so that relative imports fail
    alone = _Alone()
    sys.modules[name] = module  # dataclasses look their own module up
    sys.meta_path.insert(0, alone)
    try:
        exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a file may raise anything, SystemExit too
        raise SelectorError(f"{path}: raises on import: {one_line(error)}") from error
    finally:
        sys.meta_path.remove(alone)
        sys.modules.pop(name, None)
    return module


def _checked(module: ModuleType, path: Path, required_version: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(module, FUNCTION, None)
    if not callable(function):
        raise SelectorError(f"{path}: has no function {FUNCTION}")
    check_signature(function, f"{path}: {FUNCTION}", exact=True)
    version = getattr(module, POLICY_VERSION, None)
    if version != required_version:
        raise SelectorError(
            f"{path}: {POLICY_VERSION} is {version!r}, "
            f"the protocol requires policy version {required_version!r}"
        )
    return function
