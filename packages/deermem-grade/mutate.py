"""The mutation run: `hatch run mutate`. Changes the frozen module bit by bit, with mutmut.

The golden vectors alone are asked whether they notice. Exit status 1 if fewer than 98 % of the
mutants die, or one survives that MUTANTS.md does not list. Works on a copy in a temporary folder.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENOUGH = 0.98


def main() -> int:
    """Run mutmut on a copy and compare what survives with MUTANTS.md."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "package"
        shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("mutants", "__pycache__"))
        subprocess.run(["mutmut", "run"], cwd=copy, stdout=sys.stderr, check=True)
        outcomes = re.findall(r"(\S+): (.+)", _mutmut(copy, "results", "--all", "true"))
        survivors = [name for name, outcome in outcomes if outcome in ("survived", "no tests")]
        shown = [_mutmut(copy, "show", name) for name in survivors]
    listed = (HERE / "MUTANTS.md").read_text("utf-8")
    unlisted = 0
    for name, diff in zip(survivors, shown, strict=True):
        lines = [line for line in diff.splitlines() if re.match(r"[-+](?![-+])", line)]
        known = all(line[1:].strip() in listed for line in lines)
        unlisted += not known
        _say(f"{'survived, listed' if known else 'SURVIVED, NOT LISTED'}: {name}", *lines)
    dead = len(outcomes) - len(survivors)
    _say(f"{dead} of {len(outcomes)} mutants die: {dead / len(outcomes):.1%}")
    return 0 if outcomes and dead >= ENOUGH * len(outcomes) and not unlisted else 1


def _mutmut(folder: Path, *arguments: str) -> str:
    command = ["mutmut", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
