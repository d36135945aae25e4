"""A model made wider without a change in what it computes: only its weights take more memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmviz.models import GPT


def widened(model: GPT, times: int) -> GPT:
    """Return a copy whose feed-forward layers are `times` as wide and give the same results.

    The hidden units that are new get random weights on the way in, and weights of 0 on the way
    out, so that nothing comes of them; but they are read and multiplied like all others.
    Raises ValueError unless times is 1 or more, and for a model with several experts.
    """
    import dataclasses

    import torch

    from llmviz.models import GPT

    if times < 1:
        raise ValueError(f"a model must be made 1 or more times as wide; got {times}")
    if model.config.n_expert > 1:
        raise ValueError("only a model with one feed-forward network in a layer can be made wider")
    size = model.config.feed_forward_size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        wide = GPT(dataclasses.replace(model.config, hidden_size=times * size))
    own, state = model.state_dict(), wide.state_dict()
    for name, tensor in state.items():
        if tensor.shape == own[name].shape:
            tensor.copy_(own[name])
        elif name.endswith("mlp.output.weight"):
            tensor.zero_()
            tensor[:, :size].copy_(own[name])
        else:  # the way in: rows, and their biases
            tensor[:size].copy_(own[name])
    return wide.eval().requires_grad_(False)
