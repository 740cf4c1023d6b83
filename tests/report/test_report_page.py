"""The page of a run: what it shows, in which order, and that every number is the artifact's."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deermem_cli.qa_documents import QASettings, analysis_document
from deermem_cli.report import read_run, render_markdown, report_document
from deermem_cli.report.html import render_html
from deermem_cli.report.numbers import count_text, p_text, percent_text, points_text, size_text
from deermem_cli.report.run_files import read_rows
from deermem_data import ArtifactError

MakeRun = Callable[..., Path]
PageOf = Callable[[Path], Any]
Call = Callable[..., tuple[int, str, str]]

SECTIONS = [
    "The answer",
    "Accuracy, official and synthetic apart",
    "Differences by suite and scenario",
    "Retention by capacity and scenario",
    "Every case where the answers part",
    "Does the conclusion survive a stricter grader?",
    "What this many cases can detect",
    "Tokens, attempts, truncations",
    "Provenance",
]


def _at(document: Any, pointer: str) -> Any:
    for key in pointer.split("/")[1:]:
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def _forms(value: float) -> set[str]:
    forms = {percent_text(value), points_text(value), size_text(value), str(value)}
    forms |= {p_text(value, 0.05)} if 0 <= value <= 1 else set()
    return forms | ({count_text(int(value)), str(int(value))} if value == int(value) else set())


def _require_numbers(page: Any, documents: dict[str, Any]) -> int:
    """Every number that names its source equals what stands there, and is written as one may."""
    named = [number for number in page.numbers if number.source]
    for number in named:
        name, _, pointer = number.source.partition("#")
        value = _at(documents[name], pointer)
        assert value == number.value, number
        assert number.text in _forms(value), number
    for number in page.numbers:
        assert number.text in _forms(number.value), number
    return len(named)


def _documents(folder: Path) -> dict[str, Any]:
    return {path.name: json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")}


@pytest.mark.parametrize("policies", [("old", "new"), ("old", "a", "b", "c")])
def test_every_number_is_the_artifacts(
    make_run: MakeRun, page_of: PageOf, policies: tuple[str, ...]
) -> None:
    """Read back from the page, with its source, whatever the number of policies."""
    folder = make_run(policies=policies)
    assert 100 < _require_numbers(page_of(folder), _documents(folder))


def test_every_number_of_a_real_run_is_the_artifacts(demo_run: Path, page_of: PageOf) -> None:
    """The same for the embedded data set, decided, answered and graded."""
    assert 100 < _require_numbers(page_of(demo_run), _documents(demo_run))


def test_every_number_of_the_published_run_is_the_artifacts(
    historical_run: Path, page_of: PageOf
) -> None:
    """What it was published without is made from its rows, with its own settings."""
    documents = _documents(historical_run)
    bootstrap = documents["qa.stats.json"]["suites"]["official"]["bootstrap"]
    settings = QASettings(
        protocol_id="deermem-hybrid-v1-pr4789-reproduction-v1",
        grader_version="deterministic-overlap-v1",
        qa_capacity=7,
        policies=("confidence", "hybrid-v1"),
        alpha=bootstrap["alpha"],
        seed=bootstrap["seed"],
        iterations=bootstrap["iterations"],
    )
    rows = read_rows(historical_run / "qa.rows.jsonl")
    documents["qa.analysis.json"] = analysis_document(rows, settings, frozenset())
    assert 100 < _require_numbers(page_of(historical_run), documents)


def test_the_published_run(historical_run: Path, page_of: PageOf) -> None:
    """The published figures, in the tables a reader finds them in."""
    page = page_of(historical_run)
    assert SECTIONS == [text for level, text in page.headings if level == 2]
    assert [] == page.notes
    assert (
        "Of 40 official cases, hybrid-v1 answered 35 correctly and confidence 23: 30.0 points more"
    ) in page.text
    assert [
        ["", "hybrid-v1 correct", "hybrid-v1 wrong", "Total"],
        ["confidence correct", "22", "1", "23"],
        ["confidence wrong", "13", "4", "17"],
        ["Total", "35", "5", "40"],
    ] == page.table("Official: cases by outcome under confidence and hybrid-v1")
    assert [
        ["", "hybrid-v1 correct", "hybrid-v1 wrong", "Total"],
        ["confidence correct", "1", "0", "1"],
        ["confidence wrong", "4", "0", "4"],
        ["Total", "5", "0", "5"],
    ] == page.table("Synthetic: cases by outcome under confidence and hybrid-v1")
    statistics = dict(page.table("Official: hybrid-v1 minus confidence"))
    assert "+30.0" == statistics["Difference, points"]
    assert "+15.0 to +45.0" == statistics["95% interval, bootstrap"]
    assert "0.00183" == statistics["Exact McNemar p"]
    assert (
        "0.000145"
        == dict(page.table("Both together: hybrid-v1 minus confidence"))["Exact McNemar p"]
    )
    # 18 discordant cases, and what is recorded of none of them: which answers were cut off.
    assert 19 == len(page.table("Discordant cases: 18, hybrid-v1 against confidence"))
    answers = page.table("How the answers came, and the tokens they took")
    assert {"\N{EN DASH}"} == {row[answers[0].index("Truncated")] for row in answers[1:]}
    provenance = page.table("What this was made from, and what that certifies")
    assert "not recorded" == {row[0]: row[1] for row in provenance}["Selector"]


def test_the_sections_of_a_whole_run(make_run: MakeRun, page_of: PageOf) -> None:
    """All of them, in the order a reader wants them; one first heading; levels in order."""
    page = page_of(make_run())
    assert SECTIONS == [text for level, text in page.headings if level == 2]
    levels = [level for level, _ in page.headings]
    assert 1 == levels.count(1)
    assert 1 == levels[0]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(page.ids) == len(set(page.ids))


def test_a_policy_run_alone(make_run: MakeRun, page_of: PageOf) -> None:
    """Retention is answered, accuracy is not spoken of."""
    page = page_of(make_run(qa_run=False))
    assert [SECTIONS[0], SECTIONS[3], SECTIONS[8]] == [
        t for level, t in page.headings if level == 2
    ]
    # 36 official and 9 synthetic cases; kept at 7 where (7i + 3p) % 10 < 4 + 2p.
    kept = [
        sum((7 * i + 3 * p) % 10 < 4 + 2 * p for i in range(45) if i % 5 != 4) for p in range(2)
    ]
    assert (
        f"With room for 7 facts, the fact that answers the question was kept in {kept[0]} under "
        f"confidence and in {kept[1]} under hybrid-v1, of 36 official cases."
    ) in page.text
    assert "No answer was asked for, so nothing is said about accuracy." in page.text
    assert ["Official", "7", "36", str(kept[0]), str(kept[1])] in page.table(
        "Cases in which the support fact was kept"
    )


def test_a_qa_run_alone(make_run: MakeRun, page_of: PageOf) -> None:
    """Retention is known at the QA capacity only, from the rows."""
    page = page_of(make_run(policy_run=False))
    assert SECTIONS == [text for level, text in page.headings if level == 2]
    table = page.table("Cases in which the support fact was kept")
    assert {"7"} == {row[1] for row in table[1:]}
    kept = [
        sum((7 * i + 3 * p) % 10 < 4 + 2 * p for i in range(45) if i % 5 != 4) for p in range(2)
    ]
    assert ["Official", "7", "36", str(kept[0]), str(kept[1])] == table[1]


def test_retention_adds_up_the_scenarios(make_run: MakeRun, page_of: PageOf) -> None:
    """A suite's line is the sum of its scenarios' lines, at each capacity."""
    table = page_of(make_run()).table("Cases in which the support fact was kept")
    for capacity in ("5", "7", "9"):
        rows = [row for row in table[1:] if row[1] == capacity]
        official, *scenarios = [[int(cell) for cell in row[2:]] for row in rows[:5]]
        assert official == [sum(column) for column in zip(*scenarios, strict=True)]
        assert rows[5][2:] == rows[6][2:]


def test_each_discordant_case_is_there_with_both_answers(
    make_run: MakeRun, page_of: PageOf
) -> None:
    """Prediction, verdict, rule and retention of both; and the cause."""
    folder = make_run()
    page = page_of(folder)
    discordant = _documents(folder)["qa.analysis.json"]["pairs"][0]["discordant"]
    rows = {(row.case_id, row.policy): row for row in read_rows(folder / "qa.rows.jsonl")}
    count = len(discordant)
    assert count > 5
    table = page.table(f"Discordant cases: {count}, hybrid-v1 against confidence")[1:]
    assert [case["case_id"] for case in discordant] == [row[0] for row in table]
    for case, shown in zip(discordant, table, strict=True):
        for policy, cell in zip(("confidence", "hybrid-v1"), shown[2:4], strict=True):
            row = rows[case["case_id"], policy]
            verdict = "✓ correct" if row.grade_correct else "✗ wrong"
            support = "kept" if row.support_all_retained else "evicted"
            assert (
                f"{verdict} {row.grade_rule} support fact {support} {row.prediction}"
            ) == cell.replace(row.prediction, f" {row.prediction}").replace("  ", " ")
        assert case["cause"].replace("-", " ") == shown[4]


@pytest.mark.parametrize(
    ("keywords", "note"),
    [
        ({"selector": "reference"}, "decided by the reference selector"),
        ({"selector": "custom"}, "decided by the selector my.module:select, not by DeerMem's"),
        ({"known": False}, "decided by production code that the protocol does not list"),
        ({"provider": "lexical-reader-v1"}, "No model answered: the answers are those of lexical"),
        ({"provider": "replay"}, "No model was asked in this run"),
    ],
)
def test_what_must_be_known_first_is_said_first(
    make_run: MakeRun, page_of: PageOf, keywords: dict[str, Any], note: str
) -> None:
    """One note, before the answer; the same thing of two runs is said once."""
    page = page_of(make_run(**keywords))
    assert 1 == len(page.notes)
    assert note in page.notes[0]
    assert page.html.index('class="warning"') < page.html.index('id="answer-heading"')


def test_an_ordinary_run_has_no_note(make_run: MakeRun, page_of: PageOf) -> None:
    """Production code that the protocol lists, and a model."""
    assert [] == page_of(make_run()).notes


def test_a_changed_file_is_said(make_run: MakeRun, page_of: PageOf) -> None:
    """A file that is not as published, by the manifest; and statistics that are not the rows'."""
    folder = make_run()
    stats = json.loads((folder / "qa.stats.json").read_text("utf-8"))
    stats["suites"]["official"]["mcnemar"]["p_value"] = 0.001
    (folder / "qa.stats.json").write_text(json.dumps(stats), encoding="utf-8")
    notes = page_of(folder).notes
    assert 2 == len(notes)
    assert "qa.stats.json is not as it was published" in notes[0]
    assert "qa.stats.json does not state what the graded rows give" in notes[1]
    files = page_of(folder).table("The files this page was made from")
    assert {"yes", "DIFFERS"} == {row[2] for row in files[1:]}


def test_two_runs_that_do_not_belong_together_are_said(make_run: MakeRun, page_of: PageOf) -> None:
    """What they differ in is named."""
    folder = make_run()
    run = json.loads((folder / "run.json").read_text("utf-8"))
    run["artifacts"]["config_sha256"] = "0" * 64
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "MANIFEST.sha256").unlink()
    (note,) = page_of(folder).notes
    assert "do not belong together: they differ in artifacts.config_sha256" in note


def test_answers_that_are_not_graded_are_said(make_run: MakeRun, page_of: PageOf) -> None:
    """The policy run beside them is shown."""
    folder = make_run(qa_run=False)
    (folder / "responses").mkdir()
    (note,) = page_of(folder).notes
    assert "a QA run whose answers are not graded" in note


def test_truncated_answers_are_counted_and_said(make_run: MakeRun, page_of: PageOf) -> None:
    """Beside the tokens they took."""
    page = page_of(make_run(truncated=True))
    assert "Truncated answers are here" in page.text
    table = page.table("How the answers came, and the tokens they took")
    column = table[0].index("Truncated")
    assert ["1", "1"] == [row[column] for row in table[1:] if row[0] == "Both together"]


def test_four_policies_are_compared_with_the_first(make_run: MakeRun, page_of: PageOf) -> None:
    """One answer and one plot for each; every policy in the accuracy table."""
    page = page_of(make_run(policies=("old", "a", "b", "c")))
    for policy in "abc":
        assert f"{policy} answered" in page.text
        assert f"Official: {policy} minus old" in page.tables
    table = page.table("Official: correct answers by policy")
    assert ["old", "a", "b", "c"] == [row[0] for row in table[1:]]
    assert 4 == page.html.count("<svg ")


def test_one_policy_has_nothing_to_be_compared_with(make_run: MakeRun, page_of: PageOf) -> None:
    """Its retention and its tokens are shown."""
    page = page_of(make_run(policies=("only",)))
    assert [SECTIONS[i] for i in (0, 3, 7, 8)] == [t for level, t in page.headings if level == 2]


def test_every_hash_of_the_run_is_shown(make_run: MakeRun, page_of: PageOf) -> None:
    """Of the inputs, the selector, the endpoint, and every file of the folder."""
    folder = make_run()
    page = page_of(folder)
    qa_run = (folder / "qa_run.json").read_text("utf-8")
    stated = set(re.findall(r"[0-9a-f]{64}", qa_run))
    manifest = (folder / "MANIFEST.sha256").read_text("utf-8")
    stated |= set(re.findall(r"[0-9a-f]{64}", manifest))
    assert 15 == len(stated)
    assert set() == {value for value in stated if value not in page.text}


def test_provenance_says_once_what_both_runs_record(make_run: MakeRun, page_of: PageOf) -> None:
    """And apart what they record differently."""
    folder = make_run()
    run = json.loads((folder / "run.json").read_text("utf-8"))
    run["created_at"] = "2026-08-31T00:00:00Z"
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    table = page_of(folder).table("What this was made from, and what that certifies")
    labels = [row[0] for row in table]
    assert 1 == labels.count("Config, SHA-256")
    assert len(labels) == len(set(labels))
    values = {row[0]: row[1] for row in table}
    assert "2026-08-31T00:00:00Z" == values["Begun (the policy run)"]
    assert "2026-09-01T10:20:30Z" == values["Begun (the qa run)"]


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</blockquote></td></table><h1>owned</h1>",
    "\u202egnorw\u202c and \u2066isolated\u2069",
    "\x00\x07\x1b[31m",
    "{{ 7 * 7 }} {% raw %} ${7}",
    "שלום",
    "",
    "x" * 100_000,
]


def test_hostile_text_is_shown_as_text(make_run: MakeRun, page_of: PageOf) -> None:
    """Nothing of it becomes markup; what is invisible is written out; what is long is cut."""
    plain = page_of(make_run())
    # Of ten cases in a row these four are discordant, so that each text is in one that is shown.
    places = {1: 0, 4: 1, 7: 2, 9: 3}
    page = page_of(
        make_run(
            predict=lambda i, _p: HOSTILE[(i // 10 * 4 + places.get(i % 10, 0)) % len(HOSTILE)]
        )
    )
    assert plain.tags == page.tags
    assert plain.headings == page.headings
    shown = set(page.quotes)
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[5], HOSTILE[6]} <= shown
    assert "⟨U+202E⟩gnorw⟨U+202C⟩ and ⟨U+2066⟩isolated⟨U+2069⟩" in shown
    assert "⟨U+0000⟩⟨U+0007⟩⟨U+001B⟩[31m" in shown
    assert "x" * 1000 in shown
    assert "… and 99,000 more characters, in qa.rows.jsonl" in page.text
    assert "(an empty answer)" in page.text
    assert "49" not in shown
    assert len(page.html.encode()) < 200_000


def test_a_hostile_model_name_is_shown_as_text(make_run: MakeRun, page_of: PageOf) -> None:
    """Also in the identity of a run that was written by hand."""
    folder = make_run()
    run = json.loads((folder / "qa_run.json").read_text("utf-8"))
    for value in (
        "<script>alert(1)</script>",
        '"><img onerror=alert(1)>',
        "m" * 100_000,
        "\u202eabc",
    ):
        run["qa"]["model"] = value
        (folder / "qa_run.json").write_text(json.dumps(run), encoding="utf-8")
        page = page_of(folder)
        assert "img" not in page.tags
        assert 1 == page.html.count("<script>")
        assert len(page.html) < 200_000
        assert value[:120].replace("\u202e", "⟨U+202E⟩") in page.text


def test_a_large_run_stays_small(make_run: MakeRun, page_text: Callable[[Path], str]) -> None:
    """500 cases and 4 policies stay under 2 MB, also where every character takes several bytes."""
    texts = ("some words of an answer " * 90, "漢" * 2000, "\"'<>&" * 400, "\u202e\x07" * 1000)
    folder = make_run(
        cases=500, policies=("p0", "p1", "p2", "p3"), predict=lambda i, p: texts[(i // 7) % 4]
    )
    text = page_text(folder)
    discordant = sum(
        len(pair["discordant"])
        for pair in _documents(folder)["qa.analysis.json"]["pairs"]
        if pair["policies"][0] == "p0"
    )
    assert discordant > 300
    assert 2 * discordant == text.count('<p class="verdict ')
    assert len(text.encode()) < 2_000_000


def test_a_page_needs_nothing_else(make_run: MakeRun, page_text: Callable[[Path], str]) -> None:
    """No address in it leads anywhere but into it; its policy forbids what is not its own."""
    text = page_text(make_run())
    for attribute in re.findall(r'(?:href|src|action|data|poster|srcset)="([^"]*)"', text):
        assert attribute.startswith("#") or attribute == "data:,"
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert policy[1].startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy[1]
    assert "style=" not in text
    assert not re.search(r"\son\w+=", text)


CHILD = """
import sys
from pathlib import Path
from deermem_cli.report import read_run, render_markdown, report_document
from deermem_cli.report.html import render_html
document = report_document(read_run(Path(sys.argv[1])))
sys.stdout.buffer.write((render_html(document) + render_markdown(document)).encode())
"""


def test_the_same_run_gives_the_same_bytes(demo_run: Path) -> None:
    """In another process, under another locale, time zone and hash seed."""
    document = report_document(read_run(demo_run))
    expected = (render_html(document) + render_markdown(document)).encode()
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(demo_run)],
            env={**os.environ, "LC_ALL": locale, "TZ": zone, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for locale, zone, seed in (("C", "Asia/Kathmandu", "1"), ("de_DE.UTF-8", "UTC", "4711"))
    ]
    assert [expected, expected] == [child.communicate(timeout=120)[0] for child in children]


def test_the_command_writes_a_page_and_never_over_anything(
    make_run: MakeRun, page_text: Callable[[Path], str], call: Call
) -> None:
    """Beside the run, its path on stdout; an earlier one gives way to `--force` only."""
    folder = make_run()
    page = folder / "report.html"
    assert (0, f"{page}\n", "") == call("report", str(folder))
    assert page_text(folder) == page.read_text("utf-8")
    page.write_text("mine", encoding="utf-8")
    status, out, err = call("report", str(folder))
    assert (2, "") == (status, out)
    assert f"{page}: is there already" in err
    assert "mine" == page.read_text("utf-8")
    assert 0 == call("report", str(folder), "--force")[0]
    assert page_text(folder) == page.read_text("utf-8")


def test_nothing_is_said_where_no_home_can_be_written(
    make_run: MakeRun, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """The plotting library keeps its remarks to itself."""
    folder = make_run(qa_run=False)
    done = run("report", str(folder), HOME=os.devnull)
    assert (0, f"{folder / 'report.html'}\n", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", ["qa.rows.jsonl", "run.json", "MANIFEST.sha256", "qa_run.json"])
def test_a_runs_own_files_are_never_overwritten(make_run: MakeRun, call: Call, name: str) -> None:
    """Not even with `--force`."""
    folder = make_run()
    before = (folder / name).read_bytes()
    status, _, err = call("report", str(folder), "--output", str(folder / name), "--force")
    assert 2 == status
    assert "is a file of a run, which is never overwritten" in err
    assert before == (folder / name).read_bytes()


def test_markdown_goes_to_stdout(make_run: MakeRun, call: Call) -> None:
    """Its tables are those of the page, without the plots."""
    status, out, err = call("report", str(make_run()), "--format", "markdown")
    assert (0, "") == (status, err)
    assert out.startswith("## hybrid-v1 against confidence\n")
    assert "| Exact McNemar p | " in out
    assert "<svg" not in out
    assert [f"### {title}" for title in SECTIONS[1:]] == re.findall(r"^### .*$", out, re.MULTILINE)


def test_the_result_as_json(make_run: MakeRun, call: Call) -> None:
    """Where it went and what its bytes are; or the text itself."""
    folder = make_run()
    document = json.loads(call("report", str(folder), "--json")[1])
    data = (folder / "report.html").read_bytes()
    assert ("html", str(folder / "report.html"), len(data)) == (
        document["format"],
        document["output"],
        document["bytes"],
    )
    document = json.loads(call("report", str(folder), "--format", "markdown", "--json")[1])
    assert document["output"] is None
    assert document["text"].startswith("## hybrid-v1 against confidence\n")


def test_a_missing_extra_is_named(
    make_run: MakeRun, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the remedy; Markdown needs no extra."""
    folder = make_run()
    for name in [name for name in sys.modules if name.startswith("deermem_cli.report.html")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    status, out, err = call("report", str(folder))
    assert (2, "") == (status, out)
    assert 1 == err.count("\n")
    assert "pip install 'deermem-cli[report]'" in err
    assert not (folder / "report.html").exists()
    assert 0 == call("report", str(folder), "--format", "markdown")[0]


def _break(folder: Path, name: str, change: Callable[[bytes], bytes | None]) -> None:
    data = change((folder / name).read_bytes())
    if data is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(data)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("summary.json", lambda data: data[:-20], ["summary.json", "not JSON"]),
        ("summary.json", lambda data: None, ["summary.json", "cannot be read"]),
        ("run.json", lambda data: b"[]", ["run.json", "expected an object, found []"]),
        (
            "summary.json",
            lambda data: data.replace(
                b'"support_all_retained": ', b'"support_all_retained": "', 1
            ).replace(
                b',\n      "support_all_retained_rate"', b'",\n      "support_all_retained_rate"', 1
            ),
            ["/groups/0/support_all_retained", "expected a whole number"],
        ),
        ("qa.rows.jsonl", lambda data: data + b"{}\n", ["qa.rows.jsonl", "line 91"]),
        ("qa.rows.jsonl", lambda data: b"", ["qa.rows.jsonl", "holds no row"]),
        ("qa.analysis.json", lambda data: b"{}", ["qa.analysis.json", "/policies", "is not there"]),
        ("qa_run.json", lambda data: b"{}", ["qa_run.json", "not a QA run's identity"]),
        (
            "qa.analysis.json",
            lambda data: data.replace(b'"case_id": "case', b'"case_id": "other'),
            ["qa.rows.jsonl", "no row of case other"],
        ),
    ],
)
def test_a_broken_file_is_named(
    make_run: MakeRun,
    call: Call,
    name: str,
    change: Callable[[bytes], bytes | None],
    words: list[str],
) -> None:
    """File, place and remedy in one line; nothing is written."""
    folder = make_run()
    _break(folder, name, change)
    status, out, err = call("report", str(folder))
    assert (2, "") == (status, out)
    assert "Traceback" not in err
    for word in words:
        assert word in err
    assert not (folder / "report.html").exists()


def test_folders_without_a_report_in_them(tmp_path: Path, make_run: MakeRun, call: Call) -> None:
    """No folder, nothing in it, or answers that are not graded yet: each with its remedy."""
    assert "not a folder" in call("report", str(tmp_path / "none"))[2]
    (tmp_path / "empty").mkdir()
    assert "nothing to report; expected summary.json" in call("report", str(tmp_path / "empty"))[2]
    (tmp_path / "empty" / "responses").mkdir()
    assert "run `deermem grade-qa` on it first" in call("report", str(tmp_path / "empty"))[2]
    with pytest.raises(ArtifactError, match="not one row of each case"):
        report_document(read_run(_without_a_row(make_run(policy_run=False))))


def _without_a_row(folder: Path) -> Path:
    """A run published without an analysis, one of whose rows is gone."""
    for name in ("qa.analysis.json", "MANIFEST.sha256"):
        (folder / name).unlink()
    lines = (folder / "qa.rows.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "qa.rows.jsonl").write_bytes(b"".join(lines[:-1]))
    return folder
