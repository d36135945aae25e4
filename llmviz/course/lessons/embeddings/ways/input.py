"""Part of the chapter "Three ways": a position added to a token, or turned into a query.

T tokens, C numbers in a vector, D numbers in a query.
"""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.ways import TABLE_MODEL, TURN_WIDTH, model, words
from llmviz.course.ui import engine, kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.course.ui.rerun import once
from llmviz.files.text import check_text
from llmviz.models.catalogue import able
from llmviz.runs.store import description_of
from llmviz.similarity import VectorTable, cosine

MOST_TOKENS, SHOWN_COLUMNS = 24, 5


@st.fragment
def added(state: kit.PageState) -> None:
    """Show token + position = input embedding, number by number, in a trained model."""
    kit.section(words.add.title, words.add_text[state["placing"]])
    bundled = with_table(state)
    if bundled is None:
        return
    width = bundled.model.config.n_embd
    last = max(0, width - SHOWN_COLUMNS)
    if state["from"] > last:  # what is drawn needs it before the control does
        state["from"] = last

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "sat", words.sentence, width=420)
        st.number_input(
            words.from_text, step=SHOWN_COLUMNS, width=150, **state.ranged("from", most=last)
        )
    try:
        tables = _read(bundled, state["sat"])
    except ValueError as error:  # it cannot be written as UTF-8
        kit.refuse(error)
        return
    if tables is None:
        st.info(words.no_words, icon=":material/edit:")
        return
    names = [visible_text(bundled.tokenizer.token_bytes(i))[0] for i in tables.ids]
    _sum(state, names, tables)
    _same_word(names, tables.total)


def _sum(state: kit.PageState, names: list[str], tables: model.InputTables) -> None:
    """Draw the three tables (T, C), a few columns of them."""
    token, position, total = tables.token, tables.position, tables.total
    width = total.shape[1]
    columns = slice(state["from"], state["from"] + SHOWN_COLUMNS)
    limit = float(np.abs(np.concatenate((token, position, total))[:, columns]).max())
    shared: dict[str, Any] = {"col_labels": [str(j) for j in range(width)][columns], "limit": limit}
    cells.show(
        state,
        [
            lv.Matrix(
                "token", token[:, columns], words.token, row_labels=names, role="query", **shared
            ),
            lv.Matrix(
                "position",
                position[:, columns],
                words.position,
                row_labels=[str(i) for i in range(len(names))],
                role="key",
                **shared,
            ),
            lv.Matrix(
                "input",
                total[:, columns],
                words.input,
                row_labels=names,
                role="residual",
                op=lv.add("token", "position"),
                **shared,
            ),
        ],
        [["token", "+", "position", "=", "input"]],
        key="embeddings.ways.sum",
        control="sum",
        first="input.2.0",
        narrow=SHOWN_COLUMNS,  # on a phone one below the other
    )


@once
def gpts(wanted: str = "") -> list[str]:
    """Return the models that may have learned a table of positions, the usual one first."""
    known = [
        name for name in sources.names(wanted) if able(engine.card(name).get("model"), "attention")
    ]
    return sorted(known, key=lambda name: name != TABLE_MODEL)


@once
def has_table(name: str) -> bool:
    """Whether a model has learned a table of positions, as its folder says; a damaged one has not.

    No weights are read: there may be hundreds of runs.
    """
    try:
        config = description_of(engine.folder_of(name))["model"]["config"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(config, dict) and config.get("positions") == "learned"


def with_table(state: kit.PageState, *, tell: bool = True) -> engine.Bundled | None:
    """Return the model whose positions are added: the chosen one, or the first that has some.

    tell: say what was noted when it was loaded.
    """
    known = gpts(state["placed"])
    for name in dict.fromkeys([state["placed"], *known]):
        if name in known and has_table(name):
            return kit.load(name, tell=tell)
    return None


def _read(bundled: engine.Bundled, text: str) -> model.InputTables | None:
    """The three tables (T, C), as the model itself computes them; None for too short a text."""
    check_text(text)
    return _tables(bundled, text)


@kit.cached(64)
def _tables(bundled: engine.Bundled, text: str) -> model.InputTables | None:
    return model.input_tables(bundled.model, bundled.tokenizer, text, MOST_TOKENS)


def _same_word(names: list[str], total: np.ndarray) -> None:
    """Say how a word that stands twice differs from itself."""
    first: dict[str, int] = {}
    best: tuple[int, int] | None = None
    for i, name in enumerate(names):
        if name in first and name.strip("·").isalpha():
            best = max(best or (0, 0), (first[name], i), key=lambda pair: pair[1] - pair[0])
        first.setdefault(name, i)
    if best is None:
        kit.prose(words.no_word_twice)
        return
    i, j = best
    kit.prose(
        words.same_word,
        word=kit.quote(names[i].strip("·")),
        i=i,
        j=j,
        cosine=cosine(total[i], total[j]),
    )


# ---- rotary


@st.fragment
def turn(state: kit.PageState) -> None:
    """Show a query and a key turned by their positions, and the score that is left."""
    d = TURN_WIDTH
    kit.section(words.turn, d=d, half=d // 2)
    bundled = with_table(state)
    if bundled is None:
        return
    table = sources.table(bundled.name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "asks", words.asks, width=130)
        st.slider(words.at, width=170, **state.ranged("m"))
        kit.text_input(state, "answers", words.answers, width=130)
        st.slider(words.at_too, width=170, **state.ranged("n"))
        st.slider(words.shift, width=170, **state.ranged("shift"))
    found = [sources.find(state, key, table) for key in ("asks", "answers")]
    rows = [row for row in found if row is not None]
    if len(rows) == len(found):
        _turned(state, table, rows)


def _turned(state: kit.PageState, table: VectorTable, rows: list[int]) -> None:
    """Draw the two vectors turned, and say that the score depends on their distance alone."""
    d = TURN_WIDTH
    q, k = (table.matrix[[row], :d].astype(np.float64) for row in rows)
    m, n, base = state["m"] + state["shift"], state["n"] + state["shift"], float(state["base"])
    _turned_cells(state, q, k, m, n, base)
    plain, moved = (
        model.rotary_score(q, k, a, b, base) for a, b in ((state["m"], state["n"]), (m, n))
    )
    names = [kit.quote(table.name_of(row)) for row in rows]
    distance = state["m"] - state["n"]
    kit.prose(
        words.turned,
        q=names[0],
        k=names[1],
        m=state["m"],
        n=state["n"],
        score=kit.signed(plain, 6),
        m2=m,
        n2=n,
        score2=kit.signed(moved, 6),
        apart=words.apart[int(np.sign(distance))].format(n=kit.count(abs(distance), "place")),
    )


def _turned_cells(
    state: kit.PageState, q: np.ndarray, k: np.ndarray, m: int, n: int, base: float
) -> None:
    d = q.shape[1]
    labels = [str(j) for j in range(d)]
    matrices = []
    for name, x, at, role in (("q", q, m, "query"), ("k", k, n, "key")):
        steps = model.rotation(x, at, base)
        cos, sin, half = steps.cos, steps.sin, steps.swapped
        straight, across = x * cos, half * sin
        label = words.turn_labels
        parts = (
            (name, x, label["x"], None),
            (f"{name}cos", cos, label["cos"], None),
            (f"{name}straight", straight, label["straight"], lv.multiply(name, f"{name}cos")),
            (f"{name}half", half, label["half"], None),
            (f"{name}sin", sin, label["sin"], None),
            (f"{name}across", across, label["across"], lv.multiply(f"{name}half", f"{name}sin")),
            (
                f"{name}turned",
                steps.turned,
                label["turned"],
                lv.add(f"{name}straight", f"{name}across"),
            ),
        )
        matrices += [
            lv.Matrix(
                key,
                values,
                text.format(x=name, at=at),
                col_labels=labels,
                role=role if key in (name, f"{name}turned") else "neutral",
                op=op,
            )
            for key, values, text, op in parts
        ]
    by_name = {matrix.name: matrix for matrix in matrices}
    score = by_name["qturned"].values @ by_name["kturned"].values.T
    matrices.append(
        lv.Matrix(
            "score",
            score,
            words.turn_labels["score"],
            role="accent",
            op=lv.matmul("qturned", "kturned", transpose_b=True),
        )
    )
    layout = [
        line
        for name in ("q", "k")
        for line in (
            [name, "×", f"{name}cos", "=", f"{name}straight"],
            [f"{name}half", "×", f"{name}sin", "=", f"{name}across"],
            [f"{name}turned", None, None, None, "score" if name == "k" else None],
        )
    ]
    cells.show(
        state,
        matrices,
        layout,
        key="embeddings.ways.turn",
        control="turn",
    )
