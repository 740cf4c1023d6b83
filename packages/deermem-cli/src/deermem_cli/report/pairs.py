"""The comparisons a report shows: the first policy against each other one."""

from __future__ import annotations

from attrs import frozen

from .node import Node
from .visible import label, name

SUITES = ("official", "synthetic", "overall")

SUITE_NAMES = {"official": "Official", "synthetic": "Synthetic", "overall": "Both together"}

_SUITE_OF_SOURCE = {"longmemeval": "official", "synthetic": "synthetic"}


@frozen
class Pair:
    """A comparison within `qa.analysis.json`; a difference is `second` minus `first`.

    Attributes:
        node: the comparison's place.
        index: which of the report's comparisons it is, from 0.
        first_policy: the policy's name in the artifacts; so is `second_policy`.
        alpha: the level of the test, 1 minus the level of the intervals.
    """

    node: Node
    index: int
    first_policy: str
    second_policy: str
    alpha: float

    @property
    def first(self) -> str:
        """The first policy's name, as shown."""
        return label(self.first_policy)

    @property
    def second(self) -> str:
        """The second policy's name, as shown."""
        return label(self.second_policy)

    @property
    def label(self) -> str:
        """What the pair is called."""
        return f"{self.second} against {self.first}"

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites that have cases; both together only where both have."""
        there = self.node.at("suites").keys()
        named = tuple(suite for suite in SUITES if suite in there)
        return named if len(named) == len(SUITES) else tuple(s for s in named if s != "overall")

    def suite(self, suite: str) -> Node:
        """The place of a suite's statistics."""
        return self.node.at("suites", suite)

    def better(self, suite: str) -> str | None:
        """The policy that the exact test finds better, or None where it finds none."""
        suite_node = self.suite(suite)
        if suite_node.at("mcnemar", "p_value").real() >= self.alpha:
            return None
        first = suite_node.at("mcnemar", "only_first_correct").whole()
        second = suite_node.at("mcnemar", "only_second_correct").whole()
        return self.second_policy if second > first else self.first_policy


def shown_pairs(analysis: Node) -> tuple[Pair, ...]:
    """Return the comparisons of the first policy with each other one."""
    policies = [item.text() for item in analysis.at("policies").items()]
    alpha = analysis.at("settings", "alpha").real()
    shown: list[Pair] = []
    for node in analysis.at("pairs").items():
        first, second = node.at("policies", 0).text(), node.at("policies", 1).text()
        if first == policies[0]:
            shown.append(Pair(node, len(shown), first, second, alpha))
    return tuple(shown)


def scenario_label(scenario: str) -> str:
    """A scenario's name, as shown."""
    return label(scenario).replace("_", " ")


def suite_of(source: str) -> str:
    """The suite of a source: `official` or `synthetic`."""
    return _SUITE_OF_SOURCE.get(source, name(source))


def interval(node: Node) -> tuple[Node, Node]:
    """The places of an interval's bounds."""
    return node.at("lower"), node.at("upper")
