"""The config of a protocol: what `configs/*.yaml` states, in the reference's keys."""

import math
from datetime import datetime
from typing import Literal

from attrs import frozen

from ._structure import (
    Count,
    EnvironmentName,
    Fault,
    FileId,
    Fraction,
    Positive,
    Ruled,
    Rules,
    Sha256,
    Size,
    Text,
    fault_if,
)

_LONGEST_TIMEOUT = 86_400
_MOST_WORKERS = 1000


@frozen
class DatasetPin(Ruled):
    """Which data set: where it is published and the SHA-256 of its bytes."""

    repository: Text
    revision: Text
    filename: Text
    sha256: Sha256

    def rules(self) -> Rules:
        """A bare name: it is looked for in a folder."""
        return (
            lambda: fault_if(
                "/" in self.filename or "\\" in self.filename,
                "filename",
                f"expected a bare file name, found {self.filename!r}",
            ),
        )


@frozen
class PoolSpec(Ruled):
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

    def rules(self) -> Rules:
        """Sizes, capacities and bounds fit each other."""
        return (
            lambda: fault_if(
                self.size != self.distractors + 1,
                "size",
                f"expected distractors + 1 support fact = {self.distractors + 1}, "
                f"found {self.size}",
            ),
            self._capacities_below_size,
            lambda: fault_if(
                not self.capacities or len(set(self.capacities)) < len(self.capacities),
                "capacities",
                f"expected at least one, each once, found {list(self.capacities)}",
            ),
            lambda: fault_if(
                self.qa_capacity not in self.capacities,
                "qa_capacity",
                f"expected one of the capacities {list(self.capacities)}, found {self.qa_capacity}",
            ),
            lambda: fault_if(
                self.distractor_bank_size < self.distractors,
                "distractor_bank_size",
                f"expected at least the {self.distractors} distractors of a case, "
                f"found {self.distractor_bank_size}",
            ),
            lambda: fault_if(
                not self.distractor_types
                or len(set(self.distractor_types)) < len(self.distractor_types),
                "distractor_types",
                f"expected at least one, each once, found {list(self.distractor_types)}",
            ),
            lambda: fault_if(
                self.distractor_max_evidence_chars < self.distractor_min_evidence_chars,
                "distractor_max_evidence_chars",
                f"expected at least the minimum {self.distractor_min_evidence_chars}, "
                f"found {self.distractor_max_evidence_chars}",
            ),
        )

    def _capacities_below_size(self) -> Fault | None:
        found = [capacity for capacity in self.capacities if capacity >= self.size]
        text = f"expected each below the pool size {self.size}, found {found}"
        return fault_if(bool(found), "capacities", text)


@frozen
class PolicyWeights(Ruled):
    """The share of each signal in a fact's score; they sum to 1."""

    confidence: Fraction
    confirmation: Fraction
    access: Fraction

    def rules(self) -> Rules:
        """They sum to 1."""
        return (self._sum_to_one,)

    def _sum_to_one(self) -> Fault | None:
        total = math.fsum((self.confidence, self.confirmation, self.access))
        text = f"expected weights that sum to 1, found a sum of {total!r}"
        return fault_if(not math.isclose(total, 1.0, abs_tol=1e-9), "", text)


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
class QASpec(Ruled):
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

    def rules(self) -> Rules:
        """A temperature is not negative; a machine can wait so long and start so many threads."""
        return (
            lambda: fault_if(
                self.timeout_seconds > _LONGEST_TIMEOUT,
                "timeout_seconds",
                f"expected at most {_LONGEST_TIMEOUT} (a day), found {self.timeout_seconds}",
            ),
            lambda: fault_if(
                self.workers > _MOST_WORKERS,
                "workers",
                f"expected at most {_MOST_WORKERS}, found {self.workers}",
            ),
            lambda: fault_if(
                self.temperature < 0,
                "temperature",
                f"expected 0 or more, found {self.temperature}",
            ),
        )


@frozen
class StatisticsSpec(Ruled):
    """The pinned bootstrap: seed, number of resamples, and 1 minus the confidence level."""

    bootstrap_seed: Size
    bootstrap_iterations: Count
    alpha: Fraction

    def rules(self) -> Rules:
        """Neither bound of alpha makes sense."""
        return (
            lambda: fault_if(
                not 0.0 < self.alpha < 1.0,
                "alpha",
                f"expected a number between 0 and 1, found {self.alpha}",
            ),
        )


@frozen
class ProtocolConfig(Ruled):
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

    def rules(self) -> Rules:
        """There is a policy, and none twice."""
        return (self._each_policy_once,)

    def _each_policy_once(self) -> Fault | None:
        names = [spec.policy for spec in self.policies.values()]
        text = f"expected at least one, each policy once, found {names}"
        return fault_if(not names or len(set(names)) < len(names), "policies", text)
