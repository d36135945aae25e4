"""A model on random tokens that are written twice, against equal weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments.induction import on_random_tokens
from llmviz.models import GPT, GPTConfig


def test_a_model_that_looks_at_all_alike_scores_what_equal_weights_score():
    torch.manual_seed(3)
    flat = GPT(GPTConfig(vocab_size=9, context_length=16, n_layer=2, n_head=2, n_embd=16))
    with torch.no_grad():
        for block in flat.blocks:
            block.attn.qkv.weight.zero_()
            block.attn.qkv.bias.zero_()
    found = on_random_tokens(flat.eval(), range(9), texts=20, block=7)
    assert found["induction"] == pytest.approx(found["even"], rel=1e-5)
    equal = np.mean([1 / (i + 1) for i in range(2, 14)])
    assert found["previous"] == pytest.approx(equal, rel=1e-5)
    assert found["first"] > 0 < found["again_error"]
