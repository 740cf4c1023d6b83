"""Write the man page of `deermem` from its parser when a wheel is built."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from argparse_manpage.manpage import Manpage
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PAGE = "share/man/man1/deermem.1"


class ManPageHook(BuildHookInterface):  # type: ignore[type-arg]
    """The parser module needs the standard library only, so that it can be imported here."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the man page to the wheel's shared data."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        page = Path(self._folder.name) / "deermem.1"
        page.write_text(make_man_page(Path(self.root)), encoding="utf-8")
        build_data["shared_data"][str(page)] = _PAGE

    def finalize(self, _version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Remove the page, which is in the wheel now."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def make_man_page(root: Path) -> str:
    """Return the man page in roff; the same sources give the same bytes."""
    sys.path.insert(0, str(root / "src"))
    try:
        from deermem_cli import __version__  # noqa: PLC0415
        from deermem_cli.parser import build_parser  # noqa: PLC0415

        # Widths taken from the builder's terminal would get into the page.
        os.environ["COLUMNS"] = "80"
        parser = build_parser()
        parser.man_short_description = "what a capacity policy costs an agent's memory"  # type: ignore[attr-defined]
        data = {
            "prog": "deermem",
            "project_name": "deermem",
            "version": __version__,
            "date": _date(root).strftime("%Y-%m-%d"),
            "manual_title": "deermem manual",
        }
        return str(Manpage(parser, _data=data))
    finally:
        sys.path.remove(str(root / "src"))


def _date(root: Path) -> datetime:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch:
        return datetime.fromtimestamp(int(epoch), tz=UTC)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.search(r"^## \S+ - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE)
    if released is None:
        raise ValueError(f"{root / 'CHANGELOG.md'}: no heading `## VERSION - DATE`")
    return datetime.strptime(released[1], "%Y-%m-%d").replace(tzinfo=UTC)
