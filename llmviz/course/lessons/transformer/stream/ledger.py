"""The ledger in the chapter "Reading the stream": what each part added to one logit."""

from collections.abc import Sequence

import streamlit as st

from llmviz.course.figures.stream import PART_ROLES, waterfall
from llmviz.course.lessons.transformer.stream import words
from llmviz.course.lessons.transformer.stream.arithmetic import part_picture
from llmviz.course.ui import engine, kit, pinned_cells
from llmviz.course.ui.matrix_picture import Picture
from llmviz.course.ui.two_prompts import token_of
from llmviz.interpretability import attribution as study
from llmviz.interpretability.attribution import Entry, Ledger, logit_ledger, split_stream
from llmviz.interpretability.readout import read_part
from llmviz.models.transformers import require_sum

SHARE_KEY = "transformer.stream.share"
# What a layer's parts are within, where each layer has one bar for each of both.
FOLDED = {"head": "attention", "attention_bias": "attention", "mlp_bias": "mlp"}
Known = tuple[
    engine.Bundled, tuple[int, ...], int, int | None, int
]  # as `ledger.ledger_of` takes it


def written(value: float) -> str:
    """Return a number with its sign.

    >>> written(1.5), written(-0.25)
    ('+1.50', '−0.25')
    """
    return f"{value:+.2f}".replace("-", "−")


def part_name(entry: Entry) -> str:
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


def draw_share(
    state: kit.PageState, known: Known, ledger: Ledger, entries: Sequence[Entry]
) -> None:
    """Show the arithmetic of one part's share; `entries` are those that have a bar."""
    entry = opened_entry(state["share"], entries)
    names = {code_of(part): f"{part_name(part)}: {written(part.value)}" for part in entries}
    folded = entries is not ledger.entries
    title = words.share_title.format(part=part_name(entry), value=written(entry.value))
    plain = ledger.norm.kind == "none" or entry.kind == "norm_shift"
    kit.prose(f"{kit.bold(title)}\n\n{words.share_text_plain if plain else words.share_text}")
    take = state.taker("share")
    slot = kit.tied(f"_{SHARE_KEY}.part", code_of(entry), take)
    st.selectbox(words.open_part, list(names), format_func=names.__getitem__, width=360, **slot)
    picture = picture_of(*known, within(ledger, entry, folded=folded), entry[:3])
    pinned_cells.show(
        state,
        picture.matrices,
        picture.layout,
        key=f"{SHARE_KEY}.matrices",
        control="sharecell",
        windows=picture.windows,
    )


def within(ledger: Ledger, entry: Entry, *, folded: bool) -> tuple[tuple[str, int, int], ...]:
    """Return the parts that one bar stands for."""
    if not folded:
        return (entry[:3],)
    every = (part[:3] for part in ledger.entries)
    return tuple(part for part in every if (FOLDED.get(part[0], part[0]), part[1]) == entry[:2])


split_of = kit.cached(32)(kit.on_model(split_stream))


@kit.cached(32)
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


MOST_BARS = 60  # of more, the heads of a layer are one bar
KEY = "transformer.stream.ledger"


def draw(
    state: kit.PageState,
    bundled: engine.Bundled,
    read: kit.Read,
    at: int,
    best: Sequence[int],
) -> None:
    """Show what the parts added to a logit at a token; `best` are the likeliest tokens there."""
    tokenizer = bundled.tokenizer
    place = kit.spoken(read.ids[at], tokenizer)
    kit.section(words.ledger, token=place)
    try:
        require_sum(bundled.model)
    except ValueError as error:
        kit.refuse(error)
        kit.inform(words.cannot, ":material/info:")
        return
    _controls(state, kit.names_of(best, tokenizer))
    try:
        token = token_of(state["credit"], best, tokenizer) if state["credit"] else best[0]
        against = token_of(state["against"], best, tokenizer) if state["against"] else None
        if token == against:
            raise ValueError(words.same.format(token=kit.names_of([token], tokenizer)[0]))
    except ValueError as error:
        kit.refuse(error)
        return
    known = (bundled, read.ids, token, against, at)
    ledger = ledger_of(*known)
    what = words.logit.format(token=kit.spoken(token, tokenizer))
    if against is not None:
        names = {"token": kit.spoken(token, tokenizer), "against": kit.spoken(against, tokenizer)}
        what = words.difference.format(**names)
    entries = drawn(ledger, state["parts"])

    def open_bar() -> None:
        points = st.session_state[f"{KEY}.bars"]["selection"]["points"]
        if points and points[0]["point_index"] < len(entries):
            state["share"] = code_of(entries[points[0]["point_index"]])

    figure = waterfall_of(*known, state["parts"], kit.theme())
    kit.chart(figure, f"{KEY}.bars", on_select=open_bar, selection_mode="points")
    st.caption(words.colours_of_parts)
    kit.prose(summary(ledger, entries, what, place))
    kit.prose(words.frozen[ledger.norm.kind], divisor=ledger.norm.divisor)
    draw_share(state, known, ledger, entries)
    kit.show_code(
        [logit_ledger, study.ledger_of, read_part],
        words.snippet_ledger.format(
            name=bundled.name, ids=list(read.ids), token=token, against=against, at=at
        ),
        f"{ledger.logit:.2f} {ledger.total:.2f} {ledger.norm.divisor:.3f}\n"
        f"{ledger.entries[0].kind} {ledger.entries[0].value:.2f}",
    )


def _controls(state: kit.PageState, names: list[str]) -> None:
    """Show which token's logit is taken apart, and against which; any other can be typed."""
    first = {"credit": names[0], "against": words.no_other}
    options = {"credit": names, "against": [words.no_other, *names]}
    labels = {"credit": words.credit, "against": words.against}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label in labels.items():

            def take(chosen: str | None, key: str = key) -> None:
                state[key] = "" if chosen in (None, first[key]) else chosen

            shown = state[key] or first[key]
            st.selectbox(
                label,
                [*dict.fromkeys([*options[key], shown])],
                accept_new_options=True,
                width=240,
                **kit.tied(f"_{KEY}.{key}", shown, take),
            )
        kit.choose(state, "parts", words.parts_label, words.parts)


@kit.cached(64)
def ledger_of(
    bundled: engine.Bundled, ids: tuple[int, ...], token: int, against: int | None, at: int
) -> Ledger:
    """Return the ledger of a logit of a model on a text."""
    split = split_of(bundled, ids, at)
    return study.ledger_of(bundled.model, split, token, against)


def folded(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with the heads of a layer as one, and biases with their part."""
    sums: dict[tuple[str, int], float] = {}
    for entry in entries:
        at = (FOLDED.get(entry.kind, entry.kind), entry.layer)
        sums[at] = sums.get(at, 0.0) + entry.value
    return [Entry(kind, layer, -1, value) for (kind, layer), value in sums.items()]


def drawn(ledger: Ledger, parts: str) -> Sequence[Entry]:
    """Return the entries that have a bar: all, or those of a layer together where they are many."""
    many = parts == "layers" or len(ledger.entries) > MOST_BARS
    return folded(ledger.entries) if many else ledger.entries


@kit.cached(64)
def waterfall_of(
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    token: int,
    against: int | None,
    at: int,
    parts: str,
    mode: kit.Mode,
) -> kit.Figure:
    """Return the parts of a logit as a waterfall."""
    entries = drawn(ledger_of(bundled, ids, token, against, at), parts)
    return waterfall(
        [part_name(entry) for entry in entries],
        [entry.value for entry in entries],
        [entry.kind for entry in entries],
        words.total if against is None else words.total_difference,
        mode,
    )


def summary(ledger: Ledger, entries: Sequence[Entry], what: str, place: str) -> str:
    """Return the sentences about a ledger; entries: those that are drawn."""
    most = max(entries, key=lambda entry: entry.value)
    least = min(entries, key=lambda entry: entry.value)
    line = words.ledger_read
    if least.value >= 0:
        line = words.ledger_read_up
    elif most.value <= 0:
        line = words.ledger_read_down
    return line.format(
        place=place,
        what=what,
        logit=written(ledger.logit),
        most=part_name(most),
        most_value=written(most.value),
        least=part_name(least),
        least_value=written(least.value),
    )
