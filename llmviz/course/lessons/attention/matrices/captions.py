"""What is said of the steps of a head, of a right model and of one with a mistake."""

import math

from llmviz.course.lessons.attention.matrices import words
from llmviz.course.ui.matrix_picture import Scale, scale_of

SQUARE = ("scaled", "masked", "softmax", "weights", "dropped", "context")


def square_captions(scale: Scale, d: int, before: str | None) -> dict[str, str]:
    """Return what is said of each step from the scaled scores to the context.

    d: the head's size. before: the softmax taken before the mask, as in `attention`.
    """
    say, (factor, written) = words.steps, scale
    captions = {name: say[name] for name in SQUARE}
    right = math.isclose(factor, scale_of(d)[0])
    scaled = "scaled" if right else "not scaled" if factor == 1 else "scaled by width"
    captions["scaled"] = say[scaled].format(scale=written)
    if before is not None:
        captions["weights"] = say[f"weights {before}"]
    if before in ("leave", "renormalise"):
        captions["masked"] = say["masked shares"]
    return captions
