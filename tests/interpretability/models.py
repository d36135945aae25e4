"""Small transformers for the tests of what is read out of them."""

import torch

from llmviz.models import GPT, GPTConfig

OPTIONS = {
    "default": {},
    "rms, rotary, swiglu": dict(norm_kind="rms", positions="rotary", activation="swiglu"),
    "no biases": dict(bias=False, qkv_bias=False),
    "waves, no norm": dict(norm="none", positions="sinusoidal"),
    "shared keys": dict(n_kv_head=1),
    "experts": dict(n_expert=3),
    "window, untied": dict(window=2, tied_head=False),
    "no positions, relu": dict(positions="none", activation="relu"),
}
NO_SUM = {"norms behind": dict(norm="post"), "no shortcuts": dict(residual=False)}
IDS, OTHER = (3, 7, 1, 1, 9, 4), (3, 7, 2, 5, 9, 4)


def gpt(**options) -> GPT:
    """Weights large enough that every part matters."""
    torch.manual_seed(0)
    shape = dict(vocab_size=19, context_length=10, n_layer=3, n_head=2, n_embd=16)
    model = GPT(GPTConfig(**shape | options)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(*((0, 0.15) if model.config.norm == "none" else (0.1, 0.4)))
    return model
