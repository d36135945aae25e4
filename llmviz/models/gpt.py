"""GPT: a decoder-only transformer, with its options and its instructive mistakes.

B batch, T time, C = n_embd, H heads, D = C/H head size, V vocabulary.

The defaults are GPT-2's. What changed in models since 2017 is a switch each: `norm` (where norms
stand), `norm_kind`, `positions`, `activation`, `n_kv_head`, `n_expert`, `window`.

Taps: embed.token, embed.position, embed, blocks.0.norm1, blocks.0.attn.q (k, v, scores, scaled,
masked, weights, dropped, output, concat, projection), blocks.0.attn, blocks.0.residual_mid,
blocks.0.norm2, blocks.0.mlp.hidden, blocks.0.mlp.act, blocks.0.mlp, blocks.0.residual,
norm_final, logits. With experts, in place of hidden and act: blocks.0.mlp.router,
blocks.0.mlp.routing, blocks.0.mlp.experts.0.hidden (act).
"""

import math
from pathlib import Path
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from llmviz.models.base import CachingModel
from llmviz.models.decoder import Decoder, decoder_for
from llmviz.models.gpt2_format import load_gpt2, save_gpt2
from llmviz.models.numpy_decoder import NumpyDecoder
from llmviz.models.settings import GPTConfig
from llmviz.nn.attention import (
    MultiHeadAttention,
    causal_mask,
    causal_mask_off_by_one,
    sliding_window_mask,
)
from llmviz.nn.attention.heads import at_positions
from llmviz.nn.cache import KVCache
from llmviz.nn.experts import Experts
from llmviz.nn.layers import FeedForward, LayerNorm, ListOf, NoFeedForward, RMSNorm
from llmviz.nn.positions import Rotary, sinusoidal_positions
from llmviz.trace import Tap

MASKS = {"causal": causal_mask, "off_by_one": causal_mask_off_by_one, "none": None}
KEPT_MASK = 2048  # tokens; a larger mask is made when it is needed, not kept


class Block(nn.Module):
    """Attention and feed-forward, each added to the residual stream."""

    mlp: FeedForward | Experts | NoFeedForward

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
            n_kv_head=config.n_kv_head,
        )
        sizes = (config.n_embd, config.feed_forward_size, config.activation)
        if config.n_expert > 1:
            self.mlp = Experts(*sizes, config.n_expert, config.experts_per_token, bias=config.bias)
        else:
            self.mlp = FeedForward(*sizes, bias=config.bias)
        self.chooses = config.n_expert > 1
        self.tap_norm1, self.tap_norm2 = Tap("norm1"), Tap("norm2")
        self.tap_attn, self.tap_mlp = Tap("attn"), Tap("mlp")
        self.tap_mid, self.tap_residual = Tap("residual_mid"), Tap("residual")

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        causal: bool,
        cache: KVCache | None,
        balances: list[Tensor] | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """(B, T, C) to (B, T, C); the balance loss of experts is added to the list `balances`.

        positions: (B,), the one token of each text that is wanted; the result is then (B, 1, C).
        """
        attention_arguments = (mask, causal, None, cache, positions)
        own = x if positions is None else at_positions(x, positions)
        if self.pre:
            h = self.tap_norm1(self.norm1(x))
            x = self.tap_mid(self._add(own, self.tap_attn(self.attn(h, *attention_arguments))))
            h = self.tap_norm2(self.norm2(x))
            return self.tap_residual(self._add(x, self.tap_mlp(self._feed(h, balances))))
        x = self._add(own, self.tap_attn(self.attn(x, *attention_arguments)))
        x = self.tap_mid(self.tap_norm1(self.norm1(x)))
        x = self._add(x, self.tap_mlp(self._feed(x, balances)))
        return self.tap_residual(self.tap_norm2(self.norm2(x)))

    @property
    def feed_forward(self) -> FeedForward:
        """The only one that there is. Raises TypeError for experts."""
        if not isinstance(self.mlp, FeedForward):
            raise TypeError("a block of experts has no feed-forward network for all tokens")
        return self.mlp

    def _add(self, x: Tensor, y: Tensor) -> Tensor:
        # Under autocast y is narrower: a sum of two types takes a slower path than a cast.
        return x + y.to(x.dtype) if self.residual else y

    def _feed(self, x: Tensor, balances: list[Tensor] | None) -> Tensor:
        y = self.mlp(x, balances) if self.chooses else self.mlp(x)
        return F.dropout(y, self.dropout) if self.training and self.dropout else y


class GPT(CachingModel):
    """Token and position embeddings, blocks, a last norm, and a head that gives the logits.

    Reference: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners",
    section 2.3; initial values as there. Deviations: the exact GELU by default; sinusoidal waves
    are shrunk to the deviation 0.02 of the initial token embeddings, which they would drown.

    recompute_every: while it learns, only the input of every so many blocks is kept, and the
    backward pass computes the blocks behind it once more (gradient checkpointing); 0 keeps all.
    The gradients are the same. Reference: Chen et al. 2016, "Training Deep Nets with Sublinear
    Memory Cost", section 4.
    """

    config: GPTConfig
    waves: Tensor  # (context length, C), where positions are sinusoidal
    mask: Tensor | None  # (T, T), unless it is made when it is needed

    recompute_every = 0

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
            rotary = Rotary(
                config.context_length, config.head_size, config.rotary_base, config.rotary_scaling
            )
        self.blocks = ListOf(Block(config, i, rotary) for i in range(config.n_layer))
        self.norm_final = _norm(config) if config.norm == "pre" else nn.Identity()
        self.head = nn.Linear(c, config.vocab_size, bias=False)
        kept = MASKS[config.mask] and config.context_length <= KEPT_MASK
        self.register_buffer(
            "mask", self._whole_mask(config.context_length) if kept else None, persistent=False
        )
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
        positions: Tensor | None = None,
        *,
        last_only: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) for the token after each of idx (B, T), and the loss.

        cache: from `new_cache`; idx are then the tokens that follow those already in it.
        last_only: logits of the last token alone, (B, 1, V), when the others are not looked at.
        positions: (B,), one token of each text, from 0: its logits alone, (B, 1, V). The last
          block computes the keys and values of all tokens, and the rest for this one only.
        Raises ValueError for ids outside the vocabulary and for more tokens than the context.
        """
        start = 0 if cache is None else cache.length
        self.check_length(idx, start)
        t = idx.shape[1]
        x = self._embed(idx, start)  # (B, T, C)
        mask, causal = self.visible(idx, start)
        learns = targets is not None and self.training and self.config.n_expert > 1
        balances: list[Tensor] | None = [] if learns else None
        if self.recompute_every and cache is None and self.training and torch.is_grad_enabled():
            x = self._recomputed(x, mask, causal, balances)
            x = x if positions is None else at_positions(x, positions)
        else:
            for number, block in enumerate(self.blocks, 1):
                wanted = positions if number == len(self.blocks) else None
                x = block(x, mask, causal, cache, balances, wanted)
        if cache is not None:
            cache.length += t
        if last_only:
            x = x[:, -1:]
        x = self.tap_norm(self.norm_final(x))
        logits = self.tap_logits(self.head(x))  # (B, T, V)
        if targets is not None and not self.config.shift:
            targets = torch.where(targets < 0, targets, idx)
        loss = self.loss(logits, targets)
        if balances and loss is not None:
            # What the experts' balance adds is learned from, but the loss stays nats per token.
            unevenness = self.config.balance * torch.stack(balances).mean()
            loss = loss + (unevenness - unevenness.detach())
        return logits, loss

    def _recomputed(
        self, x: Tensor, mask: Tensor | None, causal: bool, balances: list[Tensor] | None
    ) -> Tensor:
        """(B, T, C) through all blocks, keeping the input of every `recompute_every` of them."""
        blocks, every = list(self.blocks), self.recompute_every
        draws = bool(self.config.dropout or self.config.attention_dropout_rate)

        def through(x: Tensor, first: int) -> Tensor:
            for block in blocks[first : first + every]:
                x = block(x, mask, causal, None, balances)
            return x

        for first in range(0, len(blocks), every):
            x = checkpoint(through, x, first, use_reentrant=False, preserve_rng_state=draws)
        return x

    def visible(self, idx: Tensor, start: int = 0) -> tuple[Tensor | None, bool]:
        """Which token may look at which, for tokens idx (B, T) that follow `start` others.

        A mask (T, start + T), True where a row may look, None where all may look at all; and
        whether it is the plain causal one, for which kernels have a faster path.
        """
        t, window = idx.shape[1], self.config.window
        end = start + t
        if t == 1:  # the last token may see everything, or its window
            if window is None or end <= window:
                return None, False
            return torch.arange(end, device=idx.device)[None] >= end - window, False
        if self.config.mask == "none":
            return None, False
        mask = self._whole_mask(end, idx.device) if self.mask is None else self.mask[:end, :end]
        plain = self.config.mask == "causal" and (window is None or end <= window)
        return mask[start:], plain and start == 0

    def _whole_mask(self, t: int, device: torch.device | None = None) -> Tensor:
        """The mask of a text from its start, (T, T)."""
        if self.config.window is not None:
            return sliding_window_mask(t, self.config.window, device)
        make = MASKS[self.config.mask]
        assert make is not None  # where all see all, nobody asks
        return make(t, device)

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
            config.kv_heads,
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
        if self.config.adds_positions:
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
                added = name.endswith(("attn.projection.weight", ".output.weight"))
                shrink = math.sqrt(2 * self.config.n_layer) if added else 1.0
                nn.init.normal_(parameter, std=0.02 / shrink)


def _norm(config: GPTConfig) -> nn.Module:
    if config.norm == "none":
        return nn.Identity()
    if config.norm_kind == "rms":
        return RMSNorm(config.n_embd, eps=config.norm_epsilon)
    return LayerNorm(config.n_embd, eps=config.norm_epsilon, bias=config.bias)
