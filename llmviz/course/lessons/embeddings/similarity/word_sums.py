"""Sums with words: a − b + c, and how often it finds the answer; a list of words.

V rows, C columns, Q questions.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.similarity import MOST_WORDS, words
from llmviz.course.lessons.embeddings.similarity import sums_model as model
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.similarity import (
    Neighbours,
    NotOneRow,
    VectorTable,
    analogy,
    pairwise,
    score_analogies,
    unit_rows,
)

LIST_KEY = "embeddings.wordlist"  # "embeddings.list" is the slot of a control


def draw_list(state: kit.PageState, table: VectorTable) -> None:
    """Show the matrix of a list of words.

    Raises ValueError: too few or too many words, or a row of zeros.
    """
    kit.text_input(state, "list", words.list)
    rows = _rows(state, table)
    kit.prose(words.list_text, width=table.width)
    names = [_name(table, row) for row in rows]
    alike = pairwise(table.matrix[rows].astype(np.float64))
    _picture(state, table, rows, alike, names)
    _say_list(rows, alike, table)
    kit.show_code(
        [pairwise],
        words.snippet_wordlist.format(name=table.name, rows=rows),
        f"{alike[0].round(3)}",
    )


def _name(table: VectorTable, row: int) -> str:
    label = sources.labels(table)[row]
    return label.strip("·") or label


def _picture(
    state: kit.PageState, table: VectorTable, rows: list[int], alike: np.ndarray, names: list[str]
) -> None:
    """Draw the cosine (N, N) of every word with every other."""
    vectors = table.matrix[rows].astype(np.float64)
    cells.show(
        state,
        [
            lv.Matrix(words.unit_rows, unit_rows(vectors), row_labels=names, role="residual"),
            lv.Matrix(
                words.list_cosine,
                alike,
                role="value",
                limit=1.0,
                row_labels=names,
                col_labels=names,
                op=lv.matmul(words.unit_rows, words.unit_rows, transpose_b=True),
            ),
        ],
        [[words.list_cosine]],
        key=LIST_KEY,
        control="listed",
        numbers=True,
    )


def _rows(state: kit.PageState, table: VectorTable) -> list[int]:
    typed = [word for word in re.split(r"[,;\n]+", state["list"]) if word.strip()]
    if len(typed) > MOST_WORDS:
        raise ValueError(words.list_many.format(most=MOST_WORDS, count=len(typed)))
    rows: list[int] = []
    lost: list[str] = []
    for word in typed:
        try:
            row = table.find(word)
        except NotOneRow as problem:
            like = "".join(
                f" ({words.like.format(word=kit.quote(word))})" for word in problem.spellings[:1]
            )
            lost.append(kit.quote(problem.word) + like)
        else:
            rows += [row] if row not in rows else []
    if lost:
        kit.prose(words.list_skipped, words=", ".join(lost))
    if len(rows) < 2:
        raise ValueError(words.list_few.format(count=len(rows)))
    return rows


def _say_list(rows: list[int], alike: np.ndarray, table: VectorTable) -> None:
    upper = np.triu_indices(len(rows), 1)
    pairs = alike[upper]
    (a, b), (c, d) = (
        [sources.word(table, rows[side[at]]) for side in upper]
        for at in (int(pairs.argmax()), int(pairs.argmin()))
    )
    line = words.list_pairs if len(pairs) > 1 else words.list_pair
    about = {"a": a, "b": b, "high": kit.signed(pairs.max()), "mean": kit.signed(pairs.mean())}
    kit.prose(line, c=c, d=d, low=kit.signed(pairs.min()), **about)


KEY, GUESS = "embeddings.sums", "embeddings.sums.plain"
WORDS = ("plus", "minus", "add")  # the controls of a, b and c
ALIKE = 0.25  # mean cosine of steps from which on they share a direction
STRIDE = 37  # how far "another example" goes through the list, so that all kinds of pairs come
APART = 0.08  # between the answers of the question
SHOWN = 6  # nearest rows
FEW = 2  # pairs below which no analogy can be made


@st.fragment
def draw(state: kit.PageState, table: VectorTable) -> None:
    """Show the sum of three rows and what lies nearest to it, and ask what it is worth."""
    kit.section(words.word_sums)
    worth, guess, every = _worth(table, state["relation"]), kit.Guess(GUESS, None), None
    found = [sources.find(state, key, table) for key in WORDS]
    rows = [row for row in found if row is not None]
    if len(rows) == len(found):
        every = kit.or_refused(_sum, state, table, rows)
    if worth is None:
        _too_few(state, table)
    else:
        guess = kit.Guess(GUESS, worth_question(worth))
        _bars(worth, guess)
    _controls(state, table)
    if guess.ask():
        kit.looks(state, words.sum_looks, f"{KEY}.looks")
        kit.real_look(state, words.sum_real, f"{KEY}.real")
        if worth is not None:
            _score(table, worth)
    if every is not None:
        kit.prose(words.sum_intro, **_about(rows, table))
        _code(state, table, every)
    kit.or_refused(draw_list, state, table)


def _controls(state: kit.PageState, table: VectorTable) -> None:
    _presets(state, table)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, name in zip(WORDS, words.three, strict=True):
            kit.text_input(state, key, name, width=130)
        st.toggle(words.include, help=words.include_help, **state.bind("inputs"))


# ---- what the sum is worth


@dataclass(frozen=True)
class Worth:
    """Shares of a relation's analogies that come right: with the sum, and by nearness alone."""

    relation: str
    count: int
    right: float
    plain: float

    def summary(self) -> dict[str, Any]:
        shares = {"right": kit.percent(self.right), "plain": kit.percent(self.plain)}
        return {"count": self.count, **shares}


def _worth(table: VectorTable, relation: str) -> Worth | None:
    """Measure it; None where a table has too few of the pairs."""
    if len(model.pairs_of(table, relation)) < FEW:
        return None
    right = model.scores(table, relation, exclude_inputs=True).right
    plain = model.scores(table, relation, step=False).right
    return Worth(relation, len(model.questions(table, relation)), right, plain)


def worth_question(worth: Worth) -> kit.Question | None:
    """Return the question how many come right without the sum.

    The wrong answers are of somebody to whom the sum does it all, and of one who would toss a coin.
    None where both are what is right.
    """
    near = "near" if worth.plain > worth.right / 2 else "far"
    near = "all" if worth.plain >= worth.right > 0 else near
    reasons = {worth.plain: words.ask_plain_right[near]}
    for value, why in ((0.0, words.ask_plain_nothing), (0.5, words.ask_plain_half)):
        if all(abs(value - other) >= APART for other in reasons):
            reasons[value] = why
    return kit.Question.among(words.ask_plain, reasons, worth.plain, kit.percent, **worth.summary())


def _bars(worth: Worth, guess: kit.Guess) -> None:
    summed, alone = words.bars
    cases = [
        kit.Case(summed.format(relation=words.relations[worth.relation]), worth.right),
        kit.Case(alone, worth.plain),
    ]
    axis = kit.Axis(0, 1, words.right_axis)
    guess.cases(cases, axis, veiled=[1], picture=f"{KEY}.worth")


def _too_few(state: kit.PageState, table: VectorTable) -> None:
    """Say that a table has too few pairs of the relation, and offer one that has more."""
    relation, have = state["relation"], len(model.pairs_of(table, state["relation"]))
    every, title = model.known_pairs(relation), words.relations[relation]
    kit.prose(words.no_pairs, name=sources.named(table), have=have, all=every, relation=title)
    other = sources.beside(table)
    theirs = 0 if other is None else len(model.pairs_of(other, relation))
    if (
        other is not None
        and theirs > have
        and st.button(
            words.use_other.format(name=other.name, have=theirs, all=every),
            icon=":material/swap_horiz:",
        )
    ):
        _use(state, other)
        st.rerun()


def _score(table: VectorTable, worth: Worth) -> None:
    """Say what allowing the three words costs, and how alike the steps are."""
    included = model.scores(table, worth.relation, exclude_inputs=False).right
    mean = model.mean_step_cosine(table, worth.relation)
    steps = words.steps_alike if mean > ALIKE else words.steps_unlike
    said = words.score.format(included=kit.percent(included), count=worth.count)
    cost = [said, words.score_taken] if included < worth.right else [said]
    alike = [words.steps.format(mean=kit.signed(mean)), steps]
    kit.prose(f"{kit.run_on(cost)}\n\n{kit.run_on(alike)}")


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
        known = model.questions(table, state["relation"])
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
    known = model.questions(table, state["relation"])
    if not known:
        return
    # a is to b as c is to d: asked as b − a + c, so that d is what is looked for.
    triples = [tuple(table.name_of(i) for i in (c, a, b)) for a, b, c, _ in known]
    now = tuple(state[key] for key in WORDS)
    at = (triples.index(now) + by * STRIDE) % len(triples) if now in triples else 0
    for key, word in zip(WORDS, triples[at], strict=True):
        state[key] = word


# ---- the sum


def _sum(state: kit.PageState, table: VectorTable, rows: list[int]) -> Neighbours:
    """Draw the three rows, their sum, and the candidates; return all of these.

    Raises ValueError: one of the rows is zero.
    """
    every = model.candidates(table, *rows, exclude_inputs=not state["inputs"])
    near = replace(every, ids=every.ids[:SHOWN], values=every.values[:SHOWN])
    labels = sources.labels(table)
    a, b, c = (unit_rows(table.matrix[[row]]) for row in rows)
    names = [labels[int(i)] for i in near.ids]
    nearby = unit_rows(table.matrix[near.ids])
    total = a - b + c
    unit_sum = unit_rows(total)
    limit = float(np.quantile(np.abs(np.vstack((a, b, c, nearby))), 0.99))
    plain, minus, plus = words.sum_rows
    first, last = words.sum, words.candidates
    look: dict[str, Any] = {"limit": limit, "role": "residual"}
    matrices = [
        lv.Matrix(plain, a, "", words.to_length_1, [labels[rows[0]]], **look),
        lv.Matrix(minus, b, "", "", [labels[rows[1]]], **look),
        lv.Matrix(words.step, a - b, op=lv.subtracted(plain, minus), **look),
        lv.Matrix(plus, c, "", "", [labels[rows[2]]], **look),
        lv.Matrix(first, total, op=lv.add(words.step, plus), **look),
        lv.Matrix(words.unit_sum, unit_sum, op=lv.divided(first, words.length), limit=limit),
        lv.Matrix(words.length, np.array([[np.linalg.norm(total)]]), op=lv.lengths(first)),
        lv.Matrix(last, nearby, "", words.to_length_1, names, **look),
        lv.Matrix(
            words.list_cosine,
            near.values[:, None],
            row_labels=names,
            role="value",
            op=lv.matmul(last, words.unit_sum, transpose_b=True),
        ),
    ]
    layout = [[None, one_row] for one_row in (plain, minus, plus)]
    layout += [[words.length, first], [words.list_cosine, last]]
    cells.show(state, matrices, layout, key=f"{KEY}.sum", control="term", stacked=True)
    _say(table, rows, every)
    return every


def _about(rows: list[int], table: VectorTable) -> dict[str, str]:
    """Return the three words by the names that sentences have for them."""
    return dict(zip("abc", (sources.word(table, row) for row in rows), strict=True))


def _say(table: VectorTable, rows: list[int], every: Neighbours) -> None:
    best = kit.bold(sources.word(table, int(every.ids[0])))
    text = [words.best.format(best=best, cosine=kit.signed(every.values[0]))]
    known = model.known_answer(rows, table)
    if known is not None:
        given, expected = known
        all_of_them = every.ids.tolist()
        rank = all_of_them.index(expected) + 1 if expected in all_of_them else table.size
        line = words.expected_right if rank == 1 else words.expected_wrong
        about = _about(given, table)
        text.append(line.format(expected=sources.word(table, expected), rank=rank, **about))
    kit.prose(kit.run_on(text))


def _code(state: kit.PageState, table: VectorTable, every: Neighbours) -> None:
    count = min(SHOWN, len(every.ids))
    kit.show_code(
        [analogy, score_analogies],
        words.snippet_analogies.format(
            name=table.name,
            words=[state[key] for key in WORDS],
            k=count,
            exclude=not state["inputs"],
        ),
        f"{[table.name_of(i) for i in every.ids[:count]]}\n{every.values[:count].round(3)}",
    )
