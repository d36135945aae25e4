"""The stages of a layer against the trace, plain formulas and an example worked out by hand."""

import pytest
import torch

from llmviz.interpretability import block
from llmviz.models.three_words import DOWN, MATRICES, UP, matrix, three_words
from llmviz.trace import record
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt

OPENED = {name: options for name, options in OPTIONS.items() if name != "experts"}
OPENED |= {"norms behind": NO_SUM["norms behind"]}


@pytest.mark.parametrize("options", OPENED.values(), ids=OPENED.keys())
def test_stages_are_the_trace_and_sums_add_up(options):
    model = gpt(**options)
    every = block.all_blocks(model, IDS)
    with torch.inference_mode(), record() as trace:
        model(torch.tensor([IDS]))
    x = trace["embed"][0]
    for layer, steps in enumerate(every):
        for name, value in steps.items():
            known = f"blocks.{layer}.{name}"
            if known in trace:
                torch.testing.assert_close(value, trace[known][0])
        assert torch.equal(steps["input"], x)
        assert torch.equal(steps["sum1"], x + steps["attn"])
        assert torch.equal(steps["sum2"], steps["residual_mid"] + steps["mlp"])
        x = trace[f"blocks.{layer}.residual"][0]
        last = block.STAGES[model.config.norm][-1]
        assert torch.equal(steps[last], x)
        assert ("norm1" in steps) == (model.config.norm != "none")


def test_three_words_are_the_example_worked_out_by_hand():
    """Without norms and shortcuts: attention of the last word, then ReLU of two small matrices."""
    model = three_words(norm="none", residual=False)
    with torch.inference_mode(), record() as trace:
        model(torch.tensor([[0, 1, 2]]))
    close = {"atol": 6e-5, "rtol": 0}
    expected = torch.tensor([0.0800, 0.2714, 0.2763, 0.2505])
    torch.testing.assert_close(trace["blocks.0.attn"][0, -1], expected, **close)
    up, down = (
        [[float(one) for one in row.split(",")] for row in written.split(";")]
        for written in (UP, DOWN)
    )
    sums = [sum(x * row[k] for x, row in zip(expected.tolist(), up, strict=True)) for k in range(8)]
    hidden = [max(0.0, one) for one in sums]
    torch.testing.assert_close(trace["blocks.0.mlp.act"][0, -1], torch.tensor(hidden), **close)
    out = [sum(x * row[k] for x, row in zip(hidden, down, strict=True)) for k in range(4)]
    torch.testing.assert_close(trace["blocks.0.mlp"][0, -1], torch.tensor(out), **close)
    assert torch.equal(three_words().token.weight, matrix(MATRICES["x"]))


@pytest.mark.parametrize(
    "options", [dict(), dict(norm="none"), dict(activation="swiglu", bias=False)], ids=str
)
def test_parameters_are_those_of_a_layer(options):
    model = gpt(**options)
    named = {name: tuple(value.shape) for name, value in model.blocks[0].named_parameters()}
    listed = {}
    for tensors in block.parameters_of(model.config).values():
        listed |= tensors
    assert listed == named


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: block.all_blocks(gpt(n_expert=2), IDS), "the model has 2 experts a layer"),
        (lambda: block.all_blocks(gpt(residual=False), IDS), "the model has residual=False"),
        (lambda: block.block_steps(gpt(), IDS, 3), "layer must be from 0 to 2; got 3"),
        (lambda: block.all_blocks(torch.nn.GRU(2, 2), IDS), "got a GRU"),
        (lambda: block.parameters_of(gpt(n_expert=2).config), r"got blocks\.0\.mlp\."),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
