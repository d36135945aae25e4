"""Whether a model looks ahead: its loss when nothing is ahead, and how much weight lies there.

T time, V vocabulary.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor


def loss_as_written(model: Callable[[Tensor], tuple], rows: Sequence[Sequence[int]]) -> float:
    """Return the loss of a model that gets only what stands before, in nats per token.

    model: ids (B, T) to logits (B, T, V) and something. rows: texts as ids, of any lengths; each
    token but the first of a text is asked for with the tokens before it alone, as when the model
    writes. A model that cannot look ahead has the same loss as on whole texts.
    Raises ValueError: no text has two tokens.
    """
    loss, tokens = 0.0, 0
    with torch.inference_mode():
        for t in range(1, max(map(len, rows), default=0)):
            part = torch.tensor([list(row[: t + 1]) for row in rows if len(row) > t])
            logits = model(part[:, :t])[0][:, -1]  # (B, V)
            loss += F.cross_entropy(logits, part[:, t], reduction="sum").item()
            tokens += len(part)
    if not tokens:
        raise ValueError("a loss needs a text of two tokens or more")
    return loss / tokens


def weight_ahead(weights: Tensor) -> Tensor:
    """Return the share of weights (…, T, T) that lies on later tokens, (…).

    The mean over all rows but the last, which has nothing ahead; NaN for one token alone.
    """
    return weights.triu(1).sum(-1)[..., :-1].mean(-1)
