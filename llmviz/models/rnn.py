"""Recurrent language models: RNN, GRU, LSTM. All that they know of the past is one vector.

B batch, T time, C = n_embd, H hidden width, V vocabulary.

Taps: embed, layers.0.hidden and the cell's gates (GRU: reset, update, candidate; LSTM: input,
forget, candidate, output, cell), logits.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.settings import RNNConfig
from llmviz.nn.layers import ListOf
from llmviz.nn.recurrent import Recurrence
from llmviz.trace import Tap


class RNN(LanguageModel):
    """Token embedding, recurrent layers, a head.

    Reference: Mikolov et al. 2010, "Recurrent neural network based language model".
    """

    config: RNNConfig

    cell = "rnn"

    def __init__(self, config: RNNConfig):
        super().__init__(config)
        h = config.hidden_size or config.n_embd
        self.token = nn.Embedding(config.vocab_size, config.n_embd)
        widths = [config.n_embd] + [h] * config.n_layer
        self.layers = ListOf(Recurrence(self.cell, width, h) for width in widths[:-1])
        self.head = nn.Linear(h, config.vocab_size)
        self.tap_embed, self.tap_logits = Tap("embed"), Tap("logits")
        self.finish()

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) and the loss; see `LanguageModel`."""
        self.check_length(idx)
        x = self.tap_embed(self.embed_ids(idx, self.token.weight))  # (B, T, C)
        for layer in self.layers:
            x = layer(x)  # (B, T, H)
            if self.training and self.config.dropout:
                x = F.dropout(x, self.config.dropout)
        logits = self.tap_logits(self.head(x))
        return logits, self.loss(logits, targets)


class GRU(RNN):
    """The same with gates that decide what of the past stays.

    Reference: Cho et al. 2014.
    """

    cell = "gru"


class LSTM(RNN):
    """The same with a second, protected memory.

    Reference: Hochreiter, Schmidhuber 1997.
    """

    cell = "lstm"
