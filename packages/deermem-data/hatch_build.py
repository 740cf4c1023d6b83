"""Put the workspace's `specs/` into the distributions of `deermem-data`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SpecsHook(BuildHookInterface):  # type: ignore[type-arg]
    """`specs/` lies at the workspace's root in a checkout and beside this file in an sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add `specs/` to what is built; an editable install reads it from the checkout."""
        if version == "editable":
            return
        here = Path(self.root)
        candidates = [here / "specs", here.parent.parent / "specs"]
        specs = next((path for path in candidates if (path / "protocols").is_dir()), None)
        if specs is None:
            raise FileNotFoundError(f"specs/protocols is in none of {[str(c) for c in candidates]}")
        target = "deermem_data/specs" if self.target_name == "wheel" else "specs"
        build_data["force_include"][str(specs)] = target
