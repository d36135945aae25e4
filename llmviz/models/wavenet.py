"""A window of tokens fused pair by pair, level by level, like a tree.

B batch, T time, W = 2^n_layer window, C = n_embd, F hidden width, V vocabulary.

Taps: embed, levels.0.linear, levels.0.norm, levels.0, …, logits.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.mlp import HiddenLayer, pad_left
from llmviz.models.settings import WaveNetConfig
from llmviz.nn.layers import ListOf
from llmviz.trace import Tap


class WaveNet(LanguageModel):
    """Level l joins nodes that stand 2^l tokens apart, so the last node has seen the window.

    All positions share the nodes that their trees have in common: level l's tensor is
    (B, T + W − 2^(l+1), F), and the tree of the last token takes every 2^(l+1)-th node of it
    from its end.

    Reference: van den Oord et al. 2016, "WaveNet", section 2.1. Deviation: neither gates nor skip
    connections; batch norm and tanh.
    """

    config: WaveNetConfig

    def __init__(self, config: WaveNetConfig):
        super().__init__(config)
        self.token = nn.Embedding(config.vocab_size + 1, config.n_embd)  # the last row is the pad
        widths = [config.n_embd] + [config.hidden_size] * config.n_layer
        self.levels = ListOf(
            HiddenLayer(2 * n_in, config.hidden_size, batch_norm=config.batch_norm)
            for n_in in widths[:-1]
        )
        self.head = nn.Linear(config.hidden_size, config.vocab_size)
        nn.init.normal_(self.head.weight, std=0.1 * config.hidden_size**-0.5)
        nn.init.zeros_(self.head.bias)
        self.tap_embed, self.tap_logits = Tap("embed"), Tap("logits")
        self.tap_levels = ListOf(Tap(f"levels.{i}") for i in range(config.n_layer))
        self.finish()

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) and the loss; see `LanguageModel`."""
        self.check_ids(idx)
        padded = pad_left(idx, self.config.window - 1, self.config.vocab_size)
        x = self.tap_embed(F.embedding(padded, self.token.weight))  # (B, T + W − 1, C)
        for i, (level, tap) in enumerate(zip(self.levels, self.tap_levels, strict=True)):
            pairs = torch.cat((x[:, : -(2**i)], x[:, 2**i :]), dim=-1)
            x = tap(level(pairs))  # (B, T + W − 2^(i+1), F)
        logits = self.tap_logits(self.head(x))  # (B, T, V)
        return logits, self.loss(logits, targets)
