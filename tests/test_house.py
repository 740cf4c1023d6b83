"""The rules of the house that code can check: imports, packages, and what never gets in."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

# Which of the others each package may import (design: the house).
MAY_IMPORT = {
    "data": set(),
    "grade": set(),
    "select": {"data"},
    "qa": {"data", "select"},
    "cli": {"data", "select", "qa", "grade"},
}
PACKAGES = sorted(MAY_IMPORT)
ROOT = Path(__file__).resolve().parent.parent


def folder_of(package: str) -> Path:
    return ROOT / "packages" / f"deermem-{package}"


def source_of(package: str) -> Path:
    return folder_of(package) / "src" / f"deermem_{package}"


def trees(package: str) -> Iterator[tuple[Path, ast.Module]]:
    """The syntax tree of each of a package's modules."""
    modules = sorted(source_of(package).rglob("*.py"))
    assert modules
    for path in modules:
        yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each module that a tree imports by its whole name, with the line; at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module or ""


def project(package: str) -> dict[str, Any]:
    """The `[project]` table of a package."""
    text = (folder_of(package) / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)["project"]
    return table


def version(package: str) -> str:
    """The version a package's `__init__` states."""
    text = (source_of(package) / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found
    return found[1]


def requirements(package: str) -> list[Requirement]:
    """What a package depends on, with its extras."""
    table = project(package)
    extras = chain.from_iterable(table.get("optional-dependencies", {}).values())
    return [Requirement(text) for text in chain(table["dependencies"], extras)]


# --- imports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package: str) -> None:
    """A package imports none of the workspace but those the design lets it."""
    allowed = {f"deermem_{name}" for name in (*MAY_IMPORT[package], package)}
    wrong = [
        f"{path}:{line}: {name}"
        for path, tree in trees(package)
        for line, name in imported(tree)
        if name.startswith("deermem_") and name.partition(".")[0] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_import_is_declared(package: str) -> None:
    """A package imports the standard library, itself, and what its pyproject names."""
    import_name = {"pyyaml": "yaml", "attrs": "attrs"}
    # A plugin is imported by pytest alone, which is then there.
    plugins = {"pytest"} if package == "grade" else set()
    declared = {
        import_name.get(item.name.lower(), item.name.lower().replace("-", "_"))
        for item in requirements(package)
    }
    allowed = declared | plugins | set(sys.stdlib_module_names) | {f"deermem_{package}"}
    wrong = [
        f"{path}:{line}: {name}"
        for path, tree in trees(package)
        for line, name in imported(tree)
        if name.partition(".")[0] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_grader_needs_the_standard_library_alone() -> None:
    """`import deermem_grade` brings in no third party; arrays come with the statistics."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import deermem_grade; "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(source_of("grade").parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    known = {"deermem_grade", "__main__", *sys.stdlib_module_names}
    assert set(done.stdout.split()) - known == set()
    assert project("grade")["dependencies"] == []


# Where the environment may be looked at below the command: to be handed on to git, whole.
HANDS_ON = {"packages/deermem-select/src/deermem_select/git.py"}
# `python -m deermem_grade.conformance` is a command too: any implementation is proved with it.
COMMANDS = {
    "packages/deermem-grade/src/deermem_grade/conformance/__main__.py",
    "packages/deermem-grade/src/deermem_grade/conformance/disagreements.py",
    "packages/deermem-grade/src/deermem_grade/pytest_plugin.py",  # pytest's command line
}
SPOKEN = {"print", "input", "breakpoint"}
READ = {("sys", "argv"), ("os", "environ"), ("os", "environb"), ("os", "getenv")}
STREAMS = {("sys", "stdout"), ("sys", "stderr"), ("sys", "stdin")}


def talk(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Where a tree prints, or reads arguments, environment or the standard streams."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in SPOKEN:
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in READ | STREAMS:
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in {"os", "sys"}:
            names = {(node.module, alias.name) for alias in node.names}
            yield from ((node.lineno, ".".join(name)) for name in names & (READ | STREAMS))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names_of = [getattr(node, "module", None), *(alias.name for alias in node.names)]
            yield from ((node.lineno, name) for name in names_of if name in {"argparse", "getopt"})


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "cli"])
def test_nothing_below_the_command_talks(package: str) -> None:
    """Below `deermem-cli` nothing prints, parses arguments or reads the environment."""
    found = [
        f"{path.as_posix()}:{line}: {what}"
        for path, tree in trees(package)
        if path.as_posix() not in HANDS_ON | COMMANDS
        for line, what in talk(tree)
    ]
    assert not found, "\n".join(found)


# --- packages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", PACKAGES)
def test_package_has_its_papers(package: str) -> None:
    """Each package has a README, the root's licence, a changelog, `py.typed` and tests."""
    folder = folder_of(package)
    title = f"# deermem-{package}\n"
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(title)
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert not (folder / "LICENSE").is_symlink()
    assert (source_of(package) / "py.typed").is_file()
    assert list((folder / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_changelog_begins_with_the_version(package: str) -> None:
    """The top heading of the changelog is the version, with a date."""
    text = (folder_of(package) / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert re.fullmatch(re.escape(version(package)) + r" - \d{4}-\d{2}-\d{2}", headings[0])


@pytest.mark.parametrize("package", ["data", "grade"])
def test_changelog_says_what_affects_scores(package: str) -> None:
    """What could change a published number has a section of its own."""
    text = (folder_of(package) / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "### Score-affecting\n" in text


@pytest.mark.parametrize("package", PACKAGES)
def test_dependency_ranges(package: str) -> None:
    """Nothing is pinned; packages of the workspace are named with a range that holds theirs."""
    for requirement in requirements(package):
        operators = {item.operator for item in requirement.specifier}
        assert not operators & {"==", "==="}, requirement
        assert operators & {">=", "~="}, requirement
        if requirement.name.startswith("deermem-"):
            other = requirement.name.removeprefix("deermem-")
            assert other in MAY_IMPORT[package], requirement
            assert version(other) in requirement.specifier, requirement
            assert "<" in operators, requirement


@pytest.mark.parametrize("package", PACKAGES)
def test_metadata(package: str) -> None:
    """Each package says the same of licence and Python, and says what it is."""
    table = project(package)
    assert table["name"] == f"deermem-{package}"
    assert (table["license"], table["license-files"]) == ("MIT", ["LICENSE"])
    assert table["requires-python"] == ">=3.11"
    assert table["readme"] == "README.md"
    assert len(table["description"]) > 20
    assert "Typing :: Typed" in table["classifiers"]
    assert table["dynamic"] == ["version"]


def exported(package: str) -> Iterator[str]:
    """The package and its subpackages, where they say what they export."""
    for path in sorted(source_of(package).rglob("__init__.py")):
        name = ".".join(path.parent.relative_to(folder_of(package) / "src").parts)
        if "__all__" in path.read_text(encoding="utf-8"):
            yield name


@pytest.mark.parametrize("name", list(chain.from_iterable(map(exported, PACKAGES))))
def test_all_is_sorted_complete_and_importable(name: str) -> None:
    """`__all__` is sorted, repeats nothing, and names all public names the package imports."""
    module = importlib.import_module(name)
    names = list(module.__all__)
    # Constants, then classes, then functions, each by name: the order ruff keeps.
    assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
    assert len(set(names)) == len(names)
    assert [n for n in names if not hasattr(module, n)] == []
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    bound = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level > 0
        for alias in node.names
    }
    assert {n for n in bound if not n.startswith("_")} - set(names) == set()


def test_names_others_rely_on() -> None:
    """The names that other projects are written against are where they were promised."""
    for module, names in {
        "deermem_grade": ["grade_answer", "normalize_answer", "GRADER_VERSION"],
        "deermem_grade.stats": ["exact_mcnemar", "paired_bootstrap_difference"],
        "deermem_select.reference": ["select_facts_for_capacity"],
        "deermem_data": ["load_protocol", "load_dataset", "build_cases"],
    }.items():
        found = importlib.import_module(module)
        assert [name for name in names if not callable(getattr(found, name, None))] in (
            [],
            ["GRADER_VERSION"],
        )


# --- what never gets in ---------------------------------------------------------------------------


def tracked() -> list[Path]:
    """Every file of the project that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs a git checkout")
    names = done.stdout.decode("utf-8").split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def tracked_texts() -> dict[str, str]:
    """The text of each tracked file by its path; pictures have none."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in tracked()
        if path.suffix != ".png"
    }


def test_no_path_of_a_machine(tracked_texts: dict[str, str]) -> None:
    """No file names a folder of the machine it was written on."""
    pattern = re.compile(
        r"(?<![\w./~<>{}-])/(?:home|root|Users|work|mnt|workspace)/[\w.-]+|(?<![\w.])[A-Z]:\\Users\\"
    )
    found = [
        f"{name}: {match[0]}"
        for name, text in tracked_texts.items()
        for match in pattern.finditer(text)
    ]
    assert not found, "\n".join(found)


def test_no_answer_and_no_pool_is_tracked(tracked_texts: dict[str, str]) -> None:
    """Response folders, prepared pools and data sets stay out; the embedded one is ours."""
    wrong = re.compile(r"(^|/)(responses|prepared[^/]*)/|(^|/)pools[^/]*\.jsonl$|\.corrupt$")
    found = [name for name in tracked_texts if wrong.search(name)]
    data = [
        name
        for name in tracked_texts
        if re.search(r"(^|/)longmemeval[^/]*\.json$", name) and "/manifests/" not in name
    ]
    assert found + data == []


# Eight words in a row are more than chance gives two people who write of the same things, and
# fewer than any sentence worth quoting.
SHINGLE = 8
WORD = re.compile(r"[a-z0-9']+")


def shingles(text: str) -> Iterable[tuple[str, ...]]:
    """Each run of eight words."""
    words = WORD.findall(text.lower())
    return zip(*(words[i:] for i in range(SHINGLE)), strict=False)


def prose(shingle: tuple[str, ...]) -> bool:
    """Whether a run of words is language: ids, numbers, hashes and keys may be shared."""
    return sum(word.isalpha() and len(word) < 20 for word in shingle) >= SHINGLE - 2


def ours(texts: dict[str, str]) -> dict[tuple[str, ...], str]:
    """Each shingle of the project, with a file that holds it."""
    return {
        shingle: name
        for name, text in texts.items()
        for shingle in shingles(text)
        if prose(shingle)
    }


def assert_not_in(found: Iterable[str], texts: dict[str, str]) -> None:
    """None of the foreign texts shares a run of words with the project."""
    known = ours(texts)
    assert len(known) > 10_000
    shared = {
        f"{known[shingle]}: {' '.join(shingle)}"
        for text in found
        for shingle in shingles(text)
        if shingle in known
    }
    assert not shared, "\n".join(sorted(shared)[:20])


def test_no_text_of_the_data_set(longmemeval_path: Path, tracked_texts: dict[str, str]) -> None:
    """No question, answer or turn of the data set stands in a file, not even a part of one."""
    rows = json.loads(longmemeval_path.read_bytes())
    texts = (
        text
        for row in rows
        for text in (
            row["question"],
            str(row["answer"]),
            *(turn["content"] for session in row["haystack_sessions"] for turn in session),
        )
    )
    assert_not_in(texts, tracked_texts)


def test_no_text_of_the_published_run(upstream_path: Path, tracked_texts: dict[str, str]) -> None:
    """Nor does anything of the historical prompt, its guards, or the published predictions."""
    texts = [path.read_text(encoding="utf-8") for path in (upstream_path / "prompts").iterdir()]
    for path in (upstream_path / "manifests").glob("synthetic*.json"):
        cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
        texts += [str(value) for case in cases for value in case.values()]
    for path in (upstream_path / "results").rglob("qa.rows.jsonl"):
        rows = path.read_text(encoding="utf-8").splitlines()
        texts += [json.loads(row)["prediction"] for row in rows]
    assert len(texts) > 90
    assert_not_in(texts, tracked_texts)


def test_foreign_text_would_be_found(tracked_texts: dict[str, str]) -> None:
    """The search above finds a sentence that does stand in the project, whatever its line ends."""
    sentence = (
        "No question, answer or turn of the data set stands in a file, not even a part of one."
    )
    known = ours(tracked_texts)
    assert any(shingle in known for shingle in shingles(sentence.upper().replace(" ", "\n")))
