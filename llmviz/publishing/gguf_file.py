"""`export --to gguf`: one file with settings, tokenizer and weights, which llama.cpp reads.

The file is written by the package gguf. Reference: llama.cpp's `convert_hf_to_gguf.py` for what
stands in it.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from llmviz.files.whole import TEMPORARY, write_whole, writing
from llmviz.models.settings import GPTConfig
from llmviz.nn.positions import rotary_angles, stretched
from llmviz.publishing.form import StoredTensor, gpt_of, published_config, published_tensors
from llmviz.tokenizers.gguf_tokenizer import PATTERNS
from llmviz.tokenizers.published_form import PublishedForm, published_form
from llmviz.training import locks
from llmviz.training.reading import CHAT
from llmviz.training.run_folder import Trained

if TYPE_CHECKING:
    import numpy as np

# How a text is cut before its parts are merged, as llama.cpp calls it.
CUTS = {pattern: name for name, pattern in PATTERNS.items()}
GPT2S, DIGITS = "gpt-2", "smollm"
KINDS = {"gpt2": "GPT2", "llama": "LLAMA", "qwen2": "QWEN2"}  # model_type -> gguf's name
LOWEST_DIMENSIONS = 2  # of a tensor that may be written in 16 bits, as llama.cpp has it


def export_gguf(trained: Trained, path: Path, dtype: torch.dtype = torch.float32) -> str:
    """Write a model to a new file and return which kind it is.

    dtype: of the matrices; vectors stay float32.
    Raises ValueError for a model or a tokenizer that llama.cpp does not compute, a file that is
    there already, and where it cannot be written.
    """
    import gguf

    model = gpt_of(trained)
    values = published_config(model.config)
    kind = values["model_type"]
    _check(kind, model.config)
    form = published_form(trained.tokenizer)
    cut = _cut(form)
    names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, KINDS[kind]), model.config.n_layer)
    if path.exists():
        raise ValueError(f"{path} is there already; choose another file")

    def write(temporary: Path) -> None:
        with temporary.open("wb") as mine:
            locks.lock(mine)  # another that writes the same file now lets it be
            fill(temporary)

    def fill(temporary: Path) -> None:
        writer = gguf.GGUFWriter(temporary, kind)
        _write_settings(writer, model.config)
        _write_tokenizer(writer, form, cut, model.vocab_size)
        if CHAT in trained.description:
            writer.add_chat_template(trained.description[CHAT]["template"])
        for name, tensor in _tensors(model.config, kind, published_tensors(model)):
            known = names.get_name(name, try_suffixes=(".weight", ".bias"))
            assert known is not None, name
            writer.add_tensor(known, _numbers(tensor, dtype))
        writer.add_file_type(int(dtype == torch.float16))  # of gguf's types all F32, mostly F16
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    with writing(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f"{TEMPORARY}{'?' * 8}-{glob.escape(path.name)}"):
            with left.open("rb") as file:
                dead = not locks.is_locked(file)
            if dead:
                left.unlink(missing_ok=True)  # what a killed process left: as large as the file
        write_whole(path, write)
    return kind


def _check(kind: str, config: GPTConfig) -> None:
    """Refuse what llama.cpp has no way to compute under the name of the kind."""
    if kind not in KINDS:
        raise ValueError(f"a {kind} is not written as GGUF here; {', '.join(KINDS)} are")
    if config.window is not None:
        raise ValueError(f"llama.cpp's {kind} has no window; got window={config.window}")
    if kind != "gpt2":
        return
    if config.activation != "gelu_tanh":
        raise ValueError(
            "llama.cpp's GPT-2 computes the GELU by tanh; got activation="
            f"{config.activation!r}, whose numbers are others. Train with: --set "
            "activation=gelu_tanh"
        )
    if config.attention_scale != "head":
        raise ValueError(
            "llama.cpp's GPT-2 divides scores by √D; got attention_scale="
            f"{config.attention_scale!r}"
        )


def _write_settings(writer: Any, config: GPTConfig) -> None:
    import gguf

    writer.add_context_length(config.context_length)
    writer.add_embedding_length(config.n_embd)
    writer.add_block_count(config.n_layer)
    writer.add_feed_forward_length(config.feed_forward_size)
    writer.add_head_count(config.n_head)
    writer.add_vocab_size(config.vocab_size)
    if config.positions == "learned":
        writer.add_layer_norm_eps(config.norm_epsilon)
        return
    writer.add_head_count_kv(config.kv_heads)
    writer.add_layer_norm_rms_eps(config.norm_epsilon)
    writer.add_rope_dimension_count(config.head_size)
    writer.add_rope_freq_base(config.rotary_base)
    if len(config.rotary_scaling) == 4:
        writer.add_rope_scaling_orig_ctx_len(int(config.rotary_scaling[3]))
    if len(config.rotary_scaling) == 1:
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(config.rotary_scaling[0])


def _cut(form: PublishedForm) -> str:
    """How the tokenizer cuts a text, as llama.cpp calls it."""
    model, before = form.content["model"], form.content["pre_tokenizer"] or {}
    decoder = form.content.get("decoder") or {}
    if model.get("type") != "BPE" or decoder.get("type") != "ByteLevel":
        raise ValueError("GGUF is written for byte-level BPE alone; this tokenizer is another kind")
    if form.content.get("normalizer"):
        raise ValueError("llama.cpp has no normalizer as that of this tokenizer")
    if before.get("type") == "ByteLevel" and before.get("use_regex", True):
        return GPT2S
    parts = before.get("pretokenizers", ())
    digits = {"type": "Digits", "individual_digits": True}
    if len(parts) == 2 and parts[0] == digits and parts[1].get("use_regex", True):
        return DIGITS
    for part in parts:
        pattern = part.get("pattern", {})
        if part.get("type") == "Split" and pattern.get("Regex") in CUTS:
            return CUTS[pattern["Regex"]]
    raise ValueError("llama.cpp is not known to cut a text as this tokenizer does")


def _write_tokenizer(writer: Any, form: PublishedForm, cut: str, size: int) -> None:
    import gguf

    kinds = gguf.TokenType
    texts = [f"[PAD{i}]" for i in range(size)]
    types = [kinds.UNUSED] * size
    for text, i in form.content["model"]["vocab"].items():
        texts[i], types[i] = text, kinds.NORMAL
    for token in form.content["added_tokens"]:
        texts[token["id"]] = token["content"]
        types[token["id"]] = kinds.CONTROL if token["special"] else kinds.USER_DEFINED
    merges = form.content["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(texts)
    writer.add_token_types(types)
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in merges])
    processor = json.dumps(form.content["post_processor"])
    writer.add_add_bos_token("SpecialToken" in processor)
    if form.begins is not None:
        writer.add_bos_token_id(form.begins)
    writer.add_eos_token_id(form.ends if isinstance(form.ends, int) else form.ends[0])


def _tensors(
    config: GPTConfig, kind: str, published: Iterator[tuple[StoredTensor, Tensor]]
) -> Iterator[tuple[str, Tensor]]:
    """The tensors as llama.cpp wants them; its Llama has the two halves of a head interleaved."""
    for place, tensor in published:
        if kind == "llama" and ".q_proj." in place.name:
            tensor = interleaved(tensor, config.n_head)
        elif kind == "llama" and ".k_proj." in place.name:
            tensor = interleaved(tensor, config.kv_heads)
        yield place.name, tensor
    if len(config.rotary_scaling) == 4:
        plain = rotary_angles(torch.ones(1), config.head_size, config.rotary_base)[0]
        yield "rope_freqs.weight", plain / stretched(plain, config.rotary_scaling)


def interleaved(tensor: Tensor, heads: int) -> Tensor:
    """Rows of each head in the order 0, D/2, 1, D/2 + 1, …: what turns together lies side by side.

    >>> interleaved(torch.arange(8), 2).tolist()
    [0, 2, 1, 3, 4, 6, 5, 7]
    """
    half = len(tensor) // heads // 2
    return tensor.view(heads, 2, half, *tensor.shape[1:]).transpose(1, 2).reshape(tensor.shape)


def _numbers(tensor: Tensor, dtype: torch.dtype) -> np.ndarray:
    return tensor.to(dtype if tensor.dim() >= LOWEST_DIMENSIONS else torch.float32).numpy()
