"""Word vectors from a text, as a film: the plan of a training, its frames, and their folder.

The folder is a run that loads like any other, with the film beside it.
N words shown, V vocabulary, C numbers in a vector, F frames.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from llmviz.corpus import corpus_from_text, load_corpus, word_categories
from llmviz.models.word2vec import SkipGram, SkipGramConfig
from llmviz.models.word2vec_training import SkipGramTraining, train_skip_gram
from llmviz.tokenizers import WordTokenizer
from llmviz.training.checkpoints import versions
from llmviz.training.errors import CheckpointError
from llmviz.training.files import write_json, write_manifest
from llmviz.training.reading import CONFIG, FORMAT, MODEL, TOKENIZER
from llmviz.training.tensors import load_tensors, save_tensors

MOST_WORDS = 20_000  # the vocabulary of a text; rarer words become <|unk|>
A_CATEGORY = 24  # words of one category that a film shows


@dataclass(frozen=True)
class WordVectorPlan:
    """What to learn from, and how; plain values, so that it can be kept in config.json."""

    corpus: str = "tiny-world"  # a bundled name; not read where a text is given
    characters: int | None = 1_000_000  # how much tiny-world writes
    model_options: dict[str, Any] = field(default_factory=dict)  # of SkipGramConfig
    shown: int = 500  # N, words that the frames hold
    also: tuple[str, ...] = ()  # words that must be among them
    train: SkipGramTraining = field(default_factory=SkipGramTraining)

    model = "word2vec"
    tokenizer = "word"

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> WordVectorPlan:
        """The plan that `to_dict` wrote; `also` may be absent, as in older ones."""
        train = SkipGramTraining.from_dict(values["train"])
        return cls(**{**values, "also": tuple(values.get("also", ())), "train": train})


class Text(NamedTuple):
    """A text as word ids."""

    tokenizer: WordTokenizer
    documents: list[list[int]]
    counts: np.ndarray  # (V,) how often each word stands there


class Frame(NamedTuple):
    """One moment of a training."""

    read: int  # words so far
    total: int
    loss: float  # nats a pair since the frame before; NaN before the first update
    rate: float  # learning rate
    seconds: float
    vectors: np.ndarray  # (N, C) float32, of the words shown


class Beginning(NamedTuple):
    """What is known before the first frame."""

    tokenizer: WordTokenizer
    rows: np.ndarray  # (N,) ids of the words shown
    counts: np.ndarray  # (V,)
    documents: int


class End(NamedTuple):
    """The tables after the last frame."""

    word: np.ndarray  # (V, C)
    neighbour: np.ndarray  # (V, C)


@dataclass(frozen=True)
class Film:
    """The frames of a training: `vectors` (F, N, C) of the words `rows` (N,), and when they were.

    `read` (F,) words so far, of `total`; `loss` (F,) nats a pair, NaN at first; `rate` (F,).
    """

    rows: np.ndarray
    vectors: np.ndarray
    read: np.ndarray
    total: int
    loss: np.ndarray
    rate: np.ndarray


def read_text(plan: WordVectorPlan, text: str | None = None) -> Text:
    """Return the corpus of a plan, or a text of the learner, as word ids.

    Raises ValueError for a text without a word.
    """
    if text is None:
        corpus = load_corpus(plan.corpus, characters=plan.characters)
    else:
        corpus = corpus_from_text(text)
    tokenizer = WordTokenizer.train(corpus.documents, vocab_size=None)
    if tokenizer.vocab_size > MOST_WORDS:
        tokenizer = WordTokenizer.train(corpus.documents, vocab_size=MOST_WORDS)
    documents = [tokenizer.encode(document) for document in corpus.documents]
    counts = np.bincount([i for words in documents for i in words], minlength=tokenizer.vocab_size)
    return Text(tokenizer, documents, counts)


def words_shown(text: Text, limit: int, also: Sequence[str] = ()) -> np.ndarray:
    """Return the ids (N,) of the words that a film shows, at most `limit`.

    First those asked for in `also`; then the words that `word_categories` knows, the most frequent
    24 of each; then the most frequent others that are words. Ties go by id. Raises ValueError for
    a word asked for that the text does not have.
    """
    known = {text.tokenizer.vocabulary[i]: i for i in range(len(text.tokenizer.vocabulary))}
    order = Counter({i: int(n) for i, n in enumerate(text.counts) if n})
    for word in also:
        if word not in known:
            raise ValueError(f"{word!r} is not in the text, so the film cannot follow it")
    chosen: list[int] = [known[word] for word in dict.fromkeys(also)]
    wanted = set(chosen)
    for words in word_categories().values():
        there = sorted((known[w] for w in words if w in known), key=lambda i: (-order[i], i))
        chosen += [i for i in there[:A_CATEGORY] if i not in wanted]
    taken = set(chosen)
    others = sorted((i for i in order if i not in taken), key=lambda i: (-order[i], i))
    names = text.tokenizer.vocabulary
    chosen += [i for i in others if i < len(names) and names[i][0].isalnum()]
    return np.array(chosen[:limit], dtype=np.int64)


def film(plan: WordVectorPlan, text: str | None = None) -> Iterator[Beginning | Frame | End]:
    """Train by a plan and yield the beginning, the frames and the end.

    text: a text of the learner, instead of the plan's corpus. One seed gives one film where one
    thread works. Raises: as `train_skip_gram`; ValueError for a text without a word.
    """
    read = read_text(plan, text)
    rows = words_shown(read, plan.shown, plan.also)
    if len(rows) == 0:
        raise ValueError("the text has no words; it must have letters or digits in it")
    yield Beginning(read.tokenizer, rows, read.counts, len(read.documents))
    model = new_model(plan, read.tokenizer.vocab_size)
    for record in train_skip_gram(model, read.documents, plan.train):
        yield Frame(
            record.words,
            record.total_words,
            record.loss,
            record.learning_rate,
            record.seconds,
            record.vectors[rows],
        )
    yield End(model.vectors(), model.neighbour.weight.detach().numpy().copy())


def new_model(plan: WordVectorPlan, vocab_size: int) -> SkipGram:
    """Return the untrained model of a plan, from its seed; torch's own seed stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.train.seed)
        return SkipGram(SkipGramConfig.from_dict({**plan.model_options, "vocab_size": vocab_size}))


def film_of(rows: np.ndarray, frames: Sequence[Frame]) -> Film:
    """Return the frames of a training as arrays."""
    return Film(
        rows,
        np.stack([frame.vectors for frame in frames]),
        np.array([frame.read for frame in frames]),
        frames[-1].total,
        np.array([frame.loss for frame in frames], dtype=np.float32),
        np.array([frame.rate for frame in frames], dtype=np.float32),
    )


FRAMES = "frames.safetensors"


def make(plan: WordVectorPlan, target: Path, command: str, name: str) -> Iterator[Frame]:
    """Train by a plan and write the folder of a bundled checkpoint; yields the frames.

    The folder holds model.safetensors and frames.safetensors (float16), config.json,
    tokenizer.json, card.json and a manifest.
    """
    frames: list[Frame] = []
    for part in film(plan):
        if isinstance(part, Beginning):
            beginning = part
        elif isinstance(part, Frame):
            frames.append(part)
            yield part
        else:
            end = part
    about = save_vectors(target, plan, beginning, end, command, torch.float16)
    save_film(target / FRAMES, film_of(beginning.rows, frames))
    write_manifest(target, [MODEL, FRAMES, TOKENIZER, CONFIG])
    write_json(
        target / "card.json",
        {
            "name": name,
            "command": command,
            "model": plan.model,
            "parameters": about["parameters"],
            "corpus": plan.corpus,
            "characters": plan.characters,
            "words": int(beginning.counts.sum()),
            "seed": plan.train.seed,
            "epochs": plan.train.epochs,
            "words_read": frames[-1].total,
            "environment": {
                **versions(),
                "device": "cpu",
                "dtype": "float32",
                "threads": plan.train.threads,
            },
            "seconds": round(frames[-1].seconds, 1),
            "weights": "float16",
            "nats_per_pair": frames[-1].loss,
            "analogies": analogy_scores(end.word, beginning.tokenizer),
        },
    )


def save_vectors(
    folder: Path,
    plan: WordVectorPlan,
    beginning: Beginning,
    end: End,
    command: str = "",
    dtype: torch.dtype = torch.float32,
) -> dict[str, Any]:
    """Write trained vectors as a folder that loads like any run; return its config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"word.weight": end.word, "neighbour.weight": end.neighbour}
    weights = {key: torch.from_numpy(table) for key, table in tables.items()}
    save_tensors(folder / MODEL, weights, dtype)
    beginning.tokenizer.save(folder / TOKENIZER)
    about = _description(plan, beginning, command)
    write_json(folder / CONFIG, about)
    return about


def _description(plan: WordVectorPlan, beginning: Beginning, command: str) -> dict[str, Any]:
    config = SkipGramConfig.from_dict(
        {**plan.model_options, "vocab_size": beginning.tokenizer.vocab_size}
    )
    return {
        "format": FORMAT,
        "model": {"name": plan.model, "config": config.to_dict()},
        "train": plan.train.to_dict(),
        "data": {
            "corpus": plan.corpus,
            "documents": beginning.documents,
            "words": int(beginning.counts.sum()),
        },
        "tokenizer": {
            "name": beginning.tokenizer.name,
            "kind": beginning.tokenizer.kind,
            "vocab_size": beginning.tokenizer.vocab_size,
        },
        "parameters": 2 * config.vocab_size * config.n_embd,
        "versions": versions(),
        "command": command,
        "plan": plan.to_dict(),
    }


def analogy_scores(vectors: np.ndarray, tokenizer: WordTokenizer) -> dict[str, float]:
    """Return for each relation the share of tiny-world's analogies that come out right.

    Right: of all words but the three that were given, the nearest is the fourth.
    """
    from llmviz.corpus import RELATIONS, analogies
    from llmviz.similarity import analogy

    known = {word: i for i, word in enumerate(tokenizer.vocabulary)}
    scores = {}
    for relation in RELATIONS:
        fours = [[known[w] for w in four] for four in analogies(relation) if {*four} <= {*known}]
        right = sum(analogy(vectors, b, a, c, 1).ids[0] == d for a, b, c, d in fours)
        scores[relation] = round(right / len(fours), 4) if fours else 0.0
    return scores


def save_film(path: Path, film: Film) -> None:
    """Write a film to a safetensors file: vectors as float16, the rest as it is."""
    save_tensors(
        path,
        {
            "vectors": torch.from_numpy(film.vectors).half(),
            "rows": torch.from_numpy(film.rows),
            "read": torch.from_numpy(film.read),
            "total": torch.tensor(film.total),
            "loss": torch.from_numpy(film.loss),
            "rate": torch.from_numpy(film.rate),
        },
    )


def load_film(folder: Path | str) -> Film:
    """Return the film that lies beside a bundled model; CheckpointError if there is none."""
    tensors = load_tensors(Path(folder) / FRAMES)
    try:
        return Film(
            tensors["rows"].numpy(),
            tensors["vectors"].float().numpy(),
            tensors["read"].numpy(),
            int(tensors["total"]),
            tensors["loss"].numpy(),
            tensors["rate"].numpy(),
        )
    except KeyError as error:
        raise CheckpointError(f"{Path(folder) / FRAMES} lacks {error}") from error
