"""What the package offers, and what importing it costs."""

from __future__ import annotations

import inspect
import subprocess
import sys

import deermem_select
from deermem_data import DeermemError


def test_public_names_are_complete() -> None:
    """`__all__` is sorted and names every class and function of the package's namespace."""
    public = [
        name
        for name, value in vars(deermem_select).items()
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value))
    ]
    assert sorted(public) == deermem_select.__all__


def test_errors_are_value_errors() -> None:
    """A selector's error is caught by whoever catches the project's errors."""
    assert issubclass(deermem_select.SelectorError, DeermemError)


def test_signature_is_the_published_one() -> None:
    """The reference is called exactly as production is."""
    signature = inspect.signature(deermem_select.select_facts_for_capacity)
    found = {item.name: (item.kind.name, item.default) for item in signature.parameters.values()}
    keyword = "KEYWORD_ONLY"
    assert list(found.items()) == [
        ("facts", ("POSITIONAL_OR_KEYWORD", inspect.Parameter.empty)),
        ("max_facts", (keyword, inspect.Parameter.empty)),
        ("policy", (keyword, inspect.Parameter.empty)),
        ("usage", (keyword, None)),
        ("now", (keyword, None)),
        ("confidence_weight", (keyword, 0.65)),
        ("confirmation_weight", (keyword, 0.25)),
        ("access_weight", (keyword, 0.10)),
        ("confirmation_half_life_days", (keyword, 90)),
        ("access_half_life_days", (keyword, 30)),
        ("correction_reserved_fraction", (keyword, 0.10)),
        ("correction_reserved_max", (keyword, 10)),
    ]


def test_import_is_light() -> None:
    """Importing the package imports neither numpy nor httpx, and no deer-flow."""
    code = "import deermem_select, sys; print({'numpy', 'httpx', 'deerflow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
