"""What the kinds of Llamas have where their config.json is silent, and their windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from llmviz.models.published_options import Options


def _no_window(values: Mapping[str, Any], n_layer: int) -> None:
    """Llama has no window."""
    _require_layers(values, n_layer, "full_attention")


def _mistrals_window(values: Mapping[str, Any], n_layer: int) -> int | None:
    """Mistral's is that of every layer; null is none."""
    if values.get("sliding_window", 0) is None:
        _require_layers(values, n_layer, "full_attention")
        return None
    _require_layers(values, n_layer, "sliding_attention")
    return Options(values).whole("sliding_window", 4096)


def _qwens_window(values: Mapping[str, Any], n_layer: int) -> int | None:
    """Qwen2's is that of the layers from `max_window_layers` on; here of all or of none."""
    options = Options(values)
    if not options.boolean("use_sliding_window", False):
        _require_layers(values, n_layer, "full_attention")
        return None
    first = options.whole("max_window_layers", 28)
    if first >= n_layer:
        _require_layers(values, n_layer, "full_attention")
        return None
    if first > 0:
        raise ValueError(
            f"max_window_layers must be 0 or at least the number of layers, {n_layer}, so that "
            f"all layers see the same number of tokens; got {first}"
        )
    _require_layers(values, n_layer, "sliding_attention")
    return options.whole("sliding_window", 4096)


def _mixtrals_window(values: Mapping[str, Any], n_layer: int) -> int | None:
    """Mixtral's is that of every layer; it has none by itself."""
    if values.get("sliding_window") is None:
        _require_layers(values, n_layer, "full_attention")
        return None
    _require_layers(values, n_layer, "sliding_attention")
    return Options(values).whole("sliding_window", 4096)


_phis_window = _mixtrals_window


def _require_layers(values: Mapping[str, Any], n_layer: int, kind: str) -> None:
    """Refuse a list of layers that are not all of one kind."""
    listed = values.get("layer_types")
    if listed is not None and listed != [kind] * n_layer:
        raise ValueError(f'layer_types must be "{kind}" for all {n_layer} layers; got {listed!r}')


class Kind(NamedTuple):
    """What a model_type has where its config.json is silent, and how its window is read."""

    vocab_size: int
    context_length: int
    hidden_size: int
    n_kv_head: int | None  # None: as many as heads
    window: Callable[[Mapping[str, Any], int], int | None]
    norm_epsilon: float = 1e-6
    rotary_base: float = 10_000.0


KINDS = {
    "llama": Kind(32_000, 2048, 11_008, None, _no_window),
    "mistral": Kind(32_000, 131_072, 14_336, 8, _mistrals_window),
    "qwen2": Kind(151_936, 32_768, 22_016, 32, _qwens_window),
    "mixtral": Kind(32_000, 131_072, 14_336, 8, _mixtrals_window, 1e-5, 1e6),
    "phi3": Kind(32_064, 4096, 8192, None, _phis_window, 1e-5),
}
