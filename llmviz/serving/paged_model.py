"""A GPT that reads the tokens of many sequences at once, with its keys and values in blocks.

C = n_embd, G heads of keys and values, H heads, D head size, V vocabulary, N tokens in a step.

Tokens of all sequences lie one behind the other in one matrix (N, C): no row is padded. Only
attention knows which token belongs to which sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.models import GPT
from llmviz.models.fast_paths import FastPath
from llmviz.models.layer_parts import LayerParts, layer_parts, position_table
from llmviz.models.settings import GPTConfig
from llmviz.nn.attention.multihead import SCALES
from llmviz.nn.fast_linear import Product, fast_linear, plain_linear
from llmviz.nn.layers import ACTIVATIONS, LayerNorm, RMSNorm
from llmviz.nn.positions import rotate
from llmviz.serving.paged_memory import (
    PagedMemory,
    Prompts,
    Reading,
    attend_blocks,
    attend_prompts,
)
from llmviz.serving.plan import Plan

# Prompts are read together as long as their mask has at most so many cells.
TOGETHER = 128 * 128
COMPUTES = FastPath(
    {
        "positions": ("learned", "sinusoidal", "rotary", "none"),
        "norm": ("pre", "post", "none"),
        "norm_kind": ("layer", "rms"),
        "activation": ACTIVATIONS,
        "attention_scale": SCALES,
    },
    free=frozenset(("n_kv_head",)),
)


class PagedModel:
    """A GPT's weights, laid out for batches, with a memory of blocks.

    block_size, n_blocks: of the memory. host_blocks: of the second one, for what is swapped out.
    rows: how many tokens a step usually has. The weights may be copied: later training
    need not show. Traces and heads that are switched off have no effect.

    Raises ValueError for an option of the model that is not read here.
    """

    def __init__(
        self, model: nn.Module, n_blocks: int, block_size: int, host_blocks: int = 0, rows: int = 16
    ):
        gpt = check_can_serve(model)
        config = gpt.config
        self.config, self.block_size = config, block_size
        weight = gpt.token.weight.detach()
        self._token, self._device = weight, weight.device
        self._position = position_table(gpt)
        self._rotary = gpt.blocks[0].attn.rotary
        self._scale = SCALES[config.attention_scale](config.n_embd, config.head_size)
        self._activation = ACTIVATIONS[config.activation]
        self._pre = config.norm == "pre"
        fast = weight.dtype is torch.float32 and rows > 1

        def product(linear: nn.Linear) -> Product:
            return fast_linear(linear, rows=rows) if fast else plain_linear(linear)

        self._layers = layer_parts(gpt, _norm, product)
        self._norm, self._head = _norm(gpt.norm_final), product(gpt.head)
        shape = (config.kv_heads, block_size, config.head_size)
        options: dict[str, Any] = {"device": weight.device, "dtype": weight.dtype}
        self.memory = PagedMemory(config.n_layer, n_blocks, *shape, **options)
        self.host = PagedMemory(config.n_layer, host_blocks, *shape, dtype=weight.dtype)

    @property
    def bytes_per_token(self) -> int:
        """Of the keys and values of one token in all layers."""
        return bytes_per_token(self.config, self._token.element_size())

    def compute(self, plan: Plan) -> Tensor:
        """Move the plan's blocks and compute its tokens.

        Returns logits (rows, V) after the last token of each row that draws, in the order of the
        rows: `drawing_rows` of the plan. Where a row has values that are no numbers, each row is
        computed by itself, so that they do not spread to others: 0 · nan is nan.
        """
        self.memory.move(plan.swap_out, self.host)
        self.memory.move(plan.copies)
        self.host.move(plan.swap_in, self.memory)
        with torch.inference_mode():
            x, last = self._forward(plan)
            if not _without_padding(x, plan).isfinite().all():
                return self._one_by_one(plan)
            return self._logits(x, last)

    def _one_by_one(self, plan: Plan) -> Tensor:
        """The same logits, each row computed by itself. It reads nothing but its own tokens."""
        size, draws = self.block_size, dict(plan.draws)
        rows = [Plan(decode=[sequence]) for sequence in plan.decode]
        rows += [Plan(prefill=[part]) for part in plan.prefill]
        for sequence in plan.decode:  # slots behind its last token may hold what others left
            place = sequence.computed
            self.memory.clear([sequence.table[place // size]], place % size + 1)
        logits = []
        for row, alone in enumerate(rows):
            alone.draws = [(0, draws[row])] if row in draws else []
            logits.append(self._logits(*self._forward(alone)))
        return torch.cat(logits)

    def _logits(self, x: Tensor, last: Tensor) -> Tensor:
        if not len(last):  # parts of prompts alone
            return x.new_empty(0, self.config.vocab_size)
        return self._head(self._norm(x.index_select(0, last)))  # (rows, V)

    def _forward(self, plan: Plan) -> tuple[Tensor, Tensor]:
        """What the last layer gives each token (N, C), and which tokens draw (rows,)."""
        batch = self._batch(plan)
        x = self._token.index_select(0, batch.ids)  # (N, C)
        if self._position is not None:
            x = x + self._position.index_select(0, batch.positions)
        angles = None
        if self._rotary is not None:
            angles = [
                table.index_select(0, batch.positions).to(x.dtype)
                for table in (self._rotary.cos, self._rotary.sin)
            ]
        for number, layer in enumerate(self._layers):
            if self._pre:
                x = x + self._attend(number, layer, layer.norm1(x), batch, angles)
                x = x + self._feed(layer, layer.norm2(x))
            else:
                x = layer.norm1(x + self._attend(number, layer, x, batch, angles))
                x = layer.norm2(x + self._feed(layer, x))
        return x, batch.last

    def _attend(
        self, number: int, layer: LayerParts, x: Tensor, batch: _Batch, angles: list[Tensor] | None
    ) -> Tensor:
        config, memory = self.config, self.memory
        h, d = config.n_head, config.head_size
        stored = len(batch.slots) // (2 * config.kv_heads)  # a key and a value for each head
        qkv = layer.qkv(x).view(len(x), -1, d)  # (N, H + 2·G, D)
        if angles is not None:
            unrotated = qkv[:, : h + config.kv_heads].transpose(0, 1)
            qkv[:, : h + config.kv_heads] = rotate(unrotated, *angles).transpose(0, 1)
        memory.write(number, batch.slots, qkv[:stored, h:])
        keys, values = memory.keys[number], memory.values[number]
        heads = []
        if batch.reading is not None:
            queries = qkv[: batch.decoding, :h]
            heads.append(attend_blocks(queries, keys, values, batch.reading, self._scale))
        heads += [
            attend_prompts(qkv, h, keys, values, prompts, self._scale) for prompts in batch.prompts
        ]
        if stored < len(x):
            heads.append(x.new_zeros(len(x) - stored, config.n_embd))  # padding
        return layer.projection(torch.cat(heads) if len(heads) > 1 else heads[0])

    def _feed(self, layer: LayerParts, x: Tensor) -> Tensor:
        act = self._activation(layer.hidden(x))  # (N, F)
        if layer.up is not None:
            act = act * layer.up(x)
        return layer.output(act)

    def _batch(self, plan: Plan) -> _Batch:
        size = self.block_size
        ids: list[int] = []
        positions: list[int] = []
        blocks: list[int] = []
        tables: list[list[int]] = []
        for sequence in plan.decode:
            place = sequence.computed
            ids.append(sequence.tokens[place])
            positions.append(place)
            table = sequence.table[: place // size + 1]
            blocks.append(table[-1])
            tables.append(table)
        for sequence in plan.padding:  # its last token once more, in the same place
            place = sequence.computed - 1
            ids.append(sequence.tokens[place])
            positions.append(place)
            table = sequence.table[: place // size + 1]
            blocks.append(table[-1])
            tables.append(table)
        decoding = len(ids)
        reading = None
        if decoding:
            lengths = [place + 1 for place in positions]
            reading = Reading.of(tables, lengths, size, self.memory.keys[0])
        last = list(range(len(plan.decode)))
        drawing = {row for row, _ in plan.draws}
        prompts: list[Prompts] = []
        together: list[tuple[list[int], int, int]] = []
        first = decoding
        cells = (0, 0)
        for row, (sequence, start, count) in enumerate(plan.prefill, start=len(last)):
            end = start + count
            cells = cells[0] + count, cells[1] + end
            if together and cells[0] * cells[1] > TOGETHER:
                prompts.append(Prompts.of(first, together, size, self._device))
                first, together, cells = len(ids), [], (count, end)
            together.append((sequence.table, start, count))
            ids += sequence.tokens[start:end]
            positions += range(start, end)
            blocks += [sequence.table[place // size] for place in range(start, end)]
            if row in drawing:
                last.append(len(ids) - 1)
        if together:
            prompts.append(Prompts.of(first, together, size, self._device))
        nothing = [0] * plan.padding_tokens
        where = torch.tensor(positions + nothing, device=self._device)
        places = torch.tensor(blocks, device=self._device)
        return _Batch(
            ids=torch.tensor(ids + nothing, device=self._device),
            positions=where,
            slots=self.memory.slots(places, where[: len(blocks)] % size),
            decoding=decoding,
            reading=reading,
            prompts=prompts,
            last=torch.tensor(last, dtype=torch.long, device=self._device),
        )


class _Batch(NamedTuple):
    """The tokens of a step: those that decode, then prompts, then padding for nobody.

    ids, positions: (N,). slots: where each is stored, but for the padding. last: the tokens whose
    logits are wanted.
    """

    ids: Tensor
    positions: Tensor
    slots: Tensor
    decoding: int
    reading: Reading | None
    prompts: list[Prompts]
    last: Tensor


def drawing_rows(plan: Plan) -> dict[int, int]:
    """For each row of a plan that draws, the number of its logits."""
    return {row: number for number, row in enumerate(dict.fromkeys(row for row, _ in plan.draws))}


def _without_padding(x: Tensor, plan: Plan) -> Tensor:
    """The rows of (N, C) that are computed for somebody; N if there is no padding."""
    if not (plan.padding or plan.padding_tokens):
        return x
    decoding = len(plan.decode)
    return torch.cat((x[:decoding], x[decoding + len(plan.padding) : len(x) - plan.padding_tokens]))


def bytes_per_token(config: GPTConfig, element_size: int = 4) -> int:
    """Bytes of the keys and values of one token in all layers."""
    return 2 * config.n_layer * config.kv_heads * config.head_size * element_size


def check_can_serve(model: nn.Module) -> GPT:
    """Return the model. Raises ValueError, naming the option, if `PagedModel` does not read it."""
    if not isinstance(model, GPT):
        raise ValueError(f"many requests are served by a GPT; got {type(model).__name__}")
    check_settings(model.config)
    for block in model.blocks:
        attn, mlp = block.attn, block.feed_forward
        for module in (attn.qkv, attn.projection, mlp.hidden, mlp.output):
            if type(module) is not nn.Linear:
                raise ValueError(
                    "many requests are served by plain linear layers; got "
                    f"{type(module).__name__}: merge what was added to them first"
                )
    return model


def check_settings(config: GPTConfig) -> None:
    """Raise ValueError, naming the option, for settings that `PagedModel` does not read."""
    name = COMPUTES.refused(config)
    if name is not None:
        raise ValueError(
            f"many requests are served by a GPT with a causal mask over all tokens, residual "
            f"additions and one feed-forward network; got {name}={getattr(config, name)!r}"
        )


def _norm(norm: nn.Module) -> Callable[[Tensor], Tensor]:
    if isinstance(norm, RMSNorm):
        shape, weight, epsilon = norm.normalized_shape, norm.weight.detach(), norm.eps
        return lambda x: F.rms_norm(x, shape, weight, epsilon)
    if isinstance(norm, LayerNorm):
        scale, shift = norm.weight.detach(), None if norm.bias is None else norm.bias.detach()
        wide, small = norm.normalized_shape, norm.eps
        return lambda x: torch.layer_norm(x, wide, scale, shift, small, False)
    return norm
