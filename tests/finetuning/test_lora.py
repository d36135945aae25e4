"""LoRA against peft with equal weights: forward, merge, gradients, files both ways."""

import json
import warnings
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils.flop_counter import FlopCounterMode

from llmviz.finetuning.adapters import load_adapter, save_adapter
from llmviz.models import GPT, GPTConfig
from llmviz.models.decoder import Decoder
from llmviz.models.numpy_decoder import NumpyDecoder
from llmviz.nn import lora
from llmviz.nn.lora_config import TARGETS, LoraConfig
from llmviz.training import train
from llmviz.training.data import Stream, TrainData
from tests.training.small_plans import small_training

IDX = torch.randint(0, 50, (3, 16), generator=torch.Generator().manual_seed(0))


def base(seed=0, **options):
    torch.manual_seed(seed)
    sizes = {"vocab_size": 50, "context_length": 16, "n_layer": 2, "n_head": 2, "n_embd": 24}
    return GPT(GPTConfig(**sizes | options)).eval()


def theirs(rank=3, alpha=5.0):
    """peft's adapter on our base, its B not zero."""
    import peft

    config = peft.LoraConfig(
        r=rank, lora_alpha=alpha, target_modules=list(TARGETS), lora_dropout=0.0
    )
    model = peft.get_peft_model(base(), config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.normal_(0, 0.1)
    return model


def ours_like(model, tmp_path):
    """Our model with the same adapter, through peft's files."""
    model.save_pretrained(tmp_path)
    own = base()
    load_adapter(own, tmp_path)
    return own


def test_forward_merge_and_gradients_equal_those_of_peft(tmp_path):
    peft = theirs()
    own = ours_like(peft, tmp_path)
    logits, loss = own(IDX, IDX)
    other, other_loss = peft(IDX, IDX)
    assert torch.allclose(logits, other, atol=1e-6)
    loss.backward()
    other_loss.backward()
    layers = lora.lora_layers(own)
    assert len(layers) == 8
    for path, layer in layers.items():
        counterpart = peft.get_submodule(f"base_model.model.{path}")
        for letter in "AB":
            mine = getattr(layer.adapters["default"], letter).grad
            other = getattr(counterpart, f"lora_{letter}")["default"].weight.grad
            assert mine.abs().max() > 0
            assert torch.allclose(mine, other, atol=1e-6, rtol=1e-4)
    merged = peft.merge_and_unload()
    lora.without_adapters(own)
    for name, parameter in own.named_parameters():
        assert torch.allclose(parameter, merged.get_parameter(name), atol=1e-7), name


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 7)])
def test_the_gradients_of_an_adapted_layer_are_those_that_differences_give(shape, with_bias):
    generator = torch.Generator().manual_seed(0)
    draw = partial(torch.randn, generator=generator, dtype=torch.float64)
    x, weight, bias = draw(*shape), draw(4, 7), draw(4) if with_bias else None
    a, b = draw(3, 7), draw(4, 3)
    learned = [one.requires_grad_(True) for one in (x, a, b)]
    assert torch.autograd.gradcheck(
        lambda x, a, b: lora.AdaptedLinear.apply(x, weight, bias, a, b, 0.7), learned
    )


def test_a_large_adapted_layer_has_the_gradients_of_its_formula():
    """Large enough for the product that is laid out for the processor."""
    generator = torch.Generator().manual_seed(0)
    draw = partial(torch.randn, generator=generator, dtype=torch.float64)
    x, weight, bias, a, b = draw(2, 150, 200), draw(192, 200), draw(192), draw(4, 200), draw(192, 4)
    learned = [one.requires_grad_(True) for one in (x, a, b)]
    expected = torch.nn.functional.linear(x, weight + 0.5 * b @ a, bias)
    slopes = draw(*expected.shape)
    gradients = torch.autograd.grad(expected, learned, slopes)
    single = [one.detach().float().requires_grad_(True) for one in learned]
    found = lora.AdaptedLinear.apply(single[0], weight.float(), bias.float(), *single[1:], 0.5)
    close = partial(torch.testing.assert_close, check_dtype=False, atol=1e-3, rtol=1e-4)
    close(found, expected)
    for one, other in zip(
        torch.autograd.grad(found, single, slopes.float()), gradients, strict=True
    ):
        close(one, other)


def test_a_step_takes_the_two_large_products_of_a_frozen_layer_and_small_ones_beside_them():
    n, inside, outside, r = 96, 24, 40, 2
    linear = lora.LoraLinear(torch.nn.Linear(inside, outside))
    linear.adapters["one"] = lora.Adapter(inside, outside, LoraConfig(r))
    linear.active = "one"
    large, small = 2 * n * inside * outside, 2 * n * r * (inside + outside)
    merging = 2 * r * inside * outside
    for x, directions in ((torch.randn(n, inside, requires_grad=True), 2), (torch.randn(n, 24), 1)):
        with FlopCounterMode(display=False) as counter:
            linear(x).sum().backward()
        # forward and back, unless nothing below learns; x·Aᵀ, dY·B and the gradients of A and B
        assert counter.get_total_flops() == directions * large + 2 * small + merging
    assert linear.base.weight.grad is None and linear.base.bias.grad is None


def test_a_matrix_that_somebody_frees_again_gets_its_gradient():
    model = base()
    lora.add_adapter(model, LoraConfig(2))
    model.requires_grad_(True)
    model(IDX, IDX)[1].backward()
    assert all(one.base.weight.grad.abs().max() > 0 for one in lora.lora_layers(model).values())


def test_nothing_below_the_first_adapter_is_gone_back_through():
    model = base().train()
    lora.add_adapter(model, LoraConfig(2, targets=("mlp.hidden",)))
    need = {}
    for name, module in model.named_modules():
        module.register_forward_hook(
            lambda module, given, found, name=name: need.update({name: given[0].requires_grad})
        )
    model(IDX, IDX)[1].backward()
    below = ("token", "blocks.0.norm1", "blocks.0.attn", "blocks.0.norm2", "blocks.0.mlp.hidden")
    assert not any(need[name] for name in below if name in need)
    assert need["blocks.0.mlp.output"] and need["blocks.1.attn"]
    frozen = [one for one in model.parameters() if not one.requires_grad]
    assert all(one.grad is None for one in frozen)


def test_half_precision_gives_the_gradients_of_full_precision_but_for_its_rounding():
    model = base()
    lora.add_adapter(model, LoraConfig(4))
    fill(model, "default")
    model(IDX, IDX)[1].backward()
    full = [one.grad.clone() for one in model.parameters() if one.requires_grad]
    model.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(IDX, IDX)[1]
    loss.backward()
    half = [one.grad for one in model.parameters() if one.requires_grad]
    for a, b in zip(full, half, strict=True):
        assert b.dtype == torch.float32
        assert (a - b).norm() < 0.03 * a.norm()


def test_adapters_of_ours_load_in_peft(tmp_path):
    from peft import PeftModel

    own = base()
    lora.add_adapter(own, LoraConfig(4, 6.0))
    fill(own, "default")
    save_adapter(own, tmp_path, "some-base")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peft = PeftModel.from_pretrained(base(), tmp_path).eval()
    assert peft.peft_config["default"].base_model_name_or_path == "some-base"
    assert torch.allclose(own(IDX)[0], peft(IDX)[0], atol=1e-6)


def fill(model, name, seed=1):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        adapters = [
            one.adapters for one in lora.lora_layers(model).values() if name in one.adapters
        ]
        for adapter in adapters:
            for parameter in adapter[name].parameters():
                parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))


def test_a_new_adapter_changes_nothing_and_an_old_one_what_its_formula_says():
    model, plain = base(), base()
    lora.add_adapter(model, LoraConfig(4))
    assert torch.equal(model(IDX)[0], plain(IDX)[0])
    fill(model, "default")
    assert not torch.allclose(model(IDX)[0], plain(IDX)[0])
    layer = model.blocks[0].mlp.hidden
    adapter, x = layer.adapters["default"], torch.randn(2, 5, 24)
    w = layer.base.weight + 8.0 / 4 * adapter.B @ adapter.A
    assert torch.allclose(layer(x), x @ w.T + layer.bias, atol=1e-6)
    assert torch.allclose(layer.weight, w)


def test_merging_changes_nothing_but_rounding_and_unmerging_brings_back_every_bit():
    model = base()
    lora.add_adapter(model, LoraConfig(4))
    fill(model, "default")
    before, weights = model(IDX)[0], {k: v.clone() for k, v in model.state_dict().items()}
    lora.merge(model)
    assert torch.allclose(model(IDX)[0], before, atol=1e-5)
    with pytest.raises(ValueError, match="merged already"):
        lora.merge(model)
    with pytest.raises(ValueError, match="unmerge it first"):
        lora.use_adapter(model, None)
    lora.unmerge(model)
    assert torch.equal(model(IDX)[0], before)
    assert all(torch.equal(weights[k], v) for k, v in model.state_dict().items())
    with pytest.raises(ValueError, match="no merged adapter"):
        lora.unmerge(model)


@pytest.mark.parametrize("first", ["merged", "merged and taken out", "used", "not used"])
def test_plain_layers_have_the_adapter_in_use_once(first):
    model, plain = base(), base()
    lora.add_adapter(model, LoraConfig(4))
    fill(model, "default")
    if first == "not used":
        lora.use_adapter(model, None)
    expected = {path: layer.weight.clone() for path, layer in lora.lora_layers(model).items()}
    if first.startswith("merged"):
        lora.merge(model)
    if first == "merged and taken out":
        lora.unmerge(model)
    assert lora.without_adapters(model) is model and not lora.lora_layers(model)
    for name, parameter in plain.named_parameters():
        path = name.removesuffix(".weight")
        torch.testing.assert_close(model.get_parameter(name), expected.get(path, parameter))


def test_several_adapters_lie_on_one_base_and_only_the_one_in_use_is_trained():
    model, plain = base(), base()
    lora.add_adapter(model, LoraConfig(2), "first")
    fill(model, "first", 1)
    first = model(IDX)[0]
    lora.add_adapter(model, LoraConfig(5, targets=("mlp.hidden",)), "second")
    fill(model, "second", 2)
    assert lora.adapter_names(model) == ["first", "second"]
    assert lora.trained_parameters(model) == 2 * 5 * (24 + 96)
    lora.use_adapter(model, "first")
    assert torch.equal(model(IDX)[0], first)
    lora.use_adapter(model, None)
    assert torch.equal(model(IDX)[0], plain(IDX)[0]) and lora.trained_parameters(model) == 0
    with pytest.raises(ValueError, match="no adapter 'third'; there is first, second"):
        lora.use_adapter(model, "third")
    with pytest.raises(ValueError, match="'first' already"):
        lora.add_adapter(model, LoraConfig(2), "first")
    for name in ("a.b", "", "keys", "training"):
        with pytest.raises(ValueError, match="adapter's name"):
            lora.add_adapter(model, LoraConfig(2), name)


@pytest.mark.parametrize("make", [Decoder, NumpyDecoder])
@pytest.mark.parametrize("state", ["first", "second", "none", "merged"])
def test_a_text_that_grows_is_read_as_by_the_modules(state, make):
    own = base(activation="swiglu")
    for name in ("first", "second"):
        lora.add_adapter(own, LoraConfig(3, 5.0), name)
        fill(own, name, seed=len(name))
    lora.use_adapter(own, None if state == "none" else "second" if state == "second" else "first")
    if state == "merged":
        lora.merge(own)
    assert isinstance(own.new_decoder(), NumpyDecoder)  # which writes, instead of the modules
    decoder, cache, ids = make(own), own.new_cache(), IDX[0].tolist()
    with torch.inference_mode():
        expected = own(IDX[:1])[0][0]
        found = torch.stack([decoder.step(token, cache) for token in ids])
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=2e-5)


def test_training_leaves_frozen_weights_as_they_were_to_the_bit():
    model, plain = base(), base()
    lora.add_adapter(model, LoraConfig(2))
    documents = [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]] * 8
    stream = Stream.join(documents, 0)
    data = TrainData(stream, stream, 16, 50, windows="padded")
    config = small_training(steps=5, batch_size=4, warmup_steps=0)
    losses = [record.train_loss for record in train(model, data, config)]
    assert losses[-1] < losses[0]
    lora.use_adapter(model, None)
    layers = lora.lora_layers(model)
    for name, parameter in plain.named_parameters():
        path, _, last = name.rpartition(".")
        own = layers[path].base if path in layers else model.get_submodule(path)
        assert torch.equal(getattr(own, last), parameter), name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (dict(rank=0), "rank must be a whole number of at least 1; got 0"),
        (dict(rank=25), "rank must be at most 24, the smaller side"),
        (dict(alpha=0), "alpha must be a number above 0"),
        (dict(targets=("nowhere",)), "targets must be ends of layers' paths.*got nowhere"),
        (dict(targets=()), "at least one kind of layer"),
    ],
)
def test_wrong_settings_are_refused_and_leave_the_model_as_it_was(wrong, message):
    model = base()
    with pytest.raises(ValueError, match=message):
        lora.add_adapter(model, LoraConfig(**wrong))
    assert not lora.lora_layers(model) and lora.trained_parameters(model) > 0


@pytest.fixture
def saved(tmp_path):
    model = base()
    lora.add_adapter(model, LoraConfig(4))
    fill(model, "default")
    save_adapter(model, tmp_path, "some-base")
    return tmp_path


def test_an_adapter_comes_back_and_only_onto_its_own_base(saved):
    again = base()
    config = load_adapter(again, saved, "some-base", "back")
    assert (config.rank, config.alpha, lora.adapter_names(again)) == (4, 8.0, ["back"])
    for other, name, message in (
        (base(), "other", "an adapter for some-base, not for other"),
        (base(seed=1), "some-base", "for other weights"),
        (base(n_embd=16), "some-base", "belongs to another base: blocks.0.attn.projection is 16"),
        (base(n_layer=1), "some-base", "changes a layer blocks.1"),
    ):
        with pytest.raises(ValueError, match=message):
            load_adapter(other, saved, name)
        assert not lora.lora_layers(other)


def change_weights(folder, change):
    path = folder / "adapter_model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


def test_a_tampered_adapter_is_refused(saved):
    change_weights(saved, lambda tensors: next(iter(tensors.values())).add_(1))
    with pytest.raises(ValueError, match=r"adapter_model\.safetensors is damaged"):
        load_adapter(base(), saved)


HIDDEN_B = "base_model.model.blocks.0.mlp.hidden.lora_B.weight"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda tensors: tensors.pop(HIDDEN_B),
            "an A and a B for each layer; not for blocks.0.mlp",
        ),
        (
            lambda tensors: tensors[HIDDEN_B].fill_(torch.inf),
            "blocks.0.mlp.hidden that are not fin",
        ),
        (lambda tensors: tensors.clear(), "holds no matrix"),
        *(
            (
                lambda tensors, kind=kind: tensors.update(
                    {min(tensors): tensors[min(tensors)].to(kind)}
                ),
                f"lora_A.weight holds numbers of type {str(kind)[6:]}",
            )
            for kind in (torch.float8_e4m3fn, torch.int32, torch.bool, torch.complex64)
        ),
    ],
)
def test_files_without_a_manifest_are_checked_too(saved, change, message):
    (saved / "manifest.json").unlink()
    change_weights(saved, change)
    model = base()
    with pytest.raises(ValueError, match=message):
        load_adapter(model, saved)
    assert not lora.lora_layers(model)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("peft_type", "IA3", "peft_type LORA; got IA3"),
        ("use_dora", True, "use_dora"),
        ("r", "many", "does not describe an adapter"),
        ("r", 3, "for rank 3"),
        ("bias", "all", "trains biases"),
    ],
)
def test_other_kinds_of_adapter_are_refused(saved, key, value, message):
    (saved / "manifest.json").unlink()
    path = saved / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(ValueError, match=message):
        load_adapter(base(), saved)


def test_singular_values_of_a_change_end_at_its_rank():
    model, plain = base(), base()
    lora.add_adapter(model, LoraConfig(3))
    fill(model, "default")
    before, after = plain.blocks[0].mlp.hidden.weight, model.blocks[0].mlp.hidden.weight
    values = torch.linalg.svdvals((after - before).detach().double())
    assert (values[:3] > 0.01).all() and (values[3:] < 1e-6).all()
    shares = lora.share_kept(values)
    assert shares[2] == pytest.approx(1) and (shares.diff() >= 0).all()
    u, s, v = torch.linalg.svd((after - before).detach().double(), full_matrices=False)
    best = u[:, :1] * s[:1] @ v[:1]
    left = ((after - before).detach().double() - best).square().sum()
    assert 1 - shares[0] == pytest.approx(float(left / values.square().sum()), abs=1e-9)
