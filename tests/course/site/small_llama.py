"""A small Llama with random weights, in the blocks of the published one, in the place of that."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from llmviz.obtainable.catalogue import OBTAINABLE, SETTING
from llmviz.tokenizers import BPETokenizer
from llmviz.tokenizers.pretokenize import byte_to_character
from tests.models.test_gguf import write

NAME = "smollm2"
LAYERS, WIDTH, HIDDEN, HEADS, SHARED = 3, 64, 96, 4, 2
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
LEARNED = "The capital of France is Paris. The capital of Italy is Rome. What is the capital?"


def tokenizer_fields() -> dict[str, Any]:
    """Special tokens, the bytes in an order of their own, and what some merges make."""
    letters, merges = byte_to_character(), BPETokenizer.train(LEARNED, 300).merges
    known = list(letters)
    for a, b in merges:
        known.append(known[a] + known[b])
    tokens = [*SPECIAL, *sorted(known[:256]), *known[256:]]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * len(known),
        "tokenizer.ggml.merges": [f"{known[a]} {known[b]}" for a, b in merges],
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }


def write_small(path: Path, matrices: str = "Q4_1", **fields: Any) -> Path:
    """Write the model; matrices: the type of their blocks; fields: others than its own."""
    draws = np.random.default_rng(0)
    words = tokenizer_fields()
    kinds = gguf.GGMLQuantizationType
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd": (len(words["tokenizer.ggml.tokens"]), WIDTH),
        "output_norm": (WIDTH,),
    }
    kept = WIDTH * SHARED // HEADS
    for layer in range(LAYERS):
        of_layer = {
            "attn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (kept, WIDTH),
            "attn_v": (kept, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_norm": (WIDTH,),
            "ffn_gate": (HIDDEN, WIDTH),
            "ffn_up": (HIDDEN, WIDTH),
            "ffn_down": (WIDTH, HIDDEN),
        }
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in of_layer.items()}
    tensors, types = {}, {}
    for name, shape in shapes.items():
        values = draws.normal(size=shape).astype(np.float32)
        if len(shape) == 1:
            values = 1 + values / 4
        else:
            kind = kinds.Q8_0 if name == "token_embd" else kinds[matrices]
            values = gguf.quants.quantize(values / np.sqrt(np.float32(shape[1]) / 4), kind)
            types[f"{name}.weight"] = kind
        tensors[f"{name}.weight"] = values
    settings = {
        "context_length": 1024,
        "embedding_length": WIDTH,
        "block_count": LAYERS,
        "feed_forward_length": HIDDEN,
        "attention.head_count": HEADS,
        "attention.head_count_kv": SHARED,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.freq_base": 1e4,
    }
    return write(path, "llama", words | settings | fields, tensors, **types)


def in_its_place(patch: Any, folder: Path, **fields: Any) -> Path:
    """Let `get`'s catalogue name a small model, which lies in a folder."""
    path = write_small(folder / OBTAINABLE[NAME].file, **fields)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    small = replace(OBTAINABLE[NAME], size=path.stat().st_size, sha256=found)
    patch.setitem(OBTAINABLE, NAME, small)
    patch.setenv(SETTING, str(folder))
    return path
