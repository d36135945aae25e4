"""A model's own bytes as files that a browser loads one by one, and the list of them.

The blocks of the GGUF file stay as they were published: its tensors, one after the other, are cut
into shards, and nothing is quantized again. A shard's name holds its checksum, so what a browser
has kept under a name is right for as long as it is whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from llmviz.models.gguf_file import EMBEDDING, GGUFFile
from llmviz.models.gguf_format import config_of
from llmviz.obtainable.catalogue import OBTAINABLE, how_to_get, path_of
from llmviz.tokenizers.gguf_tokenizer import CONTROL, DIGITS, GPT2S, KEY, NORMAL, UNKNOWN
from llmviz.training.errors import CheckpointError

VERSION = 1  # of the list; a page computes with the one that it was written with
SHARD = 16 * 2**20  # bytes
ALIGNED = 32  # bytes; where a tensor may begin
TYPES = ("F32", "Q4_1", "Q8_0")  # blocks that the page's script multiplies
FOLDER = "assets/models"
# The sizes of the page's model, by their names in a config.json.
SIZES = {
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_kv_head": "num_key_value_heads",
    "n_embd": "hidden_size",
    "n_hidden": "intermediate_size",
    "vocab_size": "vocab_size",
    "context_length": "max_position_embeddings",
    "norm_epsilon": "rms_norm_eps",
    "rotary_base": "rope_theta",
}
OF_LAYER = (
    *("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output"),
    *("ffn_norm", "ffn_gate", "ffn_up", "ffn_down"),
)
# What of a file's settings the script does not compute, with the values that ask for nothing.
ONLY: dict[str, Any] = {
    "model_type": "llama",
    "tie_word_embeddings": True,
    "attention_bias": False,
    "mlp_bias": False,
    "rope_scaling": None,
}


class Piece(NamedTuple):
    """A file of the model: its path in the site, and its content."""

    path: str
    content: bytes


class Shards(NamedTuple):
    """A model as files. manifest: what a page is told of it, ready for JSON."""

    manifest: dict[str, Any]
    pieces: list[Piece]

    def put(self, write: Callable[[str, bytes], None]) -> None:
        """Write the model's files, and the list of them; write: given a path and a content."""
        for piece in self.pieces:
            write(piece.path, piece.content)
        listed = json.dumps(self.manifest).encode()
        write(f"{FOLDER}/{self.manifest['name']}.json", listed)

    @property
    def bytes(self) -> int:
        """Of all files of the model together."""
        return sum(len(piece.content) for piece in self.pieces)


def model_file(name: str) -> Path:
    """Return the pinned file of a model that `get` fetched.

    Raises ValueError: it is not here, or only its original weights are, or the file is another.
    """
    path, model = path_of(name), OBTAINABLE.get(name)
    if path is None or model is None:
        raise CheckpointError(how_to_get(name))
    if path.is_dir():
        raise CheckpointError(f"{path} has the original weights; a page needs {model.file}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise CheckpointError(f"{path} is not {model.file} as it was published; {how_to_get(name)}")
    return path


def shards_of(name: str, path: Path, shard: int | None = None) -> Shards:
    """Return the files of a model, and what a page is told of them.

    shard: bytes of each file of weights, the last one apart; None is SHARD.
    Raises ValueError: the file is damaged, or of a model that the page's script does not compute.
    """
    file = GGUFFile(path)
    config = _config(file)
    tensors, blobs, at = [], [], 0
    for tensor in file.tensors.values():
        content = np.ascontiguousarray(tensor.data).tobytes()
        shape = list(file.shape(tensor.name))
        tensors.append([tensor.name, tensor.tensor_type.name, shape, at])
        blobs += [content, bytes(-len(content) % ALIGNED)]
        at += len(content) + len(blobs[-1])
    weights = b"".join(blobs)
    pieces = [_piece(name, "bin", part) for part in _cut(weights, shard or SHARD)]
    tokenizer = _piece(name, "json", json.dumps(_tokenizer(file), ensure_ascii=False).encode())
    manifest = {
        "version": VERSION,
        "name": name,
        "title": OBTAINABLE[name].title,
        "config": config,
        "tensors": tensors,
        "weights": len(weights),
        "shards": [_told(piece) for piece in pieces],
        "tokenizer": _told(tokenizer),
    }
    return Shards(manifest, [*pieces, tokenizer])


def _cut(content: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


def _piece(model: str, kind: str, content: bytes) -> Piece:
    return Piece(f"{FOLDER}/{model}/{hashlib.sha256(content).hexdigest()[:16]}.{kind}", content)


def _told(piece: Piece) -> dict[str, Any]:
    """What a page is told of a file: it takes no other one for it."""
    found = hashlib.sha256(piece.content).hexdigest()
    return {"path": piece.path, "bytes": len(piece.content), "sha256": found}


def _config(file: GGUFFile) -> dict[str, Any]:
    """The sizes of a model that the page's script computes."""
    values = config_of(file)
    for name, only in ONLY.items():
        if (value := values.get(name)) is not None and value != only:
            raise ValueError(f"{file.path}: a page does not compute models with {name}={value!r}")
    config: dict[str, Any] = {name: values.get(theirs) for name, theirs in SIZES.items()}
    if values.get("head_dim") not in (None, config["n_embd"] // config["n_head"]):
        raise ValueError(f"{file.path}: a page does not compute heads of {values['head_dim']}")
    config["n_kv_head"] = config["n_kv_head"] or config["n_head"]
    config["rotary_base"] = config["rotary_base"] or 10_000.0
    wanted = {EMBEDDING, "output_norm.weight"}
    wanted |= {f"blk.{n}.{part}.weight" for n in range(config["n_layer"]) for part in OF_LAYER}
    if other := sorted(wanted ^ set(file.tensors)):
        raise ValueError(f"{file.path}: a page does not compute models that differ in {other[0]}")
    for tensor in file.tensors.values():
        if tensor.tensor_type.name not in TYPES:
            raise ValueError(
                f"{file.path}: {tensor.name} must be of type {', '.join(TYPES)} for a page; "
                f"got {tensor.tensor_type.name}"
            )
    return config


def _tokenizer(file: GGUFFile) -> dict[str, Any]:
    """The tokens in GPT-2's printable alphabet, the merges in their order, and special ids."""
    fields = file.fields
    types = fields.get(KEY + "token_type") or []
    cut = fields.get(KEY + "pre")
    if fields.get(KEY + "model") != "gpt2" or cut not in (*GPT2S, *DIGITS):
        raise ValueError(f"{file.path}: a page does not cut a text as {cut!r} does")
    if set(types) - {NORMAL, CONTROL, UNKNOWN} or fields.get(KEY + "add_bos_token"):
        raise ValueError(f"{file.path}: a page does not add tokens of its own to a text")
    tokens = fields[KEY + "tokens"]
    ends = [fields.get(f"{KEY}{name}_token_id") for name in ("eos", "eot", "eom")]
    return {
        "tokens": tokens,
        "merges": fields[KEY + "merges"],
        "digits": cut in DIGITS,
        "special": [i for i, kind in enumerate(types) if kind != NORMAL],
        "ends": [i for i in ends if type(i) is int],
    }
