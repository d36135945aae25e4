"""The question of chapter "Masks": which mask a pattern of weights comes from."""

from __future__ import annotations

import numpy as np
import torch

from llmviz import components as lv
from llmviz.lessons.attention.masks import words
from llmviz.nn.attention import (
    attention,
    causal_mask,
    causal_mask_off_by_one,
    padding_mask,
    sliding_window_mask,
)
from llmviz.ui import matrix_words
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState

KEY = "attention.masks"


def draw(state: PageState, t: int) -> None:
    """Ask which mask was laid over even scores; t: how many tokens stand above."""
    asked, weights = pattern(t, state["mask"], state["seed"])
    labels = [str(i) for i in range(len(weights))]
    square = {"row_labels": labels, "col_labels": labels}
    axes = {"row_axis": matrix_words.WHO_ASKS, "col_axis": matrix_words.WHO_IS_ASKED}
    lv.matrix_view(
        [lv.Matrix("weights", weights, role="weights", limit=1.0, **square, **axes)],
        key=f"{KEY}.ask",
    )
    predict(asked, f"{KEY}.which")


def pattern(t: int, above: str, seed: int) -> tuple[Question, np.ndarray]:
    """Return the question and the weights (T, T) that it is about: even scores under one mask.

    t: about as many tokens. above: the mask in force on the page, which is never asked for.
    """
    t = max(4, min(t, 6))
    options = list(words.ASK_MASK_ANSWERS)
    offered = [name for name in options if name != above]
    wanted = offered[(seed + 2 * t) % len(offered)]
    real = t - 2
    masks = {
        "causal": causal_mask(t),
        "none": torch.ones(t, t, dtype=torch.bool),
        "sliding": sliding_window_mask(t, 2),
        "padding": padding_mask([real], t)[0, 0].expand(t, t),
        "off_by_one": causal_mask_off_by_one(t),
    }
    even = torch.zeros(t, 1)
    question = Question(
        words.ASK_MASK.format(count=t),
        [words.ASK_MASK_ANSWERS[name][0].format(real=real) for name in options],
        options.index(wanted),
        [words.ASK_MASK_ANSWERS[name][1].format(real=real) for name in options],
    )
    return question, attention(even, even, even, masks[wanted]).weights.numpy()
