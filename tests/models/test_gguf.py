"""GGUF files: what transformers makes of the same file, and what was exported, read back equal."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from llmviz.models.gguf_file import QUANTIZED, GGUFFile
from llmviz.pretrained import find_model, import_gpt2, published
from llmviz.publishing.gguf_file import export_gguf
from tests.publishing.test_folder import MODERN, TEXTS, gpt, trained
from tests.publishing.test_gguf_file import GPT2S, PLAIN

gguf, transformers = pytest.importorskip("gguf"), pytest.importorskip("transformers")

LLAMA = {**MODERN, **PLAIN, "n_kv_head": 2}
SIZES = dict(
    vocab_size=300,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    pad_token_id=None,
)
IDS = torch.randint(0, 250, (2, 20), generator=torch.Generator().manual_seed(0))


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, atol=2e-4, rtol=1e-4)


def write(
    path: Path, kind: str, fields: dict[str, object], tensors: dict[str, object], **types: object
) -> Path:
    """Write a file by the package gguf: fields behind the architecture's name, tensors as given."""
    writer = gguf.GGUFWriter(path, kind)
    for name, value in fields.items():
        key = name if name.startswith(("tokenizer.", "general.", "split.")) else f"{kind}.{name}"
        if isinstance(value, list):
            writer.add_array(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        elif isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        else:
            writer.add_uint32(key, value)
    for name, tensor in tensors.items():
        data = tensor.numpy() if isinstance(tensor, torch.Tensor) else tensor
        writer.add_tensor(name, np.ascontiguousarray(data), raw_dtype=types.get(name))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


WORDS = {  # a tokenizer of 300 tokens
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": ["a", "b", "ab", *(f"<{n}>" for n in range(296)), "<|endoftext|>"],
    "tokenizer.ggml.token_type": [1] * 299 + [3],
    "tokenizer.ggml.merges": ["a b"],
    "tokenizer.ggml.eos_token_id": 299,
}


def of_theirs(config: object) -> dict[str, object]:
    """The fields of a file for a configuration of transformers'."""
    return WORDS | {
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers,
        "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "rope.freq_base": float(config.rope_parameters["rope_theta"]),
    }


def renamed(arch: str, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tensors under llama.cpp's names, by gguf's own table."""
    names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, arch), 2)
    return {names.get_name(name, (".weight", ".bias")): t for name, t in state.items()}


@pytest.mark.parametrize(
    "options",
    [
        dict(**GPT2S, n_layer=2),
        dict(**GPT2S, bias=False, tied_head=False),
        LLAMA,
        {**LLAMA, "tied_head": False, "rotary_base": 500.0},
        {**LLAMA, "rotary_scaling": (3.0,)},
        {**LLAMA, "rotary_scaling": (8.0, 1.0, 4.0, 24.0)},
        {**MODERN, "bias": False, "qkv_bias": True},
    ],
)
def test_what_was_exported_is_read_back_equal(options, tmp_path):
    one, path = trained(gpt(**options)), tmp_path / "model.gguf"
    export_gguf(one, path)
    again = published(path)
    ids = IDS % one.model.vocab_size
    with torch.no_grad():
        assert torch.allclose(again.model(ids)[0], one.model(ids)[0], atol=1e-6)
    for text in TEXTS:
        assert again.tokenizer.encode(text) == one.tokenizer.encode(text)
    assert again.tokenizer.end == one.tokenizer.end
    assert find_model(path).description == again.description


def test_a_file_becomes_a_run(tmp_path):
    one = trained(gpt(**LLAMA))
    export_gguf(one, tmp_path / "model.gguf")
    import_gpt2(tmp_path / "model.gguf", tmp_path / "run")
    again = find_model(tmp_path / "run")
    with torch.no_grad():
        assert torch.allclose(again.model(IDS)[0], one.model(IDS)[0], atol=1e-6)


def test_a_phi3_is_computed_as_transformers_computes_it(tmp_path):
    torch.manual_seed(0)
    theirs = transformers.Phi3ForCausalLM(
        transformers.Phi3Config(**SIZES, tie_word_embeddings=False, sliding_window=None)
    ).eval()
    path = tmp_path / "model.gguf"
    write(path, "phi3", of_theirs(theirs.config), renamed("PHI3", theirs.state_dict()))
    with torch.no_grad():
        assert close(published(path).model(IDS)[0], theirs(IDS).logits)


@pytest.mark.parametrize("stacked", [True, False])
def test_a_mixtral_stands_under_llamas_name(stacked, tmp_path):
    torch.manual_seed(0)
    config = transformers.MixtralConfig(**SIZES, num_local_experts=4, num_experts_per_tok=2)
    theirs = transformers.MixtralForCausalLM(config).eval()
    theirs.save_pretrained(tmp_path / "theirs")
    like = published_model(tmp_path / "theirs")
    fields = of_theirs(config) | {"expert_count": 4, "expert_used_count": 2}
    tensors = {"token_embd.weight": like.token.weight, "output_norm.weight": like.norm_final.weight}
    tensors["output.weight"] = like.head.weight
    for i, block in enumerate(like.blocks):
        q, k, v = block.attn.qkv.weight.split((32, 16, 16))
        tensors |= {
            f"blk.{i}.attn_norm.weight": block.norm1.weight,
            f"blk.{i}.ffn_norm.weight": block.norm2.weight,
            f"blk.{i}.attn_q.weight": q.view(4, 2, 4, 32).transpose(1, 2).reshape(32, 32),
            f"blk.{i}.attn_k.weight": k.view(2, 2, 4, 32).transpose(1, 2).reshape(16, 32),
            f"blk.{i}.attn_v.weight": v,
            f"blk.{i}.attn_output.weight": block.attn.projection.weight,
            f"blk.{i}.ffn_gate_inp.weight": block.mlp.router.weight,
        }
        for part, name in (("hidden", "gate"), ("up", "up"), ("output", "down")):
            each = [getattr(expert, part).weight for expert in block.mlp.experts]
            if stacked:
                tensors[f"blk.{i}.ffn_{name}_exps.weight"] = torch.stack(each)
            else:
                tensors |= {f"blk.{i}.ffn_{name}.{n}.weight": one for n, one in enumerate(each)}
    path = tmp_path / "model.gguf"
    write(path, "llama", fields, {name: tensor.detach() for name, tensor in tensors.items()})
    with torch.no_grad():
        assert close(published(path).model(IDS)[0], theirs(IDS).logits)


def published_model(folder: Path):
    from llmviz.models.published import load_published

    return load_published(folder)


def quantized(kind: str, shape: tuple[int, int]) -> np.ndarray:
    """Bytes of a matrix of a type; of a K-quant random ones, with scales that a model can have."""
    gen, which = np.random.default_rng(0), gguf.GGMLQuantizationType[kind]
    block, size = gguf.GGML_QUANT_SIZES[which]
    if "_K" not in kind:
        return gguf.quantize(gen.standard_normal(shape, np.float32), which)
    data = gen.integers(0, 256, (shape[0], shape[1] // block, size), np.uint8)
    scale = np.frombuffer(np.float16(0.01).tobytes(), np.uint8)
    for at in {"Q2_K": (-4, -2), "Q3_K": (-2,), "Q6_K": (-2,)}.get(kind, (0, 2)):
        data[..., at : at + 2 or None] = scale
    return data.reshape(shape[0], -1)


@pytest.mark.parametrize("kind", QUANTIZED)
def test_quantized_tensors_are_read_as_transformers_reads_them(kind, tmp_path):
    sizes = SIZES | dict(hidden_size=256, intermediate_size=256, num_key_value_heads=4)
    config = transformers.LlamaConfig(**sizes, tie_word_embeddings=True)
    state = transformers.LlamaForCausalLM(config).state_dict()
    state.pop("lm_head.weight")
    tensors, types = renamed("LLAMA", state), {}
    for name, tensor in tensors.items():
        if tensor.dim() == 2:
            tensors[name] = quantized(kind, tuple(tensor.shape))
            types[name] = gguf.GGMLQuantizationType[kind]
    path = write(tmp_path / "model.gguf", "llama", of_theirs(config), tensors, **types)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=path.name)
    with torch.no_grad():
        assert close(published(path).model(IDS)[0], theirs.eval()(IDS).logits)


def test_sentencepieces_tokens_are_cut_as_it_cuts_them(tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*TEXTS, "the cat sat on the mat"] * 30),
        model_writer=model,
        vocab_size=300,
        model_type="bpe",
        byte_fallback=True,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
    )
    source = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    size = source.vocab_size()
    kinds = [
        2 if source.is_unknown(i) else 3 if source.is_control(i) else 6 if source.is_byte(i) else 1
        for i in range(size)
    ]
    config = transformers.LlamaConfig(**SIZES | {"vocab_size": size}, tie_word_embeddings=True)
    state = transformers.LlamaForCausalLM(config).state_dict()
    state.pop("lm_head.weight")
    fields = of_theirs(config) | {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [source.id_to_piece(i) for i in range(size)],
        "tokenizer.ggml.scores": [float(source.get_score(i)) for i in range(size)],
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    fields.pop("tokenizer.ggml.merges")
    ours = published(
        write(tmp_path / "model.gguf", "llama", fields, renamed("LLAMA", state))
    ).tokenizer
    for text in (*TEXTS, " a  b ", "日本 😀", "<s>x"):
        assert ours.encode(text) == source.encode(text), text
    assert ours.front == (1,) and ours.ends == (2,)


# What comes in: the change to a good file's fields or tensors, and what is said of it.
WRONG_FIELDS = [
    ({"split.count": 3}, "one of 3 parts"),
    ({"tokenizer.ggml.model": "bert"}, "must be gpt2 .BPE. or llama"),
    ({"tokenizer.ggml.pre": "dbrx"}, "cuts a text must be one of .*'dbrx'"),
    ({"tokenizer.ggml.token_type": [1]}, "300 tokens and 1 types"),
    ({"tokenizer.ggml.tokens": [str(n) for n in range(400)]}, "types"),
    ({"attention.head_count": 5}, "n_head|hidden_size"),
    ({"embedding_length": 48}, "must be|lacks"),
    ({"block_count": 3}, "lacks layers.2"),
    ({"attention.scale": 0.3}, "attention.scale = .* is not computed"),
    ({"rope.scaling.type": "yarn"}, "must be none or linear; got 'yarn'"),
    ({"rope.dimension_count": 4}, "it turns 4"),
]


@pytest.fixture(scope="module")
def parts():
    config = transformers.LlamaConfig(**SIZES, tie_word_embeddings=True)
    state = transformers.LlamaForCausalLM(config).state_dict()
    state.pop("lm_head.weight")
    return of_theirs(config), renamed("LLAMA", state)


@pytest.mark.parametrize(("change", "said"), WRONG_FIELDS)
def test_what_does_not_fit_is_said_in_one_line(change, said, parts, tmp_path):
    fields, tensors = parts
    path = write(tmp_path / "model.gguf", "llama", fields | change, tensors)
    with pytest.raises(ValueError, match=said) as refused:
        published(path)
    assert str(path) in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_none_or_not_whole_is_said_to_be_so(parts, tmp_path):
    fields, tensors = parts
    good = write(tmp_path / "good.gguf", "llama", fields, tensors).read_bytes()
    path = tmp_path / "model.gguf"
    for data, said in (
        (b"", "is no GGUF file"),
        (b"PK\x03\x04" + good[4:], "is no GGUF file"),
        (good[:4] + b"\x01\0\0\0" + good[8:], "version 1 of GGUF"),
        (good[:4] + b"\0\0\0\x03" + good[8:], "big-endian"),
        (good[:40], "damaged or cut off"),
        (good[: len(good) // 2], "damaged or cut off"),
        (good[:-400], "damaged or cut off"),
    ):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=said) as refused:
            published(path)
        assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        published(tmp_path / "gone.gguf")
    (tmp_path / "folder.gguf").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        published(tmp_path / "folder.gguf")
    write(path, "mamba", fields, tensors)
    with pytest.raises(ValueError, match=r"architecture must be one of llama.* got 'mamba'"):
        published(path)
    wrong = {**tensors, "output_norm.weight": tensors["output_norm.weight"] * float("nan")}
    with pytest.raises(ValueError, match=r"output_norm.weight"):
        published(write(path, "llama", fields, wrong))
    more = {**tensors, "blk.0.attn_sinks.weight": torch.zeros(4)}
    with pytest.raises(ValueError, match=r"attn_sinks.weight besides"):
        published(write(path, "llama", fields, more))
    odd = {**tensors, "output_norm.weight": np.zeros(32, np.int32)}
    with pytest.raises(ValueError, match=r"must be of type F32.* got I32"):
        published(write(path, "llama", fields, odd))


def test_a_file_that_goes_away_leaves_what_was_read(parts, tmp_path):
    path = write(tmp_path / "model.gguf", "llama", *parts)
    file = GGUFFile(path)
    shutil.rmtree(tmp_path)
    assert torch.equal(file.read("output_norm.weight"), parts[1]["output_norm.weight"])
