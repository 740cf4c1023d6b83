"""Selectors of a user's own, and the reference, by name."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from deermem_data import Case, Protocol
from deermem_select import SelectorError, bind_selector, decide, reference

GENERAL = """
def choose(facts, *, max_facts, policy, **unused):
    kept = facts[:max(0, max_facts)]
    return {
        "kept": kept,
        "evicted": [
            {"fact_id": fact["id"], "category": "any", "score": 0, "components": {}}
            for fact in facts[len(kept):]
        ],
        "scores": {fact["id"]: {"value": 0, "components": {}} for fact in facts},
        "policy": policy,
        "reserved_correction_slots": 0,
    }
"""

WriteModule = Callable[..., str]
_names = itertools.count()


@pytest.fixture
def write_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteModule:
    """Write a module of a fresh name on the import path; returns the name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(source: str = GENERAL, package: bool = False) -> str:
        name = f"deermem_test_selector_{next(_names)}"
        if package:
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text("from .rule import choose\n")
            (tmp_path / name / "rule.py").write_text(source)
        else:
            (tmp_path / f"{name}.py").write_text(source)
        return name

    return write


def refusal(protocol: Protocol, name: str) -> str:
    with pytest.raises(SelectorError) as caught:
        bind_selector(name, protocol=protocol)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


def test_reference_by_name(protocol: Protocol) -> None:
    """`reference` is the function of the reference module, and its provenance says so."""
    selector = bind_selector("reference", protocol=protocol)
    found = selector.provenance
    assert selector.function is reference.select_facts_for_capacity
    sha256 = hashlib.sha256(Path(reference.__file__).read_bytes()).hexdigest()
    assert ("reference", "deermem_select/reference.py", sha256) == (
        found.kind,
        found.path,
        found.sha256,
    )
    assert (found.commit, found.dirty, found.known) == (None, None, False)


def test_reference_has_one_version(protocol: Protocol) -> None:
    """The reference does not serve a protocol that requires another policy version."""
    version: Any = "hybrid-v2"
    config = evolve(protocol.config, required_policy_version=version)
    message = refusal(evolve(protocol, config=config), "reference")
    assert "implements policy version 'hybrid-v1', the protocol requires 'hybrid-v2'" in message


def test_custom_decides(
    protocol: Protocol, cases: tuple[Case, ...], write_module: WriteModule
) -> None:
    """A user's function may take `**kwargs` and return mappings; it decides like any other."""
    name = write_module()
    selector = bind_selector(f"{name}:choose", protocol=protocol)
    policy = protocol.config.policies["confidence"]
    decision = decide(cases[0], policy, 7, selector, protocol.config.evaluation_time)
    assert [fact["id"] for fact in cases[0].facts[:7]] == list(decision.kept_fact_ids)
    found = selector.provenance
    sha256 = hashlib.sha256(GENERAL.encode()).hexdigest()
    assert ("custom", f"{name}:choose", f"{name}.py", sha256) == (
        found.kind,
        found.name,
        found.path,
        found.sha256,
    )
    assert selector.name == f"{name}:choose"


def test_custom_from_a_package(protocol: Protocol, write_module: WriteModule) -> None:
    """The file hashed is the one that defines the function, not the one that re-exports it."""
    name = write_module(package=True)
    found = bind_selector(f"{name}:choose", protocol=protocol).provenance
    assert f"{name}/rule.py" == found.path
    assert hashlib.sha256(GENERAL.encode()).hexdigest() == found.sha256


def test_custom_from_the_package_itself(protocol: Protocol, write_module: WriteModule) -> None:
    """A function that a package's own file defines has that file's path."""
    name = write_module(GENERAL, package=True)
    sys.modules.pop(name, None)
    (Path(sys.path[0]) / name / "__init__.py").write_text(GENERAL)
    found = bind_selector(f"{name}:choose", protocol=protocol).provenance
    assert f"{name}/__init__.py" == found.path


@pytest.mark.parametrize(
    "definition",
    [
        "import functools\npick = functools.partial(choose, tie='x')",
        (
            "import collections\nclass Rule(collections.UserDict):\n"
            "    def __call__(self, facts, **named):\n        return choose(facts, **named)\n"
            "pick = Rule()"
        ),
        "import functools\npick = functools.lru_cache(choose)",
        "import functools\npick = functools.singledispatch(choose)",
    ],
)
def test_custom_that_is_no_function(
    protocol: Protocol, write_module: WriteModule, definition: str
) -> None:
    """The file hashed is the user's, whatever class of whatever library makes the call work."""
    source = f"{GENERAL}\n{definition}\n"
    found = bind_selector(f"{write_module(source)}:pick", protocol=protocol).provenance
    assert hashlib.sha256(source.encode()).hexdigest() == found.sha256


def test_custom_object_of_another_module(protocol: Protocol, write_module: WriteModule) -> None:
    """A run is tied to the file that makes the object, where its parameters stand."""
    rules = write_module(
        f"{GENERAL}\nclass Rule:\n    def __call__(self, facts, **named):\n"
        "        return choose(facts, **named)\n"
    )
    source = f"import functools\nimport {rules}\npick = {rules}.Rule()\n"
    source += f"part = functools.partial({rules}.choose, tie='x')\n"
    name = write_module(source)
    for attribute in ("pick", "part"):
        found = bind_selector(f"{name}:{attribute}", protocol=protocol).provenance
        assert (f"{name}.py", hashlib.sha256(source.encode()).hexdigest()) == (
            found.path,
            found.sha256,
        )


def test_custom_attribute_of_a_class(protocol: Protocol, write_module: WriteModule) -> None:
    """The function may be reached through dots."""
    name = write_module(GENERAL + "\nclass Rules:\n    choose = staticmethod(choose)\n")
    assert bind_selector(f"{name}:Rules.choose", protocol=protocol).provenance.kind == "custom"


@pytest.mark.parametrize(
    "signature",
    [
        "facts, **rest",
        "*facts, **rest",
        "pool, /, max_facts, policy, **rest",
        "pool, *, max_facts, policy, option=1, **rest",
    ],
)
def test_custom_signature_accepted(
    protocol: Protocol, write_module: WriteModule, signature: str
) -> None:
    """Any signature serves that the call fits."""
    name = write_module(f"def choose({signature}):\n    pass\n")
    assert bind_selector(f"{name}:choose", protocol=protocol).provenance.kind == "custom"


@pytest.mark.parametrize(
    ("signature", "named"),
    [
        ("facts, *, max_facts, policy", "parameter usage is missing; parameter now is missing"),
        ("**rest", "parameter facts is missing or not positional"),
        ("*, facts, **rest", "parameter facts is missing or not positional"),
        ("facts, extra, **rest", "parameter extra is not known and has no default"),
        ("facts, *, extra, **rest", "parameter extra is not known and has no default"),
        ("facts, policy, /, **rest", "parameter policy is not known and has no default"),
    ],
)
def test_custom_signature_refused(
    protocol: Protocol, write_module: WriteModule, signature: str, named: str
) -> None:
    """A signature the call does not fit is refused before anything runs."""
    name = write_module(f"def choose({signature}):\n    pass\n")
    message = refusal(protocol, f"{name}:choose")
    assert f"selector {name}:choose: the signature differs: {named}" in message


@pytest.mark.parametrize("name", ["", "prod", "module:", ":function", "referenc"])
def test_name_of_no_selector(protocol: Protocol, name: str) -> None:
    """What is no selector's name is shown with what is expected."""
    expected = f"selector {name!r}: expected production, reference or MODULE:FUNCTION"
    assert expected == refusal(protocol, name)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("raise RuntimeError('two\\nlines')", "cannot be imported: RuntimeError: two lines"),
        ("raise SystemExit(2)", "cannot be imported: SystemExit: 2"),
        ("x = 1", "has no function choose"),
        ("choose = 3", "has no function choose"),
        ("choose = int", "its signature cannot be read"),
    ],
)
def test_custom_refused(
    protocol: Protocol, write_module: WriteModule, source: str, named: str
) -> None:
    """A module that cannot be imported, or has no such function, is named."""
    name = write_module(source)
    message = refusal(protocol, f"{name}:choose")
    assert f"selector {name}:choose: " in message
    assert named in message


def test_custom_module_absent(protocol: Protocol) -> None:
    """A module that is not there is named."""
    expected = (
        "selector no_such_module:f: module no_such_module cannot be imported: "
        "ModuleNotFoundError: No module named 'no_such_module'"
    )
    assert expected == refusal(protocol, "no_such_module:f")


def test_custom_without_a_file(protocol: Protocol, write_module: WriteModule) -> None:
    """A function without a source file cannot be tied to a run."""
    name = write_module()
    bind_selector(f"{name}:choose", protocol=protocol)
    del sys.modules[name].__file__
    expected = f"selector {name}:choose: has no source file, so that a run could not be tied to it"
    assert expected == refusal(protocol, f"{name}:choose")
