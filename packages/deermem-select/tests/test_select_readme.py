"""The README's snippets run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from deermem_data import Case, Protocol
from deermem_select import Provenance, Selector, decide

README = Path(__file__).parents[1] / "README.md"


def snippets() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_first_snippet_prints_the_retention(capsys: pytest.CaptureFixture[str]) -> None:
    """The snippet to paste prints one line per group."""
    exec(snippets()[0], {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 * 3 * 2
    assert "correction_reserve 5 hybrid-v1 5/5" in lines


def test_second_snippet_is_a_selector(protocol: Protocol, cases: tuple[Case, ...]) -> None:
    """The selector shown decides on real pools."""
    names: dict[str, Any] = {}
    exec(snippets()[1], names)
    mine = Provenance("custom", "mine:oldest_go", "mine.py", "0" * 64, None, None, False)
    selector = Selector(names["oldest_go"], mine)
    policy = protocol.config.policies["confidence"]
    for case in cases:
        decision = decide(case, policy, 7, selector, protocol.config.evaluation_time)
        assert len(decision.kept_fact_ids) == 7
