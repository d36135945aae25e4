"""One part of the ledger opened: from the vector that it added to its share of the logit."""

from collections.abc import Sequence

import streamlit as st

from llmviz.course.figures.stream import PART_ROLES
from llmviz.course.lessons.transformer.stream import words
from llmviz.course.lessons.transformer.stream.arithmetic import part_picture
from llmviz.course.ui import engine, kit, pinned_cells
from llmviz.course.ui.matrix_picture import Picture
from llmviz.interpretability.attribution import Entry, Ledger, split_stream
from llmviz.interpretability.readout import read_part

KEY = "transformer.stream.share"
# What a layer's parts are within, where each layer has one bar for each of both.
FOLDED = {"head": "attention", "attention_bias": "attention", "mlp_bias": "mlp"}
Known = tuple[str, str, tuple[int, ...], int, int | None, int]  # as `ledger.ledger_of` takes it


def written(value: float) -> str:
    """Return a number with its sign.

    >>> written(1.5), written(-0.25)
    ('+1.50', '−0.25')
    """
    return f"{value:+.2f}".replace("-", "−")


def part_name(entry: Entry) -> str:
    """Return what a part is called."""
    return words.part_names[entry.kind].format(layer=entry.layer, head=entry.head)


def code_of(entry: Entry) -> str:
    """Return how a link names a part.

    >>> code_of(Entry("head", 1, 0, 0.5)), code_of(Entry("token", -1, -1, 0.5))
    ('head.1.0', 'token')
    """
    return ".".join([entry.kind, *(str(n) for n in entry[1:3] if n >= 0)])


def opened_entry(link: str, entries: Sequence[Entry]) -> Entry:
    """Return the part that a link names; the one that added most where there is none such."""
    named = {code_of(entry): entry for entry in entries}
    return named.get(link) or max(entries, key=lambda entry: entry.value)


def draw(state: kit.PageState, known: Known, ledger: Ledger, entries: Sequence[Entry]) -> None:
    """Show the arithmetic of one part's share; `entries` are those that have a bar."""
    entry = opened_entry(state["share"], entries)
    names = {code_of(part): f"{part_name(part)}: {written(part.value)}" for part in entries}
    folded = entries is not ledger.entries
    title = words.share_title.format(part=part_name(entry), value=written(entry.value))
    plain = ledger.norm.kind == "none" or entry.kind == "norm_shift"
    kit.prose(f"{kit.bold(title)}\n\n{words.share_text_plain if plain else words.share_text}")
    take = state.taker("share")
    slot = kit.tied(f"_{KEY}.part", code_of(entry), take)
    st.selectbox(words.open_part, list(names), format_func=names.__getitem__, width=360, **slot)
    picture = picture_of(*known, within(ledger, entry, folded=folded), entry[:3])
    pinned_cells.show(
        state,
        picture.matrices,
        picture.layout,
        key=f"{KEY}.matrices",
        control="sharecell",
        windows=picture.windows,
    )


def within(ledger: Ledger, entry: Entry, *, folded: bool) -> tuple[tuple[str, int, int], ...]:
    """Return the parts that one bar stands for."""
    if not folded:
        return (entry[:3],)
    every = (part[:3] for part in ledger.entries)
    return tuple(part for part in every if (FOLDED.get(part[0], part[0]), part[1]) == entry[:2])


split_of = kit.kept(32)(kit.on_model(split_stream))


@kit.kept(32)
def picture_of(
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    token: int,
    against: int | None,
    at: int,
    parts: tuple[tuple[str, int, int], ...],
    bar: tuple[str, int, int],
) -> Picture:
    """Return the matrices of the share of some parts, which have one bar together."""
    numbers = read_part(bundled.model, split_of(bundled, ids, at), parts, token, against)
    tokens = kit.names_of([token] if against is None else [token, against], bundled.tokenizer)
    return part_picture(numbers, part_name(Entry(*bar, 0.0)), PART_ROLES[bar[0]], *tokens)
