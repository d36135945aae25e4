"""A small chat model: the bundled story model, four new tokens, and an adapter for conversations.

The template is `serving.chat_template.TURNS`. V tokens of the story model, C the width.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.finetuning.conversations import ASSISTANT, Talk, conversations
from llmviz.finetuning.plan import BASE, LoraConfig
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.serving.chat_template import TURN_TOKENS, TURNS, Conversation

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.finetuning.masked import Scored
    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer

COMMAND = "python -m llmviz.study.chat_record"
REPLIES, ALL = "replies", "all"
WAYS = (REPLIES, ALL)
"""What the loss counts: the assistant's tokens alone, or all."""
SEEDS = (0, 1, 2)
EXAMPLES, STEPS, BATCH, RATE, WARMUP = 4000, 300, 8, 4e-3, 20
LORA = LoraConfig(rank=8, alpha=16.0)
WEIGHTS = "chat.safetensors"
NEW_ROWS = "token.new"  # in this file: the embeddings of the four new tokens


@cache
def tokenizer() -> Tokenizer:
    """Return the story model's tokenizer with the four tokens of the template behind its own."""
    from llmviz.pretrained import find_base
    from llmviz.tokenizers import BPETokenizer

    base = find_base(BASE).tokenizer
    assert isinstance(base, BPETokenizer)
    return BPETokenizer(base.merges, (*base.special_tokens, *TURN_TOKENS), "chat")


@cache
def template() -> Conversation:
    """Return how the model reads a conversation."""
    return Conversation(tokenizer(), TURNS)


def scored_tokens(talk: Talk, way: str = REPLIES) -> list[Scored]:
    """Return a conversation token by token, and which of them the loss counts.

    That are the words of the assistant and the ends of its turns, or all tokens behind the first.
    """
    from llmviz.finetuning.masked import Scored

    own, pieces = tokenizer(), template().pieces([one.plain for one in talk])[:-1]
    tokens, speaks = [], False
    for piece in pieces:
        ids = own.encode(piece.text) if piece.id is None else [piece.id]
        counts = speaks or (way == ALL and bool(tokens))
        tokens += [Scored(token, counts) for token in ids]
        if piece.id is not None:
            speaks = piece.text == f"<|{ASSISTANT}|>"
    return tokens


def new_model(seed: int = 0) -> GPT:
    """Return the story model with an adapter and small random rows for the new tokens."""
    import torch

    from llmviz.finetuning.lora import add_adapter
    from llmviz.models.gpt import GPT
    from llmviz.models.settings import GPTConfig
    from llmviz.pretrained import find_base

    base = find_base(BASE).model
    config = GPTConfig.from_dict({**base.config.to_dict(), "vocab_size": tokenizer().vocab_size})
    chance = torch.Generator().manual_seed(seed)
    model = GPT(config)
    known = base.state_dict()
    rows = 0.02 * torch.randn(len(TURN_TOKENS), config.n_embd, generator=chance)
    table = torch.cat([known["token.weight"], rows])
    model.load_state_dict(known | {"token.weight": table, "head.weight": table})
    add_adapter(model, LORA, seed=seed)
    model.token.weight.requires_grad_(True)
    return model


def train(way: str, seed: int, steps: int = STEPS, batch: int = BATCH) -> tuple[GPT, float]:
    """Train a model; return it, its adapter merged in, and the mean loss of its last 50 steps.

    The conversations, their order and the first weights are the same for both ways of a seed.
    """
    import torch

    from llmviz.finetuning.masked import MaskedData

    model, own = new_model(seed), tokenizer()
    rows = [tuple(scored_tokens(one, way)) for one in conversations(EXAMPLES, seed)]
    rows = [row for row in rows if len(row) <= model.context_length + 1]
    sizes = (own.end, own.vocab_size, model.context_length)
    data = MaskedData(tuple(rows), (), (), *sizes, seed=seed)
    learned = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(learned, RATE, betas=(0.9, 0.99), weight_decay=0.0)

    def rate(step: int) -> float:
        return min(1, (step + 1) / WARMUP) * (0.52 + 0.48 * math.cos(math.pi * step / steps))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    old, losses = len(model.token.weight) - len(TURN_TOKENS), []
    model.train()
    for step in range(1, steps + 1):
        loss = model(*data.batch(step, batch))[1]
        assert loss is not None
        optimizer.zero_grad()
        loss.backward()
        model.token.weight.grad[:old] = 0  # type: ignore[index]  # the story model's own rows stay
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    lower(model)
    model.eval()
    return model, sum(losses[-50:]) / len(losses[-50:])


def learned_tensors(model: GPT) -> dict[str, Tensor]:
    """Return what training changed: the adapter's matrices and the rows of the new tokens."""
    from llmviz.finetuning.lora import lora_layers

    named = {NEW_ROWS: model.token.weight[-len(TURN_TOKENS) :].detach()}
    for path, layer in lora_layers(model).items():
        named |= {f"{path}.{which}": getattr(layer.beside, which).detach() for which in "AB"}
    return named


def lower(model: GPT) -> None:
    """Round what was trained to float16, as it is bundled: what is measured is what is kept."""
    for tensor in learned_tensors(model).values():
        tensor.copy_(tensor.half().float())


def save(models: dict[str, GPT], folder: Path = EXPERIMENT_FOLDER) -> None:
    """Write what training changed of a model of each way."""
    import torch

    from llmviz.training.tensors import save_tensors

    tensors = {
        f"{way}.{name}": tensor
        for way, model in models.items()
        for name, tensor in learned_tensors(model).items()
    }
    save_tensors(folder / WEIGHTS, tensors, torch.float16)


@cache
def bundled(way: str = REPLIES, folder: Path = EXPERIMENT_FOLDER) -> GPT:
    """Return the bundled model of a way, its adapter merged in. ValueError: missing or damaged."""
    from llmviz.finetuning.lora import without_adapters
    from llmviz.training.errors import CheckpointError
    from llmviz.training.tensors import load_tensors

    model = new_model()
    try:
        tensors = load_tensors(folder / WEIGHTS)
        for name, tensor in learned_tensors(model).items():
            tensor.copy_(tensors[f"{way}.{name}"])
    except (CheckpointError, KeyError, RuntimeError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} is missing or damaged; `{COMMAND}` makes it"
        ) from error
    return without_adapters(model).requires_grad_(False).eval()
