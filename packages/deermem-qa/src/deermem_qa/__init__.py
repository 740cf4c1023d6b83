"""Ask for answers, keep each one, and join it with its grade: tasks, provider, runner, rows."""

from __future__ import annotations

from .answer_row import AnswerRow
from .errors import CallFailed, ProviderError, RunError, RunStopped
from .graded_row import Grade, GradedAnswers, GradedRow, GradeFunction, grade_answers
from .identity import (
    RUN_FILE,
    Change,
    RunIdentity,
    protocol_part,
    read_identity,
    require_belonging,
    require_unchanged,
    run_identity,
)
from .lock import LockHeld, run_lock
from .provider import Answer, Provider, provider_identity
from .run_folder import ROWS_FILE, RunFolder, hold_run, open_run
from .runner import Event, Failure, RunSummary, Stop, run_tasks
from .stop_signals import stop_on_signals
from .store import MAX_ROW_BYTES, RESPONSES, Found, RowStore
from .task import Task, build_task, build_tasks, qa_decisions, row_id_of

__version__ = "0.1.0"

__all__ = [
    "MAX_ROW_BYTES",
    "RESPONSES",
    "ROWS_FILE",
    "RUN_FILE",
    "Answer",
    "AnswerRow",
    "CallFailed",
    "Change",
    "Event",
    "Failure",
    "Found",
    "Grade",
    "GradeFunction",
    "GradedAnswers",
    "GradedRow",
    "LockHeld",
    "Provider",
    "ProviderError",
    "RowStore",
    "RunError",
    "RunFolder",
    "RunIdentity",
    "RunStopped",
    "RunSummary",
    "Stop",
    "Task",
    "build_task",
    "build_tasks",
    "grade_answers",
    "hold_run",
    "open_run",
    "protocol_part",
    "provider_identity",
    "qa_decisions",
    "read_identity",
    "require_belonging",
    "require_unchanged",
    "row_id_of",
    "run_identity",
    "run_lock",
    "run_tasks",
    "stop_on_signals",
]
