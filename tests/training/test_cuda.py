"""The same run on a GPU and on the CPU, where there is a GPU."""

import dataclasses

import pytest
import torch

from llmviz.models import build
from llmviz.training import train

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.mark.parametrize(
    ("dtype", "compiled"), [("float32", "off"), ("bfloat16", "on"), ("float16", "off")]
)
def test_the_curve_of_the_gpu_is_that_of_the_cpu(data, config, dtype, compiled):
    def losses(config):
        torch.manual_seed(1)
        sizes = {"vocab_size": data.vocab_size, "context_length": 16, "n_layer": 2, "n_embd": 32}
        return [r.train_loss for r in train(build("gpt", sizes), data, config)]

    there = dataclasses.replace(config, device="cuda", dtype=dtype, compile=compiled)
    tolerance = 1e-4 if dtype == "float32" else 3e-2
    assert losses(there) == pytest.approx(losses(config), rel=tolerance)
