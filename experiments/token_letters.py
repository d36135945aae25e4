"""What a model that reads tokens knows of letters, and of tokens that it never read.

Makes what `llmviz.course.lessons.errors.token_letters` reads.

V vocabulary, C width, N tokens.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.letter_questions import SPELLINGS
from llmviz.corpus.words import words
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json
from llmviz.training.held_out_texts import stories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llmviz.tokenizers import Tokenizer
from llmviz.course.lessons.errors.token_letters import (
    COMMAND,
    COUNTED,
    FILE,
    FOLDS,
    MODEL,
    PROBES,
    LetterProbe,
    Spelling,
    TokenLetters,
    recall,
)

LEAST = 10  # tokens of a class that a probe learns


def token_counts(tokenizer: Tokenizer, texts: Sequence[str]) -> np.ndarray:
    """Return how often each token occurs in texts, the end of each counted (V,)."""
    counts = np.zeros(tokenizer.vocab_size, np.int64)
    for text in texts:
        np.add.at(counts, [*tokenizer.encode(text), tokenizer.end], 1)
    return counts


_BEHIND_AN_ARTICLE = ("qualities", "materials", "sizes", "roles")  # "a" or "an", by the vowel


def asked_words(texts: dict[int, str], kind: str) -> dict[int, str]:
    """Return those of some words, by token, that a probe is about."""
    behind = {word for category in _BEHIND_AN_ARTICLE for word in words(category)}
    if kind not in ("vowel behind an article", "vowel elsewhere"):
        return texts
    wanted = kind == "vowel behind an article"
    return {token: text for token, text in texts.items() if (text in behind) == wanted}


def probe_letters(table: np.ndarray, texts: dict[int, str], kind: str) -> LetterProbe:
    """Return how well rows of a table (V, C) tell one thing of the words in `texts`.

    texts: by token. Classes with fewer than LEAST tokens are left out.
    Raises ValueError for an unknown kind.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    if kind not in PROBES:
        raise ValueError(f"kind must be one of {', '.join(PROBES)}; got {kind!r}")
    words = asked_words(texts, kind)
    labels = {token: str(PROBES[kind](text)) for token, text in words.items()}
    sizes = {label: list(labels.values()).count(label) for label in set(labels.values())}
    kept = [token for token, label in labels.items() if sizes[label] >= LEAST]
    x, y = table[kept], np.array([labels[token] for token in kept])
    x = (x - x.mean(0)) / x.std(0)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    scores = cross_val_score(LogisticRegression(C=0.1, max_iter=2000), x, y, cv=folds)
    return LetterProbe(
        len(kept),
        len(set(y)),
        float(scores.mean()),
        float(scores.std(ddof=1) / math.sqrt(FOLDS)),
        max(sizes.values()) / len(kept),
    )


def whole_words(tokenizer: Tokenizer, counts: np.ndarray) -> dict[int, str]:
    """Return the tokens that are a whole word in small letters behind a space, and were read."""
    found = {}
    for token in np.flatnonzero(counts).tolist():
        data = tokenizer.token_bytes(token)
        text = data.decode("utf-8", "replace")
        if len(text) > 2 and text[0] == " " and text[1:].isascii() and text[1:].islower():
            found[token] = text[1:]
    return {token: text for token, text in found.items() if text.isalpha()}


def measure() -> TokenLetters:
    """Measure everything on the bundled story model."""
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(MODEL)
    table = model.get_parameter("token.weight").detach().numpy()
    counts = token_counts(tokenizer, stories(COUNTED))
    spellings = {}
    for way in SPELLINGS:
        found = [recall(model, tokenizer, word, way) for word in words("places")]
        mean = float(np.mean([result.probability for result in found]))
        spellings[way] = Spelling(len(found), sum(result.right for result in found), mean)
    texts = whole_words(tokenizer, counts)
    probes = {kind: probe_letters(table, texts, kind) for kind in PROBES}
    return TokenLetters(spellings, probes, counts.tolist())


def main() -> None:
    """Measure and write the file."""
    write_json(EXPERIMENT_FOLDER / FILE, {"command": COMMAND, **asdict(measure())})


if __name__ == "__main__":
    main()
