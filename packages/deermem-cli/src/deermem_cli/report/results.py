"""The sections on accuracy: paired tables by suite, and the differences by suite and scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deermem_data import SCENARIOS

from . import words
from .document import (
    Block,
    Cell,
    Column,
    DataTable,
    Figure,
    ForestPlot,
    ForestRow,
    Heading,
    Number,
    Paragraph,
    Part,
    Section,
    SideBySide,
    Terms,
)
from .node import Node
from .numbers import alpha_text, count_text, level_text
from .pairs import SUITE_NAMES, Pair, interval, scenario_label, suite_of

# Stands where there is no number.
UNSAID = "\N{EN DASH}"


def text_cell(*parts: Part, sort: float | str | None = None) -> Cell:
    """A cell of text."""
    return Cell(parts, sort=sort)


def number_cell(number: Number) -> Cell:
    """A cell of one number, sorted by its value."""
    return Cell((number,), sort=number.value)


def interval_cell(lower: Number, upper: Number) -> Cell:
    """A cell of an interval, sorted by its lower bound."""
    return Cell((lower, " to ", upper), sort=lower.value)


def results_section(pairs: tuple[Pair, ...]) -> Section:
    """Per suite: each policy's accuracy, and each comparison's paired table and statistics."""
    blocks: list[Block] = []
    for suite in pairs[0].suites:
        cases = pairs[0].suite(suite).at("cases")
        plural = "" if cases.whole() == 1 else "s"
        blocks.append(Heading((f"{SUITE_NAMES[suite]}: ", cases.count(), f" case{plural}")))
        if suite == "overall":
            blocks.append(
                Paragraph(
                    (
                        (
                            "Official and synthetic cases test different things, and how many "
                            "there are of each decides how much it weighs here; read the suites "
                            "apart first."
                        ),
                    )
                )
            )
        blocks.append(_accuracy_table(pairs, suite))
        for pair in pairs:
            if len(pairs) > 1 or suite != pairs[0].suites[0]:
                blocks.append(Paragraph(words.answer(pair, suite)))
            blocks.append(SideBySide((_paired_table(pair, suite), _statistics(pair, suite))))
    blocks.append(_reading(level_text(pairs[0].alpha), alpha_text(pairs[0].alpha)))
    if len(pairs) > 1:
        blocks.append(
            Paragraph(
                (
                    (
                        "Each policy is compared with the first one; p-values are not adjusted for "
                        "the number of policies. The other pairs are in qa.analysis.json."
                    ),
                )
            )
        )
    return Section("results", "Accuracy", "Accuracy, official and synthetic apart", tuple(blocks))


def _reading(level: str, alpha: str) -> Terms:
    """What the statistics mean, and where they come from."""
    return Terms(
        (
            (
                "Exact-compatible interval",
                (
                    (
                        f"Fay and Lumbard (2021). It excludes zero exactly where the exact p is "
                        f"below {alpha}, and never shrinks to a point."
                    ),
                ),
            ),
            (
                "Bootstrap interval",
                (
                    (
                        f"The {level} percentile interval of the published statistics. With few "
                        "cases it is too short."
                    ),
                ),
            ),
            (
                "Exact McNemar p",
                (
                    (
                        "How often a split of the discordant cases at least this uneven would come "
                        "about if each were as likely to fall to one policy as to the other."
                    ),
                ),
            ),
            (
                "Mid-p",
                ("The same, less conservative; it does not guarantee its level.",),
            ),
        )
    )


def _accuracy_table(pairs: tuple[Pair, ...], suite: str) -> DataTable:
    first = pairs[0].suite(suite).at("first")
    policies = [(pairs[0].first, first)]
    policies += [(pair.second, pair.suite(suite).at("second")) for pair in pairs]
    level = level_text(pairs[0].alpha)
    return DataTable(
        caption=(f"{SUITE_NAMES[suite]}: correct answers by policy",),
        columns=(
            Column("Policy"),
            Column("Correct", numeric=True),
            Column("Cases", numeric=True),
            Column("Accuracy", numeric=True),
            Column(f"{level} Wilson interval", numeric=True),
        ),
        rows=tuple(
            (
                text_cell(policy),
                number_cell(node.at("correct").count()),
                number_cell(node.at("cases").count()),
                number_cell(node.at("accuracy").percent()),
                interval_cell(node.at("lower").percent(), node.at("upper").percent()),
            )
            for policy, node in policies
        ),
        sortable=len(policies) > 2,
    )


def _paired_table(pair: Pair, suite: str) -> DataTable:
    node = pair.suite(suite)
    counts = node.at("mcnemar")
    cases = node.at("cases").whole()
    first, second = node.at("first", "correct"), node.at("second", "correct")
    return DataTable(
        caption=(f"{SUITE_NAMES[suite]}: cases by outcome under {pair.first} and {pair.second}",),
        columns=(
            Column(""),
            Column(f"{pair.second} correct", numeric=True),
            Column(f"{pair.second} wrong", numeric=True),
            Column("Total", numeric=True),
        ),
        rows=(
            (
                text_cell(f"{pair.first} correct"),
                number_cell(counts.at("both_correct").count()),
                number_cell(counts.at("only_first_correct").count()),
                number_cell(first.count()),
            ),
            (
                text_cell(f"{pair.first} wrong"),
                number_cell(counts.at("only_second_correct").count()),
                number_cell(counts.at("both_wrong").count()),
                number_cell(_computed(cases - first.whole())),
            ),
            (
                text_cell("Total"),
                number_cell(second.count()),
                number_cell(_computed(cases - second.whole())),
                number_cell(node.at("cases").count()),
            ),
        ),
    )


def _statistics(pair: Pair, suite: str) -> DataTable:
    node = pair.suite(suite)
    level = level_text(pair.alpha)
    exact, bootstrap = interval(node.at("difference")), interval(node.at("bootstrap"))
    return DataTable(
        caption=(f"{SUITE_NAMES[suite]}: {pair.second} minus {pair.first}",),
        columns=(Column("Quantity"), Column("Value", numeric=True)),
        rows=(
            (
                text_cell("Difference, points"),
                number_cell(node.at("difference", "difference").points()),
            ),
            (
                text_cell(f"{level} interval, exact-compatible"),
                interval_cell(exact[0].points(), exact[1].points()),
            ),
            (
                text_cell(f"{level} interval, bootstrap"),
                interval_cell(bootstrap[0].points(), bootstrap[1].points()),
            ),
            (
                text_cell("Exact McNemar p"),
                number_cell(node.at("mcnemar", "p_value").p_value(pair.alpha)),
            ),
            (
                text_cell("Mid-p McNemar p"),
                number_cell(node.at("midp_mcnemar", "p_value").p_value(pair.alpha)),
            ),
        ),
    )


def forest_section(pairs: tuple[Pair, ...]) -> Section:
    """The differences by suite and scenario, drawn and listed."""
    intro = Paragraph(
        (
            (
                "Where an interval crosses zero, the exact test of that line alone finds no "
                "difference. p-values of scenarios are also given adjusted by Holm for the number "
                "of scenarios."
            ),
        )
    )
    figures = tuple(_forest(pair, alone=len(pairs) == 1) for pair in pairs)
    return Section(
        "differences", "Differences", "Differences by suite and scenario", (intro, *figures)
    )


def _forest(pair: Pair, *, alone: bool) -> Figure:
    lines = tuple(statistics_lines(pair))
    level = level_text(pair.alpha)
    title = "Differences in accuracy" if alone else f"Differences in accuracy: {pair.label}"
    return Figure(
        id=f"forest-{pair.index}",
        title=title,
        description=(
            f"A forest plot. Each line gives the accuracy of {pair.second} minus that of "
            f"{pair.first}, in percentage points, with its {level} exact-compatible interval; "
            "the table holds the same numbers."
        ),
        plot=ForestPlot(
            tuple(
                ForestRow(
                    label,
                    node.at("difference", "difference").real(),
                    node.at("difference", "lower").real(),
                    node.at("difference", "upper").real(),
                    major,
                )
                for label, node, major in lines
            ),
            left=pair.first,
            right=pair.second,
        ),
        table=DataTable(
            caption=(f"{pair.second} minus {pair.first}, by suite and scenario",),
            columns=(
                Column("Cases of"),
                Column("Cases", numeric=True),
                Column("Difference, points", numeric=True),
                Column(f"{level} interval", numeric=True),
                Column("Exact p", numeric=True),
                Column("Holm p", numeric=True),
            ),
            rows=tuple(_forest_cells(label, node, pair.alpha) for label, node, _ in lines),
            sortable=True,
        ),
    )


def statistics_lines(pair: Pair) -> Iterator[tuple[str, Node, bool]]:
    """Yield label, place and whether it is a suite: each suite, then its scenarios."""
    scenarios = list(pair.node.at("scenarios").items())
    for suite in pair.suites:
        yield SUITE_NAMES[suite], pair.suite(suite), True
        own = {
            node.at("scenario").text(): node
            for node in scenarios
            if suite_of(node.at("source").text()) == suite
        }
        for scenario in in_order(own):
            yield scenario_label(scenario), own[scenario], False


def _forest_cells(label: str, node: Node, alpha: float) -> tuple[Cell, ...]:
    lower, upper = interval(node.at("difference"))
    adjusted = "holm_p_value" in node.keys()  # noqa: SIM118 - a place, not a mapping
    return (
        text_cell(label),
        number_cell(node.at("cases").count()),
        number_cell(node.at("difference", "difference").points()),
        interval_cell(lower.points(), upper.points()),
        number_cell(node.at("mcnemar", "p_value").p_value(alpha)),
        number_cell(node.at("holm_p_value").p_value(alpha))
        if adjusted
        else text_cell(UNSAID, sort=2),
    )


def in_order(scenarios: Iterable[str]) -> list[str]:
    """Sort scenarios as the protocol's table has them; others follow by name."""
    known = list(SCENARIOS)
    return sorted(
        scenarios, key=lambda name: (known.index(name) if name in known else len(known), name)
    )


def _computed(value: int) -> Number:
    return Number(count_text(value), value)
