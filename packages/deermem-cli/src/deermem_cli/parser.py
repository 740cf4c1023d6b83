"""The command line: every command, its options, help and examples.

Standard library only: the man page is made from this module at build time, and `deermem --help`
stays quick.
"""

from __future__ import annotations

import argparse

from .manual import (
    DESCRIPTION,
    ENVIRONMENT,
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_LOCKED,
    EXIT_NO,
    EXIT_STATUSES,
    EXIT_WRONG_INPUT,
)
from .options import (
    add_dataset,
    add_deerflow,
    add_output,
    add_output_dir,
    add_protocol,
    add_selector,
    count,
    name,
)
from .usage import Parser

__all__ = [
    "EXIT_DONE",
    "EXIT_INTERRUPTED",
    "EXIT_LOCKED",
    "EXIT_NO",
    "EXIT_WRONG_INPUT",
    "build_parser",
    "command_parsers",
    "summary_of",
]

_Commands = argparse._SubParsersAction


def build_parser() -> Parser:
    """Return the parser of `deermem`; the chosen command's name is in `command`."""
    # The version is a plain string here, so that nothing else of the package is imported.
    from . import __version__  # noqa: PLC0415

    parser = Parser(
        prog="deermem", usage="%(prog)s COMMAND [options]", description=DESCRIPTION, add_help=False
    )
    parser.sections = (
        ("environment", ENVIRONMENT),
        ("exit status", [(str(status), meaning) for status, meaning in EXIT_STATUSES]),
    )
    # Before the options: whoever asks for help wants to know what there is to do.
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=Parser, prog="deermem"
    )
    for add in (
        _add_demo,
        _add_validate_contracts,
        _add_validate,
        _add_run_policy,
        _add_run_qa,
        _add_grade_qa,
        _add_verify,
        _add_report,
        _add_compare,
        _add_grade,
        _add_selector,
        _add_protocols,
        _add_completion,
    ):
        add(commands)
    options = parser.add_argument_group("options")
    options.add_argument("-h", "--help", action="help", help="show this help and exit")
    options.add_argument(
        "--version",
        action="version",
        version=f"deermem {__version__}",
        help="show the version and exit",
    )
    return parser


def command_parsers(parser: argparse.ArgumentParser) -> dict[str, Parser]:
    """Return the parser of each command, by name, in the order of the help."""
    return dict(_commands_of(parser).choices)


def summary_of(parser: argparse.ArgumentParser, command: str) -> str:
    """Return what the help of `deermem` says of a command."""
    (found,) = (one for one in _commands_of(parser)._get_subactions() if one.dest == command)
    return str(found.help)


def _commands_of(parser: argparse.ArgumentParser) -> _Commands[Parser]:
    (commands,) = (one for one in parser._actions if isinstance(one, _Commands))
    return commands


def _command(
    commands: _Commands[Parser], name: str, summary: str, description: str, *examples: str
) -> Parser:
    parser = commands.add_parser(name, help=summary, description=description)
    parser.examples = examples
    return parser


def _add_demo(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "demo",
        "the whole evaluation on the embedded data set, offline, in seconds",
        "Check the contracts, validate the embedded data set, run the policies on it, answer the "
        "questions with a baseline that quotes, grade, and verify. No model is asked. The "
        "production selector decides where it is found, the reference selector elsewhere.",
        "deermem demo",
        "deermem demo --output-dir demo-run",
    )
    parser.add_argument(
        "--output-dir",
        type=name,
        metavar="DIR",
        help="keep the files here (default: they are not kept)",
    )
    add_deerflow(parser)
    add_output(parser)


def _add_validate_contracts(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "validate-contracts",
        "check a protocol's files, the grader version and the selector; no data set",
        "Check config, manifests and prompt one by one and against each other, that the grader "
        "the protocol names is here, and that the selector has the required policy version.",
        "deermem validate-contracts --protocol mini-v1 --selector reference",
    )
    add_selector(parser)
    add_protocol(parser)
    add_output(parser)


def _add_validate(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "validate",
        "check a data set against a protocol: hash, selection, bank, every case",
        "All that validate-contracts checks, then the data set: its hash, the selection made "
        "again from it, the bank of distractors and the pool of every case.",
        "deermem validate --protocol mini-v1 --selector reference",
        "deermem validate --dataset longmemeval_oracle.json --deerflow ~/deer-flow",
    )
    add_dataset(parser)
    add_selector(parser)
    add_protocol(parser)
    add_output(parser)


def _add_run_policy(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "run-policy",
        "ask the selector what each policy keeps: the offline retention run",
        "For every case, capacity and policy, ask the selector which facts stay. Writes run.json, "
        "policy.raw.jsonl and summary.json, all or none, and prints how often the fact that "
        "answers the question was kept.",
        "deermem run-policy --protocol mini-v1 --selector reference --output-dir runs/mini-policy",
        "deermem run-policy --dataset longmemeval_oracle.json --deerflow ~/deer-flow "
        "--output-dir runs/policy",
    )
    add_dataset(parser)
    add_selector(parser)
    add_output_dir(parser)
    add_protocol(parser)
    add_output(parser)


def _add_run_qa(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "run-qa",
        "ask a model every question, with what each policy kept; resumable",
        "Ask for one answer for each case and policy, at the QA capacity. Each answer is stored "
        "as it comes; the same command goes on where it was stopped, and asks nothing twice. The "
        "key and the endpoint come from the two environment variables that the protocol names.",
        "deermem run-qa --protocol mini-v1 --selector reference --provider lexical-reader-v1 "
        "--output-dir runs/mini-qa",
        "deermem run-qa --dataset longmemeval_oracle.json --deerflow ~/deer-flow "
        "--output-dir runs/qa",
    )
    add_dataset(parser)
    add_selector(parser)
    add_output_dir(parser)
    group = parser.add_argument_group("provider")
    group.add_argument(
        "--provider",
        choices=["openai-compatible", "lexical-reader-v1", "replay"],
        default="openai-compatible",
        metavar="NAME",
        help="what answers: openai-compatible, lexical-reader-v1 (a baseline that quotes; no "
        "network) or replay (default: %(default)s)",
    )
    group.add_argument(
        "--model", metavar="NAME", help="ask this model (default: the one the protocol names)"
    )
    group.add_argument(
        "--replay",
        metavar="FILE",
        help="the qa.rows.jsonl of a published run, whose answers --provider replay gives",
    )
    group.add_argument(
        "--accept-empty",
        action="store_true",
        help="store an empty answer as an answer (default: it is asked for again)",
    )
    group.add_argument(
        "--allow-http",
        action="store_true",
        help="allow plain http beyond this machine (default: https only)",
    )
    group.add_argument(
        "--trust-env",
        action="store_true",
        help="use the environment's proxies and certificates (default: neither)",
    )
    add_protocol(parser)
    add_output(parser)


def _add_grade_qa(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "grade-qa",
        "grade a complete QA run and publish rows, summary and statistics",
        "Check that every stored answer belongs to this protocol, data set, selector and prompt, "
        "grade it without regard to its policy, and publish qa.rows.jsonl, qa.summary.json, "
        "qa.stats.json, qa.analysis.json and MANIFEST.sha256, all or none.",
        "deermem grade-qa --protocol mini-v1 --selector reference --output-dir runs/mini-qa",
        "deermem grade-qa --dataset longmemeval_oracle.json --deerflow ~/deer-flow "
        "--output-dir runs/qa",
    )
    add_dataset(parser)
    add_selector(parser)
    add_output_dir(parser)
    add_protocol(parser)
    add_output(parser)


def _add_verify(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "verify",
        "recompute every number of a published run from its own rows",
        "Check the files of a run against their schemas and hashes, and make every number again "
        "from the rows. With the data set also the selection, the kept facts, the fingerprints "
        "and the grades, and that no text of the data set stands in any file. Names each "
        "discrepancy by file, row and key; exit status 1 if there is one.",
        "deermem verify demo-run",
        "deermem verify runs/qa --dataset longmemeval_oracle.json",
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the run")
    add_dataset(parser)
    add_selector(parser, default=None)
    add_protocol(parser, default=None)
    add_output(parser)


def _add_report(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "report",
        "a run as one self-contained HTML page, or as Markdown",
        "Show a policy run, a graded QA run, or both in one folder: the answer in a sentence, the "
        "paired tables and statistics, plots, every case where the answers part, and provenance. "
        "The page is one file that loads nothing. Needs pip install 'deermem-cli[report]'.",
        "deermem report demo-run",
        "deermem report demo-run --format markdown > report.md",
    )
    parser.add_argument("folder", type=name, metavar="DIR", help="the folder of the run")
    parser.add_argument(
        "--output",
        type=name,
        metavar="FILE",
        help="where the report goes; - for standard output (default: DIR/report.html, and "
        "standard output for Markdown)",
    )
    parser.add_argument(
        "--format",
        choices=["html", "markdown"],
        default="html",
        help="what to write (default: %(default)s)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace an earlier report; never a run's own files"
    )
    add_output(parser)


def _add_compare(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "compare",
        "runs side by side: what differs in them, and every case whose grade flips",
        "Compare each run with the first: what differs in their identity, accuracies and their "
        "paired difference per policy, every flipped case with both predictions, and what was "
        "kept. Runs of other cases, references, graders or capacities are refused by name.",
        "deermem compare demo-run runs/mini-qa",
        "deermem compare demo-run runs/mini-qa --output comparison.html",
    )
    parser.add_argument(
        "folders", type=name, nargs="+", metavar="DIR", help="the folders of two or more runs"
    )
    parser.add_argument(
        "--output",
        type=name,
        metavar="FILE",
        help="write a page there instead; - for standard output",
    )
    parser.add_argument(
        "--format",
        choices=["html", "markdown"],
        help="what page (default: by the file's name, html where it does not say)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace an earlier page; never a run's own files"
    )
    add_output(parser)


def _add_grade(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "grade",
        "the grader alone: one pair, or a file of any size",
        "Grade a prediction against a reference with deterministic-overlap-v1; exit status 0 "
        "if it is correct, 1 if not. Or grade every line of a JSONL or CSV file: each is written "
        "again, in order, with grade_correct, grade_rule and grader_version; lines that cannot be "
        "graded are reported by number and left out, and the exit status is then 1.",
        "deermem grade 'About 25 minutes.' '25 minutes' --explain",
        "deermem grade --input answers.jsonl --output graded.jsonl --workers 2",
    )
    parser.add_argument("prediction", nargs="?", metavar="PREDICTION", help="the answer given")
    parser.add_argument("reference", nargs="?", metavar="REFERENCE", help="the answer expected")
    parser.add_argument(
        "--explain", action="store_true", help="one pair: every rule that was tried, and why"
    )
    group = parser.add_argument_group("a file of pairs")
    group.add_argument(
        "--input",
        metavar="FILE",
        help="the pairs, as JSONL or CSV; - for standard input (default: the pair named)",
    )
    group.add_argument(
        "--output",
        metavar="FILE",
        help="where the graded lines go; - for standard output; never an existing file",
    )
    group.add_argument(
        "--format",
        choices=["jsonl", "csv"],
        help="what the input is (default: by its name; jsonl for standard input)",
    )
    group.add_argument(
        "--prediction-key",
        metavar="KEY",
        default="prediction",
        help="key or column of the prediction (default: %(default)s)",
    )
    group.add_argument(
        "--reference-key",
        metavar="KEY",
        default="reference",
        help="key or column of the reference (default: %(default)s)",
    )
    group.add_argument(
        "--workers",
        type=count,
        default=1,
        metavar="N",
        help="processes that grade side by side (default: %(default)s)",
    )
    add_output(parser)


def _add_selector(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "selector",
        "which selector is bound (show); does it decide as the reference does (check)",
        "show: say where the selector comes from, and its hash. check: compare it with the "
        "reference selector on generated pools, hostile metadata included; every order, eviction, "
        "score, component and slot must be equal. Prints the smallest pool that differs; exit "
        "status 1 if there is one.",
        "deermem selector show --selector reference",
        "deermem selector check --deerflow ~/deer-flow",
        "deermem selector check --selector my_policy:select --pools 5000",
    )
    parser.add_argument("action", choices=["show", "check"], help="what to do")
    add_selector(parser)
    parser.add_argument(
        "--pools",
        type=count,
        default=1000,
        metavar="N",
        help="check: how many generated pools (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="check: seed of the generated pools (default: %(default)s)",
    )
    parser.add_argument(
        "--overflow",
        action="store_true",
        help="check: also numbers and dates that overflow, on which the reference does not raise",
    )
    add_protocol(parser)
    add_output(parser)


def _add_protocols(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "protocols",
        "the protocols shipped, with their hashes",
        "List the shipped protocols: what each is made of and the SHA-256 of its parts.",
        "deermem protocols",
    )
    add_output(parser)


def _add_completion(commands: _Commands[Parser]) -> None:
    parser = _command(
        commands,
        "completion",
        "completion by the Tab key, for bash, zsh and fish",
        "Print a script that a shell reads to complete what is typed after deermem. In bash put "
        'eval "$(deermem completion bash)" into ~/.bashrc; in zsh, after compinit, '
        'eval "$(deermem completion zsh)" into ~/.zshrc; in fish, deermem completion fish | source '
        "into ~/.config/fish/config.fish.",
        "deermem completion bash",
        "deermem completion zsh > _deermem",
    )
    parser.add_argument(
        "shell", choices=["bash", "zsh", "fish"], metavar="SHELL", help="bash, zsh or fish"
    )
    add_output(parser)
