"""A small chat model: the story model that answers questions, trained on conversations.

The template is `serving.chat_template.TURNS`. V tokens of the story model, C the width.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.course.lessons.reasoning import small_gpt
from llmviz.finetuning.conversations import ASSISTANT, Talk, conversations
from llmviz.finetuning.plan import BASE, INSTRUCTIONS
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.serving.chat_template import TURN_END, TURN_TOKENS, TURNS, Conversation
from llmviz.tokenizers.base import ENDOFTEXT
from llmviz.tokenizers.bpe import BPETokenizer

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.finetuning.masked import Scored
    from llmviz.models.gpt import GPT
    from llmviz.training.runs import Trained

COMMAND = "python -m experiments make chat"
REPLIES, ALL = "replies", "all"
WAYS = (REPLIES, ALL)
"""What the loss counts: the assistant's tokens alone, or all."""
SEEDS = (0, 1, 2)
STEPS, BATCH, RATE, WARMUP = 560, 8, 1e-3, 20
BEGINS_AS = ("\n", "\n", "Answer:", ENDOFTEXT)
"""The token whose row each new token begins with: system, user, assistant, the end of a turn."""
WEIGHTS = "chat.safetensors"
SCALES = ".scales"  # in this file: of each row of codes in int8


class ChatTokenizer(BPETokenizer):
    """A tokenizer whose model ends what it writes with the end of a turn."""

    @property
    def ends(self) -> tuple[int, ...]:
        """The end of a turn, then that of a text."""
        return self.special_tokens[TURN_END], self.end


@cache
def tokenizer() -> ChatTokenizer:
    """Return the story model's tokenizer with the four tokens of the template behind its own."""
    from llmviz.pretrained import find_base

    base = find_base(BASE).tokenizer
    assert isinstance(base, BPETokenizer)
    return ChatTokenizer(base.merges, (*base.special_tokens, *TURN_TOKENS), "chat")


@cache
def template() -> Conversation:
    return Conversation(tokenizer(), TURNS)


def scored_tokens(talk: Talk, way: str = REPLIES) -> list[Scored]:
    """Return a conversation token by token, and which of them the loss counts.

    That are the words of the assistant and the ends of its turns, or all tokens behind the first.
    """
    from llmviz.finetuning.masked import Scored

    own, pieces = tokenizer(), template().pieces([message.plain for message in talk])[:-1]
    tokens: list[Scored] = []
    speaks = False
    for piece in pieces:
        ids = own.encode(piece.text) if piece.id is None else [piece.id]
        counts = speaks or (way == ALL and bool(tokens))
        tokens += [Scored(token, counts) for token in ids]
        if piece.id is not None:
            speaks = piece.text == f"<|{ASSISTANT}|>"
    return tokens


def new_model(seed: int = 0) -> GPT:
    """Return the story model that answers questions, with four rows more in its table of tokens."""
    import torch

    from llmviz.finetuning.tuned_models import tuned_model
    from llmviz.models.gpt import GPT
    from llmviz.models.settings import GPTConfig
    from llmviz.pretrained import find_base

    own, base = tokenizer(), tuned_model(find_base(BASE).model, INSTRUCTIONS)
    config = GPTConfig.from_dict({**base.config.to_dict(), "vocab_size": own.vocab_size})
    chance = torch.Generator().manual_seed(seed)
    known = base.state_dict()
    table = known["token.weight"]
    places = [own.encode(text, allowed_special="all")[-1] for text in BEGINS_AS]
    rows = table[places] + 0.02 * torch.randn(len(places), config.n_embd, generator=chance)
    table = torch.cat([table, rows])
    model = GPT(config)
    model.load_state_dict(known | {"token.weight": table, "head.weight": table})
    return model


def train(way: str, seed: int, steps: int = STEPS, batch: int = BATCH) -> GPT:
    """Train a model on conversations, each read once; those of like length are read together.

    The conversations, their order and the first weights are the same for both ways of a seed. The
    products are in bfloat16 where the processor has instructions for it.
    """
    import torch

    from llmviz.finetuning.masked import masked_batch
    from llmviz.training.device import has_fast_bfloat16

    model, own, talks = new_model(seed), tokenizer(), conversations(steps * batch, seed)
    rows = sorted((scored_tokens(talk, way)[: model.context_length + 1] for talk in talks), key=len)
    batches = [rows[first : first + batch] for first in range(0, len(rows), batch)]
    random.Random(seed).shuffle(batches)
    fast = has_fast_bfloat16(torch.device("cpu"))

    def loss_at(step: int) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=fast):
            loss = model(*masked_batch(batches[step], own.end))[1]
        assert loss is not None  # there are targets
        return loss

    for _ in small_gpt.descend(
        model, loss_at, len(batches), rate=RATE, warmup=WARMUP, floor=0.04, betas=(0.9, 0.99)
    ):
        pass
    return rounded(model.eval())


def packed(model: GPT) -> dict[str, Tensor]:
    """Return the weights as they are bundled: matrices in int8 with a scale for each row.

    The rest is float16.
    """
    import torch

    tensors: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if name == "head.weight":  # the table of tokens
            continue
        if tensor.dim() < 2:
            tensors[name] = tensor.half()
            continue
        scales = (tensor.abs().amax(1, keepdim=True) / 127).clamp(min=1e-8)
        tensors[name] = (tensor / scales).round().to(torch.int8)
        tensors[name + SCALES] = scales
    return tensors


def unpack(model: GPT, tensors: Mapping[str, Tensor]) -> GPT:
    """Give a model what `packed` returned; KeyError or RuntimeError where it does not fit."""
    weights = {}
    for name in model.state_dict():
        stored = tensors["token.weight" if name == "head.weight" else name]
        scales = tensors.get("token.weight" + SCALES if name == "head.weight" else name + SCALES)
        weights[name] = stored.float() if scales is None else stored.float() * scales
    model.load_state_dict(weights)
    return model


def rounded(model: GPT) -> GPT:
    """Return a model as it is once its weights were bundled: what is measured is what is kept."""
    return unpack(model, packed(model))


@cache
def bundled(folder: Path = EXPERIMENT_FOLDER) -> GPT:
    """Return the bundled chat model. Raises ValueError where it is missing or damaged."""
    from llmviz.training.errors import CheckpointError
    from llmviz.training.tensors import load_tensors

    path = folder / WEIGHTS
    try:
        model = unpack(new_model(), load_tensors(path))
    except (CheckpointError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} is missing or damaged; `{COMMAND}` makes it") from error
    return model.requires_grad_(False).eval()


def published() -> Trained:
    """Return the bundled model with its template, as `export_folder` writes it for `llmviz serve`.

    Raises ValueError as `bundled`.
    """
    from llmviz.training.config import TrainConfig
    from llmviz.training.reading import CHAT
    from llmviz.training.runs import Trained, describe

    model, own = bundled(), tokenizer()
    data = {
        "corpus": "tiny-world",
        "documents": STEPS * BATCH,
        "context_length": model.context_length,
    }
    described = describe("gpt", model, own, TrainConfig(), data)
    return Trained(model, own, described | {CHAT: {"template": TURNS, "tokens": {}}})
