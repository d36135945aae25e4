"""Nine models of the same names, from counted pairs to a GPT: their measures and what they say.

T letters of a name with its end. Torch is imported on first use.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.counts import LETTERS
from llmviz.models.ngram import ADD_ONE, KNESER_NEY, NGrams, V

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

# Those that count: letters looked back at, and the method.
COUNTED = {"counted-pairs": (1, ADD_ONE), "counted-fours": (4, KNESER_NEY)}
TRAINED = (
    "names-bigram",
    "names-mlp",
    "names-wavenet",
    "names-rnn",
    "names-gru",
    "names-lstm",
    "names-gpt",
)
NINE = (*COUNTED, *TRAINED)
# Strings that names are made of, each as long as a bundled model of names reads.
PROBES = ("annamariachrist", "christianalexan", "elizabethannabe")
OTHERS = "aez"  # letters that a letter of a probe is exchanged for
# Nats per letter. Two trained models whose losses on the held-out names are no further apart cannot
# be ranked: it is about twice the standard error of such a difference, as a test computes.
TIE = 0.02
MOVED = 1e-6  # a probability that changes by less has not changed


@dataclass(frozen=True)
class Counts:
    """A table of counts as one of the nine.

    grams: what was counted. n: letters back. seconds: how long counting took. stored: how many
    counts it keeps. loss: of the held-out names, nats per letter.
    """

    grams: NGrams
    n: int
    method: str
    seconds: float
    stored: int
    loss: float


@dataclass(frozen=True)
class Written:
    """What one of the nine wrote.

    names: at temperature 1. tokens: letters and ends. seconds: of processor time. new: how many of
    the names are not in the list that was learned from.
    """

    key: str
    names: tuple[str, ...]
    tokens: int
    seconds: float
    new: int


def count_names(key: str) -> Counts:
    """Count the bundled names for one of COUNTED, and measure it on the held-out ones."""
    from llmviz.corpus import load_corpus

    n, method = COUNTED[key]
    learned, held_out = (list(part) for part in load_corpus("names").split(0.1, 0))
    began = time.process_time()
    grams = NGrams(learned, n)
    seconds = time.process_time() - began
    tables = [grams.raw[n], *(grams.continued if method == KNESER_NEY else ())]
    stored = sum(len(table.grams) for table in tables)
    return Counts(grams, n, method, seconds, stored, grams.loss(held_out, n, method))


def chances_by_counts(counts: Counts, name: str) -> np.ndarray:
    """Return the probability of each letter of a name and of its end, (T,)."""
    return counts.grams.chances([name], counts.n, counts.method)


def chances_by_model(model: LanguageModel, tokenizer: Tokenizer, name: str) -> np.ndarray:
    """Return the probability of each letter of a name and of its end, (T,).

    name: of the letters a to z, with its end no longer than the model's context.
    """
    from llmviz.evaluation.text_loss import target_logits
    from llmviz.tokenizers import ENDOFTEXT

    end = tokenizer.special_tokens[ENDOFTEXT]
    ids = [end, *tokenizer.encode(name), end]
    logits = target_logits(model, ids)
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return np.exp(log_p[np.arange(len(ids) - 1), ids[1:]])


def reach(chances: Callable[[str], np.ndarray]) -> int:
    """Return how many letters back a letter lies, at most, that moves the next probability.

    chances: of one of the nine. It is tried, not read off: in three strings of 15 letters each
    letter is exchanged in turn, and the probability that the string ends there is looked at.
    """
    usual = [float(chances(probe)[-1]) for probe in PROBES]
    longest = len(PROBES[0])
    for at in range(longest):
        for probe, before in zip(PROBES, usual, strict=True):
            for other in OTHERS:
                after = float(chances(probe[:at] + other + probe[at + 1 :])[-1])
                if abs(after - before) > MOVED * before:
                    return longest - at
    return 0


def write_names(count: int, seed: int, longest: int) -> Iterator[Written]:
    """Let each of the nine write names at temperature 1, and yield what it wrote.

    longest: letters after which a name is stopped.
    """
    from llmviz.evaluation.invented_names import invented_names, names_learned_from
    from llmviz.pretrained import load_bundled

    known = set(names_learned_from())
    for key in NINE:
        if key in COUNTED:
            counts = count_names(key)
            began = time.process_time()
            names = written_by_counts(counts, count, seed, longest)
        else:
            model, tokenizer, _ = load_bundled(key)
            invented_names(model, tokenizer, seed, 1, longest)  # the first pass prepares things
            began = time.process_time()
            names = invented_names(model, tokenizer, seed, count, longest)
        seconds = time.process_time() - began
        tokens = sum(len(name) + (len(name) < longest) for name in names)
        new = sum(name not in known for name in names)
        yield Written(key, tuple(names), tokens, seconds, new)


def written_by_counts(counts: Counts, count: int, seed: int, longest: int) -> list[str]:
    """Return names that a table of counts writes, one random number a letter."""
    chance = np.random.default_rng(seed)
    names = []
    for _ in range(count):
        context, name = 0, ""
        while len(name) < longest:
            row = counts.grams.rows(np.array([context]), counts.n, counts.method)[0]
            drawn = int(np.searchsorted(np.cumsum(row), chance.random(), side="right"))
            symbol = min(drawn, V - 1)
            if symbol == 0:
                break
            name += LETTERS[symbol]
            context = (context * V + symbol) % V**counts.n
        names.append(name)
    return names
