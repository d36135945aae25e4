"""A model from its name in the catalogue and its settings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from llmviz.config import Config
from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import entry_of
from llmviz.models.memory_limits import check_memory, check_sizes
from llmviz.nn.outline import outlined

OUTLINED = 12  # layers, and experts, of which all are outlined: as many as a WaveNet may have


def build(name: str, config: Config | Mapping[str, Any] | None = None) -> LanguageModel:
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
    check_memory(bytes_needed(name, config), f"a {name} of these sizes")
    return entry.model(config)


def bytes_needed(name: str, config: Config | Mapping[str, Any]) -> int:
    """Bytes of a model's parameters and of the tables that it computes from its settings.

    It is not built, nor are all its layers outlined: see `from_outlines`.
    Raises ValueError for an unknown name and for settings that do not fit together.
    """
    entry = entry_of(name)
    if isinstance(config, Mapping):
        config = entry.config.from_dict(config)
    if getattr(config, "n_expert", 1) > 1:  # an outline has few experts; this changes no size
        config = replace(config, **{"experts_per_token": 1})

    def size(smaller: Config) -> tuple[int]:
        with outlined():
            model = entry.model(smaller)
        return (sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers())),)

    return from_outlines(size, config, "n_layer", "n_expert")[0]


def from_outlines(
    measure: Callable[[Config], tuple[int, ...]], config: Config, *settings: str
) -> tuple[int, ...]:
    """Return `measure(config)` without measuring a model with more than OUTLINED layers.

    settings: those of which, from the second one on, each one more adds the same to what is
    measured. Where there are many, two and three are measured, and the difference is added up.
    """
    for setting in settings:
        many = getattr(config, setting, 1)
        if many > OUTLINED:
            two, three = (
                from_outlines(measure, replace(config, **{setting: few}), *settings)
                for few in (2, 3)
            )
            return tuple(b + (many - 3) * (b - a) for a, b in zip(two, three, strict=True))
    return measure(config)
