"""Whether weights are those of a model, known before the model is built or the weights are read.

A folder may say anything. What its config.json describes is laid out on torch's meta device, where
tensors have a shape and no memory, and compared with the names and shapes that the file of weights
lists at its beginning. Only what fits is built.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import entry_of
from llmviz.models.memory_limits import check_sizes
from llmviz.nn.lora import add_adapter
from llmviz.nn.lora_config import LoraConfig
from llmviz.nn.outline import outlined
from llmviz.quantization.files import QUANTIZATION, full_shapes
from llmviz.training.errors import CheckpointError
from llmviz.training.reading import LORA
from llmviz.training.tensors import check_shapes, load_shapes, shapes

LARGEST_BUFFERS = 2**28  # bytes of what a model computes from its settings and saves nowhere


def build_to_fit(description: dict[str, Any], weights: Path, source: str) -> LanguageModel:
    """A new model as a run's description says, if the file of weights is one of such a model.

    source: where the description stands, for messages.
    Raises CheckpointError: there is no such model, or the weights are another one's.
    """
    from llmviz.models import build

    name, config = description["model"]["name"], description["model"]["config"]
    listed = load_shapes(weights)
    if QUANTIZATION in description:
        listed = full_shapes(listed, description, source)
    try:
        check_sizes(name, config)  # before its layers are counted
        settings = entry_of(name).config.from_dict(config)
        if (layers := getattr(settings, "n_layer", 0)) > len(listed):
            raise ValueError(f"{layers} layers cannot be in {len(listed)} tensors")
        with outlined():
            outline = _with_adapters(build(name, config), description)
    except (LookupError, TypeError, ValueError, RuntimeError, ArithmeticError) as error:
        raise CheckpointError(f"{source} describes no model that can be built: {error}") from error
    own = shapes(outline.state_dict())
    check_shapes(own, listed, str(weights))
    unsaved = sum(b.nbytes for key, b in outline.named_buffers() if key not in own)
    if unsaved > LARGEST_BUFFERS:
        raise CheckpointError(f"{source} describes a model that needs {unsaved:,} bytes of tables")
    return _with_adapters(build(name, config), description)


def _with_adapters(model: LanguageModel, description: dict[str, Any]) -> LanguageModel:
    """The model with the adapters that its description names. Raises as `add_adapter`."""
    if LORA in description:
        add_adapter(model, LoraConfig(**description[LORA]))
    return model


def check_vocabulary(tokenizer: Any, description: dict[str, Any], folder: Path) -> None:
    """Raise CheckpointError where a run's tokenizer does not count as many tokens as its model."""
    model = description["model"]
    size = model["config"].get("vocab_size")
    if size != tokenizer.vocab_size + entry_of(model["name"]).extra_ids:
        raise CheckpointError(
            f"in {folder}, the tokenizer has {tokenizer.vocab_size:,} tokens and the model {size}"
        )
