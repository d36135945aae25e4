"""What `export --to hf` writes, read by transformers: equal logits, equal ids."""

import json

import pytest
import torch

from llmviz.cli import main
from llmviz.models import build
from llmviz.pretrained import find_model, load_bundled, published
from llmviz.publishing.folder import export_folder
from llmviz.tokenizers import BPETokenizer, CharTokenizer, WordTokenizer
from llmviz.tokenizers.export import to_tiktoken
from llmviz.tokenizers.published_form import published_form
from llmviz.tokenizers.tiktoken_bridge import TiktokenTokenizer
from llmviz.training.run_folder import Trained
from tests.published_models import make_gpt2, make_llama
from tests.random_weights import random_gpt

transformers = pytest.importorskip("transformers")
TEXTS = (
    'Mia had 12 balls.  It wasn\'t hers,\nshe said: "Été — naïve 😀"!',
    "",
    " two  spaces\t\tand\r\nends\n\n",
    "<|endoftext|",
)
MODERN = dict(
    positions="rotary", norm_kind="rms", activation="swiglu", n_head=4, n_layer=2, n_embd=32
)


def gpt(**options):
    return random_gpt(0.2, **dict(vocab_size=300, context_length=48) | options)


def trained(model, tokenizer=None):
    tokenizer = tokenizer or BPETokenizer.train("The cat sat on the mat. " * 9, 280)
    return Trained(model, tokenizer, {"model": {"name": "gpt", "config": {}}})


def held_equal(one, folder):
    """Both compute the same logits, and both tokenizers the same ids."""
    theirs = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    length = min(20, one.model.context_length)
    ids = torch.randint(0, one.tokenizer.vocab_size, (2, length), generator=torch.Generator())
    with torch.no_grad():
        ours = one.model(ids)[0]
        assert torch.allclose(ours, theirs(ids).logits, atol=2e-4, rtol=1e-4)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text in TEXTS:
        assert tokenizer(text).input_ids == [*one.tokenizer.start, *one.tokenizer.encode(text)]
        if one.tokenizer.kind != "word":
            ids = one.tokenizer.encode(text)
            assert tokenizer.decode(ids) == one.tokenizer.decode(ids)
    assert tokenizer.eos_token_id == one.tokenizer.end
    ends = theirs.generation_config.eos_token_id
    assert (ends if isinstance(ends, list) else [ends]) == list(one.tokenizer.ends)
    return theirs


@pytest.mark.parametrize("name", ["tiny-world-gpt", "names-gpt", "words-gpt", "names-gpt-no-scale"])
def test_a_bundled_model_is_a_gpt2_of_transformers(name, tmp_path):
    assert main(["export", name, "--out", str(tmp_path / "hf")]) == 0
    model, tokenizer, _ = load_bundled(name)
    theirs = held_equal(trained(model, tokenizer), tmp_path / "hf")
    assert theirs.config.model_type == "gpt2"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, "llama"),
        (dict(bias=False, qkv_bias=False, n_kv_head=2, tied_head=False), "llama"),
        (dict(bias=True, qkv_bias=False), "llama"),
        (dict(bias=False, qkv_bias=True, hidden_size=40), "qwen2"),
        (dict(bias=False, qkv_bias=True, window=5), "qwen2"),
        (dict(bias=False, qkv_bias=False, window=5, n_kv_head=1), "mistral"),
        (dict(rotary_scaling=(8.0, 1.0, 4.0, 24.0), rotary_base=500.0), "llama"),
        (dict(rotary_scaling=(3.0,), norm_epsilon=1e-3), "llama"),
        (dict(bias=False, qkv_bias=False, n_expert=3, hidden_size=48), "mixtral"),
    ],
)
def test_a_model_of_todays_parts_is_a_llama_of_transformers(options, kind, tmp_path):
    one = trained(gpt(**MODERN, **options))
    assert export_folder(one, tmp_path / "hf")["model_type"] == kind
    held_equal(one, tmp_path / "hf")
    again = published(tmp_path / "hf")  # and it comes back as it was
    ids = torch.arange(20)[None]
    assert torch.equal(again.model(ids)[0], one.model(ids)[0])
    assert again.tokenizer.encode_from_start(TEXTS[0]) == one.tokenizer.encode_from_start(TEXTS[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("hidden", [None, 41])
def test_experts_of_any_width_run_in_transformers_as_it_comes(hidden, dtype, tmp_path):
    """It multiplies them in blocks of 16 bytes, and stops at a width that fills no whole one."""
    more = dict(bias=False, qkv_bias=False, n_expert=3, hidden_size=hidden)
    one = trained(gpt(**MODERN, **more))
    width, block = one.model.config.feed_forward_size, 16 // dtype.itemsize
    assert width % block
    said = export_folder(one, tmp_path / "hf", dtype)
    assert width < said["intermediate_size"] < width + block
    ids = torch.arange(20)[None]
    if dtype == torch.float32:
        held_equal(one, tmp_path / "hf")
        assert torch.allclose(
            published(tmp_path / "hf").model(ids)[0], one.model(ids)[0], atol=1e-6
        )
    else:
        theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "hf")
        with torch.no_grad():
            assert torch.allclose(theirs(ids).logits.float(), one.model(ids)[0], atol=0.05)


def test_experts_of_a_stream_that_fills_no_block_are_refused(tmp_path):
    narrow = {**MODERN, "n_embd": 36, "n_head": 6, "n_expert": 2, "bias": False, "qkv_bias": False}
    one = trained(gpt(**narrow))
    export_folder(one, tmp_path / "hf")
    with pytest.raises(ValueError, match="n_embd must be a multiple of 8; got 36"):
        export_folder(one, tmp_path / "half", torch.float16)
    assert not (tmp_path / "half").exists()


def test_an_imported_model_goes_back_as_it_came(tmp_path):
    for make, folder in ((make_gpt2, tmp_path / "gpt2"), (make_llama, tmp_path / "llama")):
        make(folder)
        one = published(folder)
        export_folder(one, tmp_path / f"{folder.name}-hf")
        held_equal(one, tmp_path / f"{folder.name}-hf")


def test_packed_weights_are_written_as_the_numbers_that_they_stand_for(tmp_path, capsys):
    small, out = tmp_path / "small", tmp_path / "hf"
    given = ["names-gpt", "--bits", "4", "--group", "16", "--documents", "0", "--out", str(small)]
    assert main(["quantize", *given]) == 0 and main(["export", str(small), "--out", str(out)]) == 0
    held_equal(find_model(small), out)
    half = tmp_path / "half"
    assert main(["export", str(small), "--dtype", "float16", "--out", str(half)]) == 0
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (half, out)]
    assert sizes[0] < 0.6 * sizes[1]
    theirs = transformers.AutoModelForCausalLM.from_pretrained(half)
    assert {one.dtype for one in theirs.parameters()} == {torch.float16}


def test_every_kind_of_tokenizer_gives_the_same_ids(tmp_path):
    from tokenizers import Tokenizer

    text = " ".join(TEXTS)
    bpe = BPETokenizer.train(text * 3, 300)
    copy = TiktokenTokenizer.__new__(TiktokenTokenizer)
    copy.name, copy.encoding, copy.special_tokens = "gpt2", to_tiktoken(bpe), bpe.special_tokens
    own = TiktokenTokenizer.__new__(TiktokenTokenizer)
    own.name, own.encoding, own.special_tokens = "cl100k_base", copy.encoding, bpe.special_tokens
    kinds = [bpe, copy, own, CharTokenizer.train(text), WordTokenizer.train(text)]
    for tokenizer in (*kinds, CharTokenizer.train("abc"), WordTokenizer.train("It isn't (yet).")):
        theirs = Tokenizer.from_str(json.dumps(published_form(tokenizer).content))
        for one in TEXTS:
            assert theirs.encode(one).ids == tokenizer.encode_from_start(one), tokenizer.kind


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("names-lstm", "only a gpt has a published form; this is a lstm"),
        ("names-gpt-no-mask", "a GPT-2 has mask='causal'; got 'none'"),
        ("words-gpt-no-positions", "a Llama has positions='rotary'; got 'none'"),
    ],
)
def test_what_has_no_published_form_is_refused_by_name(name, words, tmp_path, capsys):
    assert main(["export", name, "--out", str(tmp_path / "hf")]) == 2
    assert words in capsys.readouterr().err and not (tmp_path / "hf").exists()
    with pytest.raises(ValueError, match="a Mixtral has no biases"):
        export_folder(trained(gpt(**MODERN, n_expert=2)), tmp_path / "hf")
    with pytest.raises(ValueError, match="no biases behind the attention"):
        export_folder(trained(gpt(**MODERN, window=3)), tmp_path / "hf")


@pytest.mark.parametrize("name", ["bert", "diffusion"])
def test_a_model_that_does_not_write_from_the_left_alone_by_attention_is_refused(name, tmp_path):
    """A BERT is made of a GPT's parts, but as a GPT-2 it would see no token to its right."""
    model = build(name, dict(vocab_size=300, n_layer=1, n_embd=8))
    other = trained(model)
    other.description["model"]["name"] = name
    with pytest.raises(ValueError, match=f"only a gpt has a published form; this is a {name}"):
        export_folder(other, tmp_path / "hf")
    assert not (tmp_path / "hf").exists()
