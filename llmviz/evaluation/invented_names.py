"""Names that a model of names writes, and the list that it learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer


def invented_names(
    model: LanguageModel, tokenizer: Tokenizer, seed: int, count: int, longest: int
) -> list[str]:
    """Return `count` names that a model writes at temperature 1, each at most `longest` tokens."""
    import torch

    from llmviz.files.text import ENDOFTEXT
    from llmviz.sampling import generate
    from llmviz.training.samples import text_of

    end = tokenizer.special_tokens[ENDOFTEXT]
    generator = torch.Generator().manual_seed(seed)
    names = []
    for _ in range(count):
        tokens = generate(model, [end], longest, 1.0, generator=generator, stop_id=end)
        names.append(text_of(tokenizer, [token.id for token in tokens]))
    return names


def names_learned_from(
    corpus: str = "names", fraction: float = 0.1, split_seed: int = 0
) -> list[str]:
    """Return the names of a corpus that are not held out for validation."""
    from llmviz.corpus import load_corpus

    return list(load_corpus(corpus).split(fraction, split_seed)[0])
