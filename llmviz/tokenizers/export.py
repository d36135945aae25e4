"""Our BPE in the forms of two well-known libraries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.files.text import ENDOFTEXT
from llmviz.tokenizers.files import write_bytes
from llmviz.tokenizers.pretokenize import GPT2_PATTERN, byte_to_character

if TYPE_CHECKING:
    import tiktoken

    from llmviz.tokenizers.bpe import BPETokenizer


def to_tiktoken(tokenizer: BPETokenizer) -> tiktoken.Encoding:
    """Return a `tiktoken.Encoding` with the same pattern, ranks and special tokens."""
    import tiktoken

    n_ordinary = 256 + len(tokenizer.merges)
    return tiktoken.Encoding(
        name=tokenizer.name,
        pat_str=GPT2_PATTERN,
        mergeable_ranks={tokenizer.token_bytes(i): i for i in range(n_ordinary)},
        special_tokens=tokenizer.special_tokens,
    )


def to_huggingface(tokenizer: BPETokenizer, path: str | Path) -> None:
    """Write a `tokenizer.json` that `tokenizers.Tokenizer.from_file` loads.

    It gives the same ids for ordinary text, and puts the end-of-text token in front, behind which
    models that are trained here read every text. It differs in one thing: that library always reads
    a special token out of a text that holds it, ours only where it is allowed.

    Raises:
        ValueError: a special token is spelled like an ordinary one, as "the" or "é" may be. The
            library would take the two for one, and the ids behind it would be others.
    """
    content = huggingface_content(tokenizer)
    write_bytes(path, json.dumps(content, ensure_ascii=False).encode("utf-8"))


def huggingface_content(tokenizer: BPETokenizer) -> dict[str, Any]:
    """Return the object of a `tokenizer.json`; see `to_huggingface`."""
    n_ordinary = 256 + len(tokenizer.merges)
    texts = {i: tokenizer.token_bytes(i) for i in range(n_ordinary)}
    merges = [(texts[a], texts[b]) for a, b in tokenizer.merges]
    content = byte_level_content(texts, merges, tokenizer.special_tokens)
    end, body = tokenizer.special_tokens.get(ENDOFTEXT), {"Sequence": {"id": "A", "type_id": 0}}
    front = [] if end is None else [{"SpecialToken": {"id": ENDOFTEXT, "type_id": 0}}]
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [*front, body],
        "pair": [*front, body, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {ENDOFTEXT: {"id": ENDOFTEXT, "ids": [end], "tokens": [ENDOFTEXT]}}
        if front
        else {},
    }
    return content


def byte_level_content(
    texts: Mapping[int, bytes], merges: Iterable[tuple[bytes, bytes]], special: Mapping[str, int]
) -> dict[str, Any]:
    """Return the object of a `tokenizer.json` for a byte-level BPE with GPT-2's pattern.

    texts: the bytes of each ordinary id. Raises ValueError as `to_huggingface`.
    """
    alphabet = byte_to_character()

    def spelled(data: bytes) -> str:
        return "".join(alphabet[byte] for byte in data)

    ids = {spelled(data): i for i, data in texts.items()}
    for text in special:
        if text in ids:
            raise ValueError(
                f"tokenizer.json cannot hold the special token {text!r}: token {ids[text]} is "
                "spelled so, and a spelling has one id; choose another text for it"
            )
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(token_id, text) for text, token_id in special.items()],
        "normalizer": None,
        "pre_tokenizer": {**byte_level, "use_regex": True},
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": ids,
            "merges": [[spelled(a), spelled(b)] for a, b in merges],
        },
    }


def added_token(token_id: int, text: str) -> dict[str, Any]:
    """Return a special token as a `tokenizer.json` lists it."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": text, **flags, "special": True}
