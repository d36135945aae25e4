"""What `export --to gguf` writes, read by gguf's own reader and by transformers."""

import numpy as np
import pytest
import torch

from llmviz.cli import main
from llmviz.files.paths import BUNDLED_CHECKPOINTS as BUNDLED
from llmviz.pretrained import bundled, find_model
from llmviz.publishing.gguf_file import export_gguf, interleaved
from llmviz.tokenizers import CharTokenizer
from tests.publishing.test_folder import MODERN, TEXTS, gpt, trained
from tests.sources import ROOT

PUBLISHED = (ROOT / "docs" / "PUBLISHED.md").read_text("utf-8")
gguf, transformers = pytest.importorskip("gguf"), pytest.importorskip("transformers")
# transformers takes every GPT-2 in such a file for one of 1,024 positions.
GPT2S = dict(activation="gelu_tanh", n_embd=32, context_length=1024)
PLAIN = dict(bias=False, qkv_bias=False)


def fields(path):
    reader = gguf.GGUFReader(path)
    return reader, {name: one.contents() for name, one in reader.fields.items()}


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (dict(**GPT2S, n_layer=2), "gpt2"),
        (dict(**GPT2S, bias=False, tied_head=False), "gpt2"),
        ({**MODERN, **PLAIN, "n_kv_head": 2}, "llama"),
        ({**MODERN, **PLAIN, "tied_head": False, "rotary_base": 500.0}, "llama"),
        ({**MODERN, "bias": False, "qkv_bias": True}, "qwen2"),
    ],
)
def test_the_file_holds_the_model_and_its_tokenizer(options, kind, tmp_path):
    one, path = trained(gpt(**options)), tmp_path / "model.gguf"
    assert export_gguf(one, path) == kind
    reader, about = fields(path)
    config = one.model.config
    assert about["general.architecture"] == kind
    assert about[f"{kind}.block_count"] == config.n_layer
    assert about[f"{kind}.attention.head_count"] == config.n_head
    tensors = {tensor.name: tensor.data for tensor in reader.tensors}
    qkv = one.model.blocks[1].attn.qkv.weight.detach()
    if kind == "gpt2":
        assert np.array_equal(tensors["blk.1.attn_qkv.weight"], qkv.numpy())
    else:
        queries = tensors["blk.1.attn_q.weight"]
        own = qkv[: config.n_embd]
        assert np.array_equal(queries, interleaved(own, 4) if kind == "llama" else own.numpy())
        values = qkv[config.n_embd + config.kv_heads * config.head_size :]
        assert np.array_equal(tensors["blk.1.attn_v.weight"], values.numpy())
    assert np.array_equal(tensors["token_embd.weight"], one.model.token.weight.detach().numpy())
    texts = about["tokenizer.ggml.tokens"]
    assert len(texts) == config.vocab_size
    assert texts[one.tokenizer.end] == "<|endoftext|>"
    assert about["tokenizer.ggml.eos_token_id"] == one.tokenizer.end
    assert len(about["tokenizer.ggml.merges"]) == len(one.tokenizer.merges)
    # transformers reads such files, too: the same logits, the same ids.
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=path.name)
    ids = torch.randint(0, one.tokenizer.vocab_size, (2, 20), generator=torch.Generator())
    with torch.no_grad():
        assert torch.allclose(theirs.eval()(ids).logits, one.model(ids)[0], atol=2e-4, rtol=1e-4)
    if kind != "llama":  # it takes every Llama's tokenizer for SentencePiece's
        tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path, gguf_file=path.name)
        for text in TEXTS:
            ours = one.tokenizer.encode(text)
            assert tokenizer(text, add_special_tokens=False).input_ids == ours


def test_stretched_positions_and_short_numbers_are_written(tmp_path):
    scaling = (8.0, 1.0, 4.0, 24.0)
    one = trained(gpt(**MODERN, **PLAIN, rotary_scaling=scaling))
    export_gguf(one, tmp_path / "a.gguf", torch.float16)
    reader, about = fields(tmp_path / "a.gguf")
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    types = {name: tensor.tensor_type.name for name, tensor in tensors.items()}
    assert types["blk.0.attn_q.weight"] == "F16" and types["blk.0.attn_norm.weight"] == "F32"
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    names = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
    rope = {"rope_type": "llama3", "rope_theta": 10_000.0, **dict(zip(names, scaling, strict=True))}
    config = transformers.LlamaConfig(hidden_size=32, num_attention_heads=4, rope_parameters=rope)
    stretched, _ = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    plain = 10_000.0 ** (-torch.arange(0, 8, 2) / 8)
    factors = torch.from_numpy(tensors["rope_freqs.weight"].data.copy())
    assert torch.allclose(plain / factors, stretched)
    export_gguf(trained(gpt(**MODERN, **PLAIN, rotary_scaling=(3.0,))), tmp_path / "b.gguf")
    about = fields(tmp_path / "b.gguf")[1]
    assert about["llama.rope.scaling.type"] == "linear"
    assert about["llama.rope.scaling.factor"] == 3.0


def test_what_was_killed_goes_and_a_disk_that_is_full_leaves_nothing(tmp_path, monkeypatch):
    one, path = trained(gpt(**MODERN, **PLAIN)), tmp_path / "model.gguf"
    others = [tmp_path / name for name in (".tmp-0123abcd-my-model.gguf", "notes.txt")]
    for file in (*others, tmp_path / ".tmp-0123abcd-model.gguf"):
        file.write_text("half")

    def full(*_):
        raise OSError(28, "No space left on device")

    with (
        monkeypatch.context() as patch,
        pytest.raises(ValueError, match=r"cannot write .*gguf: No"),
    ):
        patch.setattr(gguf.GGUFWriter, "write_tensors_to_file", full)
        export_gguf(one, path)
    assert sorted(tmp_path.iterdir()) == sorted(others)
    export_gguf(one, path)
    assert sorted(tmp_path.iterdir()) == sorted([*others, path])


def test_no_bundled_model_is_one_that_llama_cpp_computes(tmp_path, capsys):
    """`models` and docs/PUBLISHED.md say so; it may change with the next one."""
    families = [path.parent for path in BUNDLED.glob("*/*/card.json")]
    for name in [*bundled(), *(path.relative_to(BUNDLED).as_posix() for path in families)]:
        with pytest.raises(ValueError, match=r"computes|GGUF|has|have|only a gpt"):
            export_gguf(find_model(name), tmp_path / "model.gguf")
    assert main(["models"]) == 0
    said = capsys.readouterr().out
    assert "No bundled model" in said and "no bundled model" in PUBLISHED


def test_two_who_write_one_file_at_once_do_not_take_it_from_each_other(tmp_path, monkeypatch):
    one, path = trained(gpt(**MODERN, **PLAIN)), tmp_path / "model.gguf"
    write = gguf.GGUFWriter.write_tensors_to_file

    def meanwhile(self) -> None:
        monkeypatch.setattr(gguf.GGUFWriter, "write_tensors_to_file", write)
        export_gguf(one, path)
        write(self)

    monkeypatch.setattr(gguf.GGUFWriter, "write_tensors_to_file", meanwhile)
    export_gguf(one, path)
    assert list(tmp_path.iterdir()) == [path]
    assert fields(path)


def test_what_llama_cpp_does_not_compute_is_refused(tmp_path, capsys):
    path = tmp_path / "model.gguf"
    for options, words in (
        (dict(activation="relu"), "computes the GELU by tanh.*--set activation=gelu_tanh"),
        (dict(activation="gelu_tanh", attention_scale="none"), "divides scores"),
        ({**MODERN, **PLAIN, "window": 4}, "a mistral is not written as GGUF"),
        ({**MODERN, "qkv_bias": True, "bias": False, "window": 4}, "has no window"),
    ):
        with pytest.raises(ValueError, match=words):
            export_gguf(trained(gpt(**options)), path)
    one = trained(gpt(activation="gelu_tanh"), CharTokenizer.train("abc"))
    with pytest.raises(ValueError, match="byte-level BPE alone"):
        export_gguf(one, path)
    assert not path.exists()
    path.write_text("mine")
    assert main(["export", "tiny-world-gpt", "--to", "gguf", "--out", str(path)]) == 2
    assert path.read_text() == "mine" and capsys.readouterr().err


@pytest.mark.parametrize("options", [dict(**GPT2S, n_layer=2), {**MODERN, **PLAIN}])
def test_llama_cpp_reads_it_and_computes_the_same(options, tmp_path):
    llama_cpp = pytest.importorskip(
        "llama_cpp", reason="llama-cpp-python has no wheels here and is compiled for minutes"
    )
    one, path = trained(gpt(**options)), tmp_path / "model.gguf"
    export_gguf(one, path)
    llama = llama_cpp.Llama(str(path), n_ctx=64, logits_all=True, verbose=False)
    for text in TEXTS:
        ids = one.tokenizer.encode(text)
        assert llama.tokenize(text.encode(), add_bos=False, special=False) == ids
    ids = one.tokenizer.encode_from_start("The cat sat on the mat.")
    llama.eval(ids)
    with torch.no_grad():
        ours = one.model(torch.tensor([ids]))[0][0].numpy()
    # llama.cpp keeps its cache in float16.
    np.testing.assert_allclose(llama.scores[: len(ids)], ours, atol=2e-2)
