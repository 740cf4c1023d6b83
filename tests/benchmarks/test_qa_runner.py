"""The runner: how close to the ideal, what a resume costs, and that memory does not grow."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deermem_data import build_cases, load_dataset, load_protocol
from deermem_qa import Answer, RowStore, Task, build_tasks, provider_identity, run_tasks
from deermem_qa.endpoint import parse_endpoint
from deermem_qa.openai_compatible import OpenAICompatibleProvider
from deermem_select import bind_selector

WORKERS = 3
SERVER = Path("packages/deermem-qa/tests/fault_server.py")


class Canned:
    """A stand-in for a provider that answers at once."""

    name = "canned"

    def identity(self) -> dict[str, Any]:
        return provider_identity(self.name)

    def answer(self, task: Task) -> Answer:
        return Answer("an answer of some words", response_model="m", usage={"total_tokens": 900})

    def close(self) -> None:
        pass


def numbered_tasks(count: int) -> Iterator[Task]:
    """Tasks made one by one, as large in memory as real ones."""
    for number in range(count):
        case_id = f"c{number:06}"
        text = f"{case_id} " * 500
        yield Task(
            row_id=f"{case_id}__confidence",
            case_id=case_id,
            source="longmemeval",
            scenario="access_help",
            policy="confidence",
            capacity=7,
            kept_fact_ids=tuple(f"d_{case_id}_{i}_0123abcd" for i in range(7)),
            question="Q",
            memory=(("f", text),),
            messages=({"role": "user", "content": text},),
            request={"messages": [{"role": "user", "content": text}]},
            request_fingerprint=f"{number:064x}",
        )


def run_once(tasks: Iterator[Task] | tuple[Task, ...], folder: Path, provider: Any) -> Any:
    return run_tasks(tasks, RowStore(folder), provider, workers=WORKERS)


def test_run_takes_1_1_times_the_ideal(benchmark: Any, project_root: Path, tmp_path: Path) -> None:
    """90 tasks, 3 workers, answers after 100 ms: at most 1.1 x 30 x 100 ms."""
    protocol = load_protocol("mini-v1")
    assert protocol.embedded_dataset is not None
    cases = build_cases(protocol, load_dataset(protocol.embedded_dataset, protocol))
    tasks = build_tasks(protocol, cases, bind_selector("reference", protocol=protocol))
    delay = 0.1 if benchmark.enabled else 0.0
    ideal = len(tasks) / WORKERS * delay
    with subprocess.Popen(
        [sys.executable, str(project_root / SERVER), "--delay", str(delay)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        endpoint = parse_endpoint(server.stdout.readline().strip())
        provider = OpenAICompatibleProvider(endpoint, "a-key", timeout_seconds=60, max_attempts=1)
        folders = iter(range(5))

        def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
            folder = tmp_path / str(next(folders))
            folder.mkdir()
            return (tasks, folder, provider), {}

        summary = benchmark.pedantic(run_once, setup=fresh, rounds=5 if benchmark.enabled else 1)
        provider.close()
        server.stdin.close()
    assert summary.answered == 90
    if benchmark.enabled:
        taken = benchmark.stats.stats.min
        print(f"\n90 tasks, 3 workers, 100 ms: {taken / ideal:.3f} of the ideal {ideal:.1f} s")
        assert taken <= 1.1 * ideal


def test_resume_takes_a_twentieth_of_writing(benchmark: Any, tmp_path: Path) -> None:
    """A resume with nothing to do over 10,000 rows takes under 1/20 of writing them."""
    tasks = tuple(numbered_tasks(10_000 if benchmark.enabled else 100))
    store = RowStore(tmp_path)
    begun = time.perf_counter()
    written = run_tasks(tasks, store, Canned(), workers=WORKERS)
    writing = time.perf_counter() - begun
    resumed = benchmark.pedantic(run_once, (tasks, tmp_path, Canned()), rounds=3)
    assert (written.answered, resumed.reused) == (len(tasks), len(tasks))
    assert resumed.attempts == 0
    if benchmark.enabled:
        taken = benchmark.stats.stats.min
        print(f"\nresume of {len(tasks)} rows: {taken:.2f} s, 1/{writing / taken:.0f} of writing")
        assert taken < writing / 20


def test_memory_does_not_grow(benchmark: Any, tmp_path: Path) -> None:
    """Ten times the rows need the same memory, whether they are answered or found stored."""
    few, many = (300, 3_000) if benchmark.enabled else (50, 500)

    def peak(count: int, folder: Path) -> int:
        gc.collect()
        tracemalloc.start()
        run_once(numbered_tasks(count), folder, Canned())
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    for name in ("warm", "few", "many"):
        (tmp_path / name).mkdir()
    # What the interpreter sets aside at first (interned names, free lists) is no growth.
    peak(many, tmp_path / "warm")
    small = peak(few, tmp_path / "few")
    answering = benchmark.pedantic(peak, (many, tmp_path / "many"), rounds=1)
    finding = peak(many, tmp_path / "many")
    if benchmark.enabled:
        print(f"\npeak KB: {small >> 10} for {few} rows, {answering >> 10} answered and ", end="")
        print(f"{finding >> 10} found of {many}")
    # A row that is kept has 1,000 bytes and more, a task 5,000; the interpreter's free lists of
    # tuples fill with up to 100 a row.
    assert max(answering, finding) < small + 300 * (many - few)
