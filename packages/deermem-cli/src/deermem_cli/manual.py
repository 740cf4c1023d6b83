"""What the help and the man page say besides commands and options.

Standard library only, as `parser`.
"""

from __future__ import annotations

from typing import Final

EXIT_DONE = 0
EXIT_NO = 1
EXIT_WRONG_INPUT = 2
EXIT_LOCKED = 3
EXIT_INTERRUPTED = 130

#: What `deermem` tells, in one line, for the man page.
SHORT_DESCRIPTION: Final = "what a capacity policy costs an agent's memory"

PURPOSE: Final = (
    "An agent's memory that is full forgets a fact for each new one; a capacity policy decides "
    "which. deermem measures what such a policy costs: how often the fact that answers a question "
    "is still there, and how often the question is then answered correctly."
)

DESCRIPTION: Final = (
    f"{PURPOSE} The same inputs give the same bytes, from pinned data to published statistics."
)

#: What to type first, and what it does.
FIRST_STEPS: Final = (
    ("deermem demo", "the evaluation, offline, in seconds"),
    ("deermem demo --output-dir demo-run", "the same, and keep its files"),
    ("deermem report demo-run", "look at them: one page for a browser"),
)

EXIT_STATUSES: Final = (
    (EXIT_DONE, "done"),
    (EXIT_NO, 'the work ran and the answer is "no" (calls failed, a check does not hold)'),
    (EXIT_WRONG_INPUT, "wrong input or usage"),
    (EXIT_LOCKED, "another run holds the output directory"),
    (EXIT_INTERRUPTED, "interrupted; the same command resumes"),
)

ENVIRONMENT: Final = (
    ("LONGMEMEVAL_ORACLE_PATH", "the data set, where --dataset is not given"),
    ("DEERMEM_DEERFLOW_PATH", "a deer-flow checkout, where --deerflow is not given"),
    (
        "DEERMEM_EVAL_ANSWER_API_KEY",
        "the key that run-qa sends (a protocol may name another variable)",
    ),
    (
        "DEERMEM_EVAL_ANSWER_BASE_URL",
        "the endpoint that run-qa asks (a protocol may name another variable)",
    ),
    ("NO_COLOR", "where not empty: no colour, and plain text wherever it is not a terminal"),
    ("FORCE_COLOR", "where not empty: tables as on a terminal, also in a pipe or a file"),
)

#: What stands in the folder of a run: name, the command that writes it, content.
FILES: Final = (
    ("run.json", "run-policy", "what ran: protocol, data set, selector, versions, by hash"),
    (
        "policy.raw.jsonl",
        "run-policy",
        "for each case, capacity and policy: what was kept, evicted",
    ),
    ("summary.json", "run-policy", "how often the fact that answers the question was kept"),
    (
        "qa_run.json",
        "run-qa",
        "what the run is bound to; a resume with any of it changed is refused",
    ),
    ("responses/*.json", "run-qa", "the answers, one file for each case and policy"),
    ("responses/*.corrupt", "run-qa", "a file found there that was no answer, set aside"),
    (".lock", "run-qa", "held by the one process that may write to the folder"),
    ("qa.rows.jsonl", "grade-qa", "the graded answers, one a line"),
    ("qa.summary.json", "grade-qa", "how many are correct, by source, scenario and policy"),
    ("qa.stats.json", "grade-qa", "the paired test and the bootstrap interval of each suite"),
    ("qa.analysis.json", "grade-qa", "further intervals and tests, and why each pair differs"),
    ("MANIFEST.sha256", "grade-qa", "the SHA-256 of each published file; sha256sum -c reads it"),
    ("report.html", "report", "the run as a page"),
)
