"""Published GPT-2 folders as they come: the same logits as transformers, or a refusal by name."""

import dataclasses
import json
import logging
import random
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from llmviz.models import GPT
from llmviz.models.gpt2_format import ALIASES, ONLY, WITHOUT_EFFECT
from llmviz.models.published import load_published
from llmviz.trace import record
from tests.published_models import SMALL_GPT2 as SMALL
from tests.published_models import their_gpt2 as theirs

logging.getLogger("transformers").setLevel(logging.ERROR)

SIZES = {  # what config_from_gpt2 reads: each is computed
    "vocab_size": [37, 64],
    "n_positions": [16, 20],
    "n_embd": [12, 24],
    "n_layer": [1, 3],
    "n_head": [1, 3, 4],
    "n_inner": [None, 10, 52],
    "activation_function": [
        *("gelu_new", "gelu", "gelu_python", "gelu_python_tanh", "gelu_accurate", "gelu_fast"),
        *("gelu_pytorch_tanh", "relu"),
    ],
    "resid_pdrop": [0.0, 0.1, 0.3],
    "embd_pdrop": [0.0, 0.1, 0.3],
    "attn_pdrop": [0.0, 0.1, 0.3],
    "layer_norm_epsilon": [1e-5, 1e-2],
    "scale_attn_weights": [True, False],
    "tie_word_embeddings": [True, False],
}
HARMLESS = {
    "reorder_and_upcast_attn": [True],
    "initializer_range": [0.5],
    "use_cache": [False],
    "summary_type": ["mean"],
    "chunk_size_feed_forward": [2],
    "bos_token_id": [1],
    "dtype": ["float32"],
}
LAYOUTS = ["as written", "no prefix", "half prefix", "shards", "old masks", "double precision"]


def logits(model):
    idx = torch.randint(0, 37, (3, 16), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        out = model(idx)
    return out[0] if isinstance(out, tuple) else out.logits


def assert_same(folder):
    from transformers import GPT2LMHeadModel

    expected = logits(GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval())
    torch.testing.assert_close(logits(GPT.from_gpt2(folder)), expected, atol=2e-5, rtol=1e-5)


def config_of(folder, *drop, **changes):
    path = folder / "config.json"
    values = json.loads(path.read_text("utf-8")) | changes
    path.write_text(json.dumps({k: v for k, v in values.items() if k not in drop}), "utf-8")


def weights_of(folder, change):
    tensors = load_file(folder / "model.safetensors")
    tensors = change(tensors) or tensors
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def in_shards(folder):
    """The same weights in three files and an index, as large models come."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    places = {}
    for i in range(3):
        name = f"model-{i + 1:05}-of-00003.safetensors"
        part = dict(list(tensors.items())[i::3])
        save_file(part, folder / name, metadata={"format": "pt"})
        places |= dict.fromkeys(part, name)
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")


def lay_out(folder, layout):
    if layout == "no prefix":
        weights_of(folder, lambda t: {n.removeprefix("transformer."): t[n] for n in t})
    elif layout == "half prefix":
        weights_of(folder, lambda t: {n.replace("transformer.w", "w"): t[n] for n in t})
    elif layout == "shards":
        in_shards(folder)
    elif layout == "old masks":
        mask = {
            "h.0.attn.bias": torch.ones(1, 1, 16, 16, dtype=torch.uint8),
            "h.1.attn.bias": torch.ones(1, 1, 16, 16, dtype=torch.bool),
            "h.1.attn.masked_bias": torch.tensor(-1e4),
        }
        weights_of(folder, lambda t: t | {f"transformer.{n}": mask[n] for n in mask})
    elif layout == "double precision":
        weights_of(folder, lambda t: {n: t[n].double() for n in t})


@pytest.mark.parametrize("seed", range(40))
def test_logits_are_those_of_transformers_whatever_the_options(tmp_path, seed):
    rng = random.Random(seed)
    chosen = {name: rng.choice(values) for name, values in SIZES.items()}
    theirs(**chosen).save_pretrained(tmp_path)
    config_of(tmp_path, **{name: rng.choice(values) for name, values in HARMLESS.items()})
    for alias, name in ALIASES.items():  # some by their other name alone, some by both
        kept = rng.choice([(), (name,), None])
        if kept is not None:
            config_of(tmp_path, *kept, **{alias: chosen[name]})
    lay_out(tmp_path, LAYOUTS[seed % len(LAYOUTS)])
    assert_same(tmp_path)


def test_every_option_of_the_format_is_computed_refused_or_without_effect():
    from transformers import GPT2Config

    known = {*SIZES, *ONLY, *WITHOUT_EFFECT}
    assert {field.name for field in dataclasses.fields(GPT2Config)} <= known
    assert GPT2Config.attribute_map == ALIASES
    assert set(HARMLESS) <= set(WITHOUT_EFFECT)


@pytest.mark.parametrize(
    "changes",
    [
        *({name: not values[0]} for name, values in ONLY.items() if type(values[0]) is bool),
        {"per_layer_config": {"0": {"n_head": 4}}},
        {"pruned_heads": {"0": [1]}},
        {"quantization_config": {"quant_method": "bitsandbytes"}},
        *({"scale_attn_weights": value} for value in (None, 0, 1, "false", "true")),
        *({"tie_word_embeddings": value} for value in (None, 0, 1, "false")),
        *({"scale_attn_by_inverse_layer_idx": value} for value in (None, 0, "false")),
        {"activation_function": "silu"},
        {"activation_function": ["gelu"]},
        {"activation_function": None},
        {"n_head": None},
        {"n_head": 3.0},
        {"n_head": True},
        {"n_layer": "2"},
        {"n_inner": "96"},
        {"n_inner": 0},
        {"layer_norm_epsilon": "1e-5"},
        {"layer_norm_epsilon": float("nan")},
        {"resid_pdrop": None},
        {"embd_pdrop": "0.1"},
        {"attn_pdrop": 1.5},
        *({alias: SMALL[name] + 1} for alias, name in ALIASES.items()),
    ],
    ids=str,
)
def test_an_option_that_cannot_be_computed_is_refused_by_name(tmp_path, changes):
    theirs().save_pretrained(tmp_path)
    config_of(tmp_path, **changes)
    (name,) = changes
    ours = {"n_inner": "hidden_size", "layer_norm_epsilon": "norm_epsilon"}
    ours["attn_pdrop"] = "attention_dropout"
    with pytest.raises(ValueError, match=f"{name}|{ours.get(name, name)}") as caught:
        GPT.from_gpt2(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("says", [{}, {"tie_word_embeddings": False}, None])
@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_a_head_of_its_own_is_kept_whatever_the_config_says(tmp_path, says, prefix):
    model = theirs()
    model.save_pretrained(tmp_path)
    config_of(tmp_path, *(["tie_word_embeddings"] if says is None else []), **says or {})
    head = torch.randn(37, 24, generator=torch.Generator().manual_seed(3))
    weights_of(tmp_path, lambda t: t | {f"{prefix}lm_head.weight": head})
    assert not GPT.from_gpt2(tmp_path).config.tied_head
    assert (logits(GPT.from_gpt2(tmp_path)) - logits(model)).abs().max() > 1
    assert_same(tmp_path)


def test_a_head_that_repeats_the_embedding_is_tied(tmp_path):
    theirs().save_pretrained(tmp_path)
    embedding = "transformer.wte.weight"
    weights_of(tmp_path, lambda t: t | {"lm_head.weight": t[embedding].clone()})
    assert GPT.from_gpt2(tmp_path).config.tied_head
    assert_same(tmp_path)
    weights_of(tmp_path, lambda t: {n: t[n] for n in t if n != embedding})  # the head alone
    assert GPT.from_gpt2(tmp_path).config.tied_head
    assert_same(tmp_path)


def test_the_body_alone_is_read(tmp_path):
    from transformers import GPT2Model

    model = theirs()
    model.transformer.save_pretrained(tmp_path)
    assert_same(tmp_path)
    assert isinstance(GPT2Model.from_pretrained(tmp_path), GPT2Model)


def twice(tensors):
    return tensors | {"wte.weight": torch.randn(37, 24)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (twice, "wte.weight twice, as transformer.wte.weight and as wte.weight"),
        (lambda t: t | {"score.weight": torch.ones(2, 24)}, "it has score.weight besides"),
        (lambda t: t | {"h.7.attn.bias.x": torch.ones(2)}, "it has h.7.attn.bias.x besides"),
        (lambda t: t | {"lm_head.weight": torch.ones(38, 24)}, r"lm_head.weight must be \(37, 24"),
        (
            lambda t: t | {"transformer.ln_f.bias": torch.ones(24, dtype=torch.int8)},
            "ln_f.bias must be of type F64, F32, F16, BF16; got I8",
        ),
        (
            lambda t: {n.replace("ln_f.weight", "ln_f.gamma"): t[n] for n in t},
            "lacks ln_f.weight",
        ),
        (
            lambda t: t | {"transformer.ln_f.bias": torch.full((24,), torch.nan)},
            "model.safetensors: transformer.ln_f.bias holds NaN: 24 of its 24 values",
        ),
        (
            lambda t: t | {"transformer.wpe.weight": torch.full((16, 24), -torch.inf).half()},
            "transformer.wpe.weight holds infinity",
        ),
    ],
)
def test_weights_that_do_not_fit_are_named(tmp_path, change, message):
    theirs().save_pretrained(tmp_path)
    weights_of(tmp_path, change)
    with pytest.raises(ValueError, match=message):
        GPT.from_gpt2(tmp_path)


def test_sizes_are_checked_before_anything_is_built(tmp_path):
    theirs().save_pretrained(tmp_path)
    for name in ("n_layer", "vocab_size", "n_positions", "n_inner"):
        shutil.copy(tmp_path / "config.json", tmp_path / "kept.json")
        config_of(tmp_path, **{name: 10**9})
        with pytest.raises(ValueError, match=r"lacks h.2|must be \("):
            GPT.from_gpt2(tmp_path)
        shutil.copy(tmp_path / "kept.json", tmp_path / "config.json")


INDEX = "model.safetensors.index.json"


def index_of(folder, **changes):
    values = json.loads((folder / INDEX).read_text("utf-8"))
    values["weight_map"] |= changes
    (folder / INDEX).write_text(json.dumps(values), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "model-00002-of-00003.safetensors").unlink(), "00002-of-00003.* missing"),
        (lambda f: (f / INDEX).write_text("{}", "utf-8"), 'no "weight_map"'),
        (lambda f: (f / INDEX).write_text("[" * 100_000, "utf-8"), "cannot be read as JSON"),
        (lambda f: (f / INDEX).unlink(), "read as safetensors only"),
        (lambda f: index_of(f, x="../model.safetensors"), "files beside it"),
        (lambda f: index_of(f, x="/etc/passwd"), "files beside it"),
        (lambda f: index_of(f, x=3), "files beside it; got 3"),
        (lambda f: index_of(f, x="model-00001-of-00003.safetensors"), "lacks x"),
        (
            lambda f: index_of(f, **{"transformer.wte.weight": "model-00002-of-00003.safetensors"}),
            r"(lacks|holds) transformer.wte.weight",
        ),
    ],
)
def test_shards_that_do_not_fit_their_index_are_named(tmp_path, spoil, message):
    theirs().save_pretrained(tmp_path)
    in_shards(tmp_path)
    assert_same(tmp_path)
    spoil(tmp_path)
    with pytest.raises(ValueError, match=message) as caught:
        GPT.from_gpt2(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["mamba", None, ["gpt2"], 7])
def test_another_kind_of_model_is_refused_by_name(tmp_path, kind):
    theirs().save_pretrained(tmp_path)
    config_of(tmp_path, model_type=kind)
    with pytest.raises(
        ValueError,
        match="model_type must be one of gpt2, llama, mistral, qwen2, mixtral, phi3; got",
    ):
        load_published(tmp_path)


@pytest.mark.parametrize("dropped", ["embd_pdrop", "attn_pdrop", "resid_pdrop"])
def test_each_dropout_is_where_its_option_says(tmp_path, dropped):
    rates = dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.0) | {dropped: 0.5}
    theirs(**rates).save_pretrained(tmp_path)
    model = GPT.from_gpt2(tmp_path)
    again = tmp_path / "again"
    model.to_gpt2(again)
    written = json.loads((again / "config.json").read_text("utf-8"))
    assert {name: written[name] for name in rates} == rates
    with record() as still:
        model(torch.arange(16)[None])
    model.train()
    torch.manual_seed(0)
    with record() as trace:
        model(torch.arange(16)[None])
    weights = "blocks.0.attn.weights"
    embeddings = bool((trace["embed"] == 0).any())
    attention = bool((trace["blocks.0.attn.dropped"] == 0)[trace[weights] > 0].any())
    added = bool((trace["blocks.0.attn"] == 0).any())
    assert (embeddings, attention, added) == tuple(name == dropped for name in rates)
    assert not (still["embed"] == 0).any() and not (still["blocks.0.attn"] == 0).any()
