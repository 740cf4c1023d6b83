"""Run `mypy --strict`: once over all sources, then over each folder of tests by itself.

Test modules of two packages may share a name (`conftest`), which one run would not take.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Return 0 if every run is clean."""
    sources = sorted(ROOT.glob("packages/*/src"))
    tests = [*ROOT.glob("packages/*/tests/**/*.py"), *ROOT.glob("tests/**/*.py")]
    folders = sorted({path.parent for path in tests})
    runs = [sources, *(sorted(folder.glob("*.py")) for folder in folders)]
    failed = False
    for paths in runs:
        names = [str(path.relative_to(ROOT)) for path in paths]
        command = [sys.executable, "-m", "mypy", *names]
        failed |= subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
