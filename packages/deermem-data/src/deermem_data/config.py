"""The config of a protocol: what `configs/*.yaml` states, in the reference's keys."""

import math
from datetime import datetime
from typing import Literal

from attrs import frozen

from ._structure import (
    Count,
    EnvironmentName,
    FileId,
    Fraction,
    Positive,
    Sha256,
    Size,
    Text,
    raise_faults,
)


@frozen
class DatasetPin:
    """Which data set: where it is published and the SHA-256 of its bytes."""

    repository: Text
    revision: Text
    filename: Text
    sha256: Sha256

    def __attrs_post_init__(self) -> None:
        raise_faults(
            f"filename: expected a bare file name, found {self.filename!r}"
            if "/" in self.filename or "\\" in self.filename
            else None
        )


@frozen
class PoolSpec:
    """How many facts a case has, how many may stay, and where distractors come from.

    Lengths are counted in characters of the rendered evidence; both bounds are inclusive.
    """

    size: Count
    capacities: tuple[Count, ...]
    qa_capacity: Count
    distractors: Count
    distractor_bank_size: Count
    distractor_types: tuple[Text, ...]
    distractor_min_evidence_chars: Size
    distractor_max_evidence_chars: Size
    offset_namespace: Text
    fact_order: Literal["fact-id"]

    def __attrs_post_init__(self) -> None:
        too_large = [capacity for capacity in self.capacities if capacity >= self.size]
        low, high = self.distractor_min_evidence_chars, self.distractor_max_evidence_chars
        raise_faults(
            f"size: expected distractors + 1 support fact = {self.distractors + 1}, "
            f"found {self.size}"
            if self.size != self.distractors + 1
            else None,
            f"capacities: expected each below the pool size {self.size}, found {too_large}"
            if too_large
            else None,
            f"capacities: expected at least one, each once, found {list(self.capacities)}"
            if not self.capacities or len(set(self.capacities)) < len(self.capacities)
            else None,
            f"qa_capacity: expected one of the capacities {list(self.capacities)}, "
            f"found {self.qa_capacity}"
            if self.qa_capacity not in self.capacities
            else None,
            f"distractor_bank_size: expected at least the {self.distractors} distractors of a "
            f"case, found {self.distractor_bank_size}"
            if self.distractor_bank_size < self.distractors
            else None,
            "distractor_types: expected at least one, each once, found "
            f"{list(self.distractor_types)}"
            if not self.distractor_types
            or len(set(self.distractor_types)) < len(self.distractor_types)
            else None,
            f"distractor_max_evidence_chars: expected at least the minimum {low}, found {high}"
            if high < low
            else None,
        )


@frozen
class PolicyWeights:
    """The share of each signal in a fact's score; they sum to 1."""

    confidence: Fraction
    confirmation: Fraction
    access: Fraction

    def __attrs_post_init__(self) -> None:
        total = math.fsum((self.confidence, self.confirmation, self.access))
        raise_faults(
            f"expected weights that sum to 1, found a sum of {total!r}"
            if not math.isclose(total, 1.0, abs_tol=1e-9)
            else None
        )


@frozen
class PolicySpec:
    """One policy and what the selector is told of it; `None` leaves the selector's default.

    Half-lives are in days; the reserved fraction is a share of the capacity.
    """

    policy: FileId
    weights: PolicyWeights | None = None
    confirmation_half_life_days: Positive | None = None
    access_half_life_days: Positive | None = None
    correction_reserved_fraction: Fraction | None = None
    correction_reserved_max: Size | None = None


@frozen
class PromptPin:
    """The answer prompt: its path inside the protocol's folder and its SHA-256."""

    path: Text
    sha256: Sha256


@frozen
class QASpec:
    """How answers are asked for. `timeout_seconds` is whole seconds per call."""

    answer_prompt: PromptPin
    grader_version: Text
    provider: Literal["openai-compatible"]
    api_key_env: EnvironmentName
    base_url_env: EnvironmentName
    model: Text
    temperature: float
    max_tokens: Count
    stream: Literal[False]
    timeout_seconds: Count
    max_attempts: Count
    workers: Count

    def __attrs_post_init__(self) -> None:
        raise_faults(
            f"temperature: expected 0 or more, found {self.temperature}"
            if self.temperature < 0
            else None
        )


@frozen
class StatisticsSpec:
    """The pinned bootstrap: seed, number of resamples, and 1 minus the confidence level."""

    bootstrap_seed: Size
    bootstrap_iterations: Count
    alpha: Fraction

    def __attrs_post_init__(self) -> None:
        raise_faults(
            f"alpha: expected a number between 0 and 1, found {self.alpha}"
            if not 0.0 < self.alpha < 1.0
            else None
        )


@frozen
class ProtocolConfig:
    """Everything a config file states.

    `policies` maps a label to a policy, in the file's order, which is the order of every run.
    `known_selectors` are the SHA-256 values of production selectors the protocol was tried with.
    """

    schema_version: Literal[1]
    protocol_id: FileId
    required_policy_version: Text
    evaluation_time: datetime
    dataset: DatasetPin
    pool: PoolSpec
    policies: dict[str, PolicySpec]
    qa: QASpec
    statistics: StatisticsSpec
    known_selectors: tuple[Sha256, ...] = ()

    def __attrs_post_init__(self) -> None:
        names = [spec.policy for spec in self.policies.values()]
        raise_faults(
            f"policies: expected at least one, each policy once, found {names}"
            if not names or len(set(names)) < len(names)
            else None
        )
