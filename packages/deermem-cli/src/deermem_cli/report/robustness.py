"""How far the result can be trusted: a stricter grader, what is detectable, how answers came."""

from __future__ import annotations

from collections.abc import Iterator

from . import words
from .document import Block, Cell, Column, DataTable, Paragraph, Section
from .node import Node
from .numbers import level_text
from .pairs import SUITE_NAMES, Pair, interval
from .results import UNSAID, interval_cell, number_cell, statistics_lines, text_cell
from .run_files import QAFiles
from .visible import label, name

_TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens")


def stricter_section(pairs: tuple[Pair, ...]) -> Section:
    """Whether each conclusion survives where fewer rules count as correct."""
    rules = ", ".join(
        name(rule.text()) for rule in pairs[0].node.at("stricter_grader", "rules").items()
    )
    blocks: list[Block] = [
        Paragraph(
            (
                (
                    "The grader also accepts answers that overlap with the reference or fall "
                    "into its range. Were those wrong and only these rules right, this would be "
                    f"found: {rules}."
                ),
            )
        )
    ]
    for pair in pairs:
        blocks.append(
            Paragraph(
                tuple(
                    part
                    for index, suite in enumerate(pair.suites)
                    for part in ((" ",) if index else ()) + words.stricter(pair, suite)
                )
            )
        )
        blocks.append(_stricter_table(pair))
    return Section(
        "stricter",
        "Stricter grader",
        "Does the conclusion survive a stricter grader?",
        tuple(blocks),
    )


def _stricter_table(pair: Pair) -> DataTable:
    return DataTable(
        caption=(f"{pair.second} minus {pair.first}, as graded and with the stricter grader",),
        columns=(
            Column("Suite"),
            Column("As graded, points", numeric=True),
            Column("Exact p", numeric=True),
            Column("Stricter, points", numeric=True),
            Column(f"{level_text(pair.alpha)} interval", numeric=True),
            Column("Exact p", numeric=True),
            Column("Conclusion"),
        ),
        rows=tuple(_stricter_row(pair, suite) for suite in pair.suites),
    )


def _stricter_row(pair: Pair, suite: str) -> tuple[Cell, ...]:
    graded, strict = pair.suite(suite), pair.node.at("stricter_grader", "suites", suite)
    lower, upper = interval(strict.at("difference"))
    return (
        text_cell(SUITE_NAMES[suite]),
        number_cell(graded.at("difference", "difference").points()),
        number_cell(graded.at("mcnemar", "p_value").p_value(pair.alpha)),
        number_cell(strict.at("difference", "difference").points()),
        interval_cell(lower.points(), upper.points()),
        number_cell(strict.at("mcnemar", "p_value").p_value(pair.alpha)),
        text_cell("stands" if strict.at("conclusion_holds").boolean() else "does not stand"),
    )


def detectable_section(pairs: tuple[Pair, ...]) -> Section:
    """What this many cases can detect, by suite and scenario."""
    pair = pairs[0]
    blocks: list[Block] = [
        Paragraph(words.detectable(pair.suite(suite), pair.alpha))
        for suite in pair.suites
        if suite != "overall"
    ]
    blocks.extend(_detectable_table(each, alone=len(pairs) == 1) for each in pairs)
    return Section(
        "power", "Detectable differences", "What this many cases can detect", tuple(blocks)
    )


def _detectable_table(pair: Pair, *, alone: bool) -> DataTable:
    lines = [(label, node) for label, node, _ in statistics_lines(pair)]
    power = lines[0][1].at("smallest_detectable_difference", "one_sided", "power").real()
    return DataTable(
        caption=(
            f"Smallest true difference detected with {100 * power:.10g}% power"
            + ("" if alone else f": {pair.label}"),
        ),
        columns=(
            Column("Cases of"),
            Column("Cases", numeric=True),
            Column("All flips one way, points", numeric=True),
            Column("With the losses observed, points", numeric=True),
        ),
        rows=tuple(
            (
                text_cell(label),
                number_cell(node.at("cases").count()),
                _detectable_cell(node.at("smallest_detectable_difference", "one_sided")),
                _detectable_cell(node.at("smallest_detectable_difference", "observed_losses")),
            )
            for label, node in lines
        ),
        note=(
            (
                "All flips one way: no case is lost by the better policy, the easiest to detect. "
                "With the losses observed: as many are lost as the rarer of the two flips was "
                "here. None: even the largest possible difference is found less often."
            ),
        ),
        sortable=True,
    )


def _detectable_cell(node: Node) -> Cell:
    if node.value is None or node.at("difference").value is None:
        return text_cell("none", sort=2.0)
    return number_cell(node.at("difference").size())


def answers_section(qa: QAFiles) -> Section:
    """Attempts, truncations and tokens."""
    groups = list(qa.analysis.at("answers").items())
    counters = {key for group in groups for key in group.at("usage").keys()}  # noqa: SIM118
    named = [key for key in _TOKENS if key in counters]
    others = sorted(counters - set(_TOKENS))
    blocks: list[Block] = [Paragraph(tuple(_answers_intro(qa, groups)))]
    blocks.append(
        DataTable(
            caption=("How the answers came, and the tokens they took",),
            columns=(
                Column("Suite"),
                Column("Policy"),
                Column("Answers", numeric=True),
                Column("Attempts", numeric=True),
                Column("Retried", numeric=True),
                Column("Truncated", numeric=True),
                Column("Empty", numeric=True),
                *(Column(_counter_label(key), numeric=True) for key in named + others),
            ),
            rows=tuple(_answers_row(qa, group, named + others) for group in groups),
            note=() if counters else ("The provider reported no token counts.",),
            sortable=True,
        )
    )
    return Section("answers", "Tokens and attempts", "Tokens, attempts, truncations", tuple(blocks))


def _answers_intro(qa: QAFiles, groups: list[Node]) -> Iterator[str]:
    yield (
        "One answer per question and policy, as the provider gave it; a truncated one was cut off "
        "at the token limit and is graded as it stands."
    )
    if qa.analysis_is_computed:
        yield " This run was published without saying which answers were truncated."
    elif any(group.at("truncated").whole() for group in groups):
        yield " Truncated answers are here: read the difference with that in mind."


def _answers_row(qa: QAFiles, group: Node, counters: list[str]) -> tuple[Cell, ...]:
    usage = group.at("usage")
    unsaid = text_cell(UNSAID, sort=-1.0)
    return (
        text_cell(SUITE_NAMES[group.at("suite").text()]),
        text_cell(label(group.at("policy").text())),
        *(number_cell(group.at(key).count()) for key in ("cases", "attempts", "retried")),
        unsaid if qa.analysis_is_computed else number_cell(group.at("truncated").count()),
        number_cell(group.at("empty").count()),
        *(number_cell(usage.at(key).count()) if key in usage.value else unsaid for key in counters),
    )


def _counter_label(key: str) -> str:
    text = name(key).replace("_", " ")
    return text[:1].upper() + text[1:]
