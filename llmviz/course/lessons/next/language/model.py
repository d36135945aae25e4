"""What a sentence costs by language, and a story by the script that it is written in, as measured.

`python -m experiments make language` measures it again and writes `data/experiments/language.json`.

S seeds of a mixture of stories in two scripts.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from llmviz.corpus.second_script import spelled_back
from llmviz.files.paths import DATA, EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed
from llmviz.tokenizers import Tokenizer

FILE, SENTENCES = "language.json", "article-1.csv"
COMMAND = "python -m experiments make language"
TOKENIZERS = ("gpt2", "cl100k_base", "o200k_base", "smollm2")
SHARES = (0.01, 0.1, 0.5)  # of the stories that are written in the second script
# Of a tokenizer's stories and a model's: the same mixture, then two crossed ones.
MIXTURES = (*((share, share) for share in SHARES), (0.5, 0.01), (0.01, 0.5))
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Scripts:
    """What was measured of the same stories in both scripts (S,)."""

    first: tuple[float, ...]
    second: tuple[float, ...]


@dataclass(frozen=True)
class Language:
    """All that was measured.

    pieces: by tokenizer, the bytes of each token of each sentence of `sentences`. characters,
    grammar: of a story, its mean length and the nats of the grammar that wrote it. vocabulary: of
    our tokenizers. budget: tokens that each model read. stories: how many are measured. cut: mean
    tokens of a story, its end included, by the share of the stories in the second script that a
    tokenizer learned from. learned: by that share, and by the one of the stories that models
    learned from, mean nats that they lose on a story above what no reader could avoid.
    """

    pieces: dict[str, tuple[tuple[int, ...], ...]]
    characters: float
    grammar: float
    vocabulary: int
    budget: int
    stories: int
    cut: dict[float, Scripts]
    learned: dict[float, dict[float, Scripts]]

    def counts(self, tokenizer: str) -> dict[str, int]:
        """Return how many tokens the sentence is to a tokenizer, by language."""
        return dict(zip(sentences(), map(len, self.pieces[tokenizer]), strict=True))

    def tokens(self, tokenizer: str, language: str) -> list[bytes]:
        """Return the tokens of the sentence in a language."""
        data = sentences()[language].encode()
        ends = accumulate(self.pieces[tokenizer][[*sentences()].index(language)], initial=0)
        return [data[start:end] for start, end in pairwise(ends)]

    def times(self, share: float) -> np.ndarray:
        """Return how many times as many tokens a story is in the second script (S,)."""
        return np.array(self.cut[share].second) / np.array(self.cut[share].first)


@cache
def sentences() -> dict[str, str]:
    """Return the first sentence of Article 1 of the Declaration of Human Rights by language."""
    with (DATA / SENTENCES).open(encoding="utf-8", newline="") as file:
        return {row["language"]: row["text"] for row in csv.DictReader(file)}


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Language:
    """Return what was measured. Raises ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content, Language)
        sizes = [len(text.encode()) for text in sentences().values()]
        if any([*map(sum, found.pieces[name])] != sizes for name in TOKENIZERS):
            raise TypeError("the tokens are of other sentences")
        rows = [*map(found.cut.__getitem__, SHARES)]
        rows += [found.learned[cut][share] for cut, share in MIXTURES]
        if any({len(row.first), len(row.second)} != {len(SEEDS)} for row in rows):
            raise TypeError("a seed is missing")
        return found


@cache
def tokenizer_of(share: float) -> Tokenizer:
    """Return the tokenizer that learned from a mixture, the one of the first seed."""
    return Tokenizer.load(EXPERIMENT_FOLDER / file_of(share))


@cache
def spelling_other(share: float) -> int:
    """Return how many tokens of a tokenizer hold a whole letter of the second script."""
    cut = tokenizer_of(share)
    texts = (cut.token_bytes(at).decode("utf-8", "ignore") for at in range(cut.vocab_size))
    return sum(spelled_back(text) != text for text in texts)


def file_of(share: float) -> str:
    """Return the name of the file of a tokenizer.

    >>> file_of(0.5)
    'language-50.json'
    """
    return f"{Path(FILE).stem}-{share * 100:.0f}.json"
