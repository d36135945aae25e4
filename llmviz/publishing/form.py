"""Which published form a GPT has, and its tensors under the names of that form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from llmviz.models import gpt2_format
from llmviz.models.bert import BERT
from llmviz.models.gpt import GPT
from llmviz.models.gpt2_format import config_to_gpt2
from llmviz.models.llama_format import config_to_llama, tensors_to_write
from llmviz.models.settings import GPTConfig
from llmviz.training.run_folder import Trained


class StoredTensor(NamedTuple):
    """Where a tensor of ours goes: its published name, and the rows of ours that it is."""

    name: str
    ours: str
    shape: tuple[int, ...]  # as published
    rows: slice = slice(None)
    transposed: bool = False  # a matrix (in, out), as GPT-2 has them


def gpt_of(trained: Trained) -> GPT:
    """The model as a GPT. Raises ValueError for another kind, which no published form has.

    A BERT, which sees both sides, is none, though it has a GPT's parts.
    """
    if not isinstance(trained.model, GPT) or isinstance(trained.model, BERT):
        kind = trained.description["model"]["name"]
        raise ValueError(f"only a gpt has a published form; this is a {kind}")
    return trained.model


def published_config(config: GPTConfig) -> dict[str, Any]:
    """The config.json of a GPT: GPT-2's where positions are learned, else that of a Llama.

    Raises ValueError for an option that the form does not have.
    """
    return config_to_gpt2(config) if config.positions == "learned" else config_to_llama(config)


def stored_tensors(config: GPTConfig) -> Iterator[StoredTensor]:
    """Yield every tensor of the form."""
    if config.positions != "learned":
        for tensor in tensors_to_write(config):
            yield StoredTensor(tensor.name, tensor.ours, tensor.shape, tensor.rows)
        return
    for name, ours, shape, transposed in gpt2_format.stored_tensors(config):
        whole = name if name == gpt2_format.HEAD else gpt2_format.PREFIX + name
        yield StoredTensor(whole, ours, shape, transposed=transposed)


def published_tensors(model: GPT) -> Iterator[tuple[StoredTensor, Tensor]]:
    """Yield each stored tensor with our values, a matrix as (out, in); an absent bias is zeros."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for stored in stored_tensors(model.config):
        if stored.ours in parameters:
            yield stored, parameters[stored.ours].detach()[stored.rows].cpu()
        else:
            yield stored, torch.zeros(stored.shape)
