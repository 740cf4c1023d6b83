"""The two manifests of a protocol: which official questions, and which correction guards."""

from collections import Counter
from typing import Literal

from attrs import frozen

from ._structure import Count, Fault, FileId, Ruled, Rules, Size, Text, fault_if
from .scenario import SCENARIOS


@frozen
class SelectionRule(Ruled):
    """The rule official questions are selected by (design: official selection).

    Lengths are counted in characters, of the stripped answer and of the rendered evidence; all
    bounds are inclusive. `answer_excluded_substrings` are matched in any case.
    """

    eligible_question_types: tuple[Text, ...]
    excluded_pilot_ids: tuple[Text, ...]
    exclude_abstention_suffix: Text
    answer_min_chars: Size
    answer_max_chars: Size
    answer_excluded_substrings: tuple[Text, ...]
    evidence_min_chars: Size
    evidence_max_chars: Size
    take_per_question_type: Count
    cases_per_type_per_scenario: Count

    def rules(self) -> Rules:
        """There is a type, none twice, and bounds are in order."""
        return (
            lambda: fault_if(
                not self.eligible_question_types
                or len(set(self.eligible_question_types)) < len(self.eligible_question_types),
                "eligible_question_types",
                f"expected at least one, each once, found {list(self.eligible_question_types)}",
            ),
            lambda: fault_if(
                self.answer_max_chars < self.answer_min_chars,
                "answer_max_chars",
                f"expected at least the minimum {self.answer_min_chars}, "
                f"found {self.answer_max_chars}",
            ),
            lambda: fault_if(
                self.evidence_max_chars < self.evidence_min_chars,
                "evidence_max_chars",
                f"expected at least the minimum {self.evidence_min_chars}, "
                f"found {self.evidence_max_chars}",
            ),
        )


@frozen
class OfficialManifest(Ruled):
    """The official question ids by scenario, the rule that gives them, and their loss ranks.

    `loss_ranks` holds one rank for each case of a scenario, cases sorted by (type, id).
    """

    schema_version: Literal[1]
    protocol_id: FileId
    selection: SelectionRule
    scenario_order: tuple[Text, ...]
    loss_ranks: tuple[Count, ...]
    scenarios: dict[str, tuple[FileId, ...]]

    def rules(self) -> Rules:
        """Scenarios, ids and ranks are as many as the selection rule says."""
        return (
            self._known_scenarios,
            lambda: fault_if(
                not self.scenario_order or len(set(self.scenario_order)) < len(self.scenario_order),
                "scenario_order",
                f"expected at least one, each once, found {list(self.scenario_order)}",
            ),
            lambda: fault_if(
                set(self.scenario_order) != set(self.scenarios),
                "scenarios",
                f"expected the keys {sorted(self.scenario_order)} of scenario_order, "
                f"found {sorted(self.scenarios)}",
            ),
            self._take,
            lambda: fault_if(
                len(self.loss_ranks) != self._cases_per_scenario,
                "loss_ranks",
                f"expected {self._cases_per_scenario}, one for each case of a scenario, "
                f"found {len(self.loss_ranks)}",
            ),
            self._group_sizes,
            lambda: _repeated("scenarios", [i for group in self.scenarios.values() for i in group]),
        )

    @property
    def _cases_per_scenario(self) -> int:
        rule = self.selection
        return rule.cases_per_type_per_scenario * len(rule.eligible_question_types)

    def _known_scenarios(self) -> Fault | None:
        unknown = [name for name in self.scenario_order if name not in SCENARIOS]
        text = f"expected some of {sorted(SCENARIOS)}, found {unknown}"
        return fault_if(bool(unknown), "scenario_order", text)

    def _take(self) -> Fault | None:
        rule, scenarios = self.selection, len(self.scenario_order)
        take = rule.cases_per_type_per_scenario * scenarios
        return fault_if(
            rule.take_per_question_type != take,
            "selection.take_per_question_type",
            f"expected {take} (cases_per_type_per_scenario x {scenarios} scenarios), "
            f"found {rule.take_per_question_type}",
        )

    def _group_sizes(self) -> Fault | None:
        size = self._cases_per_scenario
        wrong = [
            f"{len(group)} for {name}"
            for name, group in self.scenarios.items()
            if len(group) != size
        ]
        text = f"expected {size} ids for each scenario, found {', '.join(wrong)}"
        return fault_if(bool(wrong), "scenarios", text)


@frozen
class CorrectionGuard:
    """One synthetic case: a correction the user made, and a question that it alone answers."""

    case_id: FileId
    support_fact: Text
    question: Text
    answer: Text
    loss_rank: Count


@frozen
class SyntheticManifest(Ruled):
    """The correction guards, in the order of every run."""

    schema_version: Literal[1]
    protocol_id: FileId
    scenario: Text
    cases: tuple[CorrectionGuard, ...]

    def rules(self) -> Rules:
        """The scenario is in the table, and no guard stands twice."""
        return (
            lambda: fault_if(
                self.scenario not in SCENARIOS,
                "scenario",
                f"expected one of {sorted(SCENARIOS)}, found {self.scenario!r}",
            ),
            lambda: _repeated("cases", [case.case_id for case in self.cases]),
        )


def _repeated(key: str, ids: list[FileId]) -> Fault | None:
    # File names may fold case, so that ids which differ in case alone would share a file.
    counts = Counter(case_id.lower() for case_id in ids)
    repeated = [case_id for case_id in ids if counts[case_id.lower()] > 1]
    text = f"expected each id once (in any case), found {repeated} more than once"
    return fault_if(bool(repeated), key, text)
