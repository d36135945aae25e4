"""Every tokenizer by its name: trained here, bundled, or tiktoken's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from llmviz.files.paths import DATA, TOKENIZER_FOLDER
from llmviz.tokenizers.base import Tokenizer
from llmviz.tokenizers.bpe import BPETokenizer
from llmviz.tokenizers.tiktoken_bridge import TiktokenTokenizer
from llmviz.tokenizers.vocabulary import CharTokenizer, WordTokenizer

DEFAULT_BPE_SIZE = 1024
BUNDLED_TEXT = DATA / "tiny-world.txt"


@dataclass(frozen=True)
class TokenizerInfo:
    """One line of the registry.

    Attributes:
        name: what `get_tokenizer` takes.
        kind: "word", "char", "bpe" or "tiktoken".
        file: the bundled file's name; empty for tiktoken's.
    """

    name: str
    kind: str
    file: str = ""


TOKENIZERS: dict[str, TokenizerInfo] = {
    info.name: info
    for info in (
        TokenizerInfo("word", "word", "word.json"),
        TokenizerInfo("char", "char", "char.json"),
        TokenizerInfo("bpe", "bpe", "bpe-1024.json"),
        TokenizerInfo("gpt2", "tiktoken"),
        TokenizerInfo("cl100k_base", "tiktoken"),
        TokenizerInfo("o200k_base", "tiktoken"),
    )
}


def _train_bpe(text_or_documents: str | Iterable[str], vocab_size: int | None) -> Tokenizer:
    size = DEFAULT_BPE_SIZE if vocab_size is None else vocab_size
    return BPETokenizer.train(text_or_documents, size)


Trainer = Callable[[str | Iterable[str], int | None], Tokenizer]
TRAINERS: dict[str, Trainer] = {
    "char": CharTokenizer.train,
    "word": WordTokenizer.train,
    "bpe": _train_bpe,
}
"""What learns a vocabulary from texts, of at most so many tokens (None: as many as suits)."""

_loaded: dict[str, Tokenizer] = {}
_lock = threading.Lock()


def get_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of a name in `TOKENIZERS`; the same object each time.

    Raises:
        ValueError: there is no such name; `TokenizerUnavailable` if it cannot be had now.
    """
    if name not in TOKENIZERS:
        raise ValueError(f"tokenizer must be one of {', '.join(TOKENIZERS)}; got {name!r}")
    tokenizer = _loaded.get(name)
    if tokenizer is None:
        info = TOKENIZERS[name]
        if info.kind == "tiktoken":
            tokenizer = TiktokenTokenizer(name)
        else:
            tokenizer = load_tokenizer(TOKENIZER_FOLDER / info.file)
        with _lock:
            tokenizer = _loaded.setdefault(name, tokenizer)
    return tokenizer


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Read a saved tokenizer of any kind.

    Raises:
        ValueError: the file cannot be read, is damaged, or says something impossible.
    """
    return Tokenizer.load(path)


def train_tokenizer(
    kind: str, text_or_documents: str | Iterable[str], vocab_size: int | None = None
) -> Tokenizer:
    """Train a tokenizer of a kind in `TRAINERS` on a corpus.

    Args:
        kind: which.
        text_or_documents: a text, or several.
        vocab_size: how many tokens at most; None keeps all words or characters, and gives BPE
            1,024.

    Raises:
        ValueError: the kind cannot be trained, or the size does not fit it.
    """
    if kind not in TRAINERS:
        raise ValueError(f"kind must be one of {', '.join(TRAINERS)}; got {kind!r}")
    return TRAINERS[kind](text_or_documents, vocab_size)
