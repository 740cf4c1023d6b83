"""The production binding through the command, on trees with the real path and signature."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Call = Callable[..., tuple[int, str, str]]

HARNESS = "backend/packages/harness"
IN_HARNESS = "deerflow/agents/memory/backends/deermem/deermem/core/eviction.py"
# What every package on the way to the file does when it is imported.
POISON = "raise RuntimeError('a package of deer-flow was imported')\n"

# Keeps the facts whose ids come last, so that the support fact (`gold_...`, after all `d_...`)
# stays at every capacity: nothing that another selector would decide.
SOURCE = '''\
"""A stand-in for DeerMem's capacity policies."""

from __future__ import annotations

from dataclasses import dataclass

EVICTION_POLICY_HYBRID_V1 = "hybrid-v1"


@dataclass(frozen=True)
class Score:
    value: float
    components: dict[str, float]


@dataclass(frozen=True)
class Evicted:
    fact_id: str
    category: str
    score: float
    components: dict[str, float]


@dataclass(frozen=True)
class Result:
    kept: list
    evicted: list
    scores: dict
    policy: str
    reserved_correction_slots: int


def select_facts_for_capacity(
    facts,
    *,
    max_facts,
    policy,
    usage=None,
    now=None,
    confidence_weight=0.65,
    confirmation_weight=0.25,
    access_weight=0.10,
    confirmation_half_life_days=90,
    access_half_life_days=30,
    correction_reserved_fraction=0.10,
    correction_reserved_max=10,
):
    order = {fact["id"]: index for index, fact in enumerate(facts)}
    scores = {key: Score(float(index), {"order": float(index)}) for key, index in order.items()}
    gone = [fact for fact in facts if order[fact["id"]] < len(facts) - max_facts]
    kept = [fact for fact in reversed(facts) if fact not in gone]
    evicted = [
        Evicted(f["id"], f["category"], scores[f["id"]].value, scores[f["id"]].components)
        for f in gone
    ]
    return Result(kept, evicted, scores, policy, 0)
'''


def write_tree(root: Path, source: str = SOURCE, harness: str = HARNESS) -> Path:
    """Write a deer-flow tree whose packages all raise on import; returns the selector's file."""
    file = root / harness / IN_HARNESS
    file.parent.mkdir(parents=True)
    file.write_text(source, encoding="utf-8")
    for package in list(file.relative_to(root / harness).parents)[:-1]:
        (root / harness / package / "__init__.py").write_text(POISON, encoding="utf-8")
    return file


def counts(document: dict[str, Any]) -> set[tuple[int, int]]:
    """For each group of a run, how many cases it has and in how many the support fact stayed."""
    return {(row["cases"], row["support_all_retained"]) for row in document["groups"]}


RUN_POLICY = ("run-policy", "--protocol", "mini-v1", "--json", "--output-dir", "out")


@pytest.mark.parametrize("given", [".", "backend", HARNESS])
@pytest.mark.parametrize("how", ["option", "variable"])
def test_checkout(run: Run, tmp_path: Path, given: str, how: str) -> None:
    """Root, `backend/` and harness folder bind the same file, by option and by variable."""
    file = write_tree(tmp_path / "deer-flow")
    path = str(tmp_path / "deer-flow" / given)
    if how == "option":
        done = run(*RUN_POLICY, "--deerflow", path, cwd=tmp_path)
    else:
        done = run(*RUN_POLICY, cwd=tmp_path, DEERMEM_DEERFLOW_PATH=path)
    assert (done.returncode, done.stderr.splitlines()) == (
        0,
        ["written: policy.raw.jsonl, summary.json, run.json in out"],
    )
    expected = {
        "kind": "production",
        "name": "production",
        "path": f"{HARNESS}/{IN_HARNESS}",
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "commit": None,
        "dirty": None,
        "known": False,
    }
    assert json.loads((tmp_path / "out/run.json").read_bytes())["selector"] == expected
    # The stand-in decided: the support fact stays in every case.
    assert counts(json.loads(done.stdout)) == {(10, 10), (5, 5)}


def test_checkout_in_git(run: Run, tmp_path: Path) -> None:
    """In a git checkout the commit is recorded, and whether the tree was changed."""
    file = write_tree(tmp_path / "deer-flow")

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        command = ["git", *identity, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path / "deer-flow", check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "all")
    arguments = ("selector", "show", "--protocol", "mini-v1", "--json", "--deerflow", "deer-flow")
    found = json.loads(run(*arguments, cwd=tmp_path).stdout)
    assert (found["commit"], found["dirty"]) == (git("rev-parse", "HEAD"), False)
    file.write_text(SOURCE + "# changed\n", encoding="utf-8")
    found = json.loads(run(*arguments, cwd=tmp_path).stdout)
    assert (found["commit"], found["dirty"]) == (git("rev-parse", "HEAD"), True)
    assert found["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_installed(run: Run, tmp_path: Path, environment: dict[str, str]) -> None:
    """An installed `deerflow` is found without importing its packages, which would fail."""
    write_tree(tmp_path, harness="site")
    paths = f"{tmp_path / 'site'}:{environment.get('PYTHONPATH', '')}"
    done = run(*RUN_POLICY, cwd=tmp_path, PYTHONPATH=paths)
    assert done.returncode == 0, done.stderr
    selector = json.loads((tmp_path / "out/run.json").read_bytes())["selector"]
    assert (selector["kind"], selector["path"]) == ("production", IN_HARNESS)
    assert counts(json.loads(done.stdout)) == {(10, 10), (5, 5)}


def test_checkout_wins_over_installed(
    run: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    """A checkout that is named is used also where a `deerflow` is installed."""
    write_tree(tmp_path, "raise SystemExit\n", harness="site")
    file = write_tree(tmp_path / "deer-flow")
    paths = f"{tmp_path / 'site'}:{environment.get('PYTHONPATH', '')}"
    done = run(
        *("selector", "show", "--protocol", "mini-v1", "--json", "--deerflow", "deer-flow"),
        cwd=tmp_path,
        PYTHONPATH=paths,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


WRONG = {
    "another-signature": (
        SOURCE.replace("max_facts,", "max_facts, strict=False,", 1),
        "select_facts_for_capacity: the signature differs: parameter strict is not known",
    ),
    "another-default": (
        SOURCE.replace("access_half_life_days=30", "access_half_life_days=31"),
        "parameter access_half_life_days has the default 31, where the default 30 is expected",
    ),
    "missing-parameter": (
        SOURCE.replace("    usage=None,\n", ""),
        "parameter usage is missing",
    ),
    "another-version": (
        SOURCE.replace('"hybrid-v1"', '"hybrid-v2"'),
        "EVICTION_POLICY_HYBRID_V1 is 'hybrid-v2', the protocol requires policy version",
    ),
    "no-version": (
        SOURCE.replace("EVICTION_POLICY_HYBRID_V1 =", "OTHER ="),
        "EVICTION_POLICY_HYBRID_V1 is None",
    ),
    "no-function": (
        SOURCE.replace("def select_facts_for_capacity", "def select"),
        "has no function select_facts_for_capacity",
    ),
    "raises": (SOURCE + "\nraise OSError('no disk')\n", "raises on import: OSError: no disk"),
    "exits": (SOURCE + "\nraise SystemExit(0)\n", "raises on import: SystemExit: 0"),
    "syntax": ("def (:\n", "raises on import: SyntaxError"),
    "imports-deerflow": (SOURCE + "\nimport deerflow.config\n", "raises on import: ImportError"),
}


@pytest.mark.parametrize(("source", "expected"), WRONG.values(), ids=WRONG)
def test_refused(call: Call, tmp_path: Path, source: str, expected: str) -> None:
    """A file that is not the selector the protocol requires is refused in one line, before work."""
    write_tree(tmp_path / "deer-flow", source)
    status, out, err = call(*RUN_POLICY, "--deerflow", "deer-flow")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("deermem: error: ")
    assert "core/eviction.py" in err
    assert expected in err
    assert not (tmp_path / "out").exists()


def test_installed_file_that_imports_its_package(
    run: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The file is loaded by itself: deer-flow's packages are refused to it, not imported for it."""
    write_tree(tmp_path, SOURCE + "\nimport deerflow.config\n", harness="site")
    paths = f"{tmp_path / 'site'}:{environment.get('PYTHONPATH', '')}"
    done = run(*RUN_POLICY, cwd=tmp_path, PYTHONPATH=paths)
    assert (done.returncode, done.stdout) == (2, "")
    assert "raises on import: ImportError: deerflow" in done.stderr
    assert "a package of deer-flow was imported" not in done.stderr


@pytest.mark.parametrize("kind", ["empty", "absent", "file"])
def test_absent(call: Call, tmp_path: Path, kind: str) -> None:
    """A path that holds no selector is refused with what was expected there."""
    if kind == "empty":
        (tmp_path / "deer-flow").mkdir()
    if kind == "file":
        (tmp_path / "deer-flow").write_text("", encoding="utf-8")
    status, out, err = call(*RUN_POLICY, "--deerflow", "deer-flow")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "deermem: error: deer-flow: " in err
    assert "expected" in err


def test_demo_binds_production_where_it_is_found(run: Run, tmp_path: Path) -> None:
    """The demo uses a checkout that is named, and says so."""
    write_tree(tmp_path / "deer-flow")
    done = run("demo", "--json", "--deerflow", "deer-flow", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"selector    production: {HARNESS}/{IN_HARNESS}" in done.stderr.splitlines()
    document = json.loads(done.stdout)
    assert document["selector"]["kind"] == "production"
    assert counts(document) == {(10, 10), (5, 5)}


def test_demo_binds_an_installed_production(
    run: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The demo uses an installed `deerflow` without being told of it."""
    write_tree(tmp_path, harness="site")
    paths = f"{tmp_path / 'site'}:{environment.get('PYTHONPATH', '')}"
    done = run("demo", cwd=tmp_path, PYTHONPATH=paths)
    assert done.returncode == 0, done.stderr
    assert f"selector    production: {IN_HARNESS}" in done.stderr.splitlines()


def test_demo_says_that_it_uses_the_reference(
    run: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Where production cannot be bound the demo uses the reference, says so, and with -v why."""
    done = run("demo", "-v", cwd=tmp_path)
    assert done.returncode == 0
    assert "selector    reference: " in done.stderr
    assert "no deerflow is installed" in done.stderr
    write_tree(tmp_path, WRONG["another-version"][0], harness="site")
    paths = f"{tmp_path / 'site'}:{environment.get('PYTHONPATH', '')}"
    done = run("demo", "-v", cwd=tmp_path, PYTHONPATH=paths)
    assert done.returncode == 0
    assert "selector    reference: " in done.stderr
    assert WRONG["another-version"][1] in done.stderr


def test_demo_does_not_replace_a_checkout_that_was_named(run: Run, tmp_path: Path) -> None:
    """A checkout that is named and unfit is an error, not a reason to take the reference."""
    write_tree(tmp_path / "deer-flow", WRONG["another-version"][0])
    done = run("demo", "--deerflow", "deer-flow", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert WRONG["another-version"][1] in done.stderr


def test_selector_check_finds_the_stand_in_out(run: Run, tmp_path: Path) -> None:
    """A selector that decides otherwise is shown to, with the smallest pool."""
    write_tree(tmp_path / "deer-flow")
    done = run(
        *("selector", "check", "--protocol", "mini-v1", "--pools", "20"),
        *("--deerflow", "deer-flow"),
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    assert "production: differs from the reference on " in done.stdout
    assert "the smallest pool that differs:" in done.stdout
