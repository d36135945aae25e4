"""GPT-2's published format against transformers; the bundled checkpoints against their cards."""

import logging
import os
import socket
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

from llmviz import pretrained
from llmviz.models import GPT, GPTConfig
from tests.published_models import change_config
from tests.published_models import their_gpt2 as theirs

logging.getLogger("transformers").setLevel(logging.ERROR)

CONFIGS = {
    "plain": {},
    "one layer, one head": dict(n_layer=1, n_head=1),
    "wide feed-forward": dict(n_inner=52),
    "untied": dict(tie_word_embeddings=False),
    "exact gelu": dict(activation_function="gelu"),
    "relu and another epsilon": dict(activation_function="relu", layer_norm_epsilon=1e-2),
    "scores not scaled": dict(scale_attn_weights=False),
    "no dropout": dict(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0),
}


def largest_difference(a, b):
    idx = torch.randint(0, 37, (3, 16), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        x = a(idx)
        y = b(idx)
    x, y = (out[0] if isinstance(out, tuple) else out.logits for out in (x, y))
    return (x - y).abs().max().item()


@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS.keys())
def test_logits_equal_transformers_and_back(tmp_path, changes):
    from transformers import GPT2LMHeadModel

    model = theirs(**changes)
    model.save_pretrained(tmp_path / "theirs")
    ours = GPT.from_gpt2(tmp_path / "theirs")
    assert not ours.training
    assert largest_difference(model, ours) < 1e-5
    ours.to_gpt2(tmp_path / "ours")
    back = GPT2LMHeadModel.from_pretrained(tmp_path / "ours").eval()
    assert largest_difference(model, back) < 1e-6
    before, after = (load_file(tmp_path / n / "model.safetensors") for n in ("theirs", "ours"))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    again = GPT.from_gpt2(str(tmp_path / "ours"))
    assert again.config == ours.config


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_names_without_prefix_old_masks_and_half_precision(tmp_path, dtype):
    theirs().save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    published = {n.removeprefix("transformer."): t.to(dtype) for n, t in tensors.items()}
    published["h.0.attn.bias"] = torch.ones(1, 1, 16, 16)
    published["h.0.attn.masked_bias"] = torch.tensor(-1e4)
    published["lm_head.weight"] = published["wte.weight"].clone()
    save_file(published, tmp_path / "model.safetensors")
    assert largest_difference(theirs().to(dtype).float(), GPT.from_gpt2(tmp_path)) < 1e-5


def test_a_model_without_biases_is_written_with_zeros(tmp_path):
    from transformers import GPT2LMHeadModel

    config = dict(vocab_size=37, context_length=16, n_layer=1, n_head=2, n_embd=8)
    ours = GPT(GPTConfig(**config, bias=False, qkv_bias=False)).eval()
    ours.to_gpt2(tmp_path)
    back = GPT2LMHeadModel.from_pretrained(tmp_path).eval()
    assert largest_difference(ours, back) < 1e-5
    assert largest_difference(ours, GPT.from_gpt2(tmp_path)) < 1e-6


def test_the_gpt2_shape_has_its_published_number_of_parameters():
    with torch.device("meta"):
        model = GPT(pretrained_shape())
    assert sum(p.numel() for p in model.parameters()) == 124_439_808


def pretrained_shape():
    from llmviz.models.gpt2_format import config_from_gpt2

    return config_from_gpt2({"model_type": "gpt2"})  # all defaults are GPT-2's


@pytest.mark.parametrize(
    "changes",
    [
        dict(positions="rotary"),
        dict(norm="post"),
        dict(activation="swiglu"),
        dict(mask="none"),
        dict(residual=False),
        dict(attention_scale="model"),
        dict(softmax_before_mask="leave"),
    ],
)
def test_what_the_format_has_no_word_for_is_refused(tmp_path, changes):
    model = GPT(GPTConfig(**{"vocab_size": 7, "n_layer": 1, "n_embd": 8, "n_head": 2} | changes))
    with pytest.raises(ValueError, match="a GPT-2 has"):
        model.to_gpt2(tmp_path)
    assert not list(tmp_path.iterdir())


def spoil_weights(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "config.json is missing"),
        (lambda f: (f / "config.json").write_text("{", "utf-8"), "cannot be read as JSON"),
        (lambda f: (f / "config.json").write_text("[]", "utf-8"), "does not hold a JSON object"),
        (lambda f: change_config(f, model_type="llama"), "must be \"gpt2\"; got 'llama'"),
        (lambda f: change_config(f, activation_function="silu"), "activation_function must be"),
        (lambda f: change_config(f, n_head=5), "n_head must divide n_embd"),
        (lambda f: change_config(f, scale_attn_by_inverse_layer_idx=True), "must be False"),
        (lambda f: change_config(f, n_layer=3), "lacks h.2.ln_1.weight"),
        (lambda f: change_config(f, n_layer=1), "it has h.1"),
        (lambda f: change_config(f, vocab_size=38), r"wte.weight must be \(38, 24\)"),
        (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
        (lambda f: (f / "model.safetensors").write_bytes(b"x" * 99), "not a readable"),
        (lambda f: os.truncate(f / "model.safetensors", 5000), "not a readable"),
        (lambda f: spoil_weights(f, lambda t: t.popitem()), "lacks"),
    ],
)
def test_damaged_folders_are_named(tmp_path, spoil, message):
    theirs().save_pretrained(tmp_path)
    spoil(tmp_path)
    with pytest.raises(ValueError, match=message) as caught:
        GPT.from_gpt2(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["./nowhere", "/no/where", "a/b/c", "", "no where"])
def test_what_is_neither_folder_nor_repository(name, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ValueError, match=r"no folder|neither a folder"):
        GPT.from_gpt2(name)


def test_without_the_network_one_line_comes_at_once(monkeypatch, tmp_path):
    def unreachable(*args, **kwargs):
        raise OSError("no network in this test")

    pytest.importorskip("huggingface_hub", reason="the hub's library is an extra")
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    with pytest.raises(ValueError, match="cannot be reached; without the network give a folder"):
        GPT.from_gpt2("somebody/some-model-that-is-not-cached")


def test_without_the_hub_library_one_line_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ValueError, match="needs the package huggingface_hub, which is not"):
        GPT.from_gpt2("gpt2")


def test_a_cached_repository_needs_no_network(monkeypatch, tmp_path):
    hub = pytest.importorskip("huggingface_hub", reason="the hub's library is an extra")

    def unreachable(*args, **kwargs):
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    repository, commit = tmp_path / "models--somebody--model", "0" * 40
    folder = repository / "snapshots" / commit
    theirs().save_pretrained(folder)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit, "utf-8")
    assert largest_difference(theirs(), GPT.from_gpt2("somebody/model")) < 1e-5
    (folder / "model.safetensors").unlink()  # half a download is none
    with pytest.raises(ValueError, match="cannot be reached"):
        GPT.from_gpt2("somebody/model")


def test_bundled_checkpoints_load_and_are_what_their_card_says():
    for name in pretrained.bundled():
        card = pretrained.read_card(name)
        assert card["command"].startswith("python -m llmviz")
        assert card["seed"] >= 0 and card["seconds"] > 0 and card["environment"]["device"] == "cpu"
        assert card.get("steps") or card["epochs"]  # word vectors are trained by epochs
        model, tokenizer, same_card = pretrained.load_bundled(name)
        assert same_card == card
        assert not model.training
        assert all(p.dtype == torch.float32 for p in model.parameters())
        assert tokenizer.decode(tokenizer.encode("the")) == "the"


def test_unknown_and_damaged_bundled_checkpoints(monkeypatch, tmp_path):
    monkeypatch.setattr(pretrained, "CHECKPOINTS", tmp_path / "none")
    assert pretrained.bundled() == []
    with pytest.raises(ValueError, match="none is in this copy"):
        pretrained.load_bundled("a")
    monkeypatch.setattr(pretrained, "CHECKPOINTS", tmp_path)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "card.json").write_text("{}", "utf-8")
    assert pretrained.bundled() == ["half"]
    with pytest.raises(ValueError, match=r"no bundled checkpoint is called 'a'; there are half"):
        pretrained.load_bundled("a")
    with pytest.raises(ValueError, match=r"config.json is missing"):
        pretrained.load_bundled("half")
    (tmp_path / "half" / "card.json").write_text("{", "utf-8")
    with pytest.raises(ValueError, match="cannot be read as JSON"):
        pretrained.load_bundled("half")


def test_importing_does_no_work_and_loading_needs_no_compiler():
    code = (
        "import llmviz.pretrained, sys\n"
        "assert 'huggingface_hub' not in sys.modules\n"
        "llmviz.pretrained.load_bundled('names-gpt')\n"
        "assert 'torch' in sys.modules and 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
