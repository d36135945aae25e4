"""A small GPT with uneven weights, for tests of quantization."""

import torch

from llmviz.models import GPT, GPTConfig

WIDTH = 32


def small_gpt(seed: int = 0, **options: object) -> GPT:
    """Two layers of width 32; deviations of the weights as after some training."""
    settings = {"vocab_size": 41, "context_length": 24, "n_layer": 2, "n_head": 4, "n_embd": WIDTH}
    torch.manual_seed(seed)
    model = GPT(GPTConfig(**settings | options)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def ids(seed: int = 1, rows: int = 3, length: int = 20) -> torch.Tensor:
    """Token ids (rows, length)."""
    return torch.randint(0, 41, (rows, length), generator=torch.Generator().manual_seed(seed))
