"""A model whose matrices lie in memory in fewer bits computes with them in float32."""

import copy

import pytest
import torch

from llmviz.models.stored_weights import store_weights
from tests.publishing.test_folder import MODERN, gpt


@pytest.mark.parametrize("options", [MODERN, {"n_layer": 2}, {**MODERN, "tied_head": False}])
def test_it_is_the_model_with_each_matrix_rounded_once(options):
    model = gpt(**options).eval().requires_grad_(False)
    rounded, stored = copy.deepcopy(model), copy.deepcopy(model)
    for module in rounded.modules():
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding):
            module.weight.data = module.weight.data.bfloat16().float()
    store_weights(stored, "bfloat16")
    ids = torch.randint(0, 250, (2, 12), generator=torch.Generator().manual_seed(0))
    assert torch.equal(stored(ids)[0], rounded(ids)[0])
    assert not torch.equal(stored(ids)[0], model(ids)[0])

    def size(one: torch.nn.Module) -> int:
        return sum(p.numel() * p.element_size() for p in one.parameters() if p.dim() > 1)

    assert 2 * size(stored) == size(model)
    same = copy.deepcopy(model)
    store_weights(same, "float32")
    assert torch.equal(same(ids)[0], model(ids)[0])
    with pytest.raises(ValueError, match="precision must be one of float32, bfloat16; got 'int3'"):
        store_weights(same, "int3")
