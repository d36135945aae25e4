"""A GPT out of a GGUF file: what llama.cpp calls its settings and tensors, as published folders do.

A file's settings become the values of a config.json, and its tensors have the names and forms that
a safetensors has, so the readers of published folders do the rest. A Mistral and, with experts, a
Mixtral stand there under llama's name.

Reference: llama.cpp's `convert_hf_to_gguf.py` for what stands in a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from llmviz.models import gpt2_format, llama_format
from llmviz.models.gguf_file import EMBEDDING, GGUFFile
from llmviz.models.settings import GPTConfig
from llmviz.nn.positions import rotary_angles, stretched

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

ARCHITECTURES = ("llama", "qwen2", "phi3", "gpt2")
# Names of settings in a config.json -> those of a file, behind the name of its architecture.
SETTINGS = {
    "max_position_embeddings": "context_length",
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "rope_theta": "rope.freq_base",
    "num_local_experts": "expert_count",
    "num_experts_per_tok": "expert_used_count",
}
OF_GPT2 = {
    "n_positions": "context_length",
    "n_embd": "embedding_length",
    "n_layer": "block_count",
    "n_inner": "feed_forward_length",
    "n_head": "attention.head_count",
    "layer_norm_epsilon": "attention.layer_norm_epsilon",
}
NEEDED = ("context_length", "embedding_length", "block_count", "attention.head_count")
# What a file may ask for that none of these models computes, with the values that ask for nothing.
ONLY: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("attention.clamp_kqv", "attention.max_alibi_bias"), (0.0,)),
    **dict.fromkeys(("logit_scale", "residual_scale", "embedding_scale"), (0.0, 1.0)),
    **dict.fromkeys(("attn_logit_softcapping", "final_logit_softcapping"), (0.0,)),
    **dict.fromkeys(("attention.scale", "attention.temperature_length"), ()),
    **dict.fromkeys(("expert_shared_count", "leading_dense_block_count"), (0,)),
}
# Names of tensors: llama.cpp's -> those of a published Llama, and of a GPT-2.
NAMES = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_gate_inp": "block_sparse_moe.gate",
    "ffn_gate_exps": "block_sparse_moe.experts.{}.w1",
    "ffn_down_exps": "block_sparse_moe.experts.{}.w2",
    "ffn_up_exps": "block_sparse_moe.experts.{}.w3",
}
NAMES_OF_GPT2 = {
    "token_embd": "wte",
    "position_embd": "wpe",
    "output_norm": "ln_f",
    "output": "lm_head",
    "attn_norm": "ln_1",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_norm": "ln_2",
    "ffn_up": "mlp.c_fc",
    "ffn_down": "mlp.c_proj",
}
HEAD = "output.weight"
FACTORS = "rope_freqs.weight"  # what each pair's frequency is divided by, of a Llama 3
LLAMA3 = (1.0, 4.0, 8192.0)  # its low and high factor, and the length it was first trained on


def load_gguf(file: GGUFFile, build: Callable[[GPTConfig], GPT]) -> GPT:
    """Return the GPT of a file, in float32 and eval mode; build: makes a GPT of its settings.

    Raises: ValueError in one line for an architecture or an option that this GPT does not have, and
    for other tensors than those of its settings. Sizes are checked before anything is built.
    """
    try:
        values = config_of(file)
        tensors = GGUFTensors(file, values)
        if values["model_type"] == "gpt2":
            return gpt2_format.gpt_of(gpt2_format.config_from_gpt2(values), tensors, build)
        config = llama_format.config_from_llama(values)
        return llama_format.gpt_of(config, values, tensors, build)
    except ValueError as error:
        raise ValueError(f"{file.path}: {str(error).removeprefix(f'{file.path}: ')}") from error


def config_of(file: GGUFFile) -> dict[str, Any]:
    """Return the values that a config.json would have. Raises: ValueError as `load_gguf`."""
    fields = file.fields
    kind = fields.get("general.architecture")
    if kind not in ARCHITECTURES:
        raise ValueError(
            f"its general.architecture must be one of {', '.join(ARCHITECTURES)}; got {kind!r}"
        )
    for name in NEEDED:
        if f"{kind}.{name}" not in fields:
            raise ValueError(f"it lacks {kind}.{name}")
    for name, allowed in ONLY.items():
        if (value := fields.get(f"{kind}.{name}")) is not None and value not in allowed:
            raise ValueError(f"{kind}.{name} = {value!r} is not computed here")
    theirs = OF_GPT2 if kind == "gpt2" else SETTINGS
    values: dict[str, Any] = {name: fields.get(f"{kind}.{key}") for name, key in theirs.items()}
    if not file.vocab_size:
        raise ValueError(f"it lacks {EMBEDDING}")
    values["vocab_size"] = file.vocab_size
    values["tie_word_embeddings"] = HEAD not in file.tensors
    if kind == "gpt2":
        return {"model_type": kind, **values}
    if values.pop("num_local_experts"):
        values |= {"num_local_experts": fields[f"{kind}.expert_count"]}
        kind = "mixtral" if kind == "llama" else kind
    head_size = values["hidden_size"] // max(values["num_attention_heads"], 1)
    turned = fields.get(f"{fields['general.architecture']}.rope.dimension_count", head_size)
    if turned != (values["head_dim"] or head_size):
        raise ValueError(f"all {head_size} numbers of a head must be turned; it turns {turned}")
    if kind == "phi3":
        values["sliding_window"] = fields.get("phi3.attention.sliding_window") or None
    if kind == "llama":
        values["attention_bias"] = "blk.0.attn_q.bias" in file.tensors
        values["mlp_bias"] = "blk.0.ffn_up.bias" in file.tensors
    values["rope_scaling"] = _rope_scaling(file, head_size, values["rope_theta"] or 10_000.0)
    return {"model_type": kind, **{name: v for name, v in values.items() if v is not None}}


def _rope_scaling(file: GGUFFile, head_size: int, base: float) -> dict[str, Any] | None:
    """How rotary positions are stretched, as a config.json says it."""
    kind = file.fields["general.architecture"]
    told = {
        name: file.fields.get(f"{kind}.rope.scaling.{name}")
        for name in ("type", "factor", "original_context_length")
    }
    if FACTORS in file.tensors:
        first = float(told["original_context_length"] or LLAMA3[-1])
        return _from_factors(file.read(FACTORS), head_size, base, first)
    others = [name for name in file.tensors if name.startswith("rope_factors")]
    if others:
        raise ValueError(f"its {others[0]} is not computed here (LongRoPE)")
    factor = told["factor"] or file.fields.get(f"{kind}.rope.scale_linear")
    if told["type"] in (None, "none", "linear"):
        return {"rope_type": "linear", "factor": factor} if factor not in (None, 0, 1) else None
    raise ValueError(f"{kind}.rope.scaling.type must be none or linear; got {told['type']!r}")


def _from_factors(factors: Tensor, head_size: int, base: float, first: float) -> dict[str, Any]:
    """Llama 3's options out of the factors that they give, which are all that a file has.

    The share of a frequency that stays grows in a straight line with its turns in `first` tokens,
    from 0 at the low factor to 1 at the high one: two points between tell the line.
    """
    factors = factors.double().flatten()
    plain = rotary_angles(torch.ones(1, dtype=torch.double), head_size, base)[0]
    factor = float(factors.max())
    low, high, _ = LLAMA3
    turns = first * plain / (2 * math.pi)
    between = (factors > 1 + 1e-6) & (factors < factor - 1e-6)
    if len(plain) == len(factors) and int(between.sum()) >= 2:
        kept = (1 / factors[between] - 1 / factor) / (1 - 1 / factor)
        x = turns[between]
        slope = (kept[0] - kept[-1]) / (x[0] - x[-1])
        low = float(x[0] - kept[0] / slope)
        high = float(low + 1 / slope)
    for candidate in ((round(low, 3), round(high, 3)), (low, high)):
        scaled = stretched(plain, (factor, *candidate, first))
        if torch.allclose(plain / scaled, factors, rtol=1e-4):
            names = ("low_freq_factor", "high_freq_factor")
            return {
                "rope_type": "llama3",
                "factor": factor,
                **dict(zip(names, candidate, strict=True)),
                "original_max_position_embeddings": first,
            }
    raise ValueError(f"its {FACTORS} are not those of a Llama 3")


def chat_of(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the chat template of a file and the tokens that it may name, as `read_chat` does."""
    template = fields.get("tokenizer.chat_template")
    if not isinstance(template, str):
        return None
    names = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
    tokens, texts = {}, fields.get("tokenizer.ggml.tokens", [])
    for name, theirs in names.items():
        token_id = fields.get(f"tokenizer.ggml.{theirs}_token_id")
        if type(token_id) is int and 0 <= token_id < len(texts):
            tokens[name] = texts[token_id]
    return {"template": template, "tokens": tokens}


class Named(NamedTuple):
    """A tensor of a file under its published name."""

    stored: str
    shape: tuple[int, ...]
    heads: int = 0  # whose halves are interleaved
    expert: int | None = None  # of a stack of matrices, the one meant
    transposed: bool = False


class GGUFTensors:
    """The tensors of a file as `StoredTensors` has those of a folder.

    values: of the config.json that `config_of` makes of the file.
    """

    def __init__(self, file: GGUFFile, values: dict[str, Any]):
        self.folder = file.path  # which messages name
        self._file = file
        self._named: dict[str, Named] = {}
        for stored in file.tensors:
            if stored != FACTORS:
                self._named.update(self._name(stored, values))

    def __contains__(self, name: str) -> bool:
        return name in self._named

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, as it is read."""
        return self._named[name].shape

    def read(self, name: str) -> Tensor:
        """A tensor in float32."""
        named = self._named[name]
        tensor = self._file.read(named.stored)
        if named.expert is not None:
            tensor = tensor[named.expert]
        if named.heads:
            tensor = halves(tensor, named.heads)
        return tensor.t() if named.transposed else tensor

    def rename(self, old: str, new: str) -> None:
        """Give a tensor another name."""
        self._named[new] = self._named.pop(old)

    def _name(self, stored: str, values: dict[str, Any]) -> Iterator[tuple[str, Named]]:
        """The published name of a tensor of the file; of a stack, one for each matrix."""
        shape, kind = self._file.shape(stored), values["model_type"]
        parts = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)(?:\.(\d+))?\.(weight|bias)", stored)
        if parts is None:
            yield stored, Named(stored, shape)
            return
        layer, part, expert, ending = parts.groups()
        names, blocks = (NAMES_OF_GPT2, "h") if kind == "gpt2" else (NAMES, "layers")
        if kind == "phi3" and part == "ffn_up":
            name = "mlp.gate_up_proj"
        elif expert is not None:  # older files have a tensor for each expert
            name = names.get(f"{part}_exps", part).format(expert)
        else:
            name = names.get(part, part)
        whole = f"{name}.{ending}" if layer is None else f"{blocks}.{layer}.{name}.{ending}"
        if part.endswith("_exps"):
            for number in range(shape[0]):
                yield whole.format(number), Named(stored, shape[1:], expert=number)
            return
        heads = 0
        if kind in ("llama", "mixtral") and part in ("attn_q", "attn_k"):
            key = "num_attention_heads" if part == "attn_q" else "num_key_value_heads"
            heads = values.get(key) or values["num_attention_heads"]
        if kind == "gpt2" and ".c_" in whole and ending == "weight":
            yield whole, Named(stored, shape[::-1], transposed=True)
        else:
            yield whole, Named(stored, shape, heads)


def halves(tensor: Tensor, heads: int) -> Tensor:
    """Rows of each head with its two halves one after the other, which lie interleaved in a file.

    >>> halves(torch.tensor([0, 2, 1, 3, 4, 6, 5, 7]), 2).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    pairs = tensor.view(heads, -1, 2, *tensor.shape[1:])
    return pairs.transpose(1, 2).reshape(tensor.shape)
