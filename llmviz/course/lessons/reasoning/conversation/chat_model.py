"""A small chat model: the story model that answers questions, trained on conversations.

The template is `serving.chat_template.TURNS`. V tokens of the story model, C the width.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.plan import BASE, INSTRUCTIONS
from llmviz.serving.chat_template import TURN_END, TURN_TOKENS, TURNS, Conversation
from llmviz.tokenizers.base import ENDOFTEXT
from llmviz.tokenizers.bpe import BPETokenizer

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.gpt import GPT

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
    return Conversation(tokenizer(), TURNS, ours=True)


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


def unpack(model: GPT, tensors: Mapping[str, Tensor]) -> GPT:
    """Give a model what `packed` returned; KeyError or RuntimeError where it does not fit."""
    weights = {}
    for name in model.state_dict():
        stored = tensors["token.weight" if name == "head.weight" else name]
        scales = tensors.get("token.weight" + SCALES if name == "head.weight" else name + SCALES)
        weights[name] = stored.float() if scales is None else stored.float() * scales
    model.load_state_dict(weights)
    return model


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
