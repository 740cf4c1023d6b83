"""The documentation is true: its blocks run, what it prints is printed, its links lead somewhere.

A fenced block of `sh` or `python` is run; a `text` block is what the block before it prints on
stdout, where a line `...` stands for any lines. The blocks of a document run one after the other
in one shell and one empty folder, with `deermem` and `python` as commands. A comment on the line
before a block says what else there is to know of it, several things apart by commas:

- `not run: WHY`, `instead: COMMAND` (run in its place), `layout` (a `text` block that nothing
  prints): these are counted below, so that none comes in unseen;
- `exits: N`: its exit status, where it is not 0;
- `file: NAME`: it is the content of that file;
- `in the checkout`: it is run there rather than in the empty folder;
- `provider`: it asks an endpoint; one on this machine takes its place;
- `real input`: it needs the data set and the published run, which lie where the text says, with a
  stand-in for deer-flow's selector; these blocks have a shell of their own, are given a provider
  too, and are skipped where that input is absent.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib
import pytest
from attrs import field, frozen

from deermem_cli.manual import ENVIRONMENT, EXIT_STATUSES
from deermem_cli.parser import build_parser, command_parsers
from deermem_data import SCENARIOS, build_cases, load_dataset, load_protocol
from deermem_qa import build_tasks
from deermem_qa.endpoint import parse_endpoint
from deermem_select import bind_selector

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "docs/*.md", "packages/*/README.md", "results/**/*.md", "specs/*.md")
    for path in ROOT.glob(pattern)
)
LINKED = [*DOCUMENTS, *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("packages/*/[A-Z]*.md"))]

# What is not run as it stands, by document: how many blocks, and of which kind.
NOT_RUN = {
    ("CONTRIBUTING.md", "not run"): 2,
    ("README.md", "instead"): 1,
    ("README.md", "not run"): 1,
    ("packages/deermem-cli/README.md", "not run"): 1,
    ("packages/deermem-grade/README.md", "unnamed"): 1,  # its own tests run both commands
    ("specs/README.md", "layout"): 1,
}
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NOTES = re.compile(r"<!-- (.*) -->\n\Z")
_SECONDS = re.compile(r"\b\d+\.\d s\b")
_ENDPOINT = re.compile(r"http://localhost:\d+/v1")

STAND_IN = """\
from deermem_select.reference import select_facts_for_capacity

EVICTION_POLICY_HYBRID_V1 = "hybrid-v1"
"""


@frozen
class Block:
    """A fenced block, with what the comment before it says."""

    line: int
    language: str
    text: str
    notes: dict[str, str]
    printed: list[str] = field(factory=list)

    @property
    def kind(self) -> str:
        """How it is run, or why not."""
        kinds = ("not run", "instead", "layout", "file")
        found = next((kind for kind in kinds if kind in self.notes), None)
        return found or (self.language if self.language in {"sh", "python"} else "unnamed")

    @property
    def script(self) -> str:
        """The shell commands that run it."""
        if self.kind == "instead":
            text = self.notes["instead"]
        elif self.kind == "file":
            text = f"cp block_{self.line} {shlex.quote(self.notes['file'])}"
        elif self.language == "python":
            text = f"cp block_{self.line} block.py\npython block.py"
        else:
            text = self.text
        if "in the checkout" in self.notes:
            text = f"(cd {shlex.quote(str(ROOT))}\n{text})"
        expected = self.notes.get("exits", "0")
        if expected == "0":
            return text
        return f"status=0\n{{\n{text}\n}} || status=$?\ntest $status = {expected}"


def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def notes_of(before: str) -> dict[str, str]:
    """What the comment on the last line says: name and value, apart by commas."""
    found = _NOTES.search(before)
    if found is None:
        return {}
    if found[1].startswith(("not run: ", "instead: ")):
        parts: Sequence[str] = [found[1]]
    else:
        parts = found[1].split(", ")
    pairs = (part.partition(": ") for part in parts)
    return {name: value for name, _, value in pairs}


def blocks_of(document: str) -> list[Block]:
    """The blocks of a document; what a `text` block says is put to the block before it."""
    text = read(document)
    blocks: list[Block] = []
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        block = Block(line, found[1], found[2], notes_of(text[: found.start()]))
        if block.language == "text" and block.kind != "layout":
            assert blocks, f"{document}:{line}: nothing printed this"
            assert not blocks[-1].printed, f"{document}:{line}: a second output of one block"
            blocks[-1].printed.append(block.text)
        else:
            blocks.append(block)
    return blocks


def runnable(document: str, *, real: bool) -> list[Block]:
    """The blocks that run, of one of the document's two shells."""
    return [
        block
        for block in blocks_of(document)
        if block.kind in {"sh", "python", "file", "instead"}
        and real == ("real input" in block.notes)
    ]


def with_blocks(*, real: bool) -> list[str]:
    return [document for document in DOCUMENTS if runnable(document, real=real)]


def matches(expected: str, found: str) -> bool:
    """Whether `found` is `expected`: durations aside, `...` standing for any lines."""
    lines = _SECONDS.sub("N s", expected).splitlines()
    pattern = "".join("(?:.*\n)*?" if line == "..." else f"{re.escape(line)}\n" for line in lines)
    return re.fullmatch(pattern, _SECONDS.sub("N s", found)) is not None


# --- running --------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with `deermem` and `python` as commands."""
    folder = tmp_path / "home"
    (folder / "bin").mkdir(parents=True)
    for name, arguments in {"deermem": ["-m", "deermem_cli"], "python": []}.items():
        command = folder / "bin" / name
        started = shlex.join([sys.executable, *arguments])
        command.write_text(f'#!/bin/sh\nexec {started} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return folder


@pytest.fixture
def endpoint(project_root: Path) -> Iterator[str]:
    """The base URL of a server on this machine that says it does not know."""
    server = project_root / "packages" / "deermem-qa" / "tests" / "fault_server.py"
    with subprocess.Popen(
        [sys.executable, str(server), "--answer", "INSUFFICIENT"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate("")


def run_blocks(document: str, blocks: Sequence[Block], home: Path, endpoint: str) -> None:
    """Run the blocks in one shell, and compare what each prints."""
    folder = home / "work"
    folder.mkdir()
    script = ["set -eu"]
    for block in blocks:
        (folder / f"block_{block.line}").write_text(block.text, encoding="utf-8")
        text = _ENDPOINT.sub(endpoint, block.script)
        script += [f"exec >{shlex.quote(str(home))}/printed_{block.line}", text]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env={
            "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "MPLCONFIGDIR": matplotlib.get_cachedir(),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    begun = [block for block in blocks if (home / f"printed_{block.line}").exists()]
    assert done.returncode == 0, f"{document}:{begun[-1].line}: {done.stderr}"
    for block in blocks:
        found = (home / f"printed_{block.line}").read_text(encoding="utf-8")
        for expected in block.printed:
            assert matches(expected, found), f"{document}:{block.line} prints\n{found}"


@pytest.mark.parametrize("document", with_blocks(real=False))
def test_blocks_run_and_print_what_is_said(document: str, home: Path, endpoint: str) -> None:
    """Each block runs, in order, and prints the block below it."""
    run_blocks(document, runnable(document, real=False), home, endpoint)


@pytest.mark.parametrize("document", with_blocks(real=True))
def test_blocks_on_real_input(
    document: str, home: Path, endpoint: str, longmemeval_path: Path, upstream_path: Path
) -> None:
    """The same of the real run, step by step, with the data set and deer-flow where it says."""
    (home / "data").mkdir()
    (home / "data" / "longmemeval_oracle.json").symlink_to(longmemeval_path.resolve())
    benchmark = home / "deer-flow" / "backend" / "scripts" / "benchmark" / "deermem_eviction"
    shutil.copytree(upstream_path, benchmark, copy_function=shutil.copyfile)
    core = "backend/packages/harness/deerflow/agents/memory/backends/deermem/deermem/core"
    (home / "deer-flow" / core).mkdir(parents=True)
    (home / "deer-flow" / core / "eviction.py").write_text(STAND_IN, encoding="utf-8")
    run_blocks(document, runnable(document, real=True), home, endpoint)


def test_what_is_not_run_is_known() -> None:
    """No block is left out but those counted here, each of which says why."""
    found: dict[tuple[str, str], int] = {}
    for document in DOCUMENTS:
        for block in blocks_of(document):
            if block.kind in {"not run", "instead", "layout", "unnamed"}:
                key = (document, block.kind)
                found[key] = found.get(key, 0) + 1
                assert block.kind != "not run" or len(block.notes["not run"]) > 20
    assert NOT_RUN == found


def test_notes_are_known() -> None:
    """A misspelt note is not passed over."""
    known = {"not run", "instead", "layout", "exits", "file", "in the checkout"}
    known |= {"provider", "real input"}
    for document in DOCUMENTS:
        comments = re.findall(r"<!-- .* -->", read(document))
        noted = [block.notes for block in blocks_of(document) if block.notes]
        layouts = [block for block in blocks_of(document) if block.kind == "layout"]
        assert len(comments) == len(noted), document
        assert len(layouts) == read(document).count("<!-- layout -->")
        assert {name for notes in noted for name in notes} <= known


@pytest.mark.parametrize(
    ("expected", "found", "outcome"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nb\n", "a\nb\nc\n", False),
        ("...\nc\n", "a\nb\nc\n", True),
        ("took 0.5 s\n", "took 12.0 s\n", True),
        ("took 0.5 s\n", "took 0.5 h\n", False),
    ],
)
def test_outputs_are_compared_in_full(expected: str, found: str, outcome: bool) -> None:
    """The comparison above sees a line too many, one too few, and one that differs."""
    assert outcome == matches(expected, found)


def test_hatch_runs_what_is_said() -> None:
    """Each `hatch run NAME` is a script of the environment, and `demo` is `deermem demo`."""
    scripts = tomllib.loads(read("hatch.toml"))["envs"]["default"]["scripts"]
    named = {
        name for document in DOCUMENTS for name in re.findall(r"hatch run (\w+)", read(document))
    }
    assert {"demo", "test"} <= named
    assert set() == named - {*scripts, "deermem"}
    assert "deermem demo {args}" == scripts["demo"]


# --- links and words ------------------------------------------------------------------------------


@pytest.mark.parametrize("document", LINKED)
def test_links_lead_somewhere(document: str) -> None:
    """Each relative link leads to a file or folder of the checkout."""
    links = re.findall(r"\]\(([^)\s]+)\)", read(document))
    folder = (ROOT / document).parent
    targets = [link.partition("#")[0] for link in links if "://" not in link]
    assert [] == [target for target in targets if not (folder / target).exists()]


@pytest.mark.parametrize("document", LINKED)
def test_no_machine_and_no_foreign_host(document: str) -> None:
    """No path of a machine, no package index, and no host but those the text is about."""
    text = read(document)
    assert not re.search(r"(?<![\w.~])/(?:tmp|home|root|work|Users|opt|usr|mnt)/", text)
    assert not re.search(r"index-url|pypi|npmjs|crates\.io", text, re.IGNORECASE)
    hosts = set(re.findall(r"https?://([^/\s`:)\"]+)", text))
    assert hosts <= {"localhost", "api.example.org", "keepachangelog.com", "doi.org"}


def test_picture_is_small_and_wide_enough() -> None:
    """The picture of the report is a PNG that reads well and loads quickly."""
    data = (ROOT / "docs" / "report.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert len(data) < 300_000
    assert width >= 900
    assert height >= 600


def test_readme_is_short() -> None:
    """A newcomer reads it in a minute; depth is elsewhere."""
    assert len(read("README.md").splitlines()) <= 200


# --- tables and numbers ---------------------------------------------------------------------------


def first_cells(document: str, heading: str) -> list[str]:
    """The first cells of the rows of the table whose first heading is this."""
    table = read(document).partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    rows = table.splitlines()[2:]
    assert rows, (document, heading)
    return [row.split(" | ")[0].removeprefix("| ") for row in rows]


def quoted(cells: Sequence[str]) -> list[str]:
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_table_of_packages() -> None:
    """The README names each distribution once, with the module it is."""
    table = read("README.md").partition("## The packages\n\n")[2].partition("\n\n")[0]
    named = re.findall(r"\[`(deermem-\w+)`\]\((packages/[\w-]+)\).* \| .*`(\w+)` \|", table)
    folders = sorted(path.name for path in (ROOT / "packages").iterdir() if path.is_dir())
    assert folders == sorted(name for name, _, _ in named)
    for name, folder, imported in named:
        assert f"packages/{name}" == folder
        assert imported in {name.replace("-", "_"), "deermem"}


def test_table_of_folders() -> None:
    """What lies where: each folder is there."""
    for name in quoted(first_cells("README.md", "folder")):
        assert (ROOT / name).is_dir(), name


def test_table_of_commands() -> None:
    """The command's README has each command, in the order of the help."""
    commands = quoted(first_cells("packages/deermem-cli/README.md", "command"))
    assert list(command_parsers(build_parser())) == commands


def test_tables_of_exit_statuses_and_environment() -> None:
    """And each exit status and environment variable of the manual."""
    statuses = first_cells("packages/deermem-cli/README.md", "exit status")
    assert [str(status) for status, _ in EXIT_STATUSES] == statuses
    names = quoted(first_cells("packages/deermem-cli/README.md", "environment"))
    assert [name for name, _ in ENVIRONMENT] == names


def test_tables_of_reading_a_result() -> None:
    """Each scenario and each cause is explained."""
    document = "docs/reading-a-result.md"
    assert list(SCENARIOS) == quoted(first_cells(document, "scenario"))
    schema = json.loads(read("specs/schemas/qa.analysis.schema.json"))
    found = re.findall(r'"(support-evicted|\w+-with-support)"', json.dumps(schema))
    assert sorted(set(found)) == sorted(quoted(first_cells(document, "cause")))


def test_table_of_schemas() -> None:
    """Each schema is named in the README of `specs`; those of `--json` by their pattern."""
    cells = first_cells("specs/README.md", "`schemas/NAME.schema.json`")
    files = {path.name.removesuffix(".schema.json") for path in ROOT.glob("specs/schemas/*.json")}
    of_json = {name for name in files if name.startswith("json.")}
    assert files - of_json == set(quoted(cells)) - {"json.COMMAND"}
    commands = set(command_parsers(build_parser()))
    assert commands - {"compare"} == {name.removeprefix("json.") for name in of_json}


def test_table_of_base_urls() -> None:
    """Each base URL is called as the table says."""
    table = read("docs/providers.md").partition("| written | called |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", table, re.MULTILINE)
    assert 4 == len(rows)
    assert [called for _, called in rows] == [parse_endpoint(written).url for written, _ in rows]


def test_published_numbers_in_the_text() -> None:
    """The counts and the bootstrap interval that the text takes from the published run."""
    text = read("docs/reading-a-result.md")
    stats = json.loads(read("results/pr4789-reproduction-v1/qa.stats.json"))
    official = stats["suites"]["official"]
    table = official["mcnemar"]
    bounds = official["bootstrap"]
    assert f"{bounds['lower']:.3f} to {bounds['upper']:.3f}" in text
    for name in ("both_correct", "both_wrong", "only_first_correct", "only_second_correct"):
        assert f"{name}={table[name]}" in text


def test_data_set_is_the_pinned_one() -> None:
    """The README names the file that the default protocol takes."""
    pin = load_protocol().config.dataset
    for value in (pin.filename, pin.repository, pin.revision, pin.sha256):
        assert f"`{value}`" in read("README.md")


def test_sizes_of_data_set_and_requests(longmemeval_path: Path) -> None:
    """The file's size, and how long the shortest and the longest request are."""
    assert f"{longmemeval_path.stat().st_size:,} bytes" in read("README.md")
    protocol = load_protocol()
    cases = build_cases(protocol, load_dataset(longmemeval_path, protocol))
    tasks = build_tasks(protocol, cases, bind_selector("reference", protocol=protocol))
    lengths = [sum(len(message["content"]) for message in task.messages) for task in tasks]
    said = f"{min(lengths):,} to {max(lengths):,} characters"
    assert f"{len(tasks)} calls of {said}" in read("README.md")
    assert said in read("docs/providers.md").replace("\n  ", " ")
