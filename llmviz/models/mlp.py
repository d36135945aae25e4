"""A fixed window of tokens through one hidden layer.

B batch, T time, W window, C = n_embd, F hidden width, V vocabulary.

Taps: embed, window, layers.0.linear, layers.0.norm, layers.0, logits.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.settings import MLPConfig
from llmviz.nn.layers import BatchNorm, ListOf
from llmviz.trace import Tap


class HiddenLayer(nn.Module):
    """Linear, batch norm, tanh (or relu): (B, T, in) to (B, T, out)."""

    def __init__(self, n_in: int, n_out: int, activation: str = "tanh", *, batch_norm: bool):
        super().__init__()
        self.activation = {"tanh": torch.tanh, "relu": torch.relu}[activation]
        self.linear = nn.Linear(n_in, n_out, bias=not batch_norm)  # the norm has its own shift
        nn.init.normal_(self.linear.weight, std=5 / 3 * n_in**-0.5)
        self.norm = BatchNorm(n_out) if batch_norm else nn.Identity()
        self.tap_linear, self.tap_norm = Tap("linear"), Tap("norm")

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.tap_norm(self.norm(self.tap_linear(self.linear(x)))))


def pad_left(idx: Tensor, n: int, pad_id: int) -> Tensor:
    """n pads before each row: (B, T) to (B, n + T)."""
    return F.pad(idx, (n, 0), value=pad_id)


class MLP(LanguageModel):
    """The embeddings of the last W tokens side by side, then hidden layers, then a head.

    One more embedding than the vocabulary has stands for "before the text" and is learned.
    With batch norm, a training pass mixes the positions of a batch; an evaluating one does not.

    Reference: Bengio et al. 2003, "A Neural Probabilistic Language Model", eq. 1. Deviation: no
    direct connections from the embeddings to the logits; batch norm (Ioffe, Szegedy 2015).
    """

    config: MLPConfig

    def __init__(self, config: MLPConfig):
        super().__init__(config)
        self.token = nn.Embedding(config.vocab_size + 1, config.n_embd)  # the last row is the pad
        widths = [config.window * config.n_embd] + [config.hidden_size] * config.n_layer
        self.layers = ListOf(
            HiddenLayer(
                n_in, config.hidden_size, config.hidden_activation, batch_norm=config.batch_norm
            )
            for n_in in widths[:-1]
        )
        self.head = nn.Linear(config.hidden_size, config.vocab_size)
        nn.init.normal_(self.head.weight, std=0.1 * config.hidden_size**-0.5)
        nn.init.zeros_(self.head.bias)
        self.tap_embed, self.tap_window, self.tap_logits = (
            Tap("embed"),
            Tap("window"),
            Tap("logits"),
        )
        self.tap_layers = ListOf(Tap(f"layers.{i}") for i in range(config.n_layer))
        self.finish()

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) and the loss; see `LanguageModel`."""
        self.check_ids(idx)
        config = self.config
        padded = pad_left(idx, config.window - 1, config.vocab_size)
        x = self.tap_embed(F.embedding(padded, self.token.weight))  # (B, W − 1 + T, C)
        x = x.unfold(1, config.window, 1).transpose(2, 3)  # (B, T, W, C)
        x = self.tap_window(x.flatten(2))  # (B, T, W·C)
        for layer, tap in zip(self.layers, self.tap_layers, strict=True):
            x = tap(layer(x))  # (B, T, F)
        logits = self.tap_logits(self.head(x))
        return logits, self.loss(logits, targets)
