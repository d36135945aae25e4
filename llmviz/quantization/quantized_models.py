"""A model on a grid by either method: plain rounding, or scaled by its activations before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmviz.quantization.scheme import Scheme
from llmviz.training.held_out_texts import CALIBRATION_SEED, rows_of, stories

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.quantization.model import QuantizedModel

ROUNDING, AWQ = "rounding", "awq"
METHODS = (ROUNDING, AWQ)
CALIBRATED_ON = 16  # texts that the scales are chosen on


def scaled(
    model: LanguageModel,
    tokenizer: Any,
    scheme: Scheme,
    method: str,
    texts: list[str] | None = None,
) -> LanguageModel:
    """Return the model that is rounded: the one given, or for awq a copy with scaled weights.

    texts: what the scales are chosen on; None = new stories of tiny-world.
    Raises ValueError for an unknown method and a model that it is not for.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    if method == ROUNDING:
        return model
    from llmviz.quantization.awq import check_scalable, scale_by_activations

    chosen = stories(CALIBRATED_ON, CALIBRATION_SEED) if texts is None else texts[:CALIBRATED_ON]
    rows = rows_of(tokenizer, chosen, model.context_length)
    return scale_by_activations(check_scalable(model), rows, scheme).model


def quantized(
    model: LanguageModel,
    tokenizer: Any,
    scheme: Scheme,
    method: str,
    texts: list[str] | None = None,
) -> QuantizedModel:
    """Return a model on the grid of a scheme; see `scaled`.

    Raises ValueError as `scaled` and `llmviz.quantization.model.quantize_model`.
    """
    from llmviz.quantization.model import quantize_model

    return quantize_model(scaled(model, tokenizer, scheme, method, texts), scheme)
