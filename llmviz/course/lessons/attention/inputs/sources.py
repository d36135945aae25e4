"""What attention starts from: tokens as vectors and matrices, here those of worked examples.

T time, C width, D head size, N = H·D.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from llmviz.course.lessons.attention.inputs import words
from llmviz.course.lessons.attention.params import DRAWN, MATRICES, parse_matrix
from llmviz.course.ui import kit
from llmviz.models.three_words import MATRICES as THREE_WORDS

# Of two heads: half their sum, half their difference.
CAT = THREE_WORDS | {"wo": "0.5,0,0.5,0;0,0.5,0,0.5;0.5,0,-0.5,0;0,0.5,0,-0.5"}
# Numbers that one can read: the columns are article, noun, verb, place. A verb asks for nouns.
ROLES = {
    "x": "1,0,0,0;0,1,0,1;0,0,1,2",
    "wq": "0,2,0,0;2,0,0,0;0,4,0,0;0,0,0,0",
    "wk": "1,0,0,0;0,1,0,0;0,0,1,0;0,0,0,0",
    "wv": "1,0,0,0;0,1,0,0;0,0,1,0;0,0,0,1",
    "wo": "1,0,0,0;0,1,0,0;0,0,1,0;0,0,0,1",
}
BY_HAND = {"roles": ROLES, "cat": CAT}
# X of "The cat sat" is a vector for each token plus a vector for each position.
CAT_TOKENS = "0,0.4,0.5,0.6;0.2,0.3,0.4,0.6;0.1,0.2,0.5,0.1"
CAT_POSITIONS = "0.1,0,0,0.1;0,0.1,0.1,0;0.05,0.05,0,0.1"
JOURNEY = {
    "Your": [0.43, 0.15, 0.89],
    "journey": [0.55, 0.87, 0.66],
    "starts": [0.57, 0.85, 0.64],
    "with": [0.22, 0.58, 0.33],
    "one": [0.77, 0.25, 0.10],
    "step": [0.05, 0.80, 0.55],
}
IDENTITY = "1,0,0;0,1,0;0,0,1"


@dataclass(frozen=True)
class Inputs:
    """What attention starts from: tokens as vectors, and the matrices of one head or of several.

    `x` (T, C); `w` are W_Q, W_K, W_V, each (C, N); `b` their biases (1, N), or None. `projection`
    is W_O (N, C) and its bias (1, C), or None. `name` and `ids` say which model read what; empty
    for an example. Of a model, `given` holds q, k, v (T, N) as its scores use them, and `output`
    (T, C) what the layer hands on. `angles` (T, D/2), in radians, say how far it turns queries and
    keys by their positions, and `speeds` (1, D/2) how far from one position to the next; `plain`
    holds them as they were before, (T, N) each; None where it does not turn them. `scale` is what
    scores are multiplied by and how that is written, None for the right one; `allowed` (T, T) is
    the model's own mask, None for none; `before` is the mistake that it makes with its softmax, as
    in `attention`. `place` is the layer and the head, None for all.
    """

    tokens: tuple[str, ...]
    x: Tensor
    w: tuple[Tensor, ...]
    b: tuple[Tensor, ...] | None = None
    projection: tuple[Tensor, Tensor | None] | None = None
    name: str = ""
    given: tuple[Tensor, ...] | None = None
    ids: tuple[int, ...] = ()
    output: Tensor | None = None
    angles: Tensor | None = None
    speeds: Tensor | None = None
    plain: tuple[Tensor, ...] | None = None
    scale: tuple[float, str] | None = None
    allowed: Tensor | None = None
    before: str | None = None
    place: tuple[int, int | None] = (0, None)

    def matrices(self) -> tuple[Tensor, Tensor, Tensor]:
        """W_Q, W_K and W_V."""
        q, k, v = self.w
        return q, k, v

    def qkv(self) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each (T, N)."""
        q, k, v = self.given or (self.x @ w for w in self.w)
        return q, k, v


def tensor(written: str) -> Tensor:
    """Return a matrix that stands in a link."""
    return torch.tensor(parse_matrix(written), dtype=torch.float64)


def journey_tokens(written: str) -> list[str]:
    """Return the words typed for the example with six words.

    Raises ValueError: a word has no vector there, or there are too few or too many.
    """
    typed = written.split()
    if not 1 <= len(typed) <= DRAWN:
        raise ValueError(words.journey_count.format(most=DRAWN, count=len(typed)))
    for word in typed:
        if word not in JOURNEY:
            known = ", ".join(JOURNEY)
            raise ValueError(words.journey_unknown.format(word=word[:40], known=known))
    return typed


def own_matrices(state: kit.PageState) -> dict[str, str]:
    """Return the matrices of the chosen example as text, before they are edited."""
    if by_hand := BY_HAND.get(state["source"]):
        return dict(by_hand)
    rows = [JOURNEY[word] for word in journey_tokens(state["words"])]
    text = ";".join(",".join(f"{value:g}" for value in row) for row in rows)
    return {"x": text} | dict.fromkeys(MATRICES[1:], IDENTITY)


def example(state: kit.PageState) -> Inputs:
    """Return the chosen example with the learner's edits.

    Raises ValueError: unknown words, or matrices whose shapes do not fit.
    """
    own = own_matrices(state)
    by_hand = state["source"] in BY_HAND
    tokens = words.cat.split() if by_hand else journey_tokens(state["words"])
    matrices = {key: tensor(state[key] or own[key]) for key in MATRICES}
    rows, width = tensor(own["x"]).shape
    for key in MATRICES:
        wanted = (rows if key == "x" else width, width)
        if matrices[key].shape != wanted:
            raise ValueError(
                words.shape.format(
                    name=words.matrix_names[key],
                    rows=wanted[0],
                    columns=wanted[1],
                    found="×".join(map(str, matrices[key].shape)),
                )
            )
    return Inputs(
        tuple(tokens),
        matrices["x"],
        (matrices["wq"], matrices["wk"], matrices["wv"]),
        projection=(matrices["wo"], None),
    )
