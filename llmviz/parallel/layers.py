"""Some layers of a model, as a process of a pipeline has them.

B batch, T time, C width, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor, nn

from llmviz.models import GPT


class Layers(nn.Module):
    """Some layers of a GPT under the names that they have there; the first embeds, the last tells.

    Token ids (B, T), or the residual stream (B, T, C), to the residual stream, or logits (B, T, V).
    """

    def __init__(self, model: GPT, layers: range) -> None:
        super().__init__()
        first, last = layers.start == 0, layers.stop == len(model.blocks)
        self.token = model.token if first else None
        self.position = model.position if first else None
        self.blocks = nn.ModuleDict({str(number): model.blocks[number] for number in layers})
        self.norm_final = model.norm_final if last else None
        self.head = model.head if last else None
        self.visible = model.visible

    def forward(self, x: Tensor) -> Tensor:
        if self.token is not None and self.position is not None:
            x = self.token(x) + self.position.weight[: x.shape[1]]
        mask, causal = self.visible(x[..., 0])
        for block in self.blocks.values():
            x = block(x, mask, causal, None)
        if self.head is None or self.norm_final is None:
            return x
        return self.head(self.norm_final(x))
