"""What importing the statistics costs, and what is said where numpy and scipy are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import deermem_grade.stats as stats

WITHOUT = "import sys; sys.modules['numpy'] = sys.modules['scipy'] = None\n"


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


def test_import_loads_neither_numpy_nor_scipy() -> None:
    """Importing the package, and McNemar on a table, load no third-party module."""
    code = (
        "import sys, deermem_grade.stats as s\n"
        "s.exact_mcnemar([(True, False)] * 30); s.midp_mcnemar([(True, False)])\n"
        "s.wilson_interval(1, 2); s.holm_adjust([0.5])\n"
        "s.by_suite([('synthetic', 'a', True, True)])\n"
        "print(sorted({'numpy', 'scipy'} & set(sys.modules)))\n"
        "s.paired_bootstrap_difference; print('numpy' in sys.modules)"
    )
    assert run(code) == "[]\nTrue\n"


def test_works_without_numpy_where_it_is_not_needed() -> None:
    """The tests on counts give their p-values where numpy and scipy are not installed."""
    code = WITHOUT + (
        "from deermem_grade.stats import exact_mcnemar, midp_mcnemar\n"
        "pairs = [(True, False)] + [(False, True)] * 13\n"
        "print(exact_mcnemar(pairs).p_value, midp_mcnemar(pairs).p_value)"
    )
    assert run(code) == "0.0018310546875 0.0009765625\n"


@pytest.mark.parametrize(
    "name",
    ["analyse_pairs", "paired_bootstrap_difference", "paired_difference_interval", "mcnemar_power"],
)
def test_missing_numpy_is_said_with_the_remedy(name: str) -> None:
    """Taking a statistic that needs numpy says what to install."""
    code = WITHOUT + (
        f"try:\n    from deermem_grade.stats import {name}\n"
        "except ImportError as error:\n    print(error)"
    )
    expected = (
        "numpy is not installed, and this statistic needs it: pip install 'deermem-grade[stats]'\n"
    )
    assert expected == run(code)


def test_missing_scipy_is_said_for_a_table_that_needs_it() -> None:
    """More discordant cases than are summed in whole numbers need scipy, and the error says so."""
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "from deermem_grade.stats import PairedTable, exact_mcnemar\n"
        "try:\n    exact_mcnemar(PairedTable(0, 0, 20_000, 1))\n"
        "except ImportError as error:\n    print(error)"
    )
    assert run(code).startswith("scipy is not installed")


def test_all_is_sorted_and_complete() -> None:
    """Every name in `__all__` exists, and no public name of the package is missing from it."""
    assert sorted(stats.__all__) == stats.__all__
    assert all(getattr(stats, name) is not None for name in stats.__all__)
    assert stats.__all__ == dir(stats)


def test_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as it does on any module."""
    with pytest.raises(AttributeError, match="has no attribute 'bootstrap_paired'"):
        stats.bootstrap_paired  # noqa: B018


def test_every_public_callable_cites_and_describes() -> None:
    """Each function of a formula names its source, and what it takes, returns and raises."""
    for name in stats.__all__:
        documented = getattr(stats, name).__doc__
        assert documented
        if name in {"by_suite", "pair_outcomes", "analyse_pairs", "analyse_scenarios"}:
            assert "Raises:" in documented, name
        elif name.islower():
            missing = [
                part
                for part in ("Source:", "Args:", "Returns:", "Raises:")
                if part not in documented
            ]
            assert missing == [], name
