"""The entry point: parse, hand over to the command's module, turn errors into exit statuses."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TextIO

from .clean import clean
from .folding import columns_of, fold
from .manual import FIRST_STEPS, PURPOSE
from .parser import EXIT_DONE, EXIT_INTERRUPTED, EXIT_WRONG_INPUT, build_parser
from .usage import first_screen


def main(argv: Sequence[str] | None = None) -> int:
    """Run `deermem` with these arguments (default: the process's) and return its exit status."""
    _prepare_streams()
    status = EXIT_DONE
    try:
        status = _parse_and_run(argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _complain("deermem: interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout has gone and does not want the rest; the answer is what it was.
        _drop(sys.stdout)
    except OSError as exc:
        # Files are written under names; what has none is the stream.
        where = exc.filename or "standard output"
        _complain(f"deermem: error: {clean(str(where))}: {exc.strerror or exc}")
        _drop(sys.stdout)
        return EXIT_WRONG_INPUT
    finally:
        try:
            sys.stderr.flush()
        except OSError:
            _drop(sys.stderr)
    return status


def _parse_and_run(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as exc:  # help, version or a usage error, said already
        return int(exc.code or EXIT_DONE)
    if arguments.command is None:
        print(first_screen(parser.prog, FIRST_STEPS, PURPOSE), end="")  # noqa: T201
        return EXIT_DONE
    return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    # Imported here, so that help and usage errors need nothing but the standard library.
    from deermem_data import DeermemError  # noqa: PLC0415

    from .terminal import Terminal  # noqa: PLC0415

    name = arguments.command.replace("-", "_")
    command = importlib.import_module(f".commands.{name}", __package__)
    terminal = Terminal.for_process(arguments)
    try:
        with _terminated_as_interrupt():
            status: int = command.run(arguments, terminal)
    except DeermemError as exc:
        first, *others = [clean(line) for line in str(exc).split("\n")]
        _complain(f"deermem: error: {first}", *(f"  {line}" for line in others))
        return EXIT_WRONG_INPUT
    return status


def _prepare_streams() -> None:
    """Make both streams usable: there, and able to take any text."""
    # One that was closed before the start is absent; what is said there goes nowhere.
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A name or an id may hold what the terminal's encoding lacks.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _drop(stream: TextIO) -> None:
    """Send what is still buffered nowhere, so that the flush at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _complain(*lines: str) -> None:
    with contextlib.suppress(OSError):
        width = columns_of(sys.stderr)
        folded = (row for line in lines for row in fold(line, width))
        print(*folded, sep="\n", file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def _terminated_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, so that nothing half-written stays behind."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
