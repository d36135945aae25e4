"""What the chapter on quantization measures: losses while they come, trainings, speeds."""

import pytest

from llmviz.course.lessons.efficiency.quantization.model import (
    BEYOND,
    REACH,
    matrix_errors,
    staircase,
)
from llmviz.evaluation.quantization_aware import EXACT, KINDS, quantization_aware
from llmviz.quantization.quantized_speed import FLOAT32, product_speeds
from llmviz.quantization.quantized_speed import KINDS as SPEEDS
from llmviz.quantization.scheme import Scheme
from llmviz.training.held_out_texts import held_out
from tests.quantization.small_models import ids, small_gpt


def test_names_that_are_held_out_are_those_of_its_run():
    from llmviz.runs.named import find_checkpoint
    from llmviz.training.reading import read_description

    kept = held_out(read_description(find_checkpoint("names-gpt")), 5)
    assert len(kept.texts) == 5 and kept.nats is None and kept.floor(5, 10) is None


def test_a_training_begins_at_plain_rounding_and_all_take_turns():
    looks = list(quantization_aware(4, Scheme(per="channel").to_dict(), 1e-3))
    assert [one.bits for one in looks[: len(KINDS)]] == list(KINDS)
    first = {one.bits: one.loss for one in looks if one.step == 0}
    assert first[EXACT] < first[4] < first[3] < first[2]
    assert {one.bits for one in looks if one.step == 4} == set(KINDS)


def test_errors_of_outputs_are_those_of_the_layers():
    import torch

    from llmviz.quantization.model import linears, quantize_model

    model, scheme, text = small_gpt(), Scheme(3, group=16), ids(rows=1)
    found = {one.path: one for one in matrix_errors(model, text[0].tolist(), scheme)}
    small = quantize_model(model, scheme).model
    inputs = {}
    for path, layer in linears(model).items():
        layer.register_forward_pre_hook(
            lambda _, given, path=path: inputs.__setitem__(path, given[0][0])
        )
    model(text)
    for path, layer in linears(small).items():
        exact = torch.nn.functional.linear(inputs[path], model.get_submodule(path).weight)
        off = torch.nn.functional.linear(inputs[path], layer.weight) - exact
        assert found[path].outputs == pytest.approx((off.norm() / exact.norm()).item(), rel=1e-4)
    assert found.keys() == linears(model).keys()


def test_speeds_come_for_each_kind_and_width():
    found = list(product_speeds([64]))
    assert [(one.kind, one.width) for one in found] == [(kind, 64) for kind in SPEEDS]
    assert found[0].kind == FLOAT32 and found[0].seconds > 0


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_the_staircase_is_flat_beyond_its_end_and_close_within(bits):
    found = staircase(bits)
    inside = abs(found.weights) <= REACH
    step = REACH / (2 ** (bits - 1) - 1)
    assert abs(found.rounded - found.weights)[inside].max() <= step / 2 * 1.01
    assert (found.gradient[inside] == 1).all()
    assert found.gradient[0] == found.gradient[-1] == 0 and abs(found.weights[0]) == BEYOND
    assert abs(found.rounded).max() == pytest.approx(REACH, rel=2e-3)
