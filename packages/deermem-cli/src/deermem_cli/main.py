"""The entry point: parse, hand over to the command's module, turn errors into exit statuses."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TextIO

from .parser import EXIT_DONE, EXIT_INTERRUPTED, EXIT_WRONG_INPUT, build_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run `deermem` with these arguments (default: the process's) and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # A name or an id may hold what the terminal's encoding lacks.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return EXIT_DONE
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        print("deermem: interrupted", file=sys.stderr)  # noqa: T201
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout has gone; nothing more can be said there, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE


def _run(arguments: object) -> int:
    # Imported here, so that help and usage errors need nothing but the standard library.
    from deermem_data import DeermemError  # noqa: PLC0415

    from .terminal import Terminal, clean  # noqa: PLC0415

    name = getattr(arguments, "command", "")
    command = importlib.import_module(f".commands.{name.replace('-', '_')}", __package__)
    terminal = Terminal.for_process(arguments)
    try:
        with _terminated_as_interrupt():
            status: int = command.run(arguments, terminal)
        sys.stdout.flush()
    except DeermemError as exc:
        first, *others = [clean(line) for line in str(exc).split("\n")]
        _complain(sys.stderr, f"deermem: error: {first}", *(f"  {line}" for line in others))
        return EXIT_WRONG_INPUT
    except BrokenPipeError:
        raise
    except OSError as exc:
        _complain(sys.stderr, f"deermem: error: {clean(str(exc))}")
        return EXIT_WRONG_INPUT
    return status


def _complain(stream: TextIO, *lines: str) -> None:
    with contextlib.suppress(OSError):
        print(*lines, sep="\n", file=stream)


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
