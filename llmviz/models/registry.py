"""A model from its name in the catalogue and its settings."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from llmviz.config import Config
from llmviz.models.catalogue import entry_of


def build(name: str, config: Config | Mapping[str, Any] | None = None) -> nn.Module:
    """A new, untrained model of the catalogue, on the default device.

    config: its settings, as its config class or as plain values; what is left out keeps its
      default. Initial values come from torch's global random state.
    Raises ValueError for an unknown name or settings that do not fit together.
    """
    entry = entry_of(name)
    if config is None or isinstance(config, Mapping):
        config = entry.config.from_dict(config or {})
    if not isinstance(config, entry.config):
        raise ValueError(
            f"model {name} needs a {entry.config.__name__}; got a {type(config).__name__}"
        )
    return entry.model(config)
