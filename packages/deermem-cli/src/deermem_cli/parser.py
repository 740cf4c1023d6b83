"""The command line: every command, option and help text.

Standard library only: the man page is made from this module at build time, and `deermem --help`
stays quick.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

EXIT_DONE = 0
EXIT_NO = 1
EXIT_WRONG_INPUT = 2
EXIT_LOCKED = 3
EXIT_INTERRUPTED = 130

_EXIT_STATUSES = """\
exit status:
  0    done
  1    the work ran and the answer is "no" (calls failed, a check does not hold)
  2    wrong input or usage
  3    another run holds the output directory
  130  interrupted, resumable
"""

_ENVIRONMENT = """\
environment:
  LONGMEMEVAL_ORACLE_PATH  the data set, where --dataset is not given
  DEERMEM_DEERFLOW_PATH    a deer-flow checkout, where --deerflow is not given
  DEERMEM_EVAL_ANSWER_API_KEY, DEERMEM_EVAL_ANSWER_BASE_URL
                           the key and the endpoint of run-qa (named by the protocol)
"""

_Sub = argparse._SubParsersAction


class _Parser(argparse.ArgumentParser):
    """Errors in the command's own form, with what was probably meant."""

    def error(self, message: str) -> NoReturn:
        """Print the fault and where to read on; exit with 2."""
        print(f"deermem: error: {message}", file=sys.stderr)  # noqa: T201
        print(f"try: {self.prog} --help", file=sys.stderr)  # noqa: T201
        sys.exit(EXIT_WRONG_INPUT)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        choices = list(action.choices or ())
        if choices and value not in choices:
            listed, hint = ", ".join(map(str, choices)), _hint(str(value), choices)
            raise argparse.ArgumentError(action, f"{value!r} is not one of {listed}{hint}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is not known here, where the command's own options are."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hint = _hint(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unknown argument {unknown[0]!r}{hint}")
        return parsed, unknown


def _hint(found: str, known: Iterable[object]) -> str:
    close = difflib.get_close_matches(found, map(str, known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `deermem`; the chosen command's name is in `command`."""
    # The version is a plain string here, so that nothing else of the package is imported.
    from . import __version__  # noqa: PLC0415

    parser = _Parser(
        prog="deermem",
        description=(
            "What does a capacity policy cost an agent's memory? deermem runs the controlled "
            "comparison of two policies that decide which facts a full memory forgets, from "
            "pinned inputs to published statistics. Begin with: deermem demo"
        ),
        epilog=_ENVIRONMENT + "\n" + _EXIT_STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"deermem {__version__}")
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=_Parser
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
    ):
        add(commands)
    return parser


def _command(
    commands: _Sub[_Parser],
    name: str,
    summary: str,
    description: str,
    *examples: str,
) -> _Parser:
    epilog = "example:\n" + "\n".join(f"  {example}" for example in examples)
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_demo(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "demo",
        "the whole evaluation on the embedded data set, offline, in seconds",
        "Check the contracts, validate the embedded data set and run the policies on it. The\n"
        "production selector is used where it is found, the reference selector elsewhere.",
        "deermem demo",
        "deermem demo --output-dir demo-run",
    )
    parser.add_argument(
        "--output-dir",
        type=_name,
        metavar="DIR",
        help="keep the files here (default: they are not kept)",
    )
    _add_deerflow(parser)
    _add_output(parser)


def _add_validate_contracts(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "validate-contracts",
        "check a protocol's files, the grader version and the selector; no data set",
        "Check config, manifests and prompt one by one and against each other, that the grader\n"
        "the protocol names is here, and that the selector has the required policy version.",
        "deermem validate-contracts --protocol mini-v1 --selector reference",
    )
    _add_protocol(parser)
    _add_selector_options(parser)
    _add_output(parser)


def _add_validate(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "validate",
        "check a data set against a protocol: hash, selection, bank, every case",
        "All that validate-contracts checks, then the data set: its hash, the selection made\n"
        "again from it, the bank of distractors and the pool of every case.",
        "deermem validate --dataset longmemeval_oracle.json --deerflow ~/deer-flow",
    )
    _add_protocol(parser)
    _add_dataset(parser)
    _add_selector_options(parser)
    _add_output(parser)


def _add_run_policy(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "run-policy",
        "ask the selector what each policy keeps: the offline retention run",
        "For every case, capacity and policy, ask the selector which facts stay. Writes run.json,\n"
        "policy.raw.jsonl and summary.json, all or none, and prints how often the fact that\n"
        "answers the question was kept.",
        "deermem run-policy --dataset longmemeval_oracle.json --deerflow ~/deer-flow "
        "--output-dir runs/policy",
    )
    _add_protocol(parser)
    _add_dataset(parser)
    _add_selector_options(parser)
    _add_output_dir(parser)
    _add_output(parser)


def _add_run_qa(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "run-qa",
        "ask a model every question, with what each policy kept; resumable",
        "Ask for one answer for each case and policy, at the QA capacity. Each answer is stored\n"
        "as it comes; the same command goes on where it was stopped, and asks nothing twice. The\n"
        "key and the endpoint come from the two environment variables that the protocol names.",
        "deermem run-qa --dataset longmemeval_oracle.json --deerflow ~/deer-flow "
        "--output-dir runs/qa",
        "deermem run-qa --protocol mini-v1 --selector reference --provider lexical-reader-v1 "
        "--output-dir runs/mini",
    )
    _add_protocol(parser)
    _add_dataset(parser)
    _add_selector_options(parser)
    _add_output_dir(parser)
    group = parser.add_argument_group("provider")
    group.add_argument(
        "--provider",
        choices=["openai-compatible", "lexical-reader-v1", "replay"],
        default="openai-compatible",
        help="what answers (default: %(default)s)",
    )
    group.add_argument(
        "--model", metavar="NAME", help="ask this model (default: the one the protocol names)"
    )
    group.add_argument(
        "--replay", metavar="ROWS.jsonl", help="the published rows that --provider replay gives"
    )
    group.add_argument(
        "--accept-empty", action="store_true", help="store an empty answer as an answer"
    )
    group.add_argument(
        "--allow-http", action="store_true", help="allow plain http beyond this machine"
    )
    group.add_argument(
        "--trust-env", action="store_true", help="use the environment's proxies and certificates"
    )
    _add_output(parser)


def _add_grade_qa(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "grade-qa",
        "grade a complete QA run and publish rows, summary and statistics",
        "Check that every stored answer belongs to this protocol, data set, selector and prompt,\n"
        "grade it without regard to its policy, and publish qa.rows.jsonl, qa.summary.json,\n"
        "qa.stats.json, qa.analysis.json and MANIFEST.sha256, all or none.",
        "deermem grade-qa --dataset longmemeval_oracle.json --deerflow ~/deer-flow "
        "--output-dir runs/qa",
    )
    _add_protocol(parser)
    _add_dataset(parser)
    _add_selector_options(parser)
    _add_output_dir(parser)
    _add_output(parser)


def _add_verify(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "verify",
        "recompute every number of a published run from its own rows",
        "Check the files of a run against their schemas and hashes, and make every number again\n"
        "from the rows. With the data set also the selection, the kept facts, the fingerprints\n"
        "and the grades, and that no text of the data set stands in any file. Names each\n"
        "discrepancy by file, row and key; exit status 1 if there is one.",
        "deermem verify results/mini-v1",
        "deermem verify runs/qa --dataset longmemeval_oracle.json",
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the run")
    _add_protocol(parser, default=None)
    _add_dataset(parser)
    _add_selector_options(parser, default=None)
    _add_output(parser)


def _add_report(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "report",
        "a run as one self-contained HTML page, or as Markdown",
        "Show a policy run, a graded QA run, or both in one folder: the answer in a sentence, the\n"
        "paired tables and statistics, plots, every case where the answers part, and provenance.\n"
        "The page is one file that loads nothing. Needs pip install 'deermem-cli[report]'.",
        "deermem report runs/qa",
        "deermem report runs/qa --format markdown > report.md",
    )
    parser.add_argument("folder", type=_name, metavar="DIR", help="the folder of the run")
    parser.add_argument(
        "--output",
        type=_name,
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
    _add_output(parser)


def _add_compare(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "compare",
        "runs side by side: what differs in them, and every case whose grade flips",
        "Compare each run with the first: what differs in their identity, accuracies and their\n"
        "paired difference per policy, every flipped case with both predictions, and what was\n"
        "kept. Runs of other cases, references, graders or capacities are refused by name.",
        "deermem compare runs/model-a runs/model-b",
        "deermem compare runs/model-a runs/model-b --output comparison.html",
    )
    parser.add_argument(
        "folders", type=_name, nargs="+", metavar="DIR", help="the folders of two or more runs"
    )
    parser.add_argument(
        "--output",
        type=_name,
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
    _add_output(parser)


def _add_grade(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "grade",
        "the grader alone: one pair, or a file of any size",
        "Grade a prediction against a reference with deterministic-overlap-v1; exit status 0\n"
        "if it is correct, 1 if not. Or grade every line of a JSONL or CSV file: each is written\n"
        "again, in order, with grade_correct, grade_rule and grader_version; lines that cannot be\n"
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
    group.add_argument("--input", metavar="FILE", help="JSONL or CSV; - for standard input")
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
        type=_count,
        default=1,
        metavar="N",
        help="processes that grade side by side (default: %(default)s)",
    )
    _add_output(parser)


def _add_selector(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "selector",
        "which selector is bound (show); does it decide as the reference does (check)",
        "show: where the selector comes from and its hash.\n"
        "check: compare it with the reference selector on generated pools, hostile metadata\n"
        "included; every order, eviction, score, component and slot must be equal. Prints the\n"
        "smallest pool that differs.",
        "deermem selector show --deerflow ~/deer-flow",
        "deermem selector check --selector my_policy:select --pools 5000",
    )
    parser.add_argument("action", choices=["show", "check"], help="what to do")
    _add_protocol(parser)
    _add_selector_options(parser)
    parser.add_argument(
        "--pools",
        type=_count,
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
    _add_output(parser)


def _add_protocols(commands: _Sub[_Parser]) -> None:
    parser = _command(
        commands,
        "protocols",
        "the protocols shipped, with their hashes",
        "List the shipped protocols: what each is made of and the SHA-256 of its parts.",
        "deermem protocols",
    )
    _add_output(parser)


def _add_protocol(parser: _Parser, default: str | None = "capacity-eviction-v1") -> None:
    group = parser.add_argument_group("protocol")
    group.add_argument(
        "--protocol",
        type=_name,
        metavar="NAME|DIR",
        default=default,
        help="a shipped protocol, a protocol's folder or a deer-flow benchmark folder (default: "
        + ("%(default)s)" if default else "the run's own, where it is shipped)"),
    )
    group.add_argument("--config", type=_name, metavar="FILE", help="use this config instead")
    group.add_argument(
        "--official-manifest", type=_name, metavar="FILE", help="use this official manifest instead"
    )
    group.add_argument(
        "--synthetic-manifest",
        type=_name,
        metavar="FILE",
        help="use this synthetic manifest instead",
    )


def _add_dataset(parser: _Parser) -> None:
    parser.add_argument(
        "--dataset",
        type=_name,
        metavar="FILE",
        help="the data set (default: the protocol's own where it brings one, else "
        "$LONGMEMEVAL_ORACLE_PATH)",
    )


def _add_selector_options(parser: _Parser, default: str | None = "production") -> None:
    parser.add_argument(
        "--selector",
        type=_name,
        metavar="NAME",
        default=default,
        help="production, reference or MODULE:FUNCTION (default: "
        + ("%(default)s)" if default else "the run's own)"),
    )
    _add_deerflow(parser)


def _add_deerflow(parser: _Parser) -> None:
    parser.add_argument(
        "--deerflow",
        type=_name,
        metavar="DIR",
        help="a deer-flow checkout, for the production selector (default: "
        "$DEERMEM_DEERFLOW_PATH, then an installed deerflow)",
    )


def _add_output_dir(parser: _Parser) -> None:
    parser.add_argument(
        "--output-dir", type=_name, metavar="DIR", required=True, help="where the run's files go"
    )


def _add_output(parser: _Parser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", action="store_true", help="print the result as one JSON document on stdout"
    )
    group.add_argument("-v", "--verbose", action="store_true", help="say more on stderr")
    group.add_argument("-q", "--quiet", action="store_true", help="say only errors on stderr")


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected a name, found nothing (an unset variable?)")
    return text


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, found {text!r}")
    return number
