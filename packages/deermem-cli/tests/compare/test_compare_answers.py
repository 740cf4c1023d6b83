"""`deermem compare` on the demo against itself and against a changed reader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from deermem_cli.comparison import compare_runs
from deermem_cli.main import main

Call = Callable[..., tuple[int, str, str]]
Compared = Callable[..., Any]
Row = dict[str, Any]
OnTerminal = Callable[..., tuple[int, str]]

MINI = ("--protocol", "mini-v1", "--selector", "reference", "-q")
HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202e<script>alert(1)</script>" + "\u9577" * 5000
# What only the changed reader gets wrong: six official cases under one policy. Two-sided exact p of
# 0 against 6 is 2 / 2**6, the mid-p half of it, and Holm's over two policies twice it.
FLIPPED = 6


def rows_of(folder: Path) -> list[Row]:
    lines = (folder / "qa.rows.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def official(rows: list[Row], policy: str) -> list[Row]:
    return [r for r in rows if (r["policy"], r["source"]) == (policy, "longmemeval")]


@pytest.fixture(scope="module")
def flipped(demo: Path) -> list[Row]:
    """The rows of the demo that the changed reader answers differently, and wrongly."""
    correct = [row for row in official(rows_of(demo), "confidence") if row["grade_correct"]]
    assert len(correct) > FLIPPED
    return correct[:FLIPPED]


@pytest.fixture(scope="module")
def changed(demo: Path, flipped: list[Row]) -> Path:
    """The run of a reader that abstains on the flipped rows, and once answers with venom."""
    folder = demo.parent / "changed"
    rows = rows_of(demo)
    ids = [row["row_id"] for row in flipped]
    for row in rows:
        if row["row_id"] in ids:
            row["prediction"] = HOSTILE if row["row_id"] == ids[0] else "INSUFFICIENT"
    replayed = demo.parent / "replayed.jsonl"
    replayed.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    replay = ("--provider", "replay", "--replay", str(replayed))
    assert main(["run-qa", *MINI, *replay, "--output-dir", str(folder)]) == 0
    assert main(["grade-qa", *MINI, "--output-dir", str(folder)]) == 0
    return folder


def test_a_run_with_itself(call: Call, demo: Path, compared: Compared) -> None:
    """Nothing differs, it is said, and nothing is called equal or significant."""
    status, out, err = call("compare", str(demo), str(demo))
    assert (status, err) == (0, "")
    assert "Nothing differs in what the runs record of themselves.\n" in out
    assert "\nB holds the same rows as A: no case flips.\n" in out
    assert "\nB made the same decisions as A: no support fact's fate flips.\n" in out
    assert re.search(r"equal|significan|no difference|identical", out) is None
    document = compared(demo, demo)
    assert document["differences"] == []
    [pairing] = document["pairings"]
    assert pairing["answers"]["same_rows"]
    assert pairing["retention"]["same_decisions"]
    for policy in pairing["answers"]["policies"]:
        assert [] == policy["flips"]
        assert (45, 45) == (policy["cases"], policy["same_predictions"])
        for suite in policy["suites"].values():
            assert 1.0 == suite["mcnemar"]["p_value"]
            assert suite["difference"]["lower"] < 0 < suite["difference"]["upper"]


def test_statistics_of_a_changed_reader(demo: Path, changed: Path, compared: Compared) -> None:
    """Six one-sided flips give the p-values that six coins give; suites stay apart."""
    document = compared(demo, changed)
    before = sum(row["grade_correct"] for row in official(rows_of(demo), "confidence"))
    confidence, hybrid = document["pairings"][0]["answers"]["policies"]
    assert ("confidence", "hybrid-v1") == (confidence["policy"], hybrid["policy"])
    suite = confidence["suites"]["official"]
    assert (before, before - 6) == (suite["first"]["correct"], suite["second"]["correct"])
    assert (6, 0) == (
        suite["mcnemar"]["only_first_correct"],
        suite["mcnemar"]["only_second_correct"],
    )
    assert 2 / 2**6 == suite["mcnemar"]["p_value"]
    assert 1 / 2**6 == suite["midp_mcnemar"]["p_value"]
    assert 4 / 2**6 == suite["holm_p_value"]
    assert -6 / 40 == suite["difference"]["difference"]
    assert suite["difference"]["lower"] < suite["difference"]["upper"] < 0
    assert 0 == confidence["suites"]["synthetic"]["mcnemar"]["only_first_correct"]
    assert 2 / 2**6 == confidence["suites"]["overall"]["mcnemar"]["p_value"]
    assert (45 - 6, 45) == (confidence["same_predictions"], hybrid["same_predictions"])
    assert [] == hybrid["flips"]


def test_flips_of_a_changed_reader(
    demo: Path, changed: Path, flipped: list[Row], compared: Compared
) -> None:
    """Each flipped case is there with both predictions, whole."""
    flips = compared(demo, changed)["pairings"][0]["answers"]["policies"][0]["flips"]
    assert sorted(row["case_id"] for row in flipped) == [flip["case_id"] for flip in flips]
    predictions = {row["case_id"]: row["prediction"] for row in flipped}
    assert predictions == {flip["case_id"]: flip["first"]["prediction"] for flip in flips}
    assert [HOSTILE] + ["INSUFFICIENT"] * 5 == sorted(
        flip["second"]["prediction"] for flip in flips
    )
    assert {(True, False)} == {(f["first"]["correct"], f["second"]["correct"]) for f in flips}


def test_identity_of_a_changed_reader(demo: Path, changed: Path, compared: Compared) -> None:
    """What a run is bound to comes first, then what it only records."""
    differences = compared(demo, changed)["differences"]
    by_key = {difference["key"]: difference for difference in differences}
    assert {"A": "lexical-reader-v1", "B": "replay"} == by_key["provider.name"]["values"]
    assert by_key["provider.replay_sha256"]["values"]["A"] is None
    assert {"provider.name", "provider.replay_sha256"} == {
        key for key, difference in by_key.items() if difference["binding"]
    }
    binding = [difference["binding"] for difference in differences]
    assert sorted(binding, reverse=True) == binding


def test_order_of_the_differences(demo: Path, compared: Compared, folders: Any) -> None:
    """The model first, then whatever else a run is bound to, then when and where it ran."""
    other = folders.copy(demo, policy_run=False)

    def change(run: Any) -> None:
        run["created_at"], run["git"] = "2026-01-01T00:00:00Z", None
        run["packages"]["deermem-qa"] = "9.9"
        run["qa"].update(model="another", timeout_seconds=7)
        run["statistics"]["alpha"] = 0.01

    folders.edit(other, "qa_run.json", change)
    differences = compared(demo, other)["differences"]
    keys = [item["key"] for item in differences if not item["key"].startswith("git.")]
    assert keys == [
        "qa.model",
        "qa.timeout_seconds",
        "statistics.alpha",
        "created_at",
        "packages.deermem-qa",
    ]
    assert [True] * 3 == [item["binding"] for item in differences if item["binding"]]


def test_words_of_a_changed_reader(call: Call, demo: Path, changed: Path) -> None:
    """A difference that Holm's adjustment does not leave is neither claimed nor denied."""
    status, out, _ = call("compare", str(demo), str(changed))
    assert status == 0
    [sentence] = re.findall(r"^Under confidence, .+$", out, re.MULTILINE)
    assert "15.0 points fewer (95% interval -" in sentence
    assert "exact McNemar p = 0.0312, by Holm over 2 policies p = 0.0625)" in sentence
    assert sentence.endswith("the runs neither show a difference nor rule one out.")
    [sentence] = re.findall(r"^Under hybrid-v1, .+$", out, re.MULTILINE)
    assert "none flips" in sentence
    assert "That does not show that the runs are alike" in sentence
    assert "\nFlips under confidence, B against A: 6 (39 of 45 cases " in out
    assert "\nFlips under hybrid-v1, B against A: none (45 of 45 cases " in out


def test_the_other_way_round(demo: Path, changed: Path, compared: Compared) -> None:
    """A difference is the named run minus the first: exchanged, it changes its sign alone."""
    there, back = compared(demo, changed), compared(changed, demo)
    one, other = (
        document["pairings"][0]["answers"]["policies"][0]["suites"]["official"]
        for document in (there, back)
    )
    assert one["difference"]["difference"] == -other["difference"]["difference"]
    assert one["difference"]["lower"] == -other["difference"]["upper"]
    assert one["mcnemar"]["p_value"] == other["mcnemar"]["p_value"]


def test_three_runs(demo: Path, changed: Path, compared: Compared) -> None:
    """Each further run is compared with the first one, not with its neighbour."""
    document = compared(demo, changed, changed)
    flips = [len(pairing["answers"]["policies"][0]["flips"]) for pairing in document["pairings"]]
    assert [("A", "B"), ("A", "C")] == [
        (pairing["first"], pairing["second"]) for pairing in document["pairings"]
    ]
    assert [6, 6] == flips
    assert {"A": "lexical-reader-v1", "B": "replay", "C": "replay"} == next(
        item["values"] for item in document["differences"] if item["key"] == "provider.name"
    )


def test_predictions_do_not_steer_a_pipe(call: Call, demo: Path, changed: Path) -> None:
    """What a model wrote is cleaned and cut; the text of it stands there."""
    _, out, _ = call("compare", str(demo), str(changed))
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out) is None
    [line] = [line for line in out.splitlines() if "<script>" in line]
    assert line.startswith("       [2J]0;owned<script>alert(1)</script>\u9577")
    assert line.endswith(f" ... and {len(HOSTILE) - 300:,} more characters")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_on_a_terminal(on_terminal: OnTerminal, demo: Path, changed: Path, width: int) -> None:
    """No line is wider than the terminal, whatever a model wrote, and no number is lost."""
    status, shown = on_terminal("compare", str(demo), str(changed), width=width)
    assert status == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "\x1b" not in plain
    assert [] == [line for line in plain.splitlines() if cell_len(line) > width]
    words = " ".join(plain.split())
    assert "Flips under confidence, B against A: 6" in words
    for number in ("-15.0", "0.0312", "0.0625", "0.0156", "6 / 0"):
        assert number in words


def test_pages(call: Call, demo: Path, changed: Path, tmp_path: Path) -> None:
    """As HTML and Markdown the same numbers stand; nothing a model wrote is markup."""
    pages = {}
    for file in ("page.html", "page.md", "again.html"):
        status, out, err = call("compare", str(demo), str(changed), "--output", file)
        assert (status, out, err) == (0, f"{file}\n", "")
        pages[file] = (tmp_path / file).read_text(encoding="utf-8")
    assert pages["page.html"] == pages["again.html"]
    assert "&lt;script&gt;alert(1)" in pages["page.html"]
    assert "<script>alert" not in pages["page.html"]
    assert '<data value="0.0625">0.0625</data>' in pages["page.html"]
    assert "Flipped cases: " in pages["page.html"]
    assert pages["page.md"].startswith("## B against A\n")
    assert "<script>" not in pages["page.md"]
    assert "by Holm over 2 policies" in re.sub(r"&#\d+;", "", pages["page.md"])
    _, out, _ = call("compare", str(demo), str(changed), "--format", "markdown")
    assert pages["page.md"] == out


def test_a_page_replaces_no_file(call: Call, demo: Path, tmp_path: Path, folders: Any) -> None:
    """A page that is there is replaced when told to; a run's own file never is."""
    (tmp_path / "page.html").write_text("mine", encoding="utf-8")
    arguments = ("compare", str(demo), str(demo), "--output")
    status, _, err = call(*arguments, "page.html")
    assert status == 2
    assert "page.html: is there already" in err
    assert (0, "page.html\n", "") == call(*arguments, "page.html", "--force")
    own = folders.copy(demo, "own") / "run.json"
    before = own.read_bytes()
    status, _, err = call(*arguments, str(own), "--force")
    assert status == 2
    assert "is a file of a run" in err
    assert before == own.read_bytes()


def test_json_and_a_page(call: Call, demo: Path) -> None:
    """Both go to standard output only where the page is given a file."""
    arguments = ("compare", str(demo), str(demo), "--json")
    status, out, err = call(*arguments, "--format", "html")
    assert (status, out) == (2, "")
    assert "name a file with --output" in err
    status, out, _ = call(*arguments, "--output", "page.html")
    assert status == 0
    assert "A" == json.loads(out)["runs"][0]["label"]


def test_hostile_names(call: Call, demo: Path, folders: Any) -> None:
    """A model's name is made visible, not obeyed."""
    other = folders.copy(demo, "other")
    folders.edit(other, "qa_run.json", lambda run: run["qa"].update(model="\x1b[31mred\u202e"))
    _, out, _ = call("compare", str(demo), str(other))
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "    B  \u27e8U+001B\u27e9[31mred\u27e8U+202E\u27e9\n" in out


def test_a_run_of_the_published_schema(
    call: Call, demo: Path, compared: Compared, folders: Any
) -> None:
    """What schema 2 does not record is named, and not taken for a difference."""
    old = folders.copy(demo, "old", policy_run=False)
    absent = ("selector", "provider", "policies", "statistics", "packages")

    def make_old(run: Any) -> None:
        for key in absent:
            del run[key]
        run["schema_version"] = 2

    folders.edit(old, "qa_run.json", make_old)
    document = compared(demo, old)
    assert {"B": sorted(absent)} == document["unrecorded"]
    assert ["schema_version"] == [item["key"] for item in document["differences"]]
    assert ["confidence", "hybrid-v1"] == document["policies"]
    _, out, _ = call("compare", str(demo), str(old))
    assert "note: B does not record packages, policies, provider, selector, statistics: " in out


def test_shared_policies_alone(call: Call, demo: Path, compared: Compared, folders: Any) -> None:
    """A policy of one run is named and left out; Holm's adjustment counts the others alone."""
    less = folders.copy(demo, "less", policy_run=False)
    folders.write(less, (row for row in rows_of(less) if row["policy"] == "confidence"))
    document = compared(demo, less)
    assert ["confidence"] == document["policies"]
    assert {"hybrid-v1": ["A"]} == document["other_policies"]
    assert ["confidence"] == [
        policy["policy"] for policy in document["pairings"][0]["answers"]["policies"]
    ]
    _, out, _ = call("compare", str(demo), str(less))
    assert "note: Policy hybrid-v1 is in A only, and is not compared.\n" in out
    assert "Holm" not in out


def test_the_historical_run_with_itself(upstream_path: Path, compared: Compared) -> None:
    """The published folder, of schema 2 and without an analysis, can be compared."""
    folder = upstream_path / "results" / "pr4789-reproduction-v1"
    document = compared(folder, folder)
    assert document["pairings"][0]["answers"]["same_rows"]
    assert (45, []) == (document["cases"], document["differences"])


def test_the_model_prints_nothing(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Comparing is a function of folders; writing it down is somebody else's."""
    comparison = compare_runs([demo, demo])
    assert ("", "") == tuple(capsys.readouterr())
    assert ("confidence", "hybrid-v1") == comparison.policies
