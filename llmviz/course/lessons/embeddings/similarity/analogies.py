"""Part of the chapter "How alike": a − b + c, its candidates, and how often it finds the answer.

V rows, C columns, Q questions.
"""

from dataclasses import replace

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.clear import stands_out
from llmviz.course.lessons.embeddings.similarity import words
from llmviz.course.lessons.embeddings.similarity.model import (
    candidates,
    known_answer,
    known_pairs,
    mean_step_cosine,
    pairs_of,
    questions,
    scores,
)
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.course.ui.paint_order import before_controls
from llmviz.similarity import Neighbours, VectorTable, analogy, score_analogies, unit_rows

KEY = "embeddings.analogy"
WORDS = ("plus", "minus", "add")  # the controls of a, b and c
ALIKE = 0.25  # mean cosine of steps from which on they share a direction
STRIDE = 37  # how far "another example" goes through the list, so that all kinds of pairs come
FEW = 2  # pairs below which no analogy can be made


def draw(state: kit.PageState, table: VectorTable) -> str:
    """Show the sum of three rows and what lies nearest to it; return what was seen, once asked.

    Raises ValueError: one of the rows is zero.
    """
    with before_controls(st.container(), lambda: _controls(state, table)):
        rows = [sources.find(state, key, table) for key in WORDS]
        if None in rows:
            return ""
        about = _about(rows, table)
        kit.prose(words.analogy_text, **about)
        if not _ask(table, rows, about):
            return ""
        every = candidates(table, *rows, exclude_inputs=not state["inputs"])
        k = min(state["k"], len(every.ids))
        near = replace(every, ids=every.ids[:k], values=every.values[:k])
        _say(table, rows, every)
        _sum(state, table, rows, near)
    _score(state, table)
    kit.show_code(
        [analogy, score_analogies],
        words.snippet_analogies.format(
            name=table.name,
            state_key_for_key_in_words=[state[key] for key in WORDS],
            k=k,
            not_state_inputs=not state["inputs"],
        ),
        f"{[table.name_of(i) for i in near.ids]}\n{near.values.round(3)}",
    )
    return words.end_analogy.format(
        best=sources.word(table, int(every.ids[0])),
        cosine=kit.signed(every.values[0]),
        allowed=words.allowed[str(state["inputs"])],
        **about,
    )


def _controls(state: kit.PageState, table: VectorTable) -> None:
    _presets(state, table)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key, name in zip(WORDS, words.three, strict=True):
            kit.text_input(state, key, name, width=150)
        st.slider(words.how_many, width=200, **state.ranged("k"))
        st.toggle(words.include, help=words.include_help, **state.bind("inputs"))


# ---- known pairs


def _presets(state: kit.PageState, table: VectorTable) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kit.choose(
            state,
            "relation",
            words.relation,
            words.relations,
            then=lambda: _another(state, table, 0),
        )
        known = questions(table, state["relation"])
        st.button(
            words.another,
            icon=":material/refresh:",
            disabled=not known,
            on_click=lambda: _another(state, table, 1),
        )


def _use(state: kit.PageState, table: VectorTable) -> None:
    """Go on with another table, which has words of the chosen relation."""
    state["model"] = table.name
    _another(state, table, 0)


def _another(state: kit.PageState, table: VectorTable, by: int) -> None:
    """Put a known analogy into the boxes: the one after that which stands there."""
    known = questions(table, state["relation"])
    if not known:
        return
    # a is to b as c is to d: asked as b − a + c, so that d is what is looked for.
    triples = [tuple(table.name_of(i) for i in (c, a, b)) for a, b, c, _ in known]
    now = tuple(state[key] for key in WORDS)
    at = (triples.index(now) + by * STRIDE) % len(triples) if now in triples else 0
    for key, word in zip(WORDS, triples[at], strict=True):
        state[key] = word


# ---- the sum


def _sum(state: kit.PageState, table: VectorTable, rows: list[int], near: Neighbours) -> None:
    """Draw the three rows, their sum, and the candidates."""
    labels = sources.labels(table)
    a, b, c = (unit_rows(table.matrix[[row]]) for row in rows)
    names = [labels[int(i)] for i in near.ids]
    nearby = unit_rows(table.matrix[near.ids])
    total = a - b + c
    unit_sum = unit_rows(total)
    limit = float(np.quantile(np.abs(np.vstack((a, b, c, nearby))), 0.99))
    plain, minus, plus = words.sum_rows
    first, last = words.sum, words.candidates
    look = {"limit": limit, "role": "residual"}
    matrices = [
        lv.Matrix(plain, a, "", words.unit_formula, [labels[rows[0]]], **look),
        lv.Matrix(minus, b, "", "", [labels[rows[1]]], **look),
        lv.Matrix(words.step, a - b, op=lv.subtracted(plain, minus), **look),
        lv.Matrix(plus, c, "", "", [labels[rows[2]]], **look),
        lv.Matrix(first, total, op=lv.add(words.step, plus), **look),
        lv.Matrix(words.unit_sum, unit_sum, op=lv.divided(first, words.length), limit=limit),
        lv.Matrix(words.length, np.array([[np.linalg.norm(total)]]), op=lv.lengths(first)),
        lv.Matrix(last, nearby, "", words.unit_formula, names, **look),
        lv.Matrix(
            words.list_label,
            near.values[:, None],
            row_labels=names,
            role="value",
            op=lv.matmul(last, words.unit_sum, transpose_b=True),
        ),
    ]
    layout = [[None, one_row] for one_row in (plain, minus, plus)]
    layout += [[words.length, first], [words.list_label, last]]
    cells.show(state, matrices, layout, key=f"{KEY}.sum", control="term", stacked=True)


def _about(rows: list[int], table: VectorTable) -> dict[str, str]:
    """Return the three words by the names that sentences have for them."""
    return dict(zip("abc", (sources.word(table, row) for row in rows), strict=True))


def _say(table: VectorTable, rows: list[int], every: Neighbours) -> None:
    text = words.best.format(
        best=kit.bold(sources.word(table, int(every.ids[0]))), cosine=kit.signed(every.values[0])
    )
    known = known_answer(rows, table)
    if known is not None:
        given, expected = known
        all_of_them = every.ids.tolist()
        rank = all_of_them.index(expected) + 1 if expected in all_of_them else table.size
        line = words.expected_right if rank == 1 else words.expected_wrong
        text += " " + line.format(
            expected=sources.word(table, expected), rank=rank, **_about(given, table)
        )
    kit.prose(text)


def _score(state: kit.PageState, table: VectorTable) -> None:
    """Say how many of the known analogies come out."""
    relation = state["relation"]
    known = questions(table, relation)
    title = words.relations[relation]
    pairs = pairs_of(table, relation)
    if len(pairs) < FEW:
        every = known_pairs(relation)
        kit.prose(
            words.no_pairs, name=sources.named(table), have=len(pairs), all=every, relation=title
        )
        other = sources.beside(table)
        theirs = 0 if other is None else len(pairs_of(other, relation))
        if theirs > len(pairs) and st.button(
            words.use_other.format(name=other.name, have=theirs, all=every),
            icon=":material/swap_horiz:",
        ):
            _use(state, other)
            st.rerun()  # the choice of a table stands outside of this part of the page
        return
    right, included = (
        scores(table, relation, exclude_inputs=exclude).right for exclude in (True, False)
    )
    plain = scores(table, relation, step=False).right
    mean = mean_step_cosine(table, relation)
    kit.prose(
        words.score.format(
            count=len(known),
            pairs=len(pairs),
            relation=title,
            right=kit.percent(right),
            name=sources.named(table),
            included=kit.percent(included),
        )
        + (f" {words.score_taken}" if included < right else "")
        + "\n\n"
        + (words.steps_alike if mean > ALIKE else words.steps_unlike).format(mean=kit.signed(mean))
        + " "
        + step_line(right, plain)
    )


def step_line(right: float, plain: float) -> str:
    """Say what the step is worth: shares of analogies right with it, and with nearness alone."""
    if plain == 0 and right == 0:
        return words.plain_none
    if plain >= right:
        line = words.plain_enough
    else:
        line = words.plain_most if plain > right / 2 else words.plain_few
    return line.format(plain=kit.percent(plain))


def _ask(table: VectorTable, rows: list[int], about: dict[str, str]) -> bool:
    """Ask what is nearest when the three words may win themselves, where one answer is right."""
    question = included_question(table, rows, about)
    return question is None or kit.predict(question, f"{KEY}.included", covers=True)


def included_question(
    table: VectorTable, rows: list[int], about: dict[str, str]
) -> kit.Question | None:
    """Return the question what is nearest to a − b + c when the three words may win.

    None where fewer than four tokens differ, or the nearest does not stand out.
    """
    every = candidates(table, *rows, exclude_inputs=False)
    cosines = dict(zip(every.ids.tolist(), every.values.tolist(), strict=True))
    outside = next((int(i) for i in every.ids if i not in rows), None)
    if outside is None or len(set(rows)) < len(rows):
        return None
    answers = [*rows, outside]
    best = max(answers, key=cosines.__getitem__)
    labels = [sources.labels(table)[i] for i in answers]
    if len(set(labels)) < len(labels):
        return None
    if not stands_out([cosines[i] for i in answers], answers.index(best)):
        return None
    reasons = {
        i: words.ask_included_reason.format(
            word=sources.word(table, i), cosine=kit.signed(cosines[i])
        )
        for i in answers
    }
    return kit.Question.among(
        words.ask_included, reasons, best, sources.labels(table).__getitem__, **about
    )
