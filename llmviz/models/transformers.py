"""Which models can be studied, and one line about those that cannot."""

from __future__ import annotations

from torch import nn

from llmviz.models.gpt import GPT


def require_transformer(model: nn.Module) -> GPT:
    """Return the model; ValueError for one without layers of attention and feed-forward."""
    if not isinstance(model, GPT):
        raise ValueError(
            f"this reads the layers of a transformer (gpt, bert); got a {type(model).__name__}"
        )
    return model


def require_dense(model: nn.Module) -> GPT:
    """Return the model; ValueError for one whose layers have several feed-forward networks."""
    gpt = require_transformer(model)
    if gpt.config.n_expert > 1:
        raise ValueError(
            "this needs one feed-forward network a layer; "
            f"the model has {gpt.config.n_expert} experts a layer"
        )
    return gpt


def require_sum(model: nn.Module) -> GPT:
    """Return the model; ValueError where the residual stream is not the sum of what was added.

    That is so for norms behind each addition, and for blocks that replace their input.
    """
    gpt = require_transformer(model)
    if gpt.config.norm == "post" or not gpt.config.residual:
        got = 'norm="post"' if gpt.config.norm == "post" else "residual=False"
        raise ValueError(
            "this needs a residual stream that is only added to, as with norms before attention "
            f"and feed-forward; the model has {got}"
        )
    return gpt
