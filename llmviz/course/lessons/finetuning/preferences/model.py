"""What a model thinks of pairs of endings, each whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from llmviz.finetuning.preferences import Pair
    from llmviz.models.base import LanguageModel


def pair_logs(model: LanguageModel, tokenizer: Any, pairs: Sequence[Pair]) -> np.ndarray:
    """Return ln P of the endings of pairs (P, 2), the better first, each behind its story.

    In nats, the end of the text counted. Raises ValueError for a story with an ending that is
    longer than the context.
    """
    import torch

    from llmviz.finetuning.dpo import pair_tokens, text_log_probs
    from llmviz.finetuning.masked import masked_batch
    from llmviz.training.data import end_id

    rows = [text for pair in pairs for text in pair_tokens(tokenizer, pair)]
    longest = max(map(len, rows)) - 1
    if longest > model.context_length:
        raise ValueError(
            f"a story with its ending has {longest} tokens; the model reads "
            f"{model.context_length} at most"
        )
    inputs, targets = masked_batch(rows, end_id(tokenizer))
    with torch.inference_mode():
        logits = model(inputs)[0]
    return text_log_probs(logits, targets).double().view(-1, 2).numpy()
