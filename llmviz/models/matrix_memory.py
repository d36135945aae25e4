"""A language model without a list of tokens: all that a head knows of the past is one matrix.

B batch, T time, C = n_embd, H heads, D = C/H head size, V vocabulary.

Taps: embed, blocks.0.memory.q (k, v, output: B, H, T, D), blocks.0.memory, blocks.0.residual,
logits.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.settings import MatrixMemoryConfig
from llmviz.nn.attention.heads import merge_heads, split_heads
from llmviz.nn.layers import FeedForward, LayerNorm, ListOf
from llmviz.nn.state_memory import delta_rule, linear_attention, state_space
from llmviz.trace import Tap


class MatrixMemoryLayer(nn.Module):
    """Heads that write each token into a matrix, by one of three rules, and read it: (B, T, C).

    rule: "add" is linear attention without a feature map, "delta" the delta rule, "gated" a state
    space with a rate for each row. Keys, values and queries see a learned mixture of the token and
    the one before it, as nothing else tells the order. What is read is brought to mean 0 and
    variance 1, because a sum grows with the text.

    Reference: see `llmviz.nn.state_memory`; the mixture: Peng et al. 2023, "RWKV", section 3.1.2.
    Deviation: one mixture for all three. Always computed in float32.
    """

    def __init__(self, config: MatrixMemoryConfig):
        super().__init__()
        c = config.n_embd
        self.rule, self.n_head = config.rule, config.n_head
        self.mix = nn.Parameter(torch.full((c,), 0.5))  # of the token before
        self.qkv = nn.Linear(c, 3 * c, bias=False)
        gates = {"add": 0, "delta": config.n_head, "gated": c}[config.rule]
        self.gate = nn.Linear(c, gates) if gates else None
        self.norm, self.projection = LayerNorm(c), nn.Linear(c, c, bias=False)
        self.tap_q, self.tap_k, self.tap_v = Tap("q"), Tap("k"), Tap("v")
        self.tap_output = Tap("output")

    def forward(self, x: Tensor) -> Tensor:
        """What the heads add to the residual stream: (B, T, C) to (B, T, C)."""
        before = F.pad(x, (0, 0, 1, 0))[:, :-1]
        mixed = x + self.mix * (before - x)
        parts = (split_heads(part, self.n_head) for part in self.qkv(mixed).chunk(3, dim=-1))
        gate = None if self.gate is None else self.gate(mixed)
        device = "cpu" if x.is_meta else x.device.type
        with torch.autocast(device, enabled=False):
            q, k, v = (part.float() for part in parts)  # (B, H, T, D)
            q = q * q.shape[-1] ** -0.5
            q, k, v = self.tap_q(q), self.tap_k(k), self.tap_v(v)
            output = self.tap_output(self._read(q, k, v, gate))
        return self.projection(self.norm(merge_heads(output)))

    def _read(self, q: Tensor, k: Tensor, v: Tensor, gate: Tensor | None) -> Tensor:
        """What the matrices answer at each token, (B, H, T, D)."""
        if gate is None:
            return linear_attention.parallel(q, k, v, linear_attention.identity)
        if self.rule == "delta":
            return delta_rule.parallel(q, k, v, gate.float().sigmoid().transpose(1, 2))
        decay = split_heads((gate.float() + GATE_BIAS).sigmoid(), self.n_head)
        # Token by token: the parallel form takes T·T·D numbers, see `state_space.parallel`.
        return state_space.recurrent(q, k, v, decay).output


GATE_BIAS = 4.0  # before training nearly nothing fades: the decays begin at 0.98


class MatrixMemoryBlock(nn.Module):
    """The layer and a feed-forward network, each added to the residual stream."""

    def __init__(self, config: MatrixMemoryConfig):
        super().__init__()
        c = config.n_embd
        self.norm1, self.norm2 = LayerNorm(c), LayerNorm(c)
        self.memory = MatrixMemoryLayer(config)
        self.mlp = FeedForward(c, 4 * c, "gelu")
        self.tap_memory, self.tap_residual = Tap("memory"), Tap("residual")

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        x = x + self.tap_memory(self.memory(self.norm1(x)))
        return self.tap_residual(x + self.mlp(self.norm2(x)))


class MatrixMemory(LanguageModel):
    """Token embedding, blocks, a norm, and a head that gives the logits. It learns no positions.

    Reference: Katharopoulos et al. 2020, Yang et al. 2024 and Gu and Dao 2023, by `rule`; their
    kernels, convolutions and output gates are left out.
    """

    config: MatrixMemoryConfig

    def __init__(self, config: MatrixMemoryConfig):
        super().__init__(config)
        self.token = nn.Embedding(config.vocab_size, config.n_embd)
        self.blocks = ListOf(MatrixMemoryBlock(config) for _ in range(config.n_layer))
        self.norm_final = LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.tap_embed, self.tap_logits = Tap("embed"), Tap("logits")
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        self.finish()

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) and the loss; see `LanguageModel`."""
        self.check_length(idx)
        x = self.tap_embed(self.embed_ids(idx, self.token.weight))  # (B, T, C)
        for block in self.blocks:
            x = block(x)
        logits = self.tap_logits(self.head(self.norm_final(x)))
        return logits, self.loss(logits, targets)
