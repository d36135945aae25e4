"""The question of chapter "Step by step": a weight that is hidden."""

from __future__ import annotations

from torch import Tensor

from llmviz.nn.attention.steps import AttentionSteps
from llmviz.ui import components as lv
from llmviz.ui.lesson import Question, fold, predict
from llmviz.ui.lessons.attention import words
from llmviz.ui.lessons.attention.sources import Inputs
from llmviz.ui.prose import prose, quote

KEY = "attention.hidden"
TELLING = 0.35  # the weight nearest to this is hidden: neither nothing nor everything


def draw(inputs: Inputs, steps: AttentionSteps) -> None:
    """Offer the last token's row of the weights with a cell hidden, and ask for it."""
    if len(inputs.tokens) < 2:
        return
    box = fold(words.ladder.HIDDEN_TITLE, f"{KEY}.fold", ":material/quiz:")
    if box is not None:
        with box:
            _ask(inputs, steps)


def _ask(inputs: Inputs, steps: AttentionSteps) -> None:
    weights = steps.weights.reshape(-1, *steps.weights.shape[-2:])[0]
    masked = steps.masked.reshape(-1, *steps.masked.shape[-2:])[0]
    row = len(inputs.tokens) - 1
    column = int((weights[row] - TELLING).abs().argmin())
    reasons = _reasons(weights, masked, row, column)
    if len(reasons) < 3:
        prose(words.ladder.HIDDEN_NONE)
        return
    names = {
        "row_labels": inputs.tokens[-1:],
        "col_labels": inputs.tokens,
        "row_axis": words.WHO_ASKS,
        "col_axis": words.WHO_IS_ASKED,
    }
    given, asked = "softmax gets", "weights"
    lv.matrix_view(
        [
            lv.Matrix(given, masked[row:].numpy(), **names),
            lv.Matrix(
                asked,
                weights[row:].numpy(),
                role="weights",
                limit=1.0,
                op=lv.softmax_rows(given),
                hidden=[(0, column)],
                **names,
            ),
        ],
        layout=[[given], [asked]],
        key=KEY,
    )
    right = f"{weights[row, column]:.3f}"
    answers = sorted(reasons, key=float)
    who, whom = quote(inputs.tokens[row]), quote(inputs.tokens[column])
    allowed = int(masked[row].isfinite().sum())
    predict(
        Question(
            words.ladder.ASK_CELL.format(who=who, whom=whom),
            [_minus(answer) for answer in answers],
            answers.index(right),
            [reasons[answer].format(value=_minus(answer), count=allowed) for answer in answers],
        ),
        f"{KEY}.ask",
    )


def _minus(number: str) -> str:
    return number.replace("-", "−")


def _reasons(weights: Tensor, masked: Tensor, row: int, column: int) -> dict[str, str]:
    """Return answers as numbers, each with the reason why it is right or how one comes to it."""
    allowed = int(masked[row].isfinite().sum())
    raised = masked.exp()
    right = f"{weights[row, column]:.3f}"
    reasons = {
        f"{masked[row, column]:.3f}": words.ladder.ASK_CELL_SCORE,
        f"{1 / allowed:.3f}": words.ladder.ASK_CELL_EVEN,
        f"{raised[row, column] / raised[:, column].sum():.3f}": words.ladder.ASK_CELL_COLUMN,
    }
    return reasons | {right: words.ladder.ASK_CELL_RIGHT}
