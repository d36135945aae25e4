"""Attention with many heads, from the residual stream back to the residual stream.

B batch, T time (tokens that ask), S source length (tokens asked), C width, H heads, D = C/H head
size, G key/value heads, each shared by H/G heads (G = H unless said otherwise).
"""

import math

import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.nn.attention.heads import (
    at_positions,
    heads_of,
    merge_heads,
    share_heads,
    split_heads,
)
from llmviz.nn.attention.steps import attention, fast_attention, weights_and_output
from llmviz.nn.cache import KVCache
from llmviz.nn.positions import Rotary
from llmviz.trace import Tap, changed, kept_dtype, recording, replacing

# What the scores are multiplied by, from the width and the head size.
SCALES = {
    "head": lambda n_embd, head_size: 1 / math.sqrt(head_size),  # right
    "model": lambda n_embd, head_size: 1 / math.sqrt(n_embd),  # a mistake: √d_model
    "none": lambda n_embd, head_size: 1.0,  # a mistake: no scaling
}


class MultiHeadAttention(nn.Module):
    """H heads of scaled dot-product attention side by side, then an output projection.

    n_embd: width C. n_head: H, which must divide it.
    bias: of the output projection; qkv_bias: of the query, key and value projections.
    dropout: of the weights and of the projection's output, while training.
    weights_dropout: of the weights, where it differs.
    cross: the keys and values come from another sequence, given as `source` to `forward`.
    rotary: turns queries and keys by their positions.
    scale: "head" is 1/√D; "model" (1/√C) and "none" (1) are mistakes to look at.
    softmax_before_mask: a mistake, see `attention`.
    layer: what `heads_off` calls this layer.
    n_kv_head: G, how many heads of keys and values there are (None: H, ordinary attention). Fewer
      is grouped-query attention, 1 multi-query attention; G must divide H.

    Query, key and value matrices lie in one Linear(C, C + 2·G·D), which is 3C for G = H;
    `projections()` gives the matrix of each head as a view of it. Taps: q (H heads), k, v (G
    heads), scores, scaled, masked, weights, dropped, output (of each head), concat, projection. The
    steps between q and output are computed one by one only if one of their taps is recorded.

    Reference: Vaswani et al. 2017, section 3.2.2; Shazeer 2019, "Fast Transformer Decoding"
    (multi-query); Ainslie et al. 2023, "GQA".
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        dropout: float = 0.0,
        rotary: Rotary | None = None,
        scale: str = "head",
        softmax_before_mask: str | None = None,
        layer: int | str = 0,
        weights_dropout: float | None = None,
        n_kv_head: int | None = None,
        *,
        bias: bool = True,
        qkv_bias: bool = True,
        cross: bool = False,
    ):
        super().__init__()
        if n_head < 1 or n_embd % n_head:
            raise ValueError(f"n_head must divide n_embd; got n_embd={n_embd}, n_head={n_head}")
        self.n_kv_head = n_head if n_kv_head is None else n_kv_head
        if self.n_kv_head < 1 or n_head % self.n_kv_head:
            raise ValueError(f"n_kv_head must divide n_head; got {n_head=}, {n_kv_head=}")
        if scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {scale!r}")
        self.n_embd, self.n_head, self.layer, self.cross = n_embd, n_head, layer, cross
        self.dropout, self.rotary, self.softmax_before_mask = dropout, rotary, softmax_before_mask
        self.weights_dropout = dropout if weights_dropout is None else weights_dropout
        self.scale = SCALES[scale](n_embd, n_embd // n_head)
        self.kv_size = self.n_kv_head * (n_embd // n_head)  # G·D
        self.qkv = nn.Linear(n_embd, n_embd + 2 * self.kv_size, bias=qkv_bias)
        self.projection = nn.Linear(n_embd, n_embd, bias=bias)
        self.tap_q, self.tap_k, self.tap_v = Tap("q"), Tap("k"), Tap("v")
        self.tap_scores, self.tap_scaled, self.tap_masked = (
            Tap("scores"),
            Tap("scaled"),
            Tap("masked"),
        )
        self.tap_weights, self.tap_dropped = Tap("weights"), Tap("dropped")
        self.tap_output, self.tap_concat = Tap("output"), Tap("concat")
        self.tap_projection = Tap("projection")
        self._steps = (
            self.tap_scores,
            self.tap_scaled,
            self.tap_masked,
            self.tap_weights,
            self.tap_dropped,
            self.tap_output,
        )

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        source: Tensor | None = None,
        cache: KVCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """What the heads add to the residual stream: (B, T, C) to (B, T, C).

        mask: boolean, broadcastable to (B, H, T, S), True where a token may look.
        causal: says that `mask` is the causal one.
        source: (B, S, C), the tokens asked, if `cross`.
        cache: keys and values of the tokens before x, in layer number `layer`; it is extended.
        positions: (B,), the one token of each text that asks; the result is then (B, 1, C), and
          `mask` must be (T, S).
        """
        q, k, v = self.queries_keys_values(x, source, 0 if cache is None else cache.length)
        if positions is not None:
            q = at_positions(q.transpose(1, 2), positions).transpose(1, 2)  # (B, H, 1, D)
            mask = None if mask is None else mask[positions][:, None, None]  # (B, 1, 1, S)
            causal = False
        q, k, v = self.tap_q(q), self.tap_k(k), self.tap_v(v)  # (B, H, T, D), (B, G, T, D) twice
        if cache is not None:
            k, v = cache.extend(int(self.layer), k, v)
        k, v = share_heads(k, self.n_head), share_heads(v, self.n_head)  # each (B, H, S, D)
        dropout = self.weights_dropout if self.training else 0.0
        wanted = recording() and [tap for tap in self._steps if tap.wanted()]
        if self.softmax_before_mask is None and not wanted:
            output = fast_attention(q, k, v, mask, self.scale, dropout, causal=causal)
        elif wanted == [self.tap_weights] and self.softmax_before_mask is None:
            kept = kept_dtype()
            weights, output = weights_and_output(
                q, k, v, mask, self.scale, dropout, kept, causal=causal
            )
            self.tap_weights(weights)
        else:
            steps = attention(
                q, k, v, mask, self.scale, dropout, softmax_before_mask=self.softmax_before_mask
            )
            for tap, step in zip(self._steps, steps, strict=True):
                tap(step)
            output = steps.output
        if replacing():  # a compiled layer that reads its own number is compiled once a layer
            output = changed(heads_of(self.layer), output)
        y = self.tap_projection(self.projection(self.tap_concat(merge_heads(output))))
        return F.dropout(y, self.dropout) if self.training and self.dropout else y

    def queries_keys_values(
        self, x: Tensor, source: Tensor | None = None, start: int = 0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, T, D), keys and values (B, G, S, D), turned if positions are rotary.

        start: position of the first token of x.
        """
        if self.cross:
            if source is None:
                raise ValueError("cross-attention needs a source to look at")
            weight, bias = self.qkv.weight, self.qkv.bias
            c = self.n_embd
            q = F.linear(x, weight[:c], None if bias is None else bias[:c])
            kv = F.linear(source, weight[c:], None if bias is None else bias[c:])
            k, v = kv.split(self.kv_size, dim=-1)
        else:
            sizes = (self.n_embd, self.kv_size, self.kv_size)
            q, k, v = self.qkv(x).split(sizes, dim=-1)  # (B, T, C), (B, T, G·D) twice
        q = split_heads(q, self.n_head)
        k, v = split_heads(k, self.n_kv_head), split_heads(v, self.n_kv_head)
        if self.rotary is not None:
            q, k = self.rotary(q, start), self.rotary(k, start)
        return q, k, v

    def projections(self, head: int) -> tuple[Tensor, Tensor, Tensor]:
        """W_Q, W_K, W_V of one head as x multiplies them, views of shape (C, D).

        Heads that share keys and values share W_K and W_V.
        """
        if not 0 <= head < self.n_head:
            raise ValueError(f"head must be from 0 to {self.n_head - 1}; got {head}")
        group = head * self.n_kv_head // self.n_head
        wq, wk, wv = self.qkv.weight.split((self.n_embd, self.kv_size, self.kv_size))
        wq = wq.view(self.n_head, -1, self.n_embd)[head]  # (D, C)
        wk, wv = (part.view(self.n_kv_head, -1, self.n_embd)[group] for part in (wk, wv))
        return wq.T, wk.T, wv.T
