"""Second half of chapter "Beam search": its find beside every text there is."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from llmviz.figures import sampling as figures
from llmviz.figures.theme import Mode
from llmviz.sampling import Continuations, exhaustive_search
from llmviz.textfile import check_text
from llmviz.ui import codec, engine
from llmviz.ui.kept import kept
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.common import count, keep, percent, refuse, theme
from llmviz.ui.lessons.sampling import searches, source, words
from llmviz.ui.lessons.sampling.searches import Compared
from llmviz.ui.lessons.sampling.source import Prompted
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_plotly

MOST_TOKENS = 3
WIDTHS = range(1, 9)
BARS = 12
ASKED = 10  # tokens that the question asks about
PARAMS = [
    codec.text("begin", "d"),
    codec.integer("letters", MOST_TOKENS, 1, MOST_TOKENS),
    codec.text("small", source.SMALL_MODEL),
]


@st.fragment
def draw(state: PageState) -> None:
    """Show this half of the chapter."""
    section(words.exhaustive.TITLE, words.exhaustive.TEXT)
    names = source.small_models(state["small"])
    if not names:
        st.info(words.exhaustive.NO_MODEL, icon=":material/download:")
        st.code(words.exhaustive.NO_MODEL_COMMAND, language=None)
        return
    name = keep(state, "small", names)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.text_input(words.exhaustive.BEGINNING, width=220, **state.bind("begin"))
        st.slider(words.exhaustive.TOKENS, width=220, **state.ranged("letters"))
        if len(names) > 1:
            source.menu(words.exhaustive.MODEL, names, state, "small")
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
    return text + (words.exhaustive.END if ends else "")


def _all(said: Prompted, every: Continuations) -> None:
    prose(
        words.exhaustive.ALL.format(
            v=said.vocab_size,
            n=count(len(every.ids), "text"),
            beginning=quote(said.text) if said.text else words.exhaustive.NOTHING,
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
    if any(words.exhaustive.END in text for text in texts):
        st.caption(words.exhaustive.END_NOTE.format(end=words.exhaustive.END))


@kept(64)
def places_figure(
    texts: tuple[str, ...],
    probabilities: tuple[float, ...],
    notes: tuple[str, ...],
    shown: tuple[int, ...],
    mode: Mode,
) -> go.Figure:
    """Return the best texts and those that a search found."""
    return figures.places(texts, probabilities, notes, shown, words.exhaustive.FIGURE, mode)


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
    text = words.exhaustive.GREEDY if widths == [1] else words.exhaustive.WIDTH
    return text.format(widths=listed)


def _found(said: Prompted, found: Compared) -> None:
    every, places = found.every, found.places
    if places[1] == 1:
        greedy = words.exhaustive.GREEDY_FINDS
    else:
        greedy = words.exhaustive.GREEDY_MISSES.format(
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
        return words.exhaustive.NOT_FOUND.format(most=most)
    if found == list(range(found[0], most + 1)):
        return words.exhaustive.FOUND_FROM.format(
            width=found[0], most=most, scored=f"{expanded[found[0]] * v:,}", all=f"{n:,}"
        )
    return words.exhaustive.FOUND_SOME.format(most=most, widths=", ".join(map(str, found)))


def _ask(v: int) -> None:
    right = v**ASKED
    answers = [ASKED * v, ASKED * v * v, right]
    reason = words.exhaustive.ASK_REASON.format(v=v, n=ASKED, beam=f"{v + 3 * v * (ASKED - 1):,}")
    predict(
        Question(
            words.exhaustive.ASK.format(n=ASKED),
            [count(n, "text") for n in answers],
            2,
            [reason if n == right else words.exhaustive.ASK_LINEAR for n in answers],
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
