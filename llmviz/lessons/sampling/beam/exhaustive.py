"""Second half of chapter "Beam search": its find beside every text there is."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from llmviz.figures import sampling as figures
from llmviz.figures.theme import Mode
from llmviz.lessons.sampling import source
from llmviz.lessons.sampling.beam import exhaustive_words, searches
from llmviz.lessons.sampling.beam.searches import Compared
from llmviz.lessons.sampling.source import Prompted
from llmviz.sampling import Continuations, exhaustive_search
from llmviz.textfile import check_text
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.common import count, keep, percent, refuse, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose, quote
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_plotly

WIDTHS = range(1, 9)
BARS = 12
ASKED = 10  # tokens that the question asks about


@st.fragment
def draw(state: PageState) -> None:
    """Show this half of the chapter."""
    section(exhaustive_words.TITLE, exhaustive_words.TEXT)
    names = source.small_models(state["small"])
    if not names:
        st.info(exhaustive_words.NO_MODEL, icon=":material/download:")
        st.code(exhaustive_words.NO_MODEL_COMMAND, language=None)
        return
    name = keep(state, "small", names)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.text_input(exhaustive_words.BEGINNING, width=220, **state.bind("begin"))
        st.slider(exhaustive_words.TOKENS, width=220, **state.ranged("letters"))
        if len(names) > 1:
            source.menu(exhaustive_words.MODEL, names, state, "small")
    length = state["letters"]
    try:
        check_text(state["begin"])
        said = source.read(engine.load(name), state["begin"])
        found = searches.compared(said, length, WIDTHS)
    except ValueError as error:
        refuse(error)
        return
    _all(said, found.every)
    _figure(said, found)
    _found(said, found)
    _ask(said.vocab_size)
    _code(said, found.every, length)


def written(said: Prompted, tokens: list[int]) -> str:
    """Return a continuation to read, its end as a mark."""
    ends = bool(tokens) and tokens[-1] == said.stop_id
    text = "".join(said.texts(tokens[:-1] if ends else tokens))
    return text + (exhaustive_words.END if ends else "")


def _all(said: Prompted, every: Continuations) -> None:
    prose(
        exhaustive_words.ALL.format(
            v=said.vocab_size,
            n=count(len(every.ids), "text"),
            beginning=quote(said.text) if said.text else exhaustive_words.NOTHING,
            mass=f"{every.probabilities.sum():.4f}",
            best=quote(written(said, every.tokens(1))),
            p=percent(float(every.probabilities[0])),
        )
    )


def _figure(said: Prompted, found: Compared) -> None:
    every, places = found.every, found.places
    shown = sorted({*range(1, min(BARS, len(every.ids)) + 1), *places.values()})
    texts = [written(said, every.tokens(place)) for place in shown]
    st.plotly_chart(
        places_figure(
            tuple(escape_plotly(text) for text in texts),
            tuple(float(every.probabilities[place - 1]) for place in shown),
            tuple(note(place, places) for place in shown),
            tuple(shown),
            theme(),
        ),
        key="sampling.exhaustive",
        theme=None,
        config={"displayModeBar": False},
    )
    if any(exhaustive_words.END in text for text in texts):
        st.caption(exhaustive_words.END_NOTE.format(end=exhaustive_words.END))


@kept(64)
def places_figure(
    texts: tuple[str, ...],
    probabilities: tuple[float, ...],
    notes: tuple[str, ...],
    shown: tuple[int, ...],
    mode: Mode,
) -> go.Figure:
    """Return the best texts and those that a search found."""
    return figures.places(texts, probabilities, notes, shown, exhaustive_words.FIGURE, mode)


def note(place: int, places: dict[int, int]) -> str:
    """Return what stands behind the bar of a place: which widths ended there.

    >>> note(3, {1: 3, 2: 3, 3: 1}), note(1, {1: 3, 2: 1, 3: 1, 4: 1}), note(2, {1: 3})
    ('width 1, 2', 'width 2–4', '')
    """
    widths = [width for width, found in places.items() if found == place]
    if not widths:
        return ""
    together = len(widths) > 2 and widths == list(range(widths[0], widths[-1] + 1))
    listed = f"{widths[0]}–{widths[-1]}" if together else ", ".join(map(str, widths))
    text = exhaustive_words.GREEDY if widths == [1] else exhaustive_words.WIDTH
    return text.format(widths=listed)


def _found(said: Prompted, found: Compared) -> None:
    every, places = found.every, found.places
    if places[1] == 1:
        greedy = exhaustive_words.GREEDY_FINDS
    else:
        greedy = exhaustive_words.GREEDY_MISSES.format(
            greedy=quote(written(said, every.tokens(places[1]))), place=places[1]
        )
    prose(greedy + " " + beam_found(places, found.expanded, said.vocab_size, len(every.ids)))


def beam_found(places: dict[int, int], expanded: dict[int, int], v: int, n: int) -> str:
    """Say from which width on the beam finds the best of n texts.

    `expanded` holds how many beginnings each width went on from, each with all v tokens.
    """
    found = [width for width, place in places.items() if place == 1]
    most = max(places)
    if not found:
        return exhaustive_words.NOT_FOUND.format(most=most)
    if found == list(range(found[0], most + 1)):
        return exhaustive_words.FOUND_FROM.format(
            width=found[0], most=most, scored=f"{expanded[found[0]] * v:,}", all=f"{n:,}"
        )
    return exhaustive_words.FOUND_SOME.format(most=most, widths=", ".join(map(str, found)))


def _ask(v: int) -> None:
    right = v**ASKED
    answers = [ASKED * v, ASKED * v * v, right]
    reason = exhaustive_words.ASK_REASON.format(v=v, n=ASKED, beam=f"{v + 3 * v * (ASKED - 1):,}")
    predict(
        Question(
            exhaustive_words.ASK.format(n=ASKED),
            [count(n, "text") for n in answers],
            2,
            [reason if n == right else exhaustive_words.ASK_LINEAR for n in answers],
        ),
        "exhaustive.cost",
    )


def _code(said: Prompted, every: Continuations, length: int) -> None:
    tokenizer = said.bundled.tokenizer
    greedy = searches.searched(said, 1, length).tokens()
    show_code(
        [exhaustive_search],
        source.snippet(said) + "from llmviz.sampling import beam_search, exhaustive_search\n\n"
        f"every = exhaustive_search(model, ids, {length}, stop_id=ids[0])\n"
        f"greedy = beam_search(model, ids, 1, {length}, stop_id=ids[0]).tokens()\n"
        "print(len(every.ids), repr(tokenizer.decode(every.tokens(1))), every.place(greedy))",
        f"{len(every.ids)} {tokenizer.decode(every.tokens(1))!r} {every.place(greedy)}",
    )
