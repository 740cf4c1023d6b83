"""The discordant cases: where one policy's answer is correct and the other's is not."""

from __future__ import annotations

from collections import Counter

from deermem_qa import GradedRow

from .document import (
    Answer,
    Block,
    Cell,
    Code,
    Column,
    DataTable,
    Heading,
    Number,
    Paragraph,
    Section,
    Terms,
)
from .numbers import count_text
from .pairs import Pair, scenario_label, suite_of
from .results import text_cell
from .run_files import QAFiles
from .visible import fitting, name

# How much of one prediction is shown, and of all of them together, in characters.
PREDICTION_LIMIT = 1000
_PREDICTION_MINIMUM = 200
_PREDICTION_TOTAL = 400_000

CAUSES = {
    "support-evicted": "the policy that answered wrongly had evicted the support fact",
    "abstained-with-support": "the support fact was kept, yet the model did not answer",
    "wrong-with-support": "the support fact was kept, yet the answer was graded wrong",
}


def cases_section(pairs: tuple[Pair, ...], qa: QAFiles) -> Section:
    """Every discordant case with both answers and its cause."""
    discordant = sum(len(pair.node.at("discordant").value) for pair in pairs)
    limit = prediction_limit(2 * discordant)
    blocks: list[Block] = [
        Paragraph(
            (
                (
                    "These cases alone decide the test: in all others both answers were graded "
                    "alike. The support fact is the one that answers the question."
                ),
            )
        )
    ]
    for pair in pairs:
        if len(pairs) > 1:
            blocks.append(Heading((pair.label,)))
        blocks.extend(_pair_blocks(pair, qa, limit))
    return Section("cases", "Discordant cases", "Every case where the answers part", tuple(blocks))


def _pair_blocks(pair: Pair, qa: QAFiles, limit: int) -> list[Block]:
    nodes = list(pair.node.at("discordant").items())
    if not nodes:
        return [Paragraph(("There is none: no case tells the two policies apart.",))]
    causes = Counter(node.at("cause").text() for node in nodes)
    rows = []
    for node in nodes:
        case_id = node.at("case_id").text()
        first, second = (qa.row(case_id, p) for p in (pair.first_policy, pair.second_policy))
        rows.append(
            (
                text_cell(Code(name(case_id))),
                text_cell(
                    f"{scenario_label(node.at('scenario').text())}, "
                    f"{suite_of(node.at('source').text())}"
                ),
                answer_cell(first, limit),
                answer_cell(second, limit),
                text_cell(name(node.at("cause").text()).replace("-", " ")),
            )
        )
    return [
        Terms(
            tuple(
                (
                    name(cause).replace("-", " "),
                    (
                        Number(count_text(count), count),
                        f" case{'' if count == 1 else 's'}: {CAUSES.get(cause, 'another cause')}",
                    ),
                )
                for cause, count in sorted(causes.items(), key=lambda item: (-item[1], item[0]))
            )
        ),
        DataTable(
            caption=(
                "Discordant cases: ",
                Number(count_text(len(rows)), len(rows)),
                f", {pair.label}",
            ),
            columns=(
                Column("Case"),
                Column("Scenario"),
                Column(f"Answer under {pair.first}", width=26),
                Column(f"Answer under {pair.second}", width=26),
                Column("Cause"),
            ),
            rows=tuple(rows),
            sortable=True,
            stacked=True,
        ),
    ]


def prediction_limit(answers: int) -> int:
    """How many characters of each prediction are shown, where there are so many of them."""
    return max(_PREDICTION_MINIMUM, min(PREDICTION_LIMIT, _PREDICTION_TOTAL // max(1, answers)))


def answer_cell(row: GradedRow, limit: int) -> Cell:
    """An answer: its verdict, its rule, whether the support fact was kept, and its prediction."""
    prediction = fitting(row.prediction, limit)
    return Cell(
        answer=Answer(
            correct=row.grade_correct,
            rule=name(row.grade_rule),
            support_kept=row.support_all_retained,
            prediction=prediction,
            omitted=len(row.prediction) - len(prediction),
        ),
        sort=f"{int(row.grade_correct)} {name(row.grade_rule)}",
    )
