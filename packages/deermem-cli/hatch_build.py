"""Write the man page of `deermem` from its parser when a wheel is built."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from argparse_manpage.manpage import Manpage, bold
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
    # Widths taken from the builder's terminal would get into the page.
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "200"
    try:
        from deermem_cli import __version__, manual  # noqa: PLC0415
        from deermem_cli.parser import build_parser, command_parsers, summary_of  # noqa: PLC0415

        parser = build_parser()
        commands = command_parsers(parser)
        _say_once(parser, commands.values())
        data = {
            "prog": "deermem",
            "project_name": "deermem",
            "version": __version__,
            "date": _date(root).strftime("%Y-%m-%d"),
            "manual_title": "deermem manual",
            "description": manual.SHORT_DESCRIPTION,
        }
        page = Manpage(parser, _data=data, format="single-commands-section")
        page.add_section("environment", "=", _definitions(manual.ENVIRONMENT))
        files = [(name, f"({by}) {content}") for name, by, content in manual.FILES]
        page.add_section("files", "=", f"{_text(_FILES)}\n{_definitions(files)}")
        statuses = [(str(status), meaning) for status, meaning in manual.EXIT_STATUSES]
        page.add_section("exit status", "=", _definitions(statuses))
        examples = [
            _example(summary_of(parser, name), command.examples)
            for name, command in commands.items()
        ]
        page.add_section("examples", "=", "\n".join(examples))
        return _finished(str(page))
    finally:
        sys.path.remove(str(root / "src"))
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns


_FILES = (
    "What stands in the folder of a run, and the command that writes it. Each file is written "
    "whole or not at all, and never over an earlier one; but report --force replaces a report."
)


def _say_once(parser: Any, commands: Iterable[Any]) -> None:
    """Describe the groups of options that many commands share once, after the commands."""
    from deermem_cli import options  # noqa: PLC0415

    shared = {
        options.PROTOCOL_GROUP: options.add_protocol,
        options.OUTPUT_GROUP: options.add_output,
    }
    for add in shared.values():
        add(parser)
    common = {one.dest: one.help for group in parser._action_groups for one in group._group_actions}
    for command in commands:
        also = []
        for group in command._action_groups:
            if group.title in shared:
                also.append(group.title)
                for action in group._group_actions:
                    if action.help == common[action.dest]:
                        action.help = argparse.SUPPRESS
            elif group.title != "options":  # the library's own title has the colon
                group.title = f"{group.title}:"
        command.description += f" Also takes the {' and the '.join(also)} (see below)."


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f".TP\n{bold(name)}\n{_text(meaning)}" for name, meaning in pairs)


def _example(title: str, lines: Iterable[str]) -> str:
    from deermem_cli.usage import command_lines  # noqa: PLC0415

    # What fits a terminal of 80 columns, beside the indentation of the page.
    shown = [_text(row.removeprefix("  ")) for line in lines for row in command_lines(line, 66)]
    return "\n".join(
        [
            ".PP",
            f"{_text(title[0].upper() + title[1:])}:",
            ".PP",
            ".nf",
            ".RS",
            *shown,
            ".RE",
            ".fi",
        ]
    )


def _text(text: str) -> str:
    """Text as roff; no line of ours begins with a control character."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def _finished(page: str) -> str:
    """Say what the library leaves to chance: no hyphenation, no stretching, usage in bold."""
    head, _, rest = page.partition("\n")
    rest = re.sub(r"^usage: (.*)$", r".B \1", rest, flags=re.MULTILINE)
    return f"{head}\n.nh\n.ad l\n{rest}"


def _date(root: Path) -> datetime:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch:
        return datetime.fromtimestamp(int(epoch), tz=UTC)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.search(r"^## \S+ - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE)
    if released is None:
        raise ValueError(f"{root / 'CHANGELOG.md'}: no heading `## VERSION - DATE`")
    return datetime.strptime(released[1], "%Y-%m-%d").replace(tzinfo=UTC)
