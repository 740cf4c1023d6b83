"""What a bound selector is, and where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import asdict, frozen

if TYPE_CHECKING:
    from collections.abc import Callable


@frozen
class Provenance:
    """Which code a selector is, so that a run can be tied to it.

    `kind` says how it was bound; `name` is `production`, `reference` or
    `MODULE:FUNCTION`; `path` is the source file below its root (a checkout, or the folder it
    is installed in), with forward slashes; `sha256` is that file's. `commit` and `dirty`
    (changes to tracked files) are those of the git checkout that tracks the file, else None.
    `known` says whether the protocol lists the hash.
    """

    kind: Literal["production", "reference", "custom"]
    name: str
    path: str
    sha256: str
    commit: str | None
    dirty: bool | None
    known: bool

    def to_row(self) -> dict[str, Any]:
        """The provenance as JSON values, for `run.json`."""
        return asdict(self)


@frozen
class Selector:
    """A selector function, called as `select_facts_for_capacity` is, and its provenance."""

    function: Callable[..., Any]
    provenance: Provenance

    @property
    def name(self) -> str:
        """`production`, `reference` or `MODULE:FUNCTION`."""
        return self.provenance.name
