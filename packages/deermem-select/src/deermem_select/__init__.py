"""Bind a selector, ask it what to forget, and count what was kept."""

from __future__ import annotations

from ._errors import SelectorError
from .binding import bind_selector
from .check import CheckReport, Difference, check_selector
from .decision import Decision, decide, decisions, policy_arguments
from .generated import GeneratedPool, generate_pool
from .git import git_state
from .production import ProductionFile, find_production
from .reference import EvictedFact, FactScore, Selection, select_facts_for_capacity
from .retention import RetentionGroup, summarise
from .selector import Provenance, Selector

__version__ = "0.1.0"

__all__ = [
    "CheckReport",
    "Decision",
    "Difference",
    "EvictedFact",
    "FactScore",
    "GeneratedPool",
    "ProductionFile",
    "Provenance",
    "RetentionGroup",
    "Selection",
    "Selector",
    "SelectorError",
    "bind_selector",
    "check_selector",
    "decide",
    "decisions",
    "find_production",
    "generate_pool",
    "git_state",
    "policy_arguments",
    "select_facts_for_capacity",
    "summarise",
]
