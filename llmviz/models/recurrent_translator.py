"""The recurrent translator: a whole sentence goes through one vector, the encoder's last state.

B batch, S source length, T target length, C = n_embd, H = hidden_size, V vocabulary.

Taps: encoder.embed, encoder.layer.hidden (and the cell's gates), encoder.last, decoder.embed,
decoder.layer.hidden (and the gates), logits.
"""

from torch import Tensor, nn

from llmviz.models.translator import Translator
from llmviz.models.translator_settings import RecurrentTranslatorConfig
from llmviz.nn.recurrent import Recurrence
from llmviz.trace import Tap


class Encoder(nn.Module):
    """Reads a sentence token by token; only the state after its last token is handed on."""

    def __init__(self, config: RecurrentTranslatorConfig, vocab_size: int):
        super().__init__()
        self.token = nn.Embedding(vocab_size, config.n_embd)
        self.layer = Recurrence(config.cell, config.n_embd, config.state_size)
        self.tap_embed, self.tap_last = Tap("embed"), Tap("last")

    def forward(self, idx: Tensor, mask: Tensor) -> Tensor:
        """idx (B, S), mask (B, 1, 1, S) true at real tokens: the last real state, (B, H)."""
        states = self.layer(self.tap_embed(self.token(idx)))  # (B, S, H)
        at = mask[:, 0, 0].sum(dim=1) - 1  # (B,), padding is on the right
        return self.tap_last(
            states.gather(1, at[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
        )


class Decoder(nn.Module):
    """Starts from the encoder's last state and writes token by token; it never looks back."""

    def __init__(self, config: RecurrentTranslatorConfig):
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.n_embd)
        self.layer = Recurrence(config.cell, config.n_embd, config.state_size)
        self.tap_embed = Tap("embed")

    def forward(self, idx: Tensor, start: Tensor) -> Tensor:
        """idx (B, T), start (B, H): the states after each token, (B, T, H)."""
        return self.layer(self.tap_embed(self.token(idx)), start)


class RecurrentTranslator(Translator):
    """A recurrent encoder, its last hidden state, a recurrent decoder that starts from it, a head.

    Reference: Sutskever, Vinyals, Le 2014, "Sequence to Sequence Learning with Neural Networks".
    Deviations: one layer; a plain or a gated cell instead of an LSTM; the source is not reversed.
    """

    config: RecurrentTranslatorConfig

    def __init__(self, config: RecurrentTranslatorConfig):
        super().__init__(config)
        self.encoder = Encoder(config, self.source_vocab_size)
        self.decoder = Decoder(config)
        self.head = nn.Linear(config.state_size, config.vocab_size)
        self.tap_logits = Tap("logits")
        self.finish()

    def encode(self, source: Tensor, source_mask: Tensor) -> Tensor:
        """All that the decoder learns of the source: one vector a sentence, (B, H)."""
        return self.encoder(source, source_mask)

    def decoder_states(self, encoded: Tensor, source_mask: Tensor, target_in: Tensor) -> Tensor:
        """The states after each token, (B, T, H); no mask: there is nothing to look at."""
        return self.decoder(target_in, encoded)
