"""The production binding, on stand-in trees at the real path with the real signature."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from deermem_data import Case, Protocol
from deermem_select import SelectorError, bind_selector, decide, find_production, git_state

HARNESS = "backend/packages/harness"
IN_HARNESS = "deerflow/agents/memory/backends/deermem/deermem/core/eviction.py"
IN_CHECKOUT = f"{HARNESS}/{IN_HARNESS}"

WriteTree = Callable[..., Path]
RunGit = Callable[..., str]


def refusal(protocol: Protocol, deerflow: Path | None) -> str:
    """The one line that a binding is refused with."""
    with pytest.raises(SelectorError) as caught:
        bind_selector("production", protocol=protocol, deerflow=deerflow)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize("given", [".", "backend", HARNESS])
def test_checkout_root_backend_and_harness(
    tmp_path: Path,
    protocol: Protocol,
    cases: tuple[Case, ...],
    standin: str,
    write_tree: WriteTree,
    given: str,
) -> None:
    """A checkout is found from each of its three folders, with the same provenance."""
    write_tree(tmp_path)
    selector = bind_selector("production", protocol=protocol, deerflow=tmp_path / given)
    found = selector.provenance
    assert (found.kind, found.name, found.path) == ("production", "production", IN_CHECKOUT)
    assert hashlib.sha256(standin.encode()).hexdigest() == found.sha256
    assert (found.commit, found.dirty, found.known) == (None, None, False)
    policy = protocol.config.policies["confidence"]
    now = protocol.config.evaluation_time
    decision = decide(cases[0], policy, 5, selector, now)
    newest = [fact["id"] for fact in cases[0].facts][:-6:-1]
    assert newest == list(decision.kept_fact_ids)


def test_harness_folder_anywhere(tmp_path: Path, protocol: Protocol, write_tree: WriteTree) -> None:
    """A harness folder outside a checkout serves too; the path is then below that folder."""
    write_tree(tmp_path, harness="elsewhere")
    selector = bind_selector("production", protocol=protocol, deerflow=tmp_path / "elsewhere")
    assert selector.provenance.path == IN_HARNESS


def test_relative_path_and_symlink(
    tmp_path: Path, write_tree: WriteTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path, or a link to a checkout, is the same file."""
    file = write_tree(tmp_path / "checkout")
    (tmp_path / "link").symlink_to("checkout")
    monkeypatch.chdir(tmp_path)
    for given in ("checkout", "link", "link/backend"):
        found = find_production(Path(given))
        assert (file, IN_CHECKOUT) == (found.path, found.below_root)


def test_nothing_of_the_tree_is_imported_or_written(
    tmp_path: Path, protocol: Protocol, write_tree: WriteTree
) -> None:
    """Modules, import finders and files are afterwards what they were."""
    write_tree(tmp_path)
    before = (dict(sys.modules), list(sys.meta_path), sorted(tmp_path.rglob("*")))
    bind_selector("production", protocol=protocol, deerflow=tmp_path)
    after = (dict(sys.modules), list(sys.meta_path), sorted(tmp_path.rglob("*")))
    assert before == after


def test_known_hash(
    tmp_path: Path, protocol: Protocol, standin: str, write_tree: WriteTree
) -> None:
    """The protocol knows a selector by the hash of its bytes."""
    write_tree(tmp_path)
    sha256 = hashlib.sha256(standin.encode()).hexdigest()
    knowing = evolve(protocol, known_selectors=("0" * 64, sha256))
    selector = bind_selector("production", protocol=knowing, deerflow=tmp_path)
    assert selector.provenance.known is True


def test_provenance_row(tmp_path: Path, protocol: Protocol, write_tree: WriteTree) -> None:
    """Provenance is written with exactly these keys."""
    write_tree(tmp_path)
    row = bind_selector("production", protocol=protocol, deerflow=tmp_path).provenance.to_row()
    assert sorted(row) == ["commit", "dirty", "kind", "known", "name", "path", "sha256"]


def test_git_state(
    tmp_path: Path,
    protocol: Protocol,
    write_tree: WriteTree,
    run_git: RunGit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Commit and dirtiness are the checkout's, whatever `GIT_DIR` says, if it tracks the file."""
    other = tmp_path / "other"
    other.mkdir()
    run_git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))

    root = tmp_path / "checkout"
    file = write_tree(root)

    def state() -> tuple[str | None, bool | None]:
        found = bind_selector("production", protocol=protocol, deerflow=root).provenance
        return found.commit, found.dirty

    run_git(root, "init", "-q")
    (root / "notes").write_text("kept")
    run_git(root, "add", "notes")
    run_git(root, "commit", "-q", "-m", "notes")
    assert state() == (None, None)
    run_git(root, "add", "backend")
    run_git(root, "commit", "-q", "-m", "tree")
    commit = run_git(root, "rev-parse", "HEAD")
    assert len(commit) == 40
    assert state() == (commit, False)
    (root / "untracked").write_text("beside")
    assert state() == (commit, False)
    file.write_text(file.read_text() + "\n# changed\n")
    assert state() == (commit, True)
    run_git(root, "checkout", "-q", "--", ".")
    (root / "notes").write_text("changed")
    assert state() == (commit, True)


def test_git_state_leaves_the_checkout_alone(tmp_path: Path, run_git: RunGit) -> None:
    """No program that the checkout's settings name is started, and git's index is not rewritten."""
    root, started = tmp_path / "checkout", tmp_path / "started"
    root.mkdir()
    monitor = tmp_path / "monitor.sh"
    monitor.write_text(f"#!/bin/sh\ntouch {started}\n", encoding="utf-8")
    monitor.chmod(0o755)
    (root / "rule.py").write_text("x = 1\n", encoding="utf-8")
    run_git(root, "init", "-q")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "rule")
    commit = run_git(root, "rev-parse", "HEAD")
    run_git(root, "config", "core.fsmonitor", str(monitor))
    # As after a copy: the content is the same and its times are not, which git would note down.
    os.utime(root / "rule.py", (1_000_000_000, 1_000_000_000))
    before = (root / ".git" / "index").read_bytes()
    assert (commit, False) == git_state(root / "rule.py")
    assert before == (root / ".git" / "index").read_bytes()
    assert not started.exists()
    # Asked as anyone would, git does both: the test can fail.
    run_git(root, "status", "--porcelain")
    assert before != (root / ".git" / "index").read_bytes()
    assert started.exists()


def test_git_missing(
    tmp_path: Path,
    protocol: Protocol,
    write_tree: WriteTree,
    run_git: RunGit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without git on the machine, commit and dirtiness are unknown and nothing fails."""
    write_tree(tmp_path)
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-q", "-m", "tree")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    found = bind_selector("production", protocol=protocol, deerflow=tmp_path).provenance
    assert (found.commit, found.dirty) == (None, None)


def run_python(code: str, *paths: Path) -> str:
    """Run code in a fresh interpreter with these folders first on the import path."""
    folders = [*map(str, paths), *(item for item in sys.path if item)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


BIND_INSTALLED = """
import sys
from deermem_data import load_protocol
from deermem_select import bind_selector
found = bind_selector("production", protocol=load_protocol("mini-v1")).provenance
assert not [name for name in sys.modules if name.split(".")[0] == "deerflow"]
print(found.kind, found.path, found.sha256)
"""


@pytest.mark.parametrize("namespace", [False, True])
def test_installed(tmp_path: Path, standin: str, write_tree: WriteTree, namespace: bool) -> None:
    """An installed `deerflow` is found though each of its packages fails on import."""
    file = write_tree(tmp_path, harness="site")
    if namespace:
        (tmp_path / "site/deerflow/__init__.py").unlink()
    sha256 = hashlib.sha256(standin.encode()).hexdigest()
    assert f"production {IN_HARNESS} {sha256}" == run_python(BIND_INSTALLED, tmp_path / "site")
    assert [file.name] == [item.name for item in file.parent.iterdir() if "init" not in item.name]


def test_installed_namespace_in_two_folders(tmp_path: Path, write_tree: WriteTree) -> None:
    """A namespace package is searched in all its folders."""
    (tmp_path / "first/deerflow").mkdir(parents=True)
    write_tree(tmp_path, harness="second")
    (tmp_path / "second/deerflow/__init__.py").unlink()
    found = run_python(BIND_INSTALLED, tmp_path / "first", tmp_path / "second")
    assert found.startswith(f"production {IN_HARNESS} ")


def test_installed_editable_by_path_file(tmp_path: Path, write_tree: WriteTree) -> None:
    """An editable installation is the checkout it points to."""
    write_tree(tmp_path / "checkout")
    found = run_python(BIND_INSTALLED, tmp_path / "checkout" / HARNESS)
    assert found.startswith(f"production {IN_CHECKOUT} ")


def test_installed_editable_by_finder(tmp_path: Path, write_tree: WriteTree) -> None:
    """An editable installation through an import finder of its own is found as well."""
    write_tree(tmp_path / "checkout")
    code = f"""
import importlib.machinery, importlib.util, sys
folder = {str(tmp_path / "checkout" / HARNESS / "deerflow")!r}

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "deerflow":
            return importlib.util.spec_from_file_location(
                name, folder + "/__init__.py", submodule_search_locations=[folder]
            )

sys.meta_path.append(Finder)
"""
    assert run_python(code + BIND_INSTALLED).startswith(f"production {IN_CHECKOUT} ")


FIND_INSTALLED = """
from deermem_select import SelectorError, find_production
try:
    print("found", find_production())
except SelectorError as error:
    print(error)
"""


def test_not_installed() -> None:
    """Where production is nowhere, the error says the two ways to provide it."""
    message = run_python(FIND_INSTALLED)
    assert "no deerflow is installed" in message
    assert "--deerflow PATH or DEERMEM_DEERFLOW_PATH" in message
    assert "install deerflow" in message


@pytest.mark.parametrize("module", [True, False])
def test_installed_without_the_file(tmp_path: Path, module: bool) -> None:
    """An installed `deerflow` without the file, or that is no package, is not production."""
    if module:
        (tmp_path / "deerflow.py").write_text("raise SystemExit('imported')")
        expected = "no deerflow is installed"
    else:
        (tmp_path / "deerflow").mkdir()
        (tmp_path / "deerflow/__init__.py").write_text("raise SystemExit('imported')")
        expected = f"the installed deerflow at {tmp_path / 'deerflow'} holds no agents/memory/"
    message = run_python(FIND_INSTALLED, tmp_path)
    assert expected in message
    assert "--deerflow PATH or DEERMEM_DEERFLOW_PATH" in message


def test_a_given_folder_is_not_replaced_by_an_installed_one(
    tmp_path: Path, write_tree: WriteTree
) -> None:
    """A folder that holds no selector is an error, also where `deerflow` is installed."""
    write_tree(tmp_path, harness="site")
    (tmp_path / "empty").mkdir()
    given = f"find_production(__import__('pathlib').Path({str(tmp_path / 'empty')!r}))"
    message = run_python(FIND_INSTALLED.replace("find_production()", given), tmp_path / "site")
    assert message.startswith(f"{tmp_path / 'empty'}: holds no {IN_CHECKOUT}")


def test_refused_no_such_folder(tmp_path: Path, protocol: Protocol) -> None:
    """A folder that is not there, or is a file, is named."""
    (tmp_path / "file").write_text("")
    for name in ("nowhere", "file"):
        expected = f"{tmp_path / name}: no such folder; expected a deer-flow checkout"
        assert expected == refusal(protocol, tmp_path / name)


def test_refused_file_absent(tmp_path: Path, protocol: Protocol, write_tree: WriteTree) -> None:
    """A checkout without the file, or with a folder of its name, is named with the path."""
    file = write_tree(tmp_path)
    file.unlink()
    assert f"{tmp_path}: holds no {IN_CHECKOUT}" in refusal(protocol, tmp_path)
    file.mkdir()
    assert f"{tmp_path}: holds no {IN_CHECKOUT}" in refusal(protocol, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("usage: dict", "uses: dict", "parameter usage is missing; parameter uses is not known"),
        ("    now: Any = None,\n", "", "parameter now is missing"),
        ("policy: str,\n    usage", "policy: str,\n    extra=1,\n    usage", "extra is not known"),
        ("policy: str,\n    usage", "policy: str,\n    extra,\n    usage", "extra is not known"),
        ("facts: list", "pool: list", "parameter facts is missing; parameter pool is not known"),
        (
            "access_weight: float = 0.10",
            "access_weight: float = 0.2",
            "parameter access_weight has the default 0.2, where the default 0.1 is expected",
        ),
        (
            "access_weight: float = 0.10",
            "access_weight: float",
            "parameter access_weight has no default, where the default 0.1 is expected",
        ),
        (
            "    *,\n    max_facts: int,",
            "    max_facts: int,\n    /,\n    *,",
            "parameter facts is missing; parameter max_facts is positional-only",
        ),
        ("facts: list[dict[str, Any]],\n    *,", "*,\n    facts,", "parameter facts is keyword-on"),
        ("facts: list[dict[str, Any]],", "x=0, facts=(),", "parameter facts is not the first"),
        ("-> Result:", ", **more) -> Result:", "parameter more is not known"),
    ],
)
def test_refused_signature(
    tmp_path: Path,
    protocol: Protocol,
    standin: str,
    write_tree: WriteTree,
    old: str,
    new: str,
    named: str,
) -> None:
    """Another signature is refused and the parameter named."""
    if old == "-> Result:":
        old, new = "correction_reserved_max: int = 10,\n", "correction_reserved_max=10, **more,\n"
    if "positional-only" in named:
        named = "parameter max_facts is positional-only"
    assert old in standin
    file = write_tree(tmp_path, standin.replace(old, new))
    message = refusal(protocol, tmp_path)
    assert f"{file}: select_facts_for_capacity: the signature differs: " in message
    assert named in message


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('"hybrid-v1"\n', '"hybrid-v2"\n', "'hybrid-v2'"),
        ("EVICTION_POLICY_HYBRID_V1 =", "EVICTION_POLICY =", "None"),
    ],
)
def test_refused_policy_version(
    tmp_path: Path,
    protocol: Protocol,
    standin: str,
    write_tree: WriteTree,
    old: str,
    new: str,
    found: str,
) -> None:
    """Another policy version than the protocol requires is refused; both are shown."""
    assert old in standin
    file = write_tree(tmp_path, standin.replace(old, new))
    expected = (
        f"{file}: EVICTION_POLICY_HYBRID_V1 is {found}, "
        "the protocol requires policy version 'hybrid-v1'"
    )
    assert expected == refusal(protocol, tmp_path)


def test_the_protocol_says_which_version(
    tmp_path: Path, protocol: Protocol, standin: str, write_tree: WriteTree
) -> None:
    """The version required is the protocol's, not a fixed one."""
    write_tree(tmp_path, standin.replace('"hybrid-v1"\n', '"hybrid-v2"\n'))
    version: Any = "hybrid-v2"
    config = evolve(protocol.config, required_policy_version=version)
    later = evolve(protocol, config=config)
    assert bind_selector("production", protocol=later, deerflow=tmp_path).name == "production"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("raise RuntimeError('two\\nlines')", "raises on import: RuntimeError: two lines"),
        ("raise SystemExit(3)", "raises on import: SystemExit: 3"),
        ("raise SystemExit", "raises on import: SystemExit"),
        ("import no_such_dependency", "raises on import: ModuleNotFoundError: No module named"),
        ("def broken(:", "raises on import: SyntaxError: invalid syntax"),
        ("from . import sibling", "raises on import: ImportError: attempted relative import"),
        ("import deerflow.agents", "raises on import: ImportError: deerflow is not imported"),
        ("x = 1", "has no function select_facts_for_capacity"),
        ("select_facts_for_capacity = 1", "has no function select_facts_for_capacity"),
    ],
)
def test_refused_on_import(
    tmp_path: Path, protocol: Protocol, write_tree: WriteTree, source: str, named: str
) -> None:
    """A file that raises, whatever it raises, is refused with the exception's name."""
    file = write_tree(tmp_path, source)
    before = (dict(sys.modules), list(sys.meta_path))
    message = refusal(protocol, tmp_path)
    assert message.startswith(f"{file}: {named}")
    assert before == (dict(sys.modules), list(sys.meta_path))


def test_an_installed_deerflow_is_not_imported(
    tmp_path: Path, protocol: Protocol, write_tree: WriteTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that imports deer-flow's packages is refused also where they are installed."""
    file = write_tree(tmp_path, "import deerflow.agents\n", harness="site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    expected = (
        f"{file}: raises on import: "
        "ImportError: deerflow is not imported: the selector is loaded by itself"
    )
    assert expected == refusal(protocol, None)


def test_interrupt_is_not_swallowed(
    tmp_path: Path, protocol: Protocol, write_tree: WriteTree
) -> None:
    """Ctrl-C during the import stays Ctrl-C."""
    write_tree(tmp_path, "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        bind_selector("production", protocol=protocol, deerflow=tmp_path)


def test_the_bytes_hashed_are_the_bytes_executed(
    tmp_path: Path, protocol: Protocol, standin: str, write_tree: WriteTree
) -> None:
    """A file that rewrites itself on import is known by the bytes that ran."""
    source = standin + "\nimport pathlib\npathlib.Path(__file__).write_text('changed')\n"
    file = write_tree(tmp_path, source)
    selector = bind_selector("production", protocol=protocol, deerflow=tmp_path)
    assert file.read_text() == "changed"
    assert hashlib.sha256(source.encode()).hexdigest() == selector.provenance.sha256
