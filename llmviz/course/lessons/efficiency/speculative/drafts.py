"""The drafts that guess for a bundled model: a small network, counts, or the text itself."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from llmviz.paths import DRAFTS

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.sampling.drafts import CountDraft, Draft
    from llmviz.tokenizers import Tokenizer

KINDS = NETWORK, COUNTS, COPY = ("network", "counts", "copy")
CHECKPOINT = f"{DRAFTS}/tiny-world"
CORPUS = "tiny-world-sample"
COUNTED = 900_000  # characters of the corpus that are counted; the stories behind them are not
LONGEST = 3  # tokens that the counts look back


def draft_of(kind: str, tokenizer: Tokenizer) -> Draft:
    """Return a new draft of a kind for a model with this tokenizer.

    Raises ValueError for an unknown kind, and for a network that is not in this copy or has
    another tokenizer.
    """
    from llmviz.sampling.drafts import CopyDraft, ModelDraft

    if kind not in KINDS:
        raise ValueError(f"draft must be one of {', '.join(KINDS)}; got {kind!r}")
    if kind == COPY:
        return CopyDraft(tokenizer.vocab_size)
    if kind == COUNTS:
        return counts_of(tokenizer)
    model, own = _network()
    if not same_tokens(own, tokenizer):
        raise ValueError(
            f"{CHECKPOINT} cuts texts into other tokens than the model whose text it should guess"
        )
    return ModelDraft(model)


def same_tokens(first: Tokenizer, second: Tokenizer) -> bool:
    """Return whether two tokenizers give every id the same bytes."""
    return first.vocab_size == second.vocab_size and all(
        first.token_bytes(token) == second.token_bytes(token) for token in range(first.vocab_size)
    )


@cache
def _network() -> tuple[LanguageModel, Tokenizer]:
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(CHECKPOINT)
    return model.eval().requires_grad_(False), tokenizer


def counts_of(tokenizer: Tokenizer) -> CountDraft:
    """Count the first stories of tiny-world, cut by a tokenizer."""
    from llmviz.sampling.drafts import CountDraft

    ids = [token for story in stories()[0] for token in tokenizer.encode_from_start(story)]
    return CountDraft(ids, tokenizer.vocab_size, LONGEST)


@cache
def stories() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stories of tiny-world that are counted, and those behind them."""
    from llmviz.corpus import load_corpus

    counted: list[str] = []
    rest: list[str] = []
    taken = 0
    for story in load_corpus(CORPUS):
        (counted if taken < COUNTED else rest).append(story)
        taken += len(story)
    return tuple(counted), tuple(rest)
