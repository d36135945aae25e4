"""The tokenizer in a GGUF file, as the content of a tokenizer.json or a model of SentencePiece's.

Reference: llama.cpp's `llama-vocab.cpp` for how the name of a pre-tokenizer cuts a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmviz.tokenizers import sentencepiece_model
from llmviz.tokenizers.base import ENDOFTEXT
from llmviz.tokenizers.published import PublishedTokenizer

# How a text is cut before its parts are merged, by llama.cpp's names.
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {
    "llama-bpe": _CONTRACTIONS + r"\p{N}{1,3}" + _REST,
    "qwen2": _CONTRACTIONS + r"\p{N}" + _REST,
}
ALIASES = {"llama3": "llama-bpe", "llama-v3": "llama-bpe"}
GPT2S = ("gpt-2", "olmo", "mpt", "jais")
DIGITS = ("smollm", "starcoder", "refact", "command-r", "codeshell")  # GPT-2's, digits one by one
NORMAL, UNKNOWN, CONTROL, DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # token types
KEY = "tokenizer.ggml."


def gguf_tokenizer(fields: Mapping[str, Any], vocab_size: int) -> PublishedTokenizer:
    """Return the tokenizer that a file's fields describe.

    Raises: ValueError for a tokenizer of another kind, one whose lists do not fit each other, or
    without a token that ends a text.
    """
    kind = fields.get(KEY + "model")
    if kind not in ("gpt2", "llama"):
        raise ValueError(f"its tokenizer must be gpt2 (BPE) or llama (SentencePiece); got {kind!r}")
    tokens, types = fields.get(KEY + "tokens"), fields.get(KEY + "token_type")
    if not isinstance(tokens, list) or not tokens:
        raise ValueError("its tokenizer has no tokens")
    types = types or [NORMAL] * len(tokens)
    if len(types) != len(tokens):
        raise ValueError(f"its tokenizer has {len(tokens):,} tokens and {len(types):,} types")
    ends = [fields.get(f"{KEY}{name}_token_id") for name in ("eos", "eot", "eom")]
    usual = tokens.index(ENDOFTEXT) if ENDOFTEXT in tokens else None
    fitting = list(dict.fromkeys(i for i in ends if type(i) is int and 0 <= i < len(tokens)))
    end = fitting[0] if fitting else usual
    if end is None:
        raise ValueError("its tokenizer names no token that ends a text")
    begins = fields.get(KEY + "bos_token_id")
    if type(begins) is not int or not 0 <= begins < len(tokens):
        begins = None
    model = None
    if kind == "gpt2":
        content = _byte_level(fields, tokens, types, begins)
    else:
        model = _sentencepiece(fields, tokens, types, begins, end)
        in_front = fields.get(KEY + "add_bos_token") is not False
        content = sentencepiece_model.content_of(model, begins=in_front)
    tokenizer = PublishedTokenizer(content, vocab_size, end, more_ends=fitting[1:], model=model)
    tokenizer.lone = begins
    return tokenizer


def _byte_level(
    fields: Mapping[str, Any], tokens: list[str], types: list[int], begins: int | None
) -> dict[str, Any]:
    """The content of a tokenizer.json."""
    name = fields.get(
        KEY + "pre", "gpt-2" if fields.get("general.architecture") == "gpt2" else None
    )
    name = ALIASES.get(name, name)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    cut: dict[str, Any]
    if name in GPT2S:
        cut = {**level, "use_regex": True}
    elif name in DIGITS:
        digits = {"type": "Digits", "individual_digits": True}
        cut = {"type": "Sequence", "pretokenizers": [digits, {**level, "use_regex": True}]}
    elif name in PATTERNS:
        pattern = {"Regex": PATTERNS[name]}
        split = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
        cut = {"type": "Sequence", "pretokenizers": [split, {**level, "use_regex": False}]}
    else:
        known = ", ".join((*GPT2S, *DIGITS, *PATTERNS))
        raise ValueError(f"how its tokenizer cuts a text must be one of {known}; got {name!r}")
    merges = fields.get(KEY + "merges")
    if not isinstance(merges, list):
        raise ValueError("its tokenizer has no merges")
    front = None
    if begins is not None and fields.get(KEY + "add_bos_token", name == "llama-bpe"):
        front = sentencepiece_model.in_front(tokens[begins], begins)
    return {
        "version": "1.0",
        "added_tokens": [
            {
                **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
                "id": token_id,
                "content": tokens[token_id],
                "special": kind != DEFINED,
            }
            for token_id, kind in enumerate(types)
            if kind in (CONTROL, DEFINED, UNKNOWN)
        ],
        "normalizer": None,
        "pre_tokenizer": cut,
        "post_processor": front,
        "decoder": {**level, "use_regex": True},
        "model": {
            "type": "BPE",
            "ignore_merges": name == "llama-bpe",
            "vocab": {
                token: i
                for i, (token, kind) in enumerate(zip(tokens, types, strict=True))
                if kind != UNUSED
            },
            "merges": [merge.split(" ") for merge in merges],
        },
    }


def _sentencepiece(
    fields: Mapping[str, Any], tokens: list[str], types: list[int], begins: int | None, end: int
) -> bytes:
    """A model of SentencePiece's: BPE by scores, as llama.cpp computes it."""
    scores = fields.get(KEY + "scores")
    if not isinstance(scores, list) or len(scores) != len(tokens):
        raise ValueError("its tokenizer must have a score for each token")
    unknown = fields.get(KEY + "unknown_token_id", 0)
    return sentencepiece_model.written(
        zip(tokens, scores, types, strict=True),
        unknown=unknown,
        begins=-1 if begins is None else begins,
        ends=end,
        prefix=fields.get(KEY + "add_space_prefix", True),
        drops_spaces=fields.get(KEY + "remove_extra_whitespaces", False),
    )
