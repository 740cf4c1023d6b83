"""A protocol's files are read strictly: what is odd is named, never guessed at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deermem_data import ProtocolError, load_protocol

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import ProtocolFolder

CONFIG = "configs/capacity-eviction-v1.yaml"
OFFICIAL = "manifests/official.json"
SYNTHETIC = "manifests/synthetic.json"
PROMPT = "prompts/answer.txt"
PARTS = [CONFIG, OFFICIAL, SYNTHETIC, PROMPT]


def faults(folder: ProtocolFolder) -> list[str]:
    """The lines of the error that loading the folder raises."""
    with pytest.raises(ProtocolError) as caught:
        load_protocol(folder.path)
    return str(caught.value).splitlines()


def prepend(path: Path, data: bytes) -> None:
    path.write_bytes(data + path.read_bytes())


@pytest.mark.parametrize("part", [CONFIG, OFFICIAL, SYNTHETIC])
def test_byte_order_mark(folder: ProtocolFolder, part: str) -> None:
    """A byte order mark is named, with the remedy."""
    prepend(folder / part, b"\xef\xbb\xbf")
    assert [
        f"{folder / part}: begins with a byte order mark; save it as UTF-8 without one"
    ] == faults(folder)


@pytest.mark.parametrize("part", [CONFIG, OFFICIAL, SYNTHETIC])
def test_not_utf8(folder: ProtocolFolder, part: str) -> None:
    """The first byte that is not UTF-8 is counted from 0."""
    prepend(folder / part, b"  \xe9")
    assert [f"{folder / part}: not UTF-8 at byte 2; save it as UTF-8"] == faults(folder)


def test_empty_config(folder: ProtocolFolder) -> None:
    """An empty config is no mapping."""
    (folder / CONFIG).write_bytes(b"")
    assert [
        f"{folder / CONFIG}: top level: expected a mapping of keys to values, found NoneType None"
    ] == faults(folder)


def test_empty_manifest(folder: ProtocolFolder) -> None:
    """An empty manifest is no JSON."""
    (folder / OFFICIAL).write_bytes(b"")
    assert [f"{folder / OFFICIAL}: line 1, column 1: not JSON: Expecting value"] == faults(folder)


@pytest.mark.parametrize("part", [OFFICIAL, SYNTHETIC])
def test_folder_instead_of_manifest(folder: ProtocolFolder, part: str) -> None:
    """A folder where a manifest should be is named with the system's reason."""
    (folder / part).unlink()
    (folder / part).mkdir()
    assert [f"{folder / part}: cannot be read: Is a directory"] == faults(folder)


def test_folder_instead_of_prompt(folder: ProtocolFolder) -> None:
    """So is one where the prompt should be."""
    (folder / PROMPT).unlink()
    (folder / PROMPT).mkdir()
    assert [f"{folder / PROMPT}: cannot be read: Is a directory"] == faults(folder)


def test_absent_prompt(folder: ProtocolFolder) -> None:
    """And a prompt that is not there."""
    (folder / PROMPT).unlink()
    assert [f"{folder / PROMPT}: cannot be read: No such file or directory"] == faults(folder)


def test_no_config(folder: ProtocolFolder) -> None:
    """A folder that is no protocol says what it lacks."""
    (folder / CONFIG).unlink()
    assert [
        f"{folder / 'configs'}: expected one config (.yaml), found none; name one with --config"
    ] == faults(folder)


def test_two_configs(folder: ProtocolFolder) -> None:
    """Of two configs none is guessed."""
    (folder / "configs/other.yaml").write_bytes((folder / CONFIG).read_bytes())
    assert [
        (
            f"{folder / 'configs'}: expected one config (.yaml), found capacity-eviction-v1.yaml, "
            "other.yaml; name one with --config"
        )
    ] == faults(folder)


@pytest.mark.parametrize("kind", ["official", "synthetic"])
def test_absent_manifest(folder: ProtocolFolder, kind: str) -> None:
    """A manifest of the wrong kind does not stand in for the other."""
    (folder / f"manifests/{kind}.json").unlink()
    (line,) = faults(folder)
    assert f"{folder / 'manifests'}: expected one {kind} manifest" in line
    assert f"found none; name one with --{kind}-manifest" in line


def test_two_manifests_of_a_kind(folder: ProtocolFolder) -> None:
    """Of two official manifests none is guessed."""
    (folder / "manifests/again.json").write_bytes((folder / OFFICIAL).read_bytes())
    (line,) = faults(folder)
    assert "found again.json, official.json; name one with --official-manifest" in line


@pytest.mark.parametrize("part", [OFFICIAL, SYNTHETIC])
def test_not_json(folder: ProtocolFolder, part: str) -> None:
    """A JSON fault has line and column."""
    (folder / part).write_text('{\n  "schema_version": 1,\n  nope\n}', encoding="utf-8")
    (line,) = faults(folder)
    assert f"{folder / part}: line 3, column 3: not JSON: " in line


def test_not_yaml(folder: ProtocolFolder) -> None:
    """A YAML fault has line and column."""
    (folder / CONFIG).write_text("schema_version: 1\nprotocol_id: [a, b\n", encoding="utf-8")
    (line,) = faults(folder)
    assert f"{folder / CONFIG}: line 3, column 1: not YAML as expected: " in line


def test_control_character_in_yaml(folder: ProtocolFolder) -> None:
    """What YAML does not allow at all is one line too."""
    prepend(folder / CONFIG, b"\x07")
    (line,) = faults(folder)
    assert f"{folder / CONFIG}: not YAML as expected: " in line


def test_repeated_key_in_yaml(folder: ProtocolFolder) -> None:
    """A key that stands twice is not resolved by taking the last."""
    folder.replace(CONFIG, "  workers: 3\n", "  workers: 3\n  workers: 4\n")
    (line,) = faults(folder)
    assert "column 3: not YAML as expected: the key 'workers' stands twice" in line


def test_repeated_key_in_json(folder: ProtocolFolder) -> None:
    """Nor in JSON, at any depth."""
    folder.replace(
        OFFICIAL, '"answer_min_chars": 1,', '"answer_min_chars": 1, "answer_min_chars": 2,'
    )
    assert [
        f"{folder / OFFICIAL}: the key 'answer_min_chars' stands twice in one object"
    ] == faults(folder)


def test_alias_in_yaml(folder: ProtocolFolder) -> None:
    """An alias says more than it shows."""
    folder.replace(CONFIG, "  capacities: [5, 7, 9]\n", "  capacities: &c [5, 7, 9]\n")
    folder.replace(CONFIG, "  distractor_types: [single-session-user, single-session-preference]\n",
                   "  distractor_types: *c\n")  # fmt: skip
    (line,) = faults(folder)
    assert "not YAML as expected: aliases are not allowed" in line


def test_merge_key_in_yaml(folder: ProtocolFolder) -> None:
    """Nor is a merge key followed."""
    folder.replace(CONFIG, "  workers: 3\n", "  <<: {workers: 3}\n")
    (line,) = faults(folder)
    assert "not YAML as expected: " in line


def test_key_that_is_not_text_in_yaml(folder: ProtocolFolder) -> None:
    """A number as a key is named, with the remedy."""
    folder.replace(CONFIG, "schema_version: 1\n", "schema_version: 1\n7: x\n")
    (line,) = faults(folder)
    assert "line 2, column 1: not YAML as expected: the key 7 is not text; quote it" in line


@pytest.mark.parametrize(
    "tagged",
    [
        "!!python/object/apply:os.getcwd []",
        "!mine 3",
        "! 3",
        "!!int 3",
        # each of these makes PyYAML itself fail, with an exception of another type
        "!!bool maybe",
        '!!int ""',
        '!!float ""',
        "!!timestamp x",
        "!!map [1]",
    ],
)
def test_tag_in_yaml(folder: ProtocolFolder, tagged: str) -> None:
    """A tag makes no object, converts nothing and crashes nothing."""
    folder.replace(CONFIG, "  workers: 3\n", f"  workers: {tagged}\n")
    (line,) = faults(folder)
    assert "column 12: not YAML as expected: tags are not allowed" in line


def test_date_in_yaml_stays_text(folder: ProtocolFolder) -> None:
    """The clock may be written without quotes, and a revision may look like a date."""
    folder.replace(CONFIG, '"2026-08-13T00:00:00Z"', "2026-08-13T00:00:00Z")
    folder.replace(CONFIG, "98d7416c24c778c2fee6e6f3006e7a073259d48f", "2026-08-13")
    protocol = load_protocol(folder.path)
    assert load_protocol().config.evaluation_time == protocol.config.evaluation_time
    assert protocol.config.dataset.revision == "2026-08-13"


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_not_a_number_in_json(folder: ProtocolFolder, constant: str) -> None:
    """JSON has no word for these, Python's reader does."""
    folder.replace(OFFICIAL, '"answer_min_chars": 1', f'"answer_min_chars": {constant}')
    assert [f"{folder / OFFICIAL}: {constant} is not a number; write a finite one"] == faults(
        folder
    )


@pytest.mark.parametrize("constant", [".nan", ".inf", "-.inf"])
def test_not_a_number_in_yaml(folder: ProtocolFolder, constant: str) -> None:
    """YAML has one, and it is no weight."""
    folder.replace(CONFIG, "confidence: 0.65", f"confidence: {constant}")
    shown = {".nan": "nan", ".inf": "inf", "-.inf": "-inf"}[constant]
    assert [
        (
            f"{folder / CONFIG}: policies.hybrid_v1.weights.confidence: expected a finite number, "
            f"found float {shown}"
        )
    ] == faults(folder)


def test_number_of_too_many_digits(folder: ProtocolFolder) -> None:
    """Python refuses to read such a number; that is no crash."""
    folder.replace(OFFICIAL, '"answer_min_chars": 1', '"answer_min_chars": ' + "1" * 5000)
    assert [f"{folder / OFFICIAL}: a number has too many digits"] == faults(folder)


def test_number_of_too_many_digits_in_yaml(folder: ProtocolFolder) -> None:
    """Nor in YAML."""
    folder.replace(CONFIG, "workers: 3", "workers: " + "1" * 5000)
    (line,) = faults(folder)
    assert f"{folder / CONFIG}: not YAML as expected: " in line


@pytest.mark.parametrize("part", [CONFIG, OFFICIAL])
def test_nested_too_deep(folder: ProtocolFolder, part: str) -> None:
    """Neither reader's recursion limit is a crash."""
    (folder / part).write_text("[" * 2_000, encoding="utf-8")
    assert [f"{folder / part}: nested too deep for a protocol file"] == faults(folder)


@pytest.mark.parametrize("part", [CONFIG, OFFICIAL])
def test_nested_deep_in_place_of_a_value(folder: ProtocolFolder, part: str) -> None:
    """A value nested as deep as the readers take is named as any wrong value is."""
    text = (folder / part).read_text(encoding="utf-8")
    key = "schema_version" if part == CONFIG else '"schema_version"'
    assert f"{key}: 1" in text
    for depth in (50, 90, 200, 400, 900):
        nest = "[" * depth + "]" * depth
        (folder / part).write_text(text.replace(f"{key}: 1", f"{key}: {nest}"), encoding="utf-8")
        (line,) = faults(folder)
        assert line.startswith(
            (
                f"{folder / part}: schema_version: expected 1, found list ",
                f"{folder / part}: nested too deep for a protocol file",
            )
        )


@pytest.mark.parametrize("part", [CONFIG, OFFICIAL])
def test_too_large(folder: ProtocolFolder, part: str) -> None:
    """A data set given for a manifest is not read at length."""
    (folder / part).write_bytes(b" " * ((1 << 20) + 1))
    assert [f"{folder / part}: 1048577 bytes; a protocol file has at most 1048576"] == faults(
        folder
    )


def test_half_a_surrogate_pair(folder: ProtocolFolder) -> None:
    """Text that no file could hold is refused where it comes in."""
    folder.replace(SYNTHETIC, '"answer": "Thorsen"', '"answer": "\\ud800"')
    assert [
        (
            f"{folder / SYNTHETIC}: cases[1].answer: expected text without half a surrogate pair, "
            "found str '\\ud800'"
        )
    ] == faults(folder)
