"""Whole models on a grid: matrices, packing, sizes, files, scaling by activations, training."""

import copy
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.models import build
from llmviz.quantization.awq import channel_scales, matrix_inputs, scale_by_activations
from llmviz.quantization.files import (
    CODES,
    QUANTIZATION,
    SCALE,
    ZERO,
    described,
    packed_tensors,
    save_packed,
)
from llmviz.quantization.grids import dequantize, expand, quantize, quantize_steps
from llmviz.quantization.model import (
    linears,
    pack,
    packed_bytes,
    plain_bytes,
    quantize_model,
    sizes,
    unpack,
)
from llmviz.quantization.qat import fake_quantize, finish_qat, prepare_qat
from llmviz.quantization.scheme import Scheme
from llmviz.tokenizers import get_tokenizer
from llmviz.training import CheckpointError, TrainConfig, load_trained
from llmviz.training.run_folder import describe
from llmviz.training.tensors import save_tensors
from tests.quantization.small_models import WIDTH, ids, small_gpt

SCHEMES = [
    Scheme(8, True, "tensor"),
    Scheme(4, False, "group", 16),
    Scheme(3, True, "group", 8),
    Scheme(2, False, "channel"),
]


def test_the_matrices_of_the_blocks_are_rounded_and_nothing_else_but_to_float16():
    model = small_gpt()
    before = copy.deepcopy(model.state_dict())
    small = quantize_model(model, SCHEMES[1])
    names = {"attn.qkv", "attn.projection", "mlp.hidden", "mlp.output"}
    assert set(small.matrices) == {f"blocks.{i}.{name}" for i in range(2) for name in names}
    for name, tensor in small.model.state_dict().items():
        path = name.removesuffix(".weight")
        if name.endswith(".weight") and path in small.matrices:
            assert torch.equal(tensor, dequantize(quantize(before[name], SCHEMES[1])))
        else:
            assert torch.equal(tensor, before[name].half().float()), name
    assert small.model.head.weight is small.model.token.weight  # the head stays tied
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]), f"{name} of the model itself was changed"


def test_experts_are_quantized_and_their_router_is_not():
    paths = linears(small_gpt(n_expert=2))
    assert "blocks.0.mlp.experts.1.hidden" in paths and "blocks.0.mlp.router" not in paths


def test_a_model_without_blocks_is_refused():
    model = build("rnn", {"vocab_size": 9, "context_length": 8, "n_embd": 8})
    with pytest.raises(ValueError, match="linear layers of transformer blocks"):
        quantize_model(model, SCHEMES[0])


def test_a_refusal_names_the_layer():
    model = small_gpt()
    with torch.no_grad():
        model.blocks[1].mlp.output.weight[0, 0] = float("nan")
    with pytest.raises(ValueError, match=r"blocks\.1\.mlp\.output: weights must be finite"):
        quantize_model(model, SCHEMES[0])
    with pytest.raises(ValueError, match="group must be at most 32"):
        sizes(small_gpt(), Scheme(group=64))


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_the_counted_bytes_are_those_of_the_tensors_that_are_saved(scheme):
    small = quantize_model(small_gpt(), scheme)
    saved = packed_tensors(small)
    unique = {tensor.data_ptr(): (name, tensor) for name, tensor in saved.items()}.values()
    size = {"codes": 0, "scale": 0, "zero": 0, "rest": 0}
    for name, tensor in unique:
        kind = name.rpartition(".")[2]
        each = 1 if tensor.dtype is torch.uint8 else 2  # float16 in the file
        size[kind if kind in size else "rest"] += each * tensor.numel()
    assert tuple(size.values()) == tuple(small.sizes)
    weights = sum(layer.weight.numel() for layer in linears(small.model).values())
    # By hand: bits of the codes, and what a weight's share of the steps adds to them.
    each = {tuple(layer.weight.shape) for layer in linears(small.model).values()}
    bits = [scheme.bits_per_weight(*shape) for shape in each]
    assert weights * min(bits) / 8 - 1e-6 <= small.sizes.matrices <= weights * max(bits) / 8 + 8
    assert small.sizes.total < plain_bytes(small.model)


def save(folder, small, model, tokenizer):
    """Write a quantized model as the command does."""
    folder.mkdir()
    about = describe("gpt", model, tokenizer, TrainConfig(), {"corpus": "names"})
    about[QUANTIZATION] = described(small, "rounding")
    save_packed(folder / "model.safetensors", small)
    tokenizer.save(folder / "tokenizer.json")
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")


@pytest.fixture(scope="module")
def tokenizer():
    return get_tokenizer("char")


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_a_saved_model_is_read_back_by_the_usual_loader(tmp_path, scheme, tokenizer):
    model = small_gpt(vocab_size=tokenizer.vocab_size)
    small = quantize_model(model, scheme)
    save(tmp_path / "q", small, model, tokenizer)
    loaded = load_trained(tmp_path / "q").model
    for name, tensor in small.model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor), name
    idx = ids() % tokenizer.vocab_size
    assert torch.equal(loaded(idx)[0], small.model(idx)[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry["scheme"].update(bits=1),
        lambda entry: entry["scheme"].update(bits=5),
        lambda entry: entry["scheme"].update(group=64),
        lambda entry: entry["scheme"].update(odd=1),
        lambda entry: entry.update(matrices={"blocks.0.attn.qkv": [10**9, 10**9]}),
        lambda entry: entry.update(matrices={"blocks.0.attn.qkv": [-1, 3]}),
        lambda entry: entry.update(matrices=[1]),
        lambda entry: entry.pop("scheme"),
        lambda entry: entry["matrices"].pop("blocks.0.attn.qkv"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path, tokenizer, change):
    model = small_gpt(vocab_size=tokenizer.vocab_size)
    save(tmp_path / "q", quantize_model(model, SCHEMES[1]), model, tokenizer)
    path = tmp_path / "q" / "config.json"
    about = json.loads(path.read_text("utf-8"))
    change(about[QUANTIZATION])
    path.write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(CheckpointError):
        load_trained(tmp_path / "q")


WRONG_PARTS = {
    "steps of whole numbers": (SCALE, lambda part: part.int(), "numbers of type int32"),
    "steps below 0": (SCALE, lambda part: -part, "must be above 0"),
    "steps of 0": (SCALE, torch.zeros_like, "must be above 0"),
    "steps that are complex": (SCALE, lambda part: part.cfloat(), "numbers of type complex64"),
    "codes that are no bytes": (CODES, lambda part: part.to(torch.int16), "of uint8; got int16"),
    "codes of no grid": (CODES, lambda part: torch.full_like(part, 255), "holds codes of no grid"),
    "zero points as fractions": (ZERO, lambda part: part.float(), "must be of uint8; got float32"),
}


@pytest.mark.parametrize(("ending", "change", "says"), WRONG_PARTS.values(), ids=WRONG_PARTS)
def test_codes_and_steps_of_a_wrong_type_are_refused_by_name(
    tmp_path, tokenizer, ending, change, says
):
    model = small_gpt(vocab_size=tokenizer.vocab_size)
    scheme = Scheme(4, symmetric=ending != ZERO, per="channel")
    small = quantize_model(model, scheme)
    save(tmp_path / "q", small, model, tokenizer)
    tensors = packed_tensors(small)
    name = next(name for name in tensors if name.endswith(ending))
    save_tensors(tmp_path / "q" / "model.safetensors", tensors | {name: change(tensors[name])})
    with pytest.raises(CheckpointError, match=says) as refusal:
        load_trained(tmp_path / "q")
    assert name in str(refusal.value)


def test_plain_weights_that_are_called_quantized_are_refused(tmp_path, tokenizer):
    model = small_gpt(vocab_size=tokenizer.vocab_size)
    save(tmp_path / "q", quantize_model(model, SCHEMES[1]), model, tokenizer)
    save_tensors(tmp_path / "q" / "model.safetensors", model.state_dict())
    with pytest.raises(CheckpointError, match="must have the shape"):
        load_trained(tmp_path / "q")


# Scaling by activations -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bias": False, "qkv_bias": False},
        {"activation": "swiglu", "norm_kind": "rms", "positions": "rotary"},
        {"tied_head": False},
    ],
    ids=str,
)
def test_scaling_leaves_the_function_as_it_was(options):
    model = small_gpt(**options)
    found = scale_by_activations(model, [ids(2), ids(3)], Scheme(3, group=16))
    torch.testing.assert_close(found.model(ids())[0], model(ids())[0], rtol=1e-4, atol=1e-4)
    assert any(exponent > 0 for exponent in found.exponents.values())
    assert any(
        not torch.equal(one, other)
        for one, other in zip(found.model.parameters(), model.parameters(), strict=True)
    )


def test_a_scaled_matrix_is_no_worse_on_the_calibration_text():
    """The exponent 0 scales nothing, and is among those that are tried."""
    model, text = small_gpt(), ids(2)
    scheme = Scheme(3, True, "group", 16)
    found = scale_by_activations(model, [text], scheme)
    for path, (plain, scaled) in found.errors.items():
        assert scaled <= plain * (1 + 1e-6), path
    # The error that is reported is that of the outputs, computed here by hand for one matrix.
    path = "blocks.0.attn.projection"  # it is scaled first, so its own weights are the model's
    x, w = matrix_inputs(model, [text])[path], model.get_submodule(path).weight.detach()
    scales = channel_scales(x, found.exponents[path])
    rounded = dequantize(quantize(w * scales, scheme))
    error = ((x / scales) @ rounded.T - x @ w.T).square().mean()
    assert found.errors[path][1] == pytest.approx(float(error), rel=1e-3)


def test_the_inputs_of_each_matrix_are_those_that_its_layer_got():
    model, text, seen = small_gpt(), ids(2), {}
    for path, layer in linears(model).items():
        layer.register_forward_pre_hook(
            lambda _, given, path=path: seen.__setitem__(path, given[0].flatten(0, -2))
        )
    model(text)
    found = matrix_inputs(small_gpt(), [text])
    assert found.keys() == seen.keys()
    for path, x in found.items():
        torch.testing.assert_close(x, seen[path], msg=path)


@pytest.mark.parametrize("options", [{"norm": "post"}, {"n_expert": 2}, {"n_kv_head": 2}], ids=str)
def test_a_model_whose_scales_cannot_be_folded_is_refused(options):
    with pytest.raises(ValueError, match="activation-aware scaling is for GPTs"):
        scale_by_activations(small_gpt(**options), [ids()], SCHEMES[1])


# Training on a grid -----------------------------------------------------------------------------


@settings(max_examples=40)
@given(some.integers(2, 8), some.booleans(), some.floats(0.3, 1.0), some.integers(0, 999))
def test_the_gradient_goes_straight_through_inside_the_grid_and_stops_at_its_end(
    bits, symmetric, clip, seed
):
    scheme = Scheme(bits, symmetric, "group", 4, clip)
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(3, 8, generator=generator, requires_grad=True)
    above = torch.randn(3, 8, generator=generator)
    rounded = fake_quantize(w, scheme)
    assert torch.equal(rounded, dequantize(quantize(w, scheme)))
    rounded.backward(above)
    scale, zero = quantize_steps(w, scheme)[:2]
    each = expand(scale, w.shape)
    shift = 0 if zero is None else expand(zero, w.shape)
    low, high = (scheme.lowest - shift) * each, (scheme.highest - shift) * each
    inside = (w >= low - each / 2) & (w <= high + each / 2)
    assert torch.equal(w.grad, above * inside)
    if clip == 1:
        assert bool(inside.all())


def test_training_moves_exact_weights_by_the_gradient_of_the_rounded_ones():
    model = small_gpt()
    prepared = prepare_qat(model, Scheme(3, True, "channel"))
    idx = ids()
    prepared(idx[:, :-1], idx[:, 1:])[1].backward()
    plain = quantize_model(model, Scheme(3, True, "channel")).model.requires_grad_(True)
    with torch.no_grad():  # what is not on the grid is exact in training
        for name, parameter in plain.named_parameters():
            if name.removesuffix(".weight") not in linears(model):
                parameter.copy_(dict(model.named_parameters())[name])
    plain(idx[:, :-1], idx[:, 1:])[1].backward()
    for path, layer in linears(plain).items():
        latent = prepared.get_submodule(path).weight
        torch.testing.assert_close(latent.grad, layer.weight.grad, msg=path)


def test_a_model_trained_on_a_grid_computes_the_same_once_it_is_saved(tmp_path, tokenizer):
    model = small_gpt(vocab_size=tokenizer.vocab_size)
    scheme = Scheme(2, False, "group", 16)
    prepared = prepare_qat(model, scheme)
    optimizer = torch.optim.AdamW(prepared.parameters(), lr=1e-2)
    idx = ids() % tokenizer.vocab_size
    losses = []
    for _ in range(12):
        loss = prepared(idx[:, :-1], idx[:, 1:])[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    finished = finish_qat(prepared.eval())
    for path, layer in linears(finished.model).items():
        assert torch.equal(layer.weight, fake_quantize(prepared.get_submodule(path).weight, scheme))
    assert prepared.state_dict().keys() == model.state_dict().keys()
    save(tmp_path / "q", finished, model, tokenizer)
    loaded = load_trained(tmp_path / "q").model
    torch.testing.assert_close(loaded(idx)[0], prepared(idx)[0], rtol=1e-2, atol=1e-2)
    assert torch.equal(loaded(idx)[0], finished.model(idx)[0])


def test_what_was_not_prepared_or_is_prepared_already_is_refused():
    scheme = Scheme(4, per="channel")
    with pytest.raises(ValueError, match="not prepared"):
        finish_qat(small_gpt())
    with pytest.raises(ValueError, match="already"):
        prepare_qat(prepare_qat(small_gpt(), scheme), scheme)
    with pytest.raises(ValueError, match=f"group must be at most {WIDTH}"):
        prepare_qat(small_gpt(), Scheme(group=64))


@pytest.mark.parametrize("exponent", [0.0, 0.25, 1.0])
def test_the_largest_and_the_smallest_scale_of_a_matrix_are_each_others_inverse(exponent):
    x = torch.randn(40, 6, generator=torch.Generator().manual_seed(0)) * torch.arange(1.0, 7)
    scales = channel_scales(x, exponent)
    assert float(scales.max() * scales.min()) == pytest.approx(1)
    ratio = scales / scales[0]
    torch.testing.assert_close(ratio, (x.abs().mean(0) / x[:, 0].abs().mean()) ** exponent)


@settings(max_examples=200)
@given(some.data(), some.integers(1, 8))
def test_codes_come_back_from_as_few_bytes_as_hold_them(data, bits):
    codes = np.array(data.draw(some.lists(some.integers(0, 2**bits - 1), max_size=60)), int)
    packed = pack(codes, bits)
    assert packed.dtype == np.uint8
    assert 8 * len(packed) - 7 <= max(1, bits * len(codes)) <= 8 * max(1, len(packed))
    np.testing.assert_array_equal(unpack(packed, bits, len(codes)), codes)
    # The bits of a whole number, the first code lowest: the same by Python's own arithmetic.
    number = sum(int(code) << (bits * place) for place, code in enumerate(codes))
    assert packed.tobytes() == number.to_bytes(packed_bytes(len(codes), bits), "little")


@pytest.mark.parametrize("codes", [[8], [-1]])
def test_a_code_out_of_range_is_refused(codes):
    with pytest.raises(ValueError, match="codes of 3 bits are from 0 to 7"):
        pack(np.array(codes), 3)


def test_bytes_that_are_not_as_many_are_refused():
    with pytest.raises(ValueError, match="10 codes of 3 bits take 4 bytes"):
        unpack(np.zeros(5, np.uint8), 3, 10)
    for bits in (0, 9):
        with pytest.raises(ValueError, match="1 to 8 bits"):
            pack(np.zeros(3, int), bits)
