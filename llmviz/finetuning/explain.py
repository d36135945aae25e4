"""What each token gave to a classifier's answer: by leaving it out, and by its gradient.

Neither is the truth. Occlusion asks about a text that nobody would write, and two tokens that say
the same hide each other. Gradient × input is a straight line through one point of a curve.
Reference: Li, Monroe and Jurafsky 2016 (leaving out); Shrikumar et al. 2017 (gradient × input).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import functional_call

from llmviz.finetuning.classifier import Classifier

TABLE = "token.weight"  # the body's token embeddings


def _scores(model: Classifier, rows: Tensor, idx: Tensor) -> Tensor:
    """Logits (B, K) where the embeddings of token ids are the given rows (R, C); idx (B, T)."""
    last = torch.full((len(idx),), idx.shape[1] - 1)
    hidden = functional_call(model.body, {TABLE: rows}, (idx,), {"positions": last})[0]  # (B, 1, C)
    return model.head(hidden[:, 0])[0]


@torch.no_grad()
def occlusion(model: Classifier, ids: Tensor, target: int) -> Tensor:
    """How much the logit of class `target` falls without each token, (T,).

    ids (T,): one text, from the end-of-text token on. A token that is left out keeps its place and
    gets the mean of all token embeddings.
    """
    model.eval()
    table, t = model.body.get_parameter(TABLE), len(ids)
    rows = torch.cat([table[ids], table.mean(0, keepdim=True)])  # (T + 1, C)
    idx = torch.arange(t).repeat(t + 1, 1)
    idx[torch.arange(t), torch.arange(t)] = t
    scores = _scores(model, rows, idx)[:, target]  # the last row leaves nothing out
    return scores[-1] - scores[:-1]


def gradient_times_input(model: Classifier, ids: Tensor, target: int) -> Tensor:
    """The gradient of the logit of class `target` by each token's embedding, times that, (T,)."""
    model.eval()
    rows = model.body.get_parameter(TABLE)[ids].detach().requires_grad_(True)  # (T, C)
    score = _scores(model, rows, torch.arange(len(ids))[None])[0, target]
    (gradient,) = torch.autograd.grad(score, rows)
    return (gradient * rows.detach()).sum(1)
