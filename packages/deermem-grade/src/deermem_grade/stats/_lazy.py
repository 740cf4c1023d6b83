"""Import numpy and scipy when they are first needed, and say what to install where they are not."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def numeric_module(name: str) -> ModuleType:
    """The module `name` of this package, which imports numpy or scipy.

    Raises:
        ImportError: numpy or scipy is not installed; the message says how to install both.
    """
    try:
        return import_module(f".{name}", __package__)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in {"numpy", "scipy"}:
            raise
        raise ImportError(
            f"{missing} is not installed, and this statistic needs it:"
            " pip install 'deermem-grade[stats]'",
            name=missing,
        ) from error
