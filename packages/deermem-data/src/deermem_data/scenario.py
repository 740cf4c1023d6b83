"""The scenario table: which metadata each fact of a pool carries (design: the protocol).

The arithmetic is done as written there, in floats: the published scores are those floats.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen


@frozen
class Signals:
    """What a fact's metadata says: confidence, ages in days, and access heat (0: never read)."""

    confidence: float
    created_days_ago: int = 180
    confirmed_days_ago: int | None = None
    heat: int = 0


@frozen
class Scenario:
    """One row of the table.

    Attributes:
        support: the support fact's signals.
        support_category: the support fact's category.
        distractor: (i, r) -> the signals of distractor i (from 0), where r distractors are
            meant to outrank the support fact under `confidence`.
        exercises_loss_rank: whether r does outrank it; in the controls nothing is at stake.
    """

    support: Signals
    distractor: Callable[[int, int], Signals]
    support_category: str = "context"
    exercises_loss_rank: bool = True

    def fault(self, loss_rank: int, distractors: int) -> str | None:
        """Say why the table's numbers cannot express this rank in a pool of this size, if so.

        The table's confidences step down from a fixed start, so that a pool can be too large
        for them: they must stay within 0 to 1, and exactly `loss_rank - 1` of them must reach
        the support fact's, which loses ties because its id sorts last.
        """
        if loss_rank > distractors + 1:
            return f"a loss rank of {loss_rank} in a pool of {distractors + 1}"
        if not self.exercises_loss_rank:
            return None
        ahead = 0
        for i in range(distractors):
            confidence = self.distractor(i, loss_rank - 1).confidence
            if confidence < 0.0:  # at once: a protocol may state any number of distractors
                return f"{distractors} distractors take the confidence below 0"
            ahead += confidence >= self.support.confidence
        if ahead != loss_rank - 1:
            return f"a loss rank of {loss_rank} cannot be set: {ahead} distractors would outrank"
        return None


def _stepped(i: int, r: int) -> Signals:
    return Signals(0.94 - 0.02 * i if i < r else 0.68 - 0.02 * (i - r))


def _confident_then_fresh(i: int, _r: int) -> Signals:
    return Signals(0.94 - 0.02 * i) if i < 5 else _fresh(i)


def _noisy(i: int, r: int) -> Signals:
    return _fresh(i) if i < r else Signals(0.70)


def _fresh(i: int) -> Signals:
    if i % 2:
        return Signals(0.70, confirmed_days_ago=7)
    return Signals(0.70, heat=8)


def _below_correction(i: int, r: int) -> Signals:
    return Signals(0.90 - 0.03 * i if i < r else 0.60 - 0.02 * (i - r))


SCENARIOS: dict[str, Scenario] = {
    "confirmation_help": Scenario(Signals(0.70, confirmed_days_ago=7), _stepped),
    "access_help": Scenario(Signals(0.70, heat=8), _stepped),
    "confidence_control": Scenario(
        Signals(0.95, created_days_ago=30), _confident_then_fresh, exercises_loss_rank=False
    ),
    "noisy_signal_control": Scenario(Signals(0.90), _noisy, exercises_loss_rank=False),
    "correction_reserve": Scenario(Signals(0.65), _below_correction, support_category="correction"),
}
