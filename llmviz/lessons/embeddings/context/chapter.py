"""Chapter "In context": one word in two sentences, its vectors layer by layer.

S stages, T tokens, C = n_embd, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz import components as lv
from llmviz.figures import embeddings as figures
from llmviz.lessons.embeddings import sources
from llmviz.lessons.embeddings.context import words
from llmviz.lessons.embeddings.context.reading import KEY, SENTENCES, Place, sentence
from llmviz.models.gpt import GPT
from llmviz.models.residual import Stage, parting_head, read_stream, stages
from llmviz.similarity import VectorTable, mean_cosine_of_others, row_cosines, unit_rows
from llmviz.ui import engine
from llmviz.ui import pinned_cells as cells
from llmviz.ui.code import show_code
from llmviz.ui.codec import pack_text
from llmviz.ui.common import percent, refuse, signed, theme
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    _examples(state)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        table = sources.choose(state)
        if table is None:
            return
        st.text_input(words.WORD, width=160, **state.bind("ctxword", then=_forget(state)))
    bundled = engine.load(table.name)
    if not isinstance(bundled.model, GPT):
        prose(words.NO_LAYERS.format(name=sources.named(table)))
        return
    try:
        places = [sentence(state, table, bundled, number) for number in (0, 1)]
    except ValueError as error:
        refuse(error)
        return
    if None not in places:
        st.caption(words.CLICK)
        _compare(state, table, bundled, *places)


def _forget(state: PageState):
    """Return a callback after which both words are looked for anew."""

    def then() -> None:
        for _, at in SENTENCES:
            state[at] = -1

    return then


def _examples(state: PageState) -> None:
    slot = "_embeddings.examples"

    def take() -> None:
        chosen = st.session_state.get(slot)
        if chosen:
            for key, text in zip(("ctxword", "ctx1", "ctx2"), words.EXAMPLES[chosen], strict=True):
                state[key] = text
            _forget(state)()
            st.session_state[slot] = None

    st.pills(words.EXAMPLES_LABEL, list(words.EXAMPLES), key=slot, on_change=take, wrap=True)


def strangers(a: Place, b: Place) -> np.ndarray:
    """Return the mean cosine (S,) of every token of one text with all different ones of the other.

    The start token is left out: its vector is like no other.
    """
    pairs = zip(a.stream.states[:, 1:], b.stream.states[:, 1:], strict=True)
    return np.array([mean_cosine_of_others(x, a.ids[1:], y, b.ids[1:]) for x, y in pairs])


def _compare(
    state: PageState, table: VectorTable, bundled: engine.Bundled, a: Place, b: Place
) -> None:
    steps = stages(bundled.model)
    cosines = row_cosines(a.states, b.states)
    names = [_named(words.STAGES, step) for step in steps]
    with st.container():
        _warn(table, a, b)
    _ask(steps, cosines)
    st.plotly_chart(
        figures.by_stage(
            names,
            cosines,
            strangers(a, b),
            (words.SAME, words.OTHERS),
            (words.STAGE_AXIS, words.COSINE_AXIS),
            theme(),
        ),
        key=f"{KEY}.curve",
        theme=None,
        config={"displayModeBar": False},
    )
    _say(table, steps, cosines, a, b)
    _moved(state, table, bundled, steps, cosines, (a, b))
    _matrix(state, names, a, b)
    _code(bundled, a, b, cosines)


def _warn(table: VectorTable, a: Place, b: Place) -> None:
    """Say so where the two tokens are not the same one."""
    if a.ids[a.at] != b.ids[b.at]:
        own, other = (sources.label(table, place.ids[place.at]) for place in (a, b))
        prose(words.OTHER_TOKEN.format(a=own, b=other))


def _named(texts: dict[str, str], stage: Stage) -> str:
    return texts[stage.kind].format(layer=stage.layer)


def _say(table: VectorTable, steps: list[Stage], cosines: np.ndarray, a: Place, b: Place) -> None:
    shown = [signed(float(value)) for value in cosines]
    place = words.SAY_SAME_PLACE if a.at == b.at else words.SAY_PLACE
    falls = cosines[:-1] - cosines[1:]
    at = int(falls.argmax()) + 1
    fall = words.SAY_FALL if falls.max() > 0.005 else words.SAY_NO_FALL
    following = [_next(table, place) for place in (a, b)]
    prose(
        " ".join(
            (
                words.SAY_START.format(row=shown[0]) if a.ids[a.at] == b.ids[b.at] else "",
                place.format(a=a.at, b=b.at, place=shown[1]),
                fall.format(
                    stage=_named(words.STAGE_NAMES, steps[at]),
                    before=shown[at - 1],
                    after=shown[at],
                    end=shown[-1],
                ),
            )
        )
        + "\n\n"
        + words.SAY_NEXT.format(
            a=sources.label(table, a.ids[a.at]),
            next_a=following[0][0],
            share_a=following[0][1],
            next_b=following[1][0],
            share_b=following[1][1],
        )
        + "\n\n"
        + words.SAY_OTHERS
    )


def _next(table: VectorTable, place: Place) -> tuple[str, str]:
    """Return the token that the model expects behind a place, and its probability as text."""
    shares = place.stream.chances[place.at].double().numpy()
    best = int(shares.argmax())
    return sources.label(table, best), percent(float(shares[best]))


def _moved(
    state: PageState,
    table: VectorTable,
    bundled: engine.Bundled,
    steps: list[Stage],
    cosines: np.ndarray,
    places: tuple[Place, Place],
) -> None:
    """Say which head wrote the most different things, and lead to it in the next lesson."""
    section(words.MOVED_TITLE)
    attends = [i for i, step in enumerate(steps) if step.kind == "attention"]
    at = max(attends, key=lambda i: cosines[i - 1] - cosines[i])
    layer = steps[at].layer
    one, two = (place.stream for place in places)
    head, apart = parting_head(one, two, layer, places[0].at, places[1].at)
    taken = []
    for place in places:
        row = place.stream.weights[layer, head, place.at, : place.at + 1].numpy()
        best = int(row.argmax())
        taken.append((sources.label(table, place.ids[best]), percent(float(row[best]))))
    prose(
        words.MOVED.format(
            layer=layer,
            head=head,
            before=signed(float(cosines[at - 1])),
            after=signed(float(cosines[at])),
            apart=apart,
            from_a=taken[0][0],
            share_a=taken[0][1],
            from_b=taken[1][0],
            share_b=taken[1][1],
        )
    )
    with st.container(horizontal=True):
        for (key, _), title in zip(SENTENCES, words.OPEN, strict=True):
            written = pack_text(state[key])
            st.page_link(
                "pages/attention.py",
                label=title,
                icon=":material/hub:",
                query_params={
                    "part": "trained",
                    "text": written or "",
                    "model": bundled.name,
                    "layer": str(layer),
                    "head": str(head),
                },
            )


def _matrix(state: PageState, names: Sequence[str], a: Place, b: Place) -> None:
    one, two = unit_rows(a.states), unit_rows(b.states)
    section(words.MATRIX_TITLE, words.MATRIX_TEXT.format(width=one.shape[1]))
    limit = float(np.quantile(np.abs(np.vstack((one, two))), 0.99)) or None
    product = one * two
    edge = float(np.quantile(np.abs(product), 0.99)) or None
    like = {"row_labels": names, "role": "residual"}
    cells.show(
        state,
        [
            lv.Matrix(words.A, one, "", words.UNIT, limit=limit, **like),
            lv.Matrix(words.B, two, "", words.UNIT, limit=limit, **like),
            lv.Matrix(
                words.PRODUCT,
                product,
                "",
                words.ADDS_UP,
                row_labels=names,
                limit=edge,
                row_sums=True,
                op=lv.multiply(words.A, words.B),
            ),
        ],
        [[words.A], [words.B], [words.PRODUCT]],
        key=f"{KEY}.matrix",
        control="term",
        stacked=True,
    )


def _ask(steps: list[Stage], cosines: np.ndarray) -> None:
    """Ask after which step the two vectors are least alike."""
    low = int(cosines.argmin())
    options = sorted({1, 2, len(steps) // 2, len(steps) - 1, low})
    if len({round(float(cosines[i]), 3) for i in options}) < len(options):
        return
    predict(
        Question(
            words.ASK,
            [_named(words.STAGE_NAMES, steps[i]) for i in options],
            options.index(low),
            [words.ASK_REASON.format(cosine=signed(float(cosines[i]))) for i in options],
        ),
        f"{KEY}.least",
    )


def _code(bundled: engine.Bundled, a: Place, b: Place, cosines: np.ndarray) -> None:
    show_code(
        [stages, read_stream, parting_head],
        "from llmviz.models.residual import read_stream\n"
        "from llmviz.similarity import cosine\n"
        "from llmviz.ui import engine\n\n"
        f"model = engine.load({bundled.name!r}).model\n"
        f"one = read_stream(model, {list(a.ids)}).states[:, {a.at}]\n"
        f"two = read_stream(model, {list(b.ids)}).states[:, {b.at}]\n"
        'print([f"{cosine(a, b):.2f}" for a, b in zip(one, two)])',
        str([f"{value:.2f}" for value in cosines]),
    )
