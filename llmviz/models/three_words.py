"""An example of three words that can be followed by hand: one layer, four numbers a word.

Lessons show the same numbers as long as the learner changes none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.gpt import GPT

TOKENS = ("The", "cat", "sat")
# Rows are parted by semicolons: X, token plus position, then W_Q, W_K, W_V as X multiplies them.
MATRICES = {
    "x": "0.1,0.4,0.5,0.7;0.2,0.4,0.5,0.6;0.15,0.25,0.5,0.2",
    "wq": "0.5,0.1,0,0.3;0.4,0.2,0.1,0;0.3,0.3,0.3,0.3;0.2,0.1,0.5,0.4",
    "wk": "0.1,0.4,0,0;0,0.5,0.2,0.1;0.3,0,0.3,0.3;0.2,0.2,0.1,0",
    "wv": "0.2,0.1,0,0;0,0.3,0.5,0;0.1,0.1,0.1,0.4;0,0.2,0.1,0.1",
}
# The feed-forward network widens four numbers to eight, as that of a model widens its stream; both
# signs, so that ReLU has something to set to 0.
UP = (
    "0.5,-0.4,0.1,-0.6,0.3,-0.2,0.4,-0.1;0.2,0.6,-0.5,0.3,-0.1,0.4,-0.3,0.2;"
    "-0.3,0.1,0.6,0.2,0.5,-0.6,0.1,-0.4;0.1,-0.2,0.3,0.5,-0.4,0.6,-0.5,0.3"
)
DOWN = (
    "0.2,0.4,-0.6,0.1;0.1,-0.3,0.5,0.2;0,0.2,0.4,-0.6;0.3,-0.1,0.2,0.5;"
    "-0.4,0.6,0.1,0.3;0.5,0.1,-0.2,0.4;0.6,-0.5,0.3,0;-0.2,0.3,0.1,0.6"
)


def matrix(written: str) -> Tensor:
    """Return a matrix of this module as float32.

    >>> matrix("1,2;3,4").shape
    torch.Size([2, 2])
    """
    import torch

    return torch.tensor([[float(cell) for cell in row.split(",")] for row in written.split(";")])


def three_words(norm: str = "pre", *, residual: bool = True) -> GPT:
    """Return a GPT of one layer that reads the ids 0, 1, 2 as the three words.

    One head, ReLU, no biases; with one head there is nothing to mix, so W_O hands it on unchanged.
    norm, residual: as in `GPTConfig`; norms begin with a scale of 1.
    """
    import torch

    from llmviz.models.gpt import GPT, GPTConfig

    up, down = matrix(UP), matrix(DOWN)
    model = GPT(
        GPTConfig(
            vocab_size=len(TOKENS),
            context_length=len(TOKENS),
            n_layer=1,
            n_head=1,
            n_embd=len(up),
            hidden_size=len(down),
            activation="relu",
            positions="none",
            qkv_bias=False,
            bias=False,
            norm=norm,
            residual=residual,
        )
    )
    block = model.blocks[0]
    weights = {
        model.token.weight: matrix(MATRICES["x"]),
        block.attn.qkv.weight: torch.cat([matrix(MATRICES[name]).T for name in ("wq", "wk", "wv")]),
        block.attn.projection.weight: torch.eye(len(up)),
        block.feed_forward.hidden.weight: up.T,
        block.feed_forward.output.weight: down.T,
    }
    with torch.no_grad():
        for weight, values in weights.items():
            weight.copy_(values)
    return model.eval().requires_grad_(False)
