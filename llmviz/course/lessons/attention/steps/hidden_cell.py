"""The question of chapter "Step by step": a weight that is covered in the picture."""

from dataclasses import dataclass, replace

from torch import Tensor

from llmviz.course.lessons.attention.steps import words
from llmviz.course.lessons.attention.steps.rungs import Rung
from llmviz.course.ui import kit
from llmviz.course.ui.matrix_picture import Picture

KEY = "attention.hidden.ask"
LEAST = 0.01  # a weight below is not worth a question
NEAR = 0.004  # a wrong answer this near the right one is a matter of rounding, and not offered
TELLING = 0.35  # the weight nearest to this is covered: neither nothing nor everything


@dataclass(frozen=True)
class Hidden:
    """The question and the cell that it asks for."""

    question: kit.Question
    row: int
    column: int


def hidden(rung: Rung) -> Hidden | None:
    """Return what is asked for of a rung; None where nothing in its last row tells something.

    Never the largest share of the row: that one is said in words.
    """
    tokens = rung.inputs.tokens
    drawn = [matrix.name for matrix in rung.picture.matrices]
    if len(tokens) < 3 or any(name.startswith("softmax") for name in drawn):
        return None
    weights = rung.steps.weights.reshape(-1, *rung.steps.weights.shape[-2:])[0]
    masked = rung.steps.masked.reshape(-1, *rung.steps.masked.shape[-2:])[0]
    row = len(tokens) - 1
    far = (weights[row] - TELLING).abs()
    far[weights[row].argmax()] = 1.0
    column = int(far.argmin())
    if weights[row, column] < LEAST:
        return None
    reasons = _reasons(weights, masked, row, column)
    if len(reasons) < 3:
        return None
    right = f"{weights[row, column]:.3f}"
    allowed = int(masked[row].isfinite().sum())
    name = next(name for name in drawn if name.startswith("weights"))
    question = kit.Question.among(
        words.ask_cell,
        {value: why.format(value=_minus(value), count=allowed) for value, why in reasons.items()},
        right,
        _minus,
        matrix=kit.quote(name),
        asking=kit.quote(tokens[row]),
        asked=kit.quote(tokens[column]),
    )
    return Hidden(question, row, column)


def covered(rung: Rung) -> Picture:
    """Return the picture of a rung with the cell covered until its question is answered."""
    cell = hidden(rung)
    if cell is None or kit.answered(cell.question, KEY):
        return rung.picture
    matrices = list(rung.picture.matrices)
    for kind in ("weights", "dropped"):
        for i, matrix in enumerate(matrices):
            if matrix.name.startswith(kind):
                matrices[i] = replace(matrix, hidden=[(cell.row, cell.column)])
                break
    return replace(rung.picture, matrices=matrices)


def draw(rung: Rung) -> bool:
    """Ask for the covered cell; return whether nothing is covered any more."""
    cell = hidden(rung)
    return cell is None or kit.predict(cell.question, KEY, covers=True)


def _minus(number: str) -> str:
    return number.replace("-", "−")


def _reasons(weights: Tensor, masked: Tensor, row: int, column: int) -> dict[str, str]:
    """Return answers as numbers, each with the reason why it is right or how one comes to it."""
    allowed = int(masked[row].isfinite().sum())
    raised = masked.exp()
    value = float(weights[row, column])
    reasons = {
        f"{masked[row, column]:z.3f}": words.ask_cell_score,
        f"{1 / allowed:.3f}": words.ask_cell_even,
        f"{raised[row, column] / raised[:, column].sum():.3f}": words.ask_cell_column,
    }
    apart = {text: why for text, why in reasons.items() if abs(float(text) - value) >= NEAR}
    return apart | {f"{value:.3f}": words.ask_cell_right}
