"""The film of a BPE training: every merge, and what each does to a sample text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from llmviz.files.text import check_text
from llmviz.tokenizers.base import ENDOFTEXT
from llmviz.tokenizers.bpe import BPETokenizer
from llmviz.tokenizers.merging import NEVER
from llmviz.tokenizers.pretokenize import pretokenize
from llmviz.tokenizers.training import MergeStep, train_steps


class FilmNode(NamedTuple):
    """A token of the sample: visible after merge step k where `born <= k < died`.

    Bytes are born at 0; merge number r (from 0) makes its tokens at step r + 1. What is never
    merged dies at `NEVER`. Byte positions count from the start of the sample.
    """

    byte_start: int
    byte_end: int
    id: int
    born: int
    died: int


@dataclass(frozen=True)
class Film:
    """A training and a sample text under it.

    Attributes:
        steps: the merges, in order.
        sample: the sample text.
        nodes: the sample's tokens of all times, by byte and then by birth.
        corpus_length: the corpus in bytes, which is its length in tokens before the first merge.
        stopped_early: whether the corpus gave out before the vocabulary was full.
        tokenizer: what the training made.
    """

    steps: tuple[MergeStep, ...]
    sample: str
    nodes: tuple[FilmNode, ...]
    corpus_length: int
    stopped_early: bool
    tokenizer: BPETokenizer

    def following(self, sample: str) -> Film:
        """Return the same training with another sample text, without training again."""
        nodes = tuple(_sample_nodes(self.tokenizer, check_text(sample)))
        return replace(self, sample=sample, nodes=nodes)


def film(
    text_or_documents: str | Sequence[str],
    sample: str,
    vocab_size: int,
    special_tokens: Sequence[str] = (ENDOFTEXT,),
    tie: str = "lowest-ids",
    top: int = 10,
) -> Film:
    """Train on a corpus and follow a sample text through every step.

    The arguments are those of `BPETokenizer.train_steps`; the sample need not be in the corpus.
    """
    n_special = len(special_tokens)
    steps = tuple(train_steps(text_or_documents, vocab_size, n_special, tie, top))
    tokenizer = BPETokenizer([step.pair for step in steps], special_tokens)
    stopped_early = len(steps) < vocab_size - 256 - n_special
    tokenizer.stopped_early = stopped_early
    documents = [text_or_documents] if isinstance(text_or_documents, str) else text_or_documents
    return Film(
        steps=steps,
        sample=sample,
        nodes=tuple(_sample_nodes(tokenizer, check_text(sample))),
        corpus_length=sum(len(document.encode("utf-8")) for document in documents),
        stopped_early=stopped_early,
        tokenizer=tokenizer,
    )


def _sample_nodes(tokenizer: BPETokenizer, sample: str) -> Iterable[FilmNode]:
    start = 0
    for piece in pretokenize(sample):
        tree = tokenizer.merge_tree(piece)
        ordered = sorted(tree.nodes, key=lambda node: (node.byte_start, node.rank))
        for node in ordered:
            died = NEVER if node.parent < 0 else tree.nodes[node.parent].rank + 1
            yield FilmNode(
                start + node.byte_start, start + node.byte_end, node.id, node.rank + 1, died
            )
        start += len(tree.piece)
