"""Where each matrix of a variant stands: examples as they multiply, a model's in bands."""

from itertools import zip_longest

from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.ui.matrix_picture import Names, Picture, turned

MAPS = ("scores", "scaled", "softmax", "mask", "masked", "weights", "kept", "dropped")
ACROSS = 4  # heads that stand beside each other


def one_head(picture: Picture, inputs: Inputs) -> Names:
    """The projections in columns on the left, the maps of a head in the order of the steps."""
    names = [matrix.name for matrix in picture.matrices]
    maps = [name for name in names if name in MAPS]
    if not inputs.name:
        left_of: Names = [["X", "W_Q", "Q"], [None, "W_K", "K"], [None, "W_V", "V"]]
        rows = [[*row, name] for row, name in zip(left_of, [*maps, "context"], strict=False)]
        rest = [*maps, "context"][3:]
        return [*rows, [None] * (4 - len(rest)) + rest] if rest else rows
    # What has a row for each token on the left, what has a cell for each pair on the right.
    top: Names = [["X", "W_Q", "W_K", "W_V"]]
    left: list[str | None] = ["Q", "K", "V"]
    if "angle" in names:
        top.append(["angle", "Q", "K", None])
        left = [turned("Q"), turned("K"), "V"]
    left += [None] * (len(maps) - 1 - len(left)) + ["context"]
    return top + [[a, b, b, b] for a, b in zip_longest(left, maps)]


def many_heads(picture: Picture, inputs: Inputs, last: list[str], marks: list[str]) -> Names:
    """Small matrices one head below the other, large ones a column for each head."""
    maps = ("scores", "scaled", "masked"), ("weights", "context")
    if not inputs.name:
        rows: Names = [["X", "W_Q", "Q"], [None, "W_K", "K"], [None, "W_V", "V"]]
        for mark in marks:
            rows += [[f"{name}{mark}" for name in names] for names in (("Q", "K", "V"), *maps)]
        return [*rows, [*last]]
    names = {matrix.name for matrix in picture.matrices}
    rows = [["X", "W_Q", "W_K", "W_V"], ["angle" if "angle" in names else None, "Q", "K", "V"]]
    kinds = ["Q{}", "K{}", "V{}", turned("Q{}"), turned("K{}")]
    kinds += [f"{name}{{}}" for name in ("scores", "scaled", "softmax", "masked", *maps[1])]
    for first in range(0, len(marks), ACROSS):
        band = marks[first : first + ACROSS]
        listed: Names = [[kind.format(mark) for mark in band] for kind in kinds]
        rows += [row for row in listed if row[0] in names]
    return [*rows, [*last]]
