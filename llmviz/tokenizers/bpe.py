"""Byte-level BPE: trained, explained step by step, and fast enough for a whole corpus."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.files.text import check_text, check_texts
from llmviz.tokenizers import export
from llmviz.tokenizers.base import ENDOFTEXT, ByteTokenizer
from llmviz.tokenizers.explain import EncodeSteps, explain
from llmviz.tokenizers.merging import (
    Merges,
    MergeTree,
    as_word,
    greedy_left_to_right,
    merge,
    merge_tree,
)
from llmviz.tokenizers.pretokenize import is_one_word, last_cut, pretokenize, split_at_spaces
from llmviz.tokenizers.training import MergeStep, train_steps

if TYPE_CHECKING:
    import tiktoken

UTF32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
CACHE_SIZE = 1 << 18
CACHED_LENGTH = 64  # characters; longer parts hardly repeat


class BPETokenizer(ByteTokenizer):
    """Byte-level byte-pair encoding.

    Ids: bytes 0..255, then the merges in rank order, then the special tokens. Every text can be
    encoded, since every byte is a token.

    Args:
        merges: the two ids of each merge in rank order; merge r makes id 256 + r.
        special_tokens: their texts, in the order of their ids.

    Attributes:
        stopped_early: after `train`, whether the corpus gave out before the vocabulary was full.

    Reference: Sennrich, Haddow and Birch (2016); on bytes, Radford et al. (2019), section 2.2.
    """

    kind = "bpe"

    def __init__(
        self,
        merges: Iterable[tuple[int, int]],
        special_tokens: Sequence[str] = (ENDOFTEXT,),
        name: str = "bpe",
    ) -> None:
        self.name = name
        self.merges = [(int(a), int(b)) for a, b in merges]
        self._bytes = [bytes([byte]) for byte in range(256)]
        for rank, (a, b) in enumerate(self.merges):
            if not (0 <= a < 256 + rank and 0 <= b < 256 + rank):
                raise ValueError(
                    f"merge {rank} joins ids {a} and {b}; only 0 to {255 + rank} exist"
                )
            self._bytes.append(self._bytes[a] + self._bytes[b])
        if len(set(self._bytes)) < len(self._bytes):
            raise ValueError("two merges make the same bytes; each must make a new token")
        self._merges = Merges(self.merges)
        self.special_tokens = number_special_tokens(special_tokens, 256 + len(self.merges))
        self._bytes += [token.encode("utf-8") for token in self.special_tokens]
        self._parts = _PartCache(self._merges)
        self.stopped_early = False

    @classmethod
    def train(
        cls,
        text_or_documents: str | Iterable[str],
        vocab_size: int,
        special_tokens: Sequence[str] = (ENDOFTEXT,),
        tie: str = "lowest-ids",
        progress: Callable[[int, int], object] | None = None,
        name: str = "bpe",
    ) -> BPETokenizer:
        """Learn merges from a corpus: the end of `train_steps`.

        Training stops early if the corpus has no pair left; `len(tokenizer.merges)` says how many
        merges there were and `tokenizer.stopped_early` is then true.

        Args:
            text_or_documents: a text, or several that no token crosses.
            vocab_size: 256 bytes + merges + special tokens.
            special_tokens: texts that get an id of their own and are never merged.
            tie: which of equally frequent pairs is merged. "lowest-ids": the one with the smaller
                first id, then second id. "gpt2-alphabet": the same with bytes in the order that
                the `tokenizers` library numbers them.
            progress: called with (merges done, merges wanted) after each merge.

        Raises:
            ValueError: the text is empty, `vocab_size` has no room for the bytes and special
                tokens, or the like.
        """
        texts = check_texts(text_or_documents)
        wanted = vocab_size - 256 - len(special_tokens)
        merges = []
        for step in train_steps(texts, vocab_size, len(special_tokens), tie, top=0):
            merges.append(step.pair)
            if progress is not None:
                progress(len(merges), wanted)
        tokenizer = cls(merges, special_tokens, name)
        tokenizer.stopped_early = len(merges) < wanted
        return tokenizer

    @staticmethod
    def train_steps(
        text_or_documents: str | Iterable[str],
        vocab_size: int,
        special_tokens: Sequence[str] = (ENDOFTEXT,),
        tie: str = "lowest-ids",
        top: int = 10,
    ) -> Iterator[MergeStep]:
        """Yield each merge of the training as a `MergeStep`; see `training.train_steps`."""
        return train_steps(text_or_documents, vocab_size, len(special_tokens), tie, top)

    def pretokenize(self, text: str) -> list[str]:
        """Split a text into the pieces that no merge crosses, by GPT-2's pattern."""
        return pretokenize(check_text(text))

    def encode_steps(self, text: str) -> EncodeSteps:
        """Return every merge of the encoding of a text; `encode(text)` is where it ends."""
        return explain(self.pretokenize(text), self._merges)

    def merge_tree(self, word: str) -> MergeTree:
        """Return the history of one piece, merged as it stands (no cut into pieces before)."""
        return merge_tree(as_word(check_text(word)), self._merges)

    def greedy_left_to_right(self, word: str) -> list[int]:
        """Return what the WRONG way would give: the longest token that fits, from the left.

        For comparison only. BPE applies the lowest-ranked merge first, wherever it stands.
        """
        return list(map(ord, greedy_left_to_right(as_word(check_text(word)), self._merges)))

    def to_tiktoken(self) -> tiktoken.Encoding:
        """Return a `tiktoken.Encoding` with the same ids, for encoding in bulk."""
        return export.to_tiktoken(self)

    def to_huggingface(self, path: str | Path) -> None:
        """Write a `tokenizer.json` that the `tokenizers` library loads; see `export`."""
        export.to_huggingface(self, path)

    def to_dict(self) -> dict:
        """Return the merges and special tokens, which are all of a BPE tokenizer."""
        return {"merges": self.merges, "special_tokens": list(self.special_tokens)}

    @classmethod
    def from_dict(cls, content: dict) -> BPETokenizer:
        """Build the tokenizer of a saved file's content.

        Raises:
            ValueError: a merge or a special token is not what it must be.
        """
        merges = content.get("merges")
        if not isinstance(merges, list) or not all(
            isinstance(m, list) and len(m) == 2 and all(type(i) is int for i in m) for m in merges
        ):
            raise ValueError('"merges" must be a list of pairs of ids')
        special: Any = content.get("special_tokens")  # checked where they are numbered
        return cls(merges, special, content.get("name", "bpe"))

    def cut(self, text: str) -> int:
        """Return the last place where a piece surely begins."""
        return last_cut(text)

    def _encode_ordinary(self, text: str) -> list[int]:
        first, *others = split_at_spaces(text)
        start = "".join(map(self._parts.pieces.__getitem__, pretokenize(first)))
        word = start + "".join(map(self._parts.__getitem__, others))
        # UTF-32 is the list of codes; any id may be the code of a surrogate
        return memoryview(word.encode(UTF32, "surrogatepass")).cast("I").tolist()

    def _spans_ordinary(self, text: str) -> Iterator[tuple[int, int, int]]:
        start = 0
        for token_id in self._encode_ordinary(text):
            end = start + len(self._bytes[token_id])
            yield token_id, start, end
            start = end


class _PieceCache(dict):
    """The merged form of each piece seen, since a text has few that differ."""

    def __init__(self, merges: Merges) -> None:
        super().__init__()
        self._merges = merges

    def __missing__(self, piece: str) -> str:
        return self.keep(piece, merge(as_word(piece), self._merges))

    def keep(self, key: str, merged: str) -> str:
        """Remember what is short enough to come again, and never too much."""
        if len(key) <= CACHED_LENGTH:
            if len(self) >= CACHE_SIZE:
                self.clear()
            self[key] = merged
        return merged


class _PartCache(_PieceCache):
    """The merged form of " " + part for each part between spaces, by way of its pieces."""

    def __init__(self, merges: Merges) -> None:
        super().__init__(merges)
        self.pieces = _PieceCache(merges)

    def __missing__(self, part: str) -> str:
        if is_one_word(part):
            return self.keep(part, merge(as_word(" " + part), self._merges))
        first, *others = pretokenize(" " + part)
        # "word" and "word," share their first piece
        start = self[first[1:]] if others and len(first) > 1 else self.pieces[first]
        return self.keep(part, start + "".join(map(self.pieces.__getitem__, others)))


def number_special_tokens(texts: Sequence[str], first_id: int) -> dict[str, int]:
    """Give each special token its id, checking that they differ and are not empty."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise ValueError(f"special_tokens must be a list of texts; got {texts!r}")
    numbered: dict[str, int] = {}
    for text in texts:
        if not check_text(text) or text in numbered:
            raise ValueError(f"special tokens must differ and not be empty; got {list(texts)}")
        numbered[text] = first_id + len(numbered)
    return numbered
