"""The encoder–decoder transformer: reads one sequence, writes another.

B batch, S source length, T target length, C = n_embd, H heads, V vocabulary.

Taps: encoder.embed, encoder.blocks.0.attn.q (and the other steps), encoder.blocks.0.attn,
encoder.blocks.0.mlp, encoder.blocks.0.residual, encoder.output; decoder.embed,
decoder.blocks.0.attn.*, decoder.blocks.0.asks (what cross-attention asks with),
decoder.blocks.0.cross.* (the target asks, the source is asked), decoder.blocks.0.mlp.*,
decoder.blocks.0.residual, decoder.output; logits.
"""

import math

import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.translator import Translator
from llmviz.models.translator_settings import Seq2SeqConfig
from llmviz.nn.attention import MultiHeadAttention, causal_mask
from llmviz.nn.layers import FeedForward, LayerNorm, ListOf
from llmviz.nn.positions import sinusoidal_positions
from llmviz.trace import Tap


class Sublayer(nn.Module):
    """Wraps a part of a block: its norm before or after, its dropout, its addition."""

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.norm = LayerNorm(config.n_embd)
        self.pre, self.dropout = config.norm == "pre", config.dropout

    def before(self, x: Tensor) -> Tensor:
        return self.norm(x) if self.pre else x

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y if self.pre else self.norm(x + y)

    def drop(self, y: Tensor) -> Tensor:
        return F.dropout(y, self.dropout) if self.training and self.dropout else y


class Block(nn.Module):
    """Self-attention, in a decoder cross-attention, and a feed-forward network."""

    def __init__(self, config: Seq2SeqConfig, path: str, *, cross: bool):
        super().__init__()

        def attention(name: str, cross: bool) -> MultiHeadAttention:
            bias = config.attention_bias
            return MultiHeadAttention(
                config.n_embd,
                config.n_head,
                bias=bias,
                qkv_bias=bias,
                dropout=config.dropout,
                cross=cross,
                layer=f"{path}.{name}",
            )

        self.attn, self.add_attn = attention("attn", False), Sublayer(config)
        self.cross = attention("cross", True) if cross else None
        if cross:
            self.add_cross = Sublayer(config)
        hidden_size = config.hidden_size or 4 * config.n_embd
        self.mlp = FeedForward(config.n_embd, hidden_size, config.activation)
        self.add_mlp = Sublayer(config)
        self.tap_attn, self.tap_mlp = Tap("attn"), Tap("mlp")
        if cross:
            self.tap_asks, self.tap_cross = Tap("asks"), Tap("cross")
        self.tap_residual = Tap("residual")

    def forward(
        self,
        x: Tensor,
        mask: Tensor,
        source: Tensor | None = None,
        source_mask: Tensor | None = None,
    ) -> Tensor:
        """x (B, T, C), its mask; what the encoder made of the source (B, S, C), and its mask."""
        y = self.tap_attn(self.attn(self.add_attn.before(x), mask))
        x = self.add_attn.add(x, y)
        if self.cross is not None:
            asks = self.tap_asks(self.add_cross.before(x))
            y = self.cross(asks, source_mask, source=source)
            x = self.add_cross.add(x, self.tap_cross(y))
        y = self.tap_mlp(self.add_mlp.drop(self.mlp(self.add_mlp.before(x))))
        return self.tap_residual(self.add_mlp.add(x, y))


class Stack(nn.Module):
    """Embeddings and blocks: the encoder, or the decoder without its head."""

    waves: Tensor  # (context length, C)

    def __init__(self, config: Seq2SeqConfig, name: str, vocab_size: int):
        super().__init__()
        self.dropout = config.dropout
        self.token = nn.Embedding(vocab_size, config.n_embd)
        nn.init.normal_(self.token.weight, std=config.n_embd**-0.5)
        waves = sinusoidal_positions(config.context_length, config.n_embd)
        self.register_buffer("waves", waves, persistent=False)
        self.blocks = ListOf(
            Block(config, f"{name}.blocks.{i}", cross=name == "decoder")
            for i in range(config.n_layer)
        )
        self.norm = LayerNorm(config.n_embd) if config.norm == "pre" else nn.Identity()
        self.tap_embed, self.tap_output = Tap("embed"), Tap("output")

    def forward(
        self,
        idx: Tensor,
        mask: Tensor,
        source: Tensor | None = None,
        source_mask: Tensor | None = None,
    ) -> Tensor:
        """(B, T) ids to (B, T, C)."""
        x = F.embedding(idx, self.token.weight) * math.sqrt(self.token.embedding_dim)
        x = x + self.waves[: idx.shape[1]]
        if self.training and self.dropout:
            x = F.dropout(x, self.dropout)
        x = self.tap_embed(x)
        for block in self.blocks:
            x = block(x, mask, source, source_mask)
        return self.tap_output(self.norm(x))


class Seq2Seq(Translator):
    """Encoder, decoder with masked self-attention and cross-attention, head.

    Reference: Vaswani et al. 2017, "Attention Is All You Need", section 3. Deviation: the head has
    a matrix and bias of its own.
    """

    config: Seq2SeqConfig

    def __init__(self, config: Seq2SeqConfig):
        super().__init__(config)
        self.encoder = Stack(config, "encoder", self.source_vocab_size)
        self.decoder = Stack(config, "decoder", config.vocab_size)
        self.head = nn.Linear(config.n_embd, config.vocab_size)
        self.tap_logits = Tap("logits")
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() == 2 and not name.endswith("token.weight"):
                nn.init.xavier_uniform_(parameter)
        self.finish()

    def encode(self, source: Tensor, source_mask: Tensor) -> Tensor:
        """What the encoder makes of the source: (B, S, C)."""
        return self.encoder(source, source_mask)

    def decoder_states(self, encoded: Tensor, source_mask: Tensor, target_in: Tensor) -> Tensor:
        """What the decoder makes of target_in, looking at the source: (B, T, C)."""
        mask = causal_mask(target_in.shape[1], target_in.device)
        return self.decoder(target_in, mask, encoded, source_mask)
