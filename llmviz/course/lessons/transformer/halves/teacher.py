"""Teacher forcing beside free running: what a decoder reads, and where the two part."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.transformer.halves import words
from llmviz.course.lessons.transformer.halves.model import (
    Decoding,
    forced,
    forced_loss,
    free,
    parting,
)
from llmviz.course.ui import engine, kit
from llmviz.tokenizers import ENDOFTEXT, Tokenizer

KEY = "transformer.halves.teacher"


class Both(NamedTuple):
    """The two ways to decode a sentence, and the right tokens with the end."""

    right: tuple[int, ...]
    forced: Decoding
    free: Decoding
    loss: float  # with teacher forcing, nats per token

    @property
    def parting(self) -> int | None:
        """The first step at which the free decoder is wrong."""
        return parting(self.right, self.free.written)

    def wrong(self, way: Decoding) -> int:
        """At how many steps one of them is wrong or missing."""
        same = sum(a == b for a, b in zip(self.right, way.written, strict=False))
        return max(len(self.right), len(way.written)) - same


class Grid(NamedTuple):
    """What the grid shows, four rows of T cells."""

    values: np.ndarray
    texts: list[list[str]]
    notes: list[list[str]]
    wrong: np.ndarray


@kit.cached(64)
def both_ways(bundled: engine.Bundled, source: tuple[int, ...], target: str) -> Both:
    """Return both ways of a bundled translator on a sentence whose translation is known."""
    model, ids = bundled.model, bundled.tokenizer.encode(target)
    right, loss = (*ids, model.config.end_id), forced_loss(model, source, ids)
    return Both(right, forced(model, source, ids), free(model, source), loss)


def draw(state: kit.PageState, sentence: kit.Sentence) -> None:
    kit.section(words.teacher)
    kit.choose(state, "translator", words.translator, words.translators)
    name = state["translator"]
    if not kit.models_here(name):
        return
    bundled = engine.load(name)
    both = both_ways(bundled, sentence.ids, sentence.known.target)
    grid = grid_of(bundled, sentence.ids, sentence.known.target)
    cell_grid(
        grid.values,
        key=f"{KEY}.{name}",
        row_names=words.row_names,
        column_names=[words.step.format(step=i + 1) for i in range(grid.values.shape[1])],
        texts=grid.texts,
        notes=grid.notes,
        strong=grid.wrong,
        starts=[2],
        limit=1.0,
        scale=words.scale,
        label=words.grid,
    )
    st.caption(words.grid_note)
    cards = [kit.card_of(other) or {} for other in words.translators if other != name]
    kit.prose(
        report(both, bundled, [share for card in cards if (share := exact_share(card)) is not None])
    )
    kit.prose(words.loss, loss=f"{both.loss:.2g}")
    step = both.parting
    kit.show_code(
        [forced, parting],
        words.snippet_teacher.format(
            name=name, source=sentence.known.source, target=sentence.known.target
        ),
        f"{parting(both.right, both.forced.written)}\n{step}",
    )


def named(token: int, tokenizer: Tokenizer) -> str:
    """Return a token that a decoder writes: the end as a word."""
    end = tokenizer.special_tokens[ENDOFTEXT]
    return words.end_token if token == end else tokenizer.decode([token])


@kit.cached(64)
def grid_of(bundled: engine.Bundled, source: tuple[int, ...], target: str) -> Grid:
    """Return the grid of a sentence: what is read and said at each step, both ways."""
    both, tokenizer = both_ways(bundled, source, target), bundled.tokenizer
    steps = max(len(both.right), len(both.free.read))
    right = [named(token, tokenizer) for token in both.right]
    texts, notes = [], []
    values, wrong = np.zeros((4, steps)), np.zeros((4, steps), dtype=bool)
    for row, way in ((0, both.forced), (2, both.free)):
        over = steps - len(way.read)
        read = [words.start, *(named(token, tokenizer) for token in way.read[1:])]
        written = [named(token, tokenizer) for token in way.written]
        shares = way.chances[:, 0]
        values[row + 1, : len(written)] = shares
        lines = []
        for step, (word, p) in enumerate(zip(written, shares, strict=True)):
            wanted = right[step] if step < len(right) else words.cell_over
            wrong[row + 1, step] = step >= len(right) or word != right[step]
            lines.append(
                words.cell_says.format(token=word, share=kit.percent(float(p)), right=wanted)
            )
        texts += [read + [""] * over, written + [""] * over]
        rest = [words.cell_over] * over
        notes += [[words.cell_reads.format(token=word) for word in read] + rest, lines + rest]
    return Grid(values, texts, notes, wrong)


def report(both: Both, bundled: engine.Bundled, others: Sequence[float] = ()) -> str:
    """Return where the two ways part, in words.

    others: the shares that the other translators translate word for word.
    """
    at, steps = both.parting, len(both.right)
    if at is None:
        line = words.never.format(steps=steps)
        share = exact_share(bundled.card)
        if share is not None:
            line += words.never_share.format(share=kit.percent(share))
            line += words.never_other if any(other < share for other in others) else ""
        return line
    if at >= len(both.free.written):
        return words.part_full.format(step=at + 1)
    token = named(both.free.written[at], bundled.tokenizer)
    given = {"step": at + 1, "said": kit.quote(token)}
    given["right"] = kit.quote(named(both.right[at], bundled.tokenizer))
    if at == steps - 1:
        return words.part_end.format(**given)
    line = words.part_ends if token == words.end_token else words.part
    return line.format(
        free=both.wrong(both.free),
        all_free=max(steps, len(both.free.written)),
        forced=both.wrong(both.forced),
        all_forced=steps,
        **given,
    )


def exact_share(card: dict[str, Any]) -> float | None:
    """Return the share of held-out sentences that a translator's card says are exactly right."""
    return card.get("score", {}).get("exact")
