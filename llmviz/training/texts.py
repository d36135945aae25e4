"""The documents of a plan, split into those to learn from and those that are held out.

A text of a user's files that is large is read anew each time it is needed, never held whole. One
that was read before is known by its files, and then it is not read at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llmviz.corpus import CORPORA, Corpus, load_corpus
from llmviz.corpus.corpora import TINY_WORLD_CHARACTERS
from llmviz.corpus.pieces import Piece
from llmviz.corpus.streamed import (
    GENERATED,
    Division,
    Documents,
    Source,
    open_source,
    pieces_in,
    survey,
)
from llmviz.models.memory_limits import check_memory
from llmviz.training.config import OWN_TEXT, Plan
from llmviz.training.data import Tell, nobody
from llmviz.training.kept_tokens import KeptTokens, keep_text, known_text

HELD = 32_000_000  # characters up to which a text is held in memory
BYTES_A_CHARACTER = 5  # of a text in memory: itself and its ids


@dataclass(frozen=True)
class Texts:
    """The documents of a plan; for pairs of sentences, pairs. kept: what is kept of them."""

    train: Sequence[Any] | Documents
    validation: Sequence[Any] | Documents
    kept: KeptTokens

    @classmethod
    def of(
        cls,
        train: Sequence[Any] | Documents,
        validation: Sequence[Any] | Documents,
        hear: Callable[[int], object] = int,
    ) -> Texts:
        """Read them once, for their digest. hear: is told how many characters came so far."""
        digest, characters = hashlib.sha256(), 0
        for documents in (train, validation):
            for text, ends in _pieces(documents):
                hear(characters)
                digest.update(text.encode("utf-8") + b"\0" * ends)
                characters += len(text)
        return cls(train, validation, KeptTokens(digest.hexdigest(), characters))


def texts_of(plan: Plan, folder: Path | None = None, tell: Tell = nobody) -> Texts:
    """Find the documents of a plan, or read them.

    folder: that of the run, where its corpus is a text that lies there (OWN_TEXT).
    Raises ValueError as `load_corpora`, and for what is too short to be split.
    """
    if plan.characters is not None and (plan.files or plan.corpus != GENERATED):
        raise ValueError(
            f"characters must be left out unless the corpus is tiny-world; got corpus={plan.corpus}"
        )
    if plan.characters is not None:
        needs, what = plan.characters * BYTES_A_CHARACTER, f"{plan.characters:,} characters"
        check_memory(needs, f"a text of {what}", smaller="it")
    if not plan.files and plan.corpus in CORPORA and plan.corpus != GENERATED:
        return _held(load_corpus(plan.corpus, progress=True), plan)
    characters = (plan.characters or TINY_WORLD_CHARACTERS) if plan.corpus == GENERATED else None
    own = folder / OWN_TEXT if folder is not None and plan.corpus == OWN_TEXT else None
    first = str(own) if own is not None and own.is_file() else plan.corpus
    source = open_source((first, *(plan.files or ())), column=plan.column, characters=characters)
    if first != plan.corpus:
        source = replace(source, name="your text")  # what a refusal calls it
    return _read_before(source, plan) or _read(source, plan, tell, characters)


def _read_before(source: Source, plan: Plan) -> Texts | None:
    """The documents of files that have not changed since they were read."""
    stamp = source.stamp()
    about = None if stamp is None else known_text(_key(stamp, plan))
    if about is None:
        return None
    division = Division(about["documents"], plan.fraction, plan.split_seed, about["place"])
    kept = KeptTokens(about["digest"], about["characters"])
    return Texts(*division.parts(source), kept)


def _read(source: Source, plan: Plan, tell: Tell, characters: int | None) -> Texts:
    """Read all documents; those of files are held in memory where they are few."""
    stamp = source.stamp()
    held: list[str] = []
    parts: list[str] = []
    most = HELD if characters is None else None  # what is generated is quicker held than made anew
    if characters is not None:
        tell(f"writing {source.name}", 0, characters, "characters")

    def hear(piece: Piece, so_far: int) -> None:
        if most is not None and so_far > most:
            held.clear()
            parts.clear()
            tell("reading", so_far, max(so_far, source.size), "characters")
            return
        parts.append(piece.text)
        if piece.ends:
            held.append("".join(parts))
            parts.clear()

    seen = survey(source.pieces(), hear)
    division = None
    if most is not None and seen.characters > most:
        division = Division.of(source, seen, plan.fraction, plan.split_seed)

        def looked(so_far: int) -> None:
            tell("looking at the text", so_far, seen.characters, "characters")

        texts = Texts.of(*division.parts(source), looked)
    else:
        texts = _held(Corpus(source.name, held), plan)
    if stamp is not None and texts.kept.is_large and stamp == source.stamp():
        division = division or Division.of(source, seen, plan.fraction, plan.split_seed)
        about = {"digest": texts.kept.digest, "characters": texts.kept.characters}
        about |= {"documents": division.documents, "place": division.place}
        keep_text(_key(stamp, plan), about)
    return texts


def _held(corpus: Corpus, plan: Plan) -> Texts:
    train, validation = corpus.split(plan.fraction, plan.split_seed)
    return Texts.of(list(train), list(validation))


def _key(stamp: list[Any], plan: Plan) -> dict[str, Any]:
    return {
        "files": stamp,
        "column": plan.column,
        "fraction": plan.fraction,
        "split_seed": plan.split_seed,
    }


def _pieces(documents: Iterable[Any]) -> Iterable[Piece]:
    """Documents in pieces; a pair of sentences is one document."""
    if isinstance(documents, Documents):
        return documents.pieces()
    return pieces_in(text if isinstance(text, str) else "\t".join(text) for text in documents)
