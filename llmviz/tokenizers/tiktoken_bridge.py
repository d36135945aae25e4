"""tiktoken's encodings behind our interface, from its cache or by a bounded download."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.tokenizers.base import ByteTokenizer
from llmviz.tokenizers.download import TokenizerUnavailable, ensure_cached
from llmviz.tokenizers.pretokenize import last_cut

if TYPE_CHECKING:
    import tiktoken

_STORE = "https://openaipublic.blob.core.windows.net/"
# encoding -> the files it is built from, each with its SHA-256
ENCODING_FILES = {
    "gpt2": {
        _STORE + "gpt-2/encodings/main/vocab.bpe": (
            "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"
        ),
        _STORE + "gpt-2/encodings/main/encoder.json": (
            "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
        ),
    },
    "cl100k_base": {
        _STORE + "encodings/cl100k_base.tiktoken": (
            "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
        ),
    },
    "o200k_base": {
        _STORE + "encodings/o200k_base.tiktoken": (
            "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
        ),
    },
}


def fetch(name: str, *, wait: bool = True) -> list[Path]:
    """Return the files that an encoding is built from, downloading those that are not here.

    wait: until they are here, however long it takes; else as long as a page can wait.

    Raises:
        TokenizerUnavailable: a file cannot be had.
    """
    files = ENCODING_FILES[name].items()
    return [ensure_cached(name, url, sha256, wait=wait) for url, sha256 in files]


class TiktokenTokenizer(ByteTokenizer):
    """One of tiktoken's encodings: "gpt2", "cl100k_base" or "o200k_base".

    Raises:
        TokenizerUnavailable: the encoding's file is not in the cache and cannot be had now. It
            says why, within two seconds.
        ValueError: the name is none of these.
    """

    kind = "tiktoken"

    def __init__(self, name: str) -> None:
        if name not in ENCODING_FILES:
            raise ValueError(
                f"tiktoken encoding must be one of {', '.join(ENCODING_FILES)}; got {name!r}"
            )
        (folder,) = {path.parent for path in fetch(name, wait=False)}
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))  # tiktoken has no other way
        import tiktoken

        self.name = name
        self.encoding: tiktoken.Encoding = tiktoken.get_encoding(name)
        self.special_tokens = {
            text: self.encoding.encode_single_token(text)
            for text in sorted(self.encoding.special_tokens_set)
        }

    @property
    def vocab_size(self) -> int:
        """One more than the largest id; `cl100k_base` and `o200k_base` leave a few ids unused."""
        return self.encoding.n_vocab

    @cached_property
    def unused_ids(self) -> frozenset[int]:
        """The ids below `vocab_size` that stand for nothing."""
        used = {self.encoding.encode_single_token(b) for b in self.encoding.token_byte_values()}
        return frozenset(range(self.vocab_size)) - used - set(self.special_tokens.values())

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that a token id stands for."""
        (token_id,) = self.check_ids([token_id])
        try:
            return self.encoding.decode_single_token_bytes(token_id)
        except KeyError:
            raise ValueError(f"token id {token_id} is not used by {self.name}") from None

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids, which may end in the middle of a character."""
        return b"".join(map(self.token_bytes, ids))

    def to_dict(self) -> dict:
        """Return nothing: the name says it all."""
        return {}

    @classmethod
    def from_dict(cls, content: dict) -> TiktokenTokenizer:
        """Build the tokenizer of a saved file's content."""
        return cls(content.get("name", ""))

    def cut(self, text: str) -> int:
        """Return the last place where a piece surely begins."""
        return last_cut(text)

    def _encode_ordinary(self, text: str) -> list[int]:
        return self.encoding.encode_ordinary(text)

    def _spans_ordinary(self, text: str) -> Iterator[tuple[int, int, int]]:
        start = 0
        for token_id in self._encode_ordinary(text):
            end = start + len(self.encoding.decode_single_token_bytes(token_id))
            yield token_id, start, end
            start = end


__all__ = ["ENCODING_FILES", "TiktokenTokenizer", "TokenizerUnavailable", "fetch"]
