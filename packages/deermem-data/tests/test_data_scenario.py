"""The scenario table, against literals worked out by hand from the design's table."""

from __future__ import annotations

import pytest

from deermem_data import SCENARIOS, Signals, load_protocol

OLD, HEAT, FRESH = 180, 8, 7


def confidences(scenario: str, rank: int) -> list[float]:
    """The nine distractors' confidences at a loss rank."""
    return [SCENARIOS[scenario].distractor(i, rank - 1).confidence for i in range(9)]


def test_names() -> None:
    """The table has five rows."""
    assert sorted(SCENARIOS) == [
        "access_help",
        "confidence_control",
        "confirmation_help",
        "correction_reserve",
        "noisy_signal_control",
    ]


@pytest.mark.parametrize(
    ("scenario", "signals", "category"),
    [
        ("confirmation_help", Signals(0.70, OLD, FRESH, 0), "context"),
        ("access_help", Signals(0.70, OLD, None, HEAT), "context"),
        ("confidence_control", Signals(0.95, 30, None, 0), "context"),
        ("noisy_signal_control", Signals(0.90, OLD, None, 0), "context"),
        ("correction_reserve", Signals(0.65, OLD, None, 0), "correction"),
    ],
)
def test_support_fact(scenario: str, signals: Signals, category: str) -> None:
    """The support fact's confidence, age, confirmation, heat and category."""
    assert signals == SCENARIOS[scenario].support
    assert category == SCENARIOS[scenario].support_category


@pytest.mark.parametrize("scenario", ["confirmation_help", "access_help"])
@pytest.mark.parametrize(
    ("rank", "expected"),
    [
        (6, [0.94, 0.92, 0.90, 0.88, 0.86, 0.68, 0.66, 0.64, 0.62]),
        (8, [0.94, 0.92, 0.90, 0.88, 0.86, 0.84, 0.82, 0.68, 0.66]),
        (10, [0.94, 0.92, 0.90, 0.88, 0.86, 0.84, 0.82, 0.80, 0.78]),
    ],
)
def test_help_scenarios(scenario: str, rank: int, expected: list[float]) -> None:
    """rank - 1 distractors stand above 0.70, the rest below; none has another signal."""
    assert expected == pytest.approx(confidences(scenario, rank), abs=1e-12)
    signals = [SCENARIOS[scenario].distractor(i, rank - 1) for i in range(9)]
    assert {(OLD, None, 0)} == {(s.created_days_ago, s.confirmed_days_ago, s.heat) for s in signals}


@pytest.mark.parametrize(
    ("rank", "expected"),
    [
        (6, [0.90, 0.87, 0.84, 0.81, 0.78, 0.60, 0.58, 0.56, 0.54]),
        (8, [0.90, 0.87, 0.84, 0.81, 0.78, 0.75, 0.72, 0.60, 0.58]),
        (10, [0.90, 0.87, 0.84, 0.81, 0.78, 0.75, 0.72, 0.69, 0.66]),
    ],
)
def test_correction_reserve(rank: int, expected: list[float]) -> None:
    """rank - 1 distractors stand above 0.65, the rest below."""
    assert expected == pytest.approx(confidences("correction_reserve", rank), abs=1e-12)


@pytest.mark.parametrize("rank", [6, 8, 10])
def test_confidence_control(rank: int) -> None:
    """Five confident ones, then four at 0.70 with a signal; the rank plays no part."""
    assert [
        Signals(0.94, OLD, None, 0),
        Signals(0.94 - 0.02 * 1, OLD, None, 0),
        Signals(0.94 - 0.02 * 2, OLD, None, 0),
        Signals(0.94 - 0.02 * 3, OLD, None, 0),
        Signals(0.94 - 0.02 * 4, OLD, None, 0),
        Signals(0.70, OLD, FRESH, 0),
        Signals(0.70, OLD, None, HEAT),
        Signals(0.70, OLD, FRESH, 0),
        Signals(0.70, OLD, None, HEAT),
    ] == [SCENARIOS["confidence_control"].distractor(i, rank - 1) for i in range(9)]


@pytest.mark.parametrize(("rank", "noisy"), [(6, 5), (8, 7), (10, 9)])
def test_noisy_signal_control(rank: int, noisy: int) -> None:
    """All at 0.70; the first rank - 1 in turn hot (even) and confirmed (odd)."""
    hot, confirmed, plain = (
        Signals(0.70, OLD, None, HEAT),
        Signals(0.70, OLD, FRESH, 0),
        Signals(0.70, OLD, None, 0),
    )
    expected = [hot, confirmed] * 5
    assert expected[:noisy] + [plain] * (9 - noisy) == [
        SCENARIOS["noisy_signal_control"].distractor(i, rank - 1) for i in range(9)
    ]


def test_arithmetic_as_written() -> None:
    """The published scores are these floats, not the decimals they stand for."""
    assert [0.94 - 0.02 * i for i in range(9)] == confidences("access_help", 10)
    assert confidences("access_help", 10)[3] == 0.8799999999999999
    assert [0.68 - 0.02 * i for i in range(4)] == confidences("access_help", 6)[5:]
    assert [0.90 - 0.03 * i for i in range(9)] == confidences("correction_reserve", 10)


@pytest.mark.parametrize("name", ["capacity-eviction-v1", "mini-v1"])
def test_loss_ranks(name: str) -> None:
    """Official cases take 6 6 6 8 8 8 10 10 10 10, guards 6 8 8 10 10."""
    protocol = load_protocol(name)
    assert protocol.official.loss_ranks == (6, 6, 6, 8, 8, 8, 10, 10, 10, 10)
    assert [case.loss_rank for case in protocol.synthetic.cases] == [6, 8, 8, 10, 10]


@pytest.mark.parametrize("scenario", ["confirmation_help", "access_help", "correction_reserve"])
@pytest.mark.parametrize("distractors", [1, 5, 9, 13])
def test_rank_is_what_the_table_gives(scenario: str, distractors: int) -> None:
    """Where no fault is found, exactly rank - 1 distractors reach the support fact."""
    row = SCENARIOS[scenario]
    accepted = [rank for rank in range(1, distractors + 2) if row.fault(rank, distractors) is None]
    for rank in accepted:
        ahead = sum(
            row.distractor(i, rank - 1).confidence >= row.support.confidence
            for i in range(distractors)
        )
        assert rank - 1 == ahead
    # Every rank up to 10 can be set in a pool of this size; larger ones sink below the fact.
    assert list(range(1, min(distractors + 1, 10) + 1)) == accepted[: min(distractors + 1, 10)]


def test_rank_faults() -> None:
    """What the table cannot express is said."""
    row = SCENARIOS["correction_reserve"]
    assert row.fault(11, 9) == "a loss rank of 11 in a pool of 10"
    assert row.fault(14, 13) == "a loss rank of 14 cannot be set: 9 distractors would outrank"
    assert row.fault(1, 40) == "40 distractors take the confidence below 0"
    assert SCENARIOS["noisy_signal_control"].fault(11, 9) == "a loss rank of 11 in a pool of 10"
    assert None is SCENARIOS["noisy_signal_control"].fault(14, 13)
