"""The policy run on the real data set: CPU time and peak memory of the whole process.

Both are compared, in one run, with a process that does nothing but `json.load` the file, the
straightforward way to begin. Growth is measured with files of several times the size, whose
further records no rule selects.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deermem_data import load_protocol, specs_folder

PROTOCOL = "capacity-eviction-v1"
MIB = 1024

# A child's peak memory is never below that of the process it was forked from; so the test, which
# is large, has a small process start it and wait for it alone. Prints seconds and KiB.
LAUNCHER = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""

JSON_LOAD = "import json, sys; json.load(open(sys.argv[1], 'rb'))"

PARTS = """
import json, sys, time
spent, begun = {"interpreter": time.process_time()}, time.process_time()
def part(name):
    global begun
    spent[name], begun = time.process_time() - begun, time.process_time()
import deermem_cli.main
import deermem_cli.commands.run_policy
part("imports")
from pathlib import Path
from deermem_cli import policy_run
from deermem_data import build_cases, load_dataset, load_protocol
from deermem_select import bind_selector, decisions, git_state
protocol = load_protocol(sys.argv[1])
part("protocol")
selector = bind_selector("reference", protocol=protocol)
part("selector")
dataset = load_dataset(sys.argv[2], protocol)
part("data set")
cases = build_cases(protocol, dataset)
part("cases")
made = list(decisions(protocol, cases, selector))
part("decisions")
for decision in made:
    json.dumps(decision.to_row(), ensure_ascii=False, sort_keys=True)
part("rows")
git_state(Path(policy_run.__file__))
part("git's caller")
with open(sys.argv[2], "rb") as stream:
    json.load(stream)
part("json.load")
print(json.dumps(spent))
"""


class Spent(NamedTuple):
    """What a process took: CPU seconds, its children's included, and peak memory in KiB."""

    seconds: float
    kib: int


@pytest.fixture(scope="module")
def spend() -> Callable[..., Spent]:
    """Run Python with arguments and say what the process took; modules may be kept compiled."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME", "COVERAGE_PROCESS_START")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}

    def run(*arguments: str) -> Spent:
        command = [sys.executable, "-I", "-S", "-c", LAUNCHER, sys.executable, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        seconds, kib = done.stdout.split()[-2:]
        return Spent(float(seconds), int(kib))

    return run


def best(runs: list[Spent]) -> Spent:
    """The least CPU time and the least peak of several runs: what else runs only adds to them."""
    return Spent(min(run.seconds for run in runs), min(run.kib for run in runs))


def enlarged(records: list[dict[str, Any]], size: int) -> Iterator[bytes]:
    """The records, then copies of those that no rule selects, until `size` bytes are reached."""
    protocol = load_protocol(PROTOCOL)
    eligible = {
        *protocol.official.selection.eligible_question_types,
        *protocol.config.pool.distractor_types,
    }
    written = 0
    separator = b"["
    for record in records:
        piece = separator + json.dumps(record).encode()
        separator = b",\n"
        written += len(piece)
        yield piece
    others = [
        json.dumps({**record, "question_id": "{}"}).encode()
        for record in records
        if record["question_type"] not in eligible
    ]
    copy = 0
    while written < size:
        for other in others:
            piece = separator + other.replace(b'"{}"', b'"copy_%d"' % copy, 1)
            copy += 1
            written += len(piece)
            yield piece
    yield b"]\n"


def write_protocol(folder: Path, sha256: str) -> Path:
    """The shipped protocol, pinned to a data set of the test's own."""
    source = specs_folder() / "protocols" / PROTOCOL
    pinned = load_protocol(PROTOCOL).config.dataset.sha256
    for path in source.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            target.write_text(text.replace(pinned, sha256), encoding="utf-8")
    return folder


def policy_run(protocol: str, data: Path, folder: Path) -> list[str]:
    """The arguments of Python for a policy run."""
    return [
        *("-m", "deermem_cli", "run-policy", "-q", "--selector", "reference"),
        *("--protocol", protocol, "--dataset", str(data), "--output-dir", str(folder)),
    ]


def test_policy_run_against_json_load(
    benchmark: Any, spend: Callable[..., Spent], longmemeval_path: Path, tmp_path: Path
) -> None:
    """The whole run takes less memory than reading the file does, and not much more time.

    With benchmarks disabled, as in the parallel test run, only the memory is compared, which does
    not depend on what else the machine does.
    """
    rounds = 10 if benchmark.enabled else 1
    spend(*policy_run(PROTOCOL, longmemeval_path, tmp_path / "warm"))
    folders = iter(tmp_path / f"run-{i}" for i in range(100))
    ours: list[Spent] = []
    benchmark.pedantic(
        lambda: ours.append(spend(*policy_run(PROTOCOL, longmemeval_path, next(folders)))),
        rounds=rounds,
    )
    plain = [spend("-c", JSON_LOAD, str(longmemeval_path)) for _ in range(rounds)]
    run, load = best(ours), best(plain)
    assert run.kib < load.kib
    if benchmark.enabled:
        bare = best([spend("-c", "pass") for _ in range(rounds)])
        print(f"\n{'':<22}{'CPU s':>8}{'MiB':>8}")
        for name, found in (("run-policy", run), ("json.load", load), ("python -c pass", bare)):
            print(f"{name:<22}{found.seconds:>8.3f}{found.kib / MIB:>8.1f}")
        print(
            f"{'run-policy/json.load':<22}{run.seconds / load.seconds:>8.2f}"
            f"{run.kib / load.kib:>8.2f}"
        )
        assert run.seconds / load.seconds < 5


def test_policy_run_parts(benchmark: Any, longmemeval_path: Path) -> None:
    """Where the CPU time goes; checking, hashing and reducing cost less than reading, twice."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def measure() -> dict[str, float]:
        done = subprocess.run(
            [sys.executable, "-c", PARTS, PROTOCOL, str(longmemeval_path)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found: dict[str, float] = json.loads(done.stdout)
        return found

    measure()
    runs: list[dict[str, float]] = []
    benchmark.pedantic(lambda: runs.append(measure()), rounds=5 if benchmark.enabled else 1)
    least = {name: min(run[name] for run in runs) for name in runs[0]}
    plain = least.pop("json.load")
    assert list(least)[:4] == ["interpreter", "imports", "protocol", "selector"]
    if benchmark.enabled:
        total = sum(least.values())
        print()
        for name, seconds in least.items():
            print(f"{name:<22}{seconds:>8.3f}{seconds / total:>8.0%}")
        print(f"{'total':<22}{total:>8.3f}")
        print(f"{'data set/json.load':<22}{least['data set'] / plain:>8.2f}")
        assert least["data set"] / plain < 3


def test_memory_does_not_grow_with_the_file(
    benchmark: Any, spend: Callable[..., Spent], longmemeval_path: Path, tmp_path: Path
) -> None:
    """At several times the file, peak memory stays, and the decisions are the same bytes."""
    scales = (1, 5, 20) if benchmark.enabled else (1, 3)
    data = longmemeval_path.read_bytes()
    records = json.loads(data)
    found: dict[int, Spent] = {}
    plain: dict[int, Spent] = {}

    def measure() -> None:
        for scale in scales:
            file, digest = tmp_path / "data.json", hashlib.sha256()
            with file.open("wb") as stream:
                for piece in enlarged(records, scale * len(data)):
                    stream.write(piece)
                    digest.update(piece)
            protocol = write_protocol(tmp_path / f"protocol-{scale}", digest.hexdigest())
            folder = tmp_path / f"run-{scale}"
            found[scale] = spend(*policy_run(str(protocol), file, folder))
            if benchmark.enabled:
                plain[scale] = spend("-c", JSON_LOAD, str(file))
            file.unlink()

    benchmark.pedantic(measure, rounds=1)
    rows = {scale: (tmp_path / f"run-{scale}/policy.raw.jsonl").read_bytes() for scale in scales}
    assert [scale for scale in scales if rows[scale] != rows[1]] == []
    first, last = found[1], found[scales[-1]]
    if benchmark.enabled:
        print(f"\n{'':<10}{'run-policy':>22}{'json.load':>22}")
        print(f"{'file':<10}{'CPU s':>11}{'MiB':>11}{'CPU s':>11}{'MiB':>11}")
        for scale in scales:
            cells = (*found[scale], *plain[scale])
            print(
                f"{scale:>2} times  {cells[0]:>11.3f}{cells[1] / MIB:>11.1f}"
                f"{cells[2]:>11.3f}{cells[3] / MIB:>11.1f}"
            )
        growth = plain[scales[-1]].kib / plain[1].kib
        print(f"memory grows {last.kib / first.kib:.2f} times, json.load's {growth:.1f} times")
    assert last.kib / first.kib < 1.25
