"""A model from its name in the catalogue and its settings."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from llmviz.config import Config
from llmviz.models.catalogue import entry_of
from llmviz.models.room import check_memory, check_sizes


def build(name: str, config: Config | Mapping[str, Any] | None = None) -> nn.Module:
    """A new, untrained model of the catalogue, on the default device.

    config: its settings, as its config class or as plain values; what is left out keeps its
      default. Initial values come from torch's global random state.
    Raises ValueError for an unknown name, settings that do not fit together, and sizes that this
    machine has no memory for: nothing is built then.
    """
    entry = entry_of(name)
    if config is None or isinstance(config, Mapping):
        config = entry.config.from_dict(config or {})
    if not isinstance(config, entry.config):
        raise ValueError(
            f"model {name} needs a {entry.config.__name__}; got a {type(config).__name__}"
        )
    check_sizes(name, config.to_dict())
    if torch.empty(0).device.type == "meta":
        return entry.model(config)
    with torch.device("meta"):
        check_memory(bytes_of(entry.model(config)), f"a {name} of these sizes")
    return entry.model(config)


def bytes_of(model: nn.Module) -> int:
    """Bytes of a model's parameters and of the tables that it computes from its settings."""
    return sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))
