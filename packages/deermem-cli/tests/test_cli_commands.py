"""What each command answers, on the embedded protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deermem_data import load_protocol, shipped_protocols

Call = Callable[..., tuple[int, str, str]]

MINI = ("--protocol", "mini-v1", "--selector", "reference")
# Design: what must come out at capacities 5, 7 and 9, of 45, 40 and 5 cases.
RETENTION = """\
Cases in which the fact that answers the question was kept, by capacity
  suite      cases  policy      keep 5  keep 7  keep 9
  overall       45  confidence      20      27      35
  overall       45  hybrid-v1       35      45      45
  official      40  confidence      20      26      32
  official      40  hybrid-v1       30      40      40
  synthetic      5  confidence       0       1       3
  synthetic      5  hybrid-v1        5       5       5
"""


def document(out: str) -> Any:
    """The one JSON document that stands on stdout."""
    return json.loads(out)


def kept(groups: list[dict[str, Any]], policy: str, capacity: int) -> int:
    """In how many cases of all groups the support fact stayed."""
    chosen = [row for row in groups if (row["policy"], row["capacity"]) == (policy, capacity)]
    return sum(row["support_all_retained"] for row in chosen)


def test_demo_prints_the_published_retention(call: Call, tmp_path: Path) -> None:
    """The demo shows the retention table, says that the reference decided, and keeps nothing."""
    status, out, err = call("demo")
    assert status == 0
    assert out.startswith(RETENTION)
    assert "selector    reference: " in err
    assert "--deerflow PATH" in err
    assert list(tmp_path.iterdir()) == []


def test_demo_keeps_files_where_told(call: Call, tmp_path: Path) -> None:
    """With --output-dir the run's files stay, and are never overwritten."""
    status, _, _ = call("demo", "--output-dir", "kept")
    assert status == 0
    names = {path.name for path in (tmp_path / "kept").iterdir()}
    assert {"policy.raw.jsonl", "run.json", "summary.json"} <= names
    status, out, err = call("demo", "--output-dir", "kept")
    assert (status, out) == (2, "")
    assert "kept: already holds a run" in err


def test_demo_json(call: Call) -> None:
    """Under --json the groups stand on stdout and the remarks stay on stderr."""
    status, out, err = call("demo", "--json")
    assert status == 0
    groups = document(out)["groups"]
    assert [kept(groups, "confidence", capacity) for capacity in (5, 7, 9)] == [20, 27, 35]
    assert [kept(groups, "hybrid-v1", capacity) for capacity in (5, 7, 9)] == [35, 45, 45]
    assert "contracts" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo",),
        ("protocols",),
        ("validate-contracts", *MINI),
        ("validate", *MINI),
        ("run-policy", *MINI, "--output-dir", "out"),
        ("selector", "show", *MINI),
        ("selector", "check", *MINI, "--pools", "5"),
    ],
)
def test_streams(call: Call, arguments: tuple[str, ...]) -> None:
    """With --json, stdout is one JSON object with sorted keys; -q leaves stderr empty."""
    status, out, err = call(*arguments, "--json", "-q")
    assert (status, err) == (0, "")
    found = document(out)
    assert json.dumps(found, sort_keys=True, indent=2) + "\n" == out


def test_validate_contracts(call: Call) -> None:
    """The contracts are listed with the hashes that the protocol's parts have."""
    status, out, err = call("validate-contracts", *MINI)
    assert (status, err) == (0, "")
    hashes = load_protocol("mini-v1").hashes
    for value in (
        hashes.config_sha256,
        hashes.official_manifest_sha256,
        hashes.synthetic_manifest_sha256,
        hashes.answer_prompt_sha256,
    ):
        assert f"SHA-256 {value}\n" in out
    assert re.search(r"^grader +deterministic-overlap-v1$", out, re.MULTILINE)
    assert re.search(r"^selector +reference, ", out, re.MULTILINE)
    assert out.endswith("contracts hold\n")


def test_validate_contracts_reads_no_data_set(call: Call) -> None:
    """The contracts can be checked on a machine that has no data set."""
    status, out, _ = call("validate-contracts", "--selector", "reference")
    assert status == 0
    assert "capacity-eviction-v1, a shipped protocol" in out


def test_validate_without_data_set_says_where_it_is_from(call: Call) -> None:
    """Where no data set is named, the error names option, variable, repository and revision."""
    status, out, err = call("validate", "--selector", "reference")
    assert (status, out) == (2, "")
    pin = load_protocol().config.dataset
    for part in ("--dataset", "LONGMEMEVAL_ORACLE_PATH", pin.repository, pin.revision):
        assert part in err


def test_validate(call: Call) -> None:
    """Validation counts the records, the bank and the cases."""
    status, out, _ = call("validate", *MINI, "--json")
    assert status == 0
    found = document(out)
    data = json.loads(Path(str(load_protocol("mini-v1").embedded_dataset)).read_bytes())
    expected = {
        "bank": 40,
        "cases": 45,
        "records": len(data),
        "sha256": load_protocol("mini-v1").config.dataset.sha256,
    }
    assert expected == found["dataset"]
    assert found["standing"] == "shipped"


def test_run_policy(call: Call, tmp_path: Path) -> None:
    """The run prints the table, names its files and says that the reference decided."""
    status, out, err = call("run-policy", *MINI, "--output-dir", "deep/er/run")
    assert (status, out) == (0, RETENTION)
    assert "note: decided by the reference selector, not by DeerMem's own code" in err
    rows = (tmp_path / "deep/er/run/policy.raw.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == 270
    run = json.loads((tmp_path / "deep/er/run/run.json").read_text("utf-8"))
    assert (run["selector"]["kind"], run["standing"]) == ("reference", "shipped")
    assert run["policies"] == ["confidence", "hybrid-v1"]
    assert run["capacities"] == [5, 7, 9]
    assert run["evaluation_time"] == "2026-08-13T00:00:00Z"


def test_run_policy_looks_at_the_folder_first(call: Call, tmp_path: Path) -> None:
    """A folder that holds a run is refused before anything is read."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "summary.json").write_text("{}", encoding="utf-8")
    arguments = ("--protocol", "no-such-protocol", "--output-dir", "taken")
    status, out, err = call("run-policy", *arguments)
    assert (status, out) == (2, "")
    assert "taken: already holds a run (summary.json)" in err


def test_run_policy_is_the_same_twice(call: Call, tmp_path: Path) -> None:
    """Two runs of the same inputs differ in the time of their making alone."""
    for name in ("one", "two"):
        call("run-policy", *MINI, "--output-dir", name)
    for name in ("policy.raw.jsonl", "summary.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    one, two = (json.loads((tmp_path / name / "run.json").read_text()) for name in ("one", "two"))
    one.pop("created_at")
    two.pop("created_at")
    assert one == two


def test_production_is_the_default_and_says_how_to_provide_it(call: Call) -> None:
    """Where DeerMem's selector is not found, one line says the two ways to provide it."""
    for command in (["validate"], ["run-policy", "--output-dir", "x"], ["selector", "show"]):
        status, out, err = call(*command, "--protocol", "mini-v1")
        assert (status, out) == (2, "")
        assert len(err.splitlines()) == 1
        for part in ("production selector not found", "--deerflow PATH", "install deerflow"):
            assert part in err


def test_selector_show(call: Call) -> None:
    """The selector is named with its file and its hash."""
    status, out, _ = call("selector", "show", *MINI)
    assert status == 0
    assert re.search(r"^path +deermem_select/reference\.py$", out, re.MULTILINE)
    assert re.search(r"^sha256 +[0-9a-f]{64}$", out, re.MULTILINE)


def test_selector_check_agrees(call: Call) -> None:
    """The reference decides as itself, overflowing values included."""
    status, out, _ = call("selector", "check", *MINI, "--pools", "50", "--overflow")
    assert status == 0
    assert out == "reference: decides as the reference does on all of 50 generated pools (seed 0)\n"


FORGETFUL = """
from deermem_select.reference import select_facts_for_capacity

def select(facts, *, max_facts, **rest):
    return select_facts_for_capacity(list(facts)[::-1], max_facts=max_facts, **rest)
"""


def test_selector_check_differs(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A selector that breaks ties otherwise is found out: status 1 and the smallest pool."""
    (tmp_path / "tie_breaker_policy.py").write_text(FORGETFUL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ("selector", "check", "--protocol", "mini-v1", "--selector")
    status, out, _ = call(*arguments, "tie_breaker_policy:select", "--pools", "50")
    assert status == 1
    assert "the smallest pool that differs:" in out
    # Two facts and a place for none or one are enough to show the order of ties.
    assert out.count("\n  fact ") == 2
    status, out, _ = call(*arguments, "tie_breaker_policy:select", "--pools", "50", "--json")
    assert status == 1
    assert len(document(out)["smallest"]["facts"]) == 2


def test_protocols(call: Call) -> None:
    """Every shipped protocol is listed with the SHA-256 of its parts."""
    status, out, _ = call("protocols", "--json")
    assert status == 0
    listed = document(out)["protocols"]
    assert list(shipped_protocols()) == [entry["name"] for entry in listed]
    assert [entry["name"] for entry in listed] == [
        "capacity-eviction-v1",
        "mini-v1",
        "pr4789-reproduction-v1",
    ]
    for entry in listed:
        for value in entry["artifacts"].values():
            assert re.fullmatch("[0-9a-f]{64}", value)
    _, plain, _ = call("protocols")
    for entry in listed:
        assert f"{entry['name']}: " in plain


def test_dataset_variable_is_the_default(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """$LONGMEMEVAL_ORACLE_PATH is read where --dataset is absent, and --dataset wins."""
    monkeypatch.setenv("LONGMEMEVAL_ORACLE_PATH", str(tmp_path / "by-variable.json"))
    _, _, err = call("validate", "--selector", "reference")
    assert "by-variable.json: cannot be read" in err
    _, _, err = call("validate", "--selector", "reference", "--dataset", "by-option.json")
    assert "by-option.json: cannot be read" in err


def test_deerflow_variable_is_the_default(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """$DEERMEM_DEERFLOW_PATH is read where --deerflow is absent, and --deerflow wins."""
    monkeypatch.setenv("DEERMEM_DEERFLOW_PATH", str(tmp_path / "by-variable"))
    _, _, err = call("selector", "show", "--protocol", "mini-v1")
    assert "by-variable: no such folder" in err
    _, _, err = call("selector", "show", "--protocol", "mini-v1", "--deerflow", "by-option")
    assert "by-option: no such folder" in err


def test_reference_options_for_the_parts(call: Call) -> None:
    """--config, --official-manifest and --synthetic-manifest name a protocol's parts one by one."""
    files = load_protocol("mini-v1").files
    status, out, _ = call(
        "validate-contracts",
        "--config",
        str(files.config),
        "--official-manifest",
        str(files.official_manifest),
        "--synthetic-manifest",
        str(files.synthetic_manifest),
        "--selector",
        "reference",
    )
    assert status == 0
    assert "deermem-mini-v1" in out
