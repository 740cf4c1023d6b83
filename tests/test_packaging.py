"""The five distributions: built twice over, installed into empty environments, and tried there."""

from __future__ import annotations

import email
import email.message
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["data", "grade", "select", "qa", "cli"]
MAN_PAGE = "share/man/man1/deermem.1"

# What an installed deermem-data must find: its folder, the protocols, the embedded data set.
FIND_SPECS = """
import json
from deermem_data import load_dataset, load_protocol, load_schema, shipped_protocols, specs_folder
protocol = load_protocol("mini-v1")
records = load_dataset(protocol.embedded_dataset, protocol).record_count
schema = load_schema("summary")["$id"]
print(json.dumps([str(specs_folder()), shipped_protocols(), records, schema]))
"""


def command(
    arguments: Sequence[object], cwd: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed, without this project's environment."""
    dropped = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "SOURCE_DATE_EPOCH", "COLUMNS"}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    done = subprocess.run(
        list(map(str, arguments)),
        cwd=cwd,
        env=environment | dict(variables or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done


def build(
    source: Path, target: Path, *kinds: str, variables: Mapping[str, str] | None = None
) -> None:
    """Build a distribution with the build backend of this environment."""
    options = [part for kind in kinds for part in ("-t", kind)]
    arguments = [sys.executable, "-m", "hatchling", "build", "-d", target, *options]
    command(arguments, source, variables)


def install(environment: Path, *what: str | Path, cwd: Path) -> Path:
    """Make an empty environment, install into it, and return its folder of programs."""
    uv = [sys.executable, "-m", "uv", "--quiet"]
    command([*uv, "venv", "--python", sys.executable, environment], cwd)
    command([*uv, "pip", "install", "--python", environment / "bin/python", *what], cwd)
    return environment / "bin"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git tracks or would track: no build leaves anything in the project."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    copy = tmp_path_factory.mktemp("checkout")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    # As in a clone, .gitignore counts up to here.
    command(["git", "init", "-q"], copy)
    return copy


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with an sdist and a wheel of each package, built from the tree."""
    target = tmp_path_factory.mktemp("dist")
    for package in PACKAGES:
        build(checkout / "packages" / f"deermem-{package}", target, "sdist", "wheel")
    assert len(list(target.iterdir())) == 2 * len(PACKAGES)
    return target


@pytest.fixture(scope="module")
def rebuilt(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a wheel of each package, built from its sdist, away from the checkout."""
    unpacked, target = tmp_path_factory.mktemp("sdist"), tmp_path_factory.mktemp("rebuilt")
    for sdist in built.glob("*.tar.gz"):
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        build(unpacked / sdist.name.removesuffix(".tar.gz"), target, "wheel")
    return target


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the five wheels and nothing else of ours."""
    folder = tmp_path_factory.mktemp("installed")
    return install(folder / "venv", *built.glob("*.whl"), cwd=folder)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that is neither the checkout nor inside any other, with a home of its own."""
    done = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode != 0
    return tmp_path


def wheel_of(folder: Path, package: str) -> zipfile.ZipFile:
    """A package's wheel, open."""
    (path,) = folder.glob(f"deermem_{package}-*.whl")
    return zipfile.ZipFile(path)


def metadata(wheel: zipfile.ZipFile) -> email.message.Message:
    """A wheel's METADATA."""
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_of_the_sdist_equals_wheel_of_the_tree(
    built: Path, rebuilt: Path, package: str
) -> None:
    """The sdist holds all that is needed: its wheel has the same files with the same bytes."""
    with wheel_of(built, package) as first, wheel_of(rebuilt, package) as second:
        assert sorted(first.namelist()) == sorted(second.namelist())
        differing = [name for name in first.namelist() if first.read(name) != second.read(name)]
    assert differing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_holds_the_package(checkout: Path, built: Path, package: str) -> None:
    """A wheel carries every file of the package, `py.typed` and the licence; no test, no cache."""
    source = checkout / "packages" / f"deermem-{package}" / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with wheel_of(built, package) as wheel:
        names = set(wheel.namelist())
        licences = [name for name in names if re.search(r"\.dist-info/licenses/LICENSE$", name)]
        assert [wheel.read(name) for name in licences] == [(ROOT / "LICENSE").read_bytes()]
    assert f"deermem_{package}/py.typed" in expected
    assert expected - names == set()
    assert [name for name in names if "__pycache__" in name or "tests/" in name] == []
    others = {name.split("/")[0] for name in names} - {f"deermem_{package}"}
    assert all(re.fullmatch(rf"deermem_{package}-.*\.(dist-info|data)", name) for name in others)


def test_wheel_of_data_carries_the_specs(checkout: Path, built: Path) -> None:
    """Protocols, schemas and the embedded data set ship inside `deermem-data`, as they are."""
    specs = checkout / "specs"
    expected = {
        f"deermem_data/specs/{path.relative_to(specs).as_posix()}": path.read_bytes()
        for path in specs.rglob("*")
        if path.is_file()
    }
    with wheel_of(built, "data") as wheel:
        found = {name: wheel.read(name) for name in wheel.namelist() if "/specs/" in name}
    assert found == expected
    assert "deermem_data/specs/protocols/mini-v1/data/deermem_mini.json" in found


@pytest.mark.parametrize("package", PACKAGES)
def test_sdist_holds_what_a_packager_needs(built: Path, package: str) -> None:
    """An sdist has the sources, the tests, the papers and the build's own files."""
    (path,) = built.glob(f"deermem_{package}-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        links = [member.name for member in archive.getmembers() if member.issym()]
    papers = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"}
    assert papers | {f"src/deermem_{package}/py.typed"} <= names
    assert any(re.match(r"tests/.*test_.*\.py$", name) for name in names)
    assert [name for name in names if "__pycache__" in name] == []
    assert links == []


@pytest.mark.parametrize("package", PACKAGES)
def test_metadata(built: Path, package: str) -> None:
    """A wheel says its licence, its Python, its readme, and ranges for what it needs."""
    with wheel_of(built, package) as wheel:
        found = metadata(wheel)
    assert found["Name"] == f"deermem-{package}"
    assert (found["License-Expression"], found["License-File"]) == ("MIT", "LICENSE")
    assert found["Requires-Python"] == ">=3.11"
    assert found["Description-Content-Type"] == "text/markdown"
    assert f"# deermem-{package}" in str(found.get_payload())
    needs = [need for need in found.get_all("Requires-Dist", []) if need.startswith("deermem")]
    assert [need for need in needs if "==" in need or ">=" not in need] == []
    assert bool(needs) == (package not in {"data", "grade"})


def test_demo_from_wheels(installed: Path, elsewhere: Path) -> None:
    """Installed from wheels, away from every checkout, the demo prints the retention table."""
    done = command([installed / "deermem", "demo"], elsewhere, {"HOME": str(elsewhere)})
    lines = done.stdout.splitlines()
    assert lines[0] == "Cases in which the fact that answers the question was kept, by capacity"
    assert lines[2].split() == ["overall", "45", "confidence", "20", "27", "35"]
    assert lines[3].split() == ["overall", "45", "hybrid-v1", "35", "45", "45"]
    assert list(elsewhere.iterdir()) == []


def test_version_from_wheels(installed: Path, elsewhere: Path, built: Path) -> None:
    """The command states the version of its distribution, also as a module."""
    with wheel_of(built, "cli") as wheel:
        expected = f"deermem {metadata(wheel)['Version']}\n"
    assert command([installed / "deermem", "--version"], elsewhere).stdout == expected
    as_module = [installed / "python", "-m", "deermem_cli", "--version"]
    assert command(as_module, elsewhere).stdout == expected


def test_run_from_wheels_knows_no_checkout(installed: Path, elsewhere: Path) -> None:
    """Outside git a run's record says so, and names the versions that are installed."""
    arguments = ["run-policy", "--protocol", "mini-v1", "--selector", "reference"]
    command([installed / "deermem", *arguments, "--output-dir", "run"], elsewhere)
    record = json.loads((elsewhere / "run/run.json").read_bytes())
    assert record["git"] is None
    uv = [sys.executable, "-m", "uv", "pip", "list", "--format=json"]
    listed = command([*uv, "--python", installed / "python"], elsewhere).stdout
    versions = {entry["name"]: entry["version"] for entry in json.loads(listed)}
    for name, version in record["packages"].items():
        assert versions[name] == version


def test_installed_packages_fit_each_other(installed: Path, elsewhere: Path) -> None:
    """No requirement of an installed package is unmet."""
    uv = [sys.executable, "-m", "uv", "pip", "check", "--python", installed / "python"]
    command(uv, elsewhere)


@pytest.mark.parametrize("way", ["checkout", "editable", "wheel", "sdist"])
def test_specs_are_found(
    way: str,
    checkout: Path,
    built: Path,
    rebuilt: Path,
    installed: Path,
    elsewhere: Path,
) -> None:
    """The shipped protocols are found from a checkout, an editable install, and either wheel."""
    variables = {}
    in_package = True
    if way == "checkout":
        variables["PYTHONPATH"] = str(checkout / "packages/deermem-data/src")
        programs, in_package = installed, False
    elif way == "editable":
        package = checkout / "packages/deermem-data"
        programs = install(elsewhere / "venv", "--editable", package, cwd=elsewhere)
        in_package = False
    elif way == "wheel":
        programs = installed
    else:
        (wheel,) = rebuilt.glob("deermem_data-*.whl")
        programs = install(elsewhere / "venv", wheel, cwd=elsewhere)
    done = command([programs / "python", "-c", FIND_SPECS], elsewhere, variables)
    folder, protocols, records, schema = json.loads(done.stdout)
    expected = programs.parent if in_package else checkout / "specs"
    assert Path(folder).resolve().is_relative_to(expected.resolve())
    assert protocols == ["capacity-eviction-v1", "mini-v1", "pr4789-reproduction-v1"]
    assert records > 150
    assert "summary" in schema


def test_man_page_is_installed(installed: Path) -> None:
    """The man page stands where `man` looks for those of an environment, and names all commands."""
    page = (installed.parent / MAN_PAGE).read_text(encoding="utf-8")
    assert page.startswith(".TH DEERMEM ")
    shown = page.replace("\\-", "-")
    help_text = command([installed / "deermem", "--help"], installed).stdout
    commands = re.findall(r"^    ([a-z][a-z-]+) {2,}|^    ([a-z][a-z-]+)$", help_text, re.MULTILINE)
    names = {first or second for first, second in commands}
    assert {"demo", "validate-contracts", "run-policy", "selector"} <= names
    assert [name for name in names if name not in shown] == []
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION"):
        assert f".SH {section}" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff (apt: groff-base)")
def test_man_page_is_sound_roff(installed: Path, elsewhere: Path) -> None:
    """groff has nothing to warn of."""
    page = installed.parent / MAN_PAGE
    done = command(["groff", "-man", "-Tutf8", "-ww", "-z", page], elsewhere)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.skipif(shutil.which("man") is None, reason="needs man (apt: man-db)")
def test_man_shows_the_page(installed: Path, elsewhere: Path) -> None:
    """`man -l` shows it without a warning."""
    page = installed.parent / MAN_PAGE
    variables = {"MANPAGER": "cat", "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    done = command(["man", "--warnings=w", "-l", page], elsewhere, variables)
    assert done.stderr == ""
    assert "what a capacity policy costs an agent's memory" in " ".join(done.stdout.split())
    assert "run-policy" in done.stdout


def test_man_page_has_the_same_bytes_twice(checkout: Path, built: Path, tmp_path: Path) -> None:
    """Neither the day, the place, the terminal nor the locale gets into the man page."""
    package = checkout / "packages/deermem-cli"
    variables = {"COLUMNS": "40", "LC_ALL": "C", "TZ": "Pacific/Auckland", "PYTHONHASHSEED": "7"}
    build(package, tmp_path / "again", "wheel", variables=variables)
    build(package, tmp_path / "dated", "wheel", variables={"SOURCE_DATE_EPOCH": "86400"})

    def page(folder: Path) -> bytes:
        with wheel_of(folder, "cli") as wheel:
            (name,) = (name for name in wheel.namelist() if name.endswith(MAN_PAGE))
            return wheel.read(name)

    assert page(built) == page(tmp_path / "again")
    assert page(tmp_path / "dated").startswith(b'.TH DEERMEM "1" "1970\\-01\\-02" ')
    assert not page(built).startswith(b'.TH DEERMEM "1" "1970')
