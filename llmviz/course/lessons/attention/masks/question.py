"""The question of chapter "Masks": which mask a pattern of weights comes from."""

import numpy as np

from llmviz.course import components as lv
from llmviz.course.lessons.attention.masks import words
from llmviz.course.lessons.attention.masks.model import even_weights, mask_of
from llmviz.course.ui import kit, matrix_words

KEY = "attention.masks"


def draw(state: kit.PageState, t: int) -> None:
    """Ask which mask was laid over even scores; t: how many tokens stand above."""
    quiz, weights = pattern(t, state["mask"], state["seed"])
    labels = [str(i) for i in range(len(weights))]
    square = {"row_labels": labels, "col_labels": labels}
    axes = {"row_axis": matrix_words.ASKING_AXIS, "col_axis": matrix_words.ASKED_AXIS}
    lv.matrix_view(
        [lv.Matrix("weights", weights, role="weights", limit=1.0, **square, **axes)],
        key=f"{KEY}.ask",
    )
    kit.predict(quiz, f"{KEY}.which")


def pattern(t: int, above: str, seed: int) -> tuple[kit.Question, np.ndarray]:
    """Return the question and the weights (T, T) that it is about: even scores under one mask.

    t: about as many tokens. above: the mask in force on the page, which is never asked for.
    """
    t = max(4, min(t, 6))
    offered = [name for name in words.ask_mask_answers if name != above]
    wanted = offered[(seed + 2 * t) % len(offered)]
    real = t - 2
    lines = {name: line.format(real=real) for name, (line, _) in words.ask_mask_answers.items()}
    reasons = {lines[name]: why for name, (_, why) in words.ask_mask_answers.items()}
    question = kit.Question.among(words.ask_mask, reasons, lines[wanted], count=t, real=real)
    return question, even_weights(mask_of(wanted, t, window=2, real=real), t)
