"""What a real AdamW holds is what the calculator says."""

import pytest
import torch

from llmviz.course.lessons.transformer.count.optimizer_bytes import optimizer_bytes
from llmviz.models.arithmetic import count, training_memory
from llmviz.models.settings import GPTConfig


@pytest.mark.parametrize(
    "options",
    [
        {},
        dict(tied_head=False, bias=False, qkv_bias=False),
        dict(n_expert=3, experts_per_token=1),  # some experts get no token, but a gradient
        dict(n_kv_head=1, norm_kind="rms", positions="rotary", activation="swiglu"),
    ],
    ids=str,
)
def test_the_calculator_says_what_adamw_holds(options):
    config = GPTConfig(n_layer=2, n_head=2, n_embd=16, vocab_size=31, context_length=8, **options)
    state = torch.random.get_rng_state()
    found, said = optimizer_bytes(config), training_memory(config, 1)
    assert torch.equal(state, torch.random.get_rng_state())
    assert found.parameters == count(config)
    assert (found.weights, found.gradients, found.averages) == (
        said.weights,
        said.gradients,
        said.averages,
    )
    assert found.averages == 8 * found.parameters
    assert 0 < found.counters < found.averages / 50
