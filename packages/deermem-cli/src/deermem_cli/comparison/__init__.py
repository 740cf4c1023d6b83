"""The comparison of runs: what differs in their identity, their accuracies, each flipped case.

Every run is compared with the first one named. Runs that do not answer the same cases under the
same conditions are refused by name.
"""

from __future__ import annotations

from .comparable import NotComparableError
from .compare import Comparison, Pairing, compare_runs
from .json_document import comparison_json
from .lines import comparison_lines
from .page import comparison_page

__all__ = [
    "Comparison",
    "NotComparableError",
    "Pairing",
    "compare_runs",
    "comparison_json",
    "comparison_lines",
    "comparison_page",
]
