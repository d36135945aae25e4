"""GPT: a decoder-only transformer, with its options and its instructive mistakes.

B batch, T time, C = n_embd, H heads, D = C/H head size, V vocabulary.

Taps: embed.token, embed.position, embed, blocks.0.norm1, blocks.0.attn.q (k, v, scores, scaled,
masked, weights, dropped, output, concat, projection), blocks.0.attn, blocks.0.residual_mid,
blocks.0.norm2, blocks.0.mlp.hidden, blocks.0.mlp.act, blocks.0.mlp, blocks.0.residual,
norm_final, logits.
"""

import math
from pathlib import Path
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.decoder import Decoder, decoder_for
from llmviz.models.gpt2_format import load_gpt2, save_gpt2
from llmviz.models.numpy_decoder import NumpyDecoder
from llmviz.models.settings import GPTConfig
from llmviz.nn.attention import MultiHeadAttention, causal_mask, causal_mask_off_by_one
from llmviz.nn.cache import KVCache
from llmviz.nn.layers import FeedForward, LayerNorm
from llmviz.nn.positions import Rotary, sinusoidal_positions
from llmviz.trace import Tap

MASKS = {"causal": causal_mask, "off_by_one": causal_mask_off_by_one, "none": None}


class Block(nn.Module):
    """Attention and feed-forward, each added to the residual stream."""

    def __init__(self, config: GPTConfig, layer: int, rotary: Rotary | None):
        super().__init__()
        self.pre, self.residual = config.norm == "pre", config.residual
        self.dropout = config.dropout
        self.norm1, self.norm2 = _norm(config), _norm(config)
        self.attn = MultiHeadAttention(
            config.n_embd,
            config.n_head,
            bias=config.bias,
            qkv_bias=config.qkv_bias,
            dropout=config.dropout,
            weights_dropout=config.attention_dropout_rate,
            rotary=rotary,
            scale=config.attention_scale,
            softmax_before_mask=config.softmax_before_mask,
            layer=layer,
        )
        self.mlp = FeedForward(
            config.n_embd, config.feed_forward_size, config.activation, config.bias
        )
        self.tap_norm1, self.tap_norm2 = Tap("norm1"), Tap("norm2")
        self.tap_attn, self.tap_mlp = Tap("attn"), Tap("mlp")
        self.tap_mid, self.tap_residual = Tap("residual_mid"), Tap("residual")

    def forward(
        self, x: Tensor, mask: Tensor | None, causal: bool, cache: KVCache | None
    ) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        if self.pre:
            h = self.tap_norm1(self.norm1(x))
            x = self.tap_mid(self._add(x, self.tap_attn(self.attn(h, mask, causal, None, cache))))
            h = self.tap_norm2(self.norm2(x))
            return self.tap_residual(self._add(x, self.tap_mlp(self._drop(self.mlp(h)))))
        x = self._add(x, self.tap_attn(self.attn(x, mask, causal, None, cache)))
        x = self.tap_mid(self.tap_norm1(self.norm1(x)))
        x = self._add(x, self.tap_mlp(self._drop(self.mlp(x))))
        return self.tap_residual(self.tap_norm2(self.norm2(x)))

    def _add(self, x: Tensor, y: Tensor) -> Tensor:
        # Under autocast y is narrower: a sum of two types takes a slower path than a cast.
        return x + y.to(x.dtype) if self.residual else y

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout) if self.training and self.dropout else x


class GPT(LanguageModel):
    """Token and position embeddings, blocks, a last norm, and a head that gives the logits.

    Reference: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners",
    section 2.3; initial values as there. Deviations: the exact GELU by default; sinusoidal waves
    are shrunk to the deviation 0.02 of the initial token embeddings, which they would drown.
    """

    def __init__(self, config: GPTConfig):
        super().__init__(config)
        c = config.n_embd
        self.token = nn.Embedding(config.vocab_size, c)
        learned = config.positions == "learned"
        self.position = nn.Embedding(config.context_length, c) if learned else None
        if config.positions == "sinusoidal":
            waves = sinusoidal_positions(config.context_length, c) * (0.02 * math.sqrt(2))
            self.register_buffer("waves", waves, persistent=False)
        rotary = None
        if config.positions == "rotary":
            rotary = Rotary(config.context_length, config.head_size)
        self.blocks = nn.ModuleList(Block(config, i, rotary) for i in range(config.n_layer))
        self.norm_final = _norm(config) if config.norm == "pre" else nn.Identity()
        self.head = nn.Linear(c, config.vocab_size, bias=False)
        make_mask = MASKS[config.mask]
        mask = make_mask(config.context_length) if make_mask else None
        self.register_buffer("mask", mask, persistent=False)
        self.tap_token, self.tap_position = Tap("embed.token"), Tap("embed.position")
        self.tap_embed, self.tap_norm = Tap("embed"), Tap("norm_final")
        self.tap_logits = Tap("logits")
        self._initialise()
        if config.tied_head:
            self.head.weight = self.token.weight
        self.finish()

    def forward(
        self,
        idx: Tensor,
        targets: Tensor | None = None,
        cache: KVCache | None = None,
        last_only: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) for the token after each of idx (B, T), and the loss.

        cache: from `new_cache`; idx are then the tokens that follow those already in it.
        last_only: logits of the last token alone, (B, 1, V), when the others are not looked at.
        Raises ValueError for ids outside the vocabulary and for more tokens than the context.
        """
        start = 0 if cache is None else cache.length
        self.check_length(idx, start)
        t = idx.shape[1]
        x = self._embed(idx, start)  # (B, T, C)
        mask = None  # a single token, the last one, may see everything before it
        if self.mask is not None and t > 1:
            mask = self.mask[start : start + t, : start + t]
        causal = mask is not None and start == 0 and self.config.mask == "causal"
        for block in self.blocks:
            x = block(x, mask, causal, cache)
        if cache is not None:
            cache.length += t
        if last_only:
            x = x[:, -1:]
        x = self.tap_norm(self.norm_final(x))
        logits = self.tap_logits(self.head(x))  # (B, T, V)
        if targets is not None and not self.config.shift:
            targets = torch.where(targets < 0, targets, idx)
        return logits, self.loss(logits, targets)

    def new_cache(self, batch: int = 1) -> KVCache:
        """An empty cache for `forward`, with room for the whole context.

        Raises ValueError for a model whose tokens see the future: what it has read would change
        with every new token, so nothing can be kept.
        """
        config, weight = self.config, self.token.weight
        if config.mask != "causal":
            raise ValueError(f'a cache needs mask="causal"; this model has mask="{config.mask}"')
        return KVCache(
            config.n_layer,
            batch,
            config.n_head,
            config.context_length,
            config.head_size,
            device=weight.device,
            dtype=weight.dtype,
        )

    def new_decoder(self) -> Decoder | NumpyDecoder | None:
        """One token at a time with few operations, or None for options that it does not have."""
        return decoder_for(self)

    @classmethod
    def from_gpt2(cls, folder_or_repo_id: str | Path) -> Self:
        """The GPT in a folder or hub repository of the published GPT-2 format; see `load_gpt2`."""
        return load_gpt2(folder_or_repo_id, cls)

    def to_gpt2(self, folder: str | Path) -> None:
        """Write the published GPT-2 format; see `save_gpt2`."""
        save_gpt2(self, folder)

    def _embed(self, idx: Tensor, start: int) -> Tensor:
        x = self.tap_token(self.embed_ids(idx, self.token.weight))  # (B, T, C)
        if self.config.positions in ("learned", "sinusoidal"):
            table = self.waves if self.position is None else self.position.weight
            x = x + self.tap_position(table[start : start + idx.shape[1]])  # (T, C)
        dropout = self.config.embedding_dropout_rate
        if self.training and dropout:
            x = F.dropout(x, dropout)
        return self.tap_embed(x)

    def _initialise(self) -> None:
        """Normal with deviation 0.02; what is added to the residual stream by layer count less."""
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() == 2:
                added = name.endswith(("attn.projection.weight", "mlp.output.weight"))
                shrink = math.sqrt(2 * self.config.n_layer) if added else 1.0
                nn.init.normal_(parameter, std=0.02 / shrink)


def _norm(config: GPTConfig) -> nn.Module:
    if config.norm == "none":
        return nn.Identity()
    return LayerNorm(config.n_embd, eps=config.norm_epsilon, bias=config.bias)
