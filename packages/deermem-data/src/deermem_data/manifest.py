"""The two manifests of a protocol: which official questions, and which correction guards."""

from typing import Literal

from attrs import frozen

from ._structure import Count, FileId, Size, Text, raise_faults
from .scenario import SCENARIOS


@frozen
class SelectionRule:
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

    def __attrs_post_init__(self) -> None:
        types = self.eligible_question_types
        raise_faults(
            f"eligible_question_types: expected at least one, each once, found {list(types)}"
            if not types or len(set(types)) < len(types)
            else None,
            "answer_max_chars: expected at least the minimum"
            if self.answer_max_chars < self.answer_min_chars
            else None,
            "evidence_max_chars: expected at least the minimum"
            if self.evidence_max_chars < self.evidence_min_chars
            else None,
        )


@frozen
class OfficialManifest:
    """The official question ids by scenario, the rule that gives them, and their loss ranks.

    `loss_ranks` holds one rank for each case of a scenario, cases sorted by (type, id).
    """

    schema_version: Literal[1]
    protocol_id: FileId
    selection: SelectionRule
    scenario_order: tuple[Text, ...]
    loss_ranks: tuple[Count, ...]
    scenarios: dict[str, tuple[FileId, ...]]

    def __attrs_post_init__(self) -> None:
        rule, order = self.selection, self.scenario_order
        per_scenario = rule.cases_per_type_per_scenario * len(rule.eligible_question_types)
        take = rule.cases_per_type_per_scenario * len(order)
        ids = [case_id for group in self.scenarios.values() for case_id in group]
        unknown = [name for name in order if name not in SCENARIOS]
        raise_faults(
            f"scenario_order: expected some of {sorted(SCENARIOS)}, found {unknown}"
            if unknown
            else None,
            f"scenario_order: expected at least one, each once, found {list(order)}"
            if not order or len(set(order)) < len(order)
            else None,
            f"scenarios: expected the keys {sorted(order)} of scenario_order, "
            f"found {sorted(self.scenarios)}"
            if set(order) != set(self.scenarios)
            else None,
            f"selection.take_per_question_type: expected {take} (cases_per_type_per_scenario x "
            f"{len(order)} scenarios), found {rule.take_per_question_type}"
            if rule.take_per_question_type != take
            else None,
            f"loss_ranks: expected {per_scenario}, one for each case of a scenario, "
            f"found {len(self.loss_ranks)}"
            if len(self.loss_ranks) != per_scenario
            else None,
            *(
                f"scenarios.{name}: expected {per_scenario} ids, found {len(group)}"
                for name, group in self.scenarios.items()
                if len(group) != per_scenario
            ),
            *_repeated("scenarios", ids),
        )


@frozen
class CorrectionGuard:
    """One synthetic case: a correction the user made, and a question that it alone answers."""

    case_id: FileId
    support_fact: Text
    question: Text
    answer: Text
    loss_rank: Count


@frozen
class SyntheticManifest:
    """The correction guards, in the order of every run."""

    schema_version: Literal[1]
    protocol_id: FileId
    scenario: Text
    cases: tuple[CorrectionGuard, ...]

    def __attrs_post_init__(self) -> None:
        raise_faults(
            f"scenario: expected one of {sorted(SCENARIOS)}, found {self.scenario!r}"
            if self.scenario not in SCENARIOS
            else None,
            *_repeated("cases", [case.case_id for case in self.cases]),
        )


def _repeated(where: str, ids: list[FileId]) -> list[str]:
    # File names may fold case, so that ids which differ in case alone would share a file.
    seen: dict[str, str] = {}
    faults = []
    for case_id in ids:
        if case_id.lower() in seen:
            faults.append(f"{where}: expected each id once (in any case), found {case_id!r} twice")
        seen[case_id.lower()] = case_id
    return faults
