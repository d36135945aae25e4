"""Chapter "The head that carries it": each head off in turn, and what the answer loses."""

from __future__ import annotations

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.carrier import words
from llmviz.course.lessons.real.carrier.model import Carrier, Sixteen
from llmviz.course.lessons.real.defaults import FRANCE, HOT
from llmviz.course.ui import kit
from llmviz.textfile import whole_number

KEY = "real.carrier"
ONE, EARLY = (
    (23, 4),
    (0, 4),
)  # the head that the chapter is about, and one that nothing works without
GUESSES = (0, 30, 150)  # how many heads somebody might think
Head = tuple[int, int]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show all heads by what the answer loses without them, the guess, and sixteen countries."""
    kit.prose(words.hook)
    stage, _, fields, looks = source.places("carrier", stays=False)
    with fields:
        source.own(state, {"carrytext": words.own_label})
        source.about()
    with stage:
        found: Carrier | None = source.measured("carrier", state["carrytext"].strip())
    if found is None:
        return
    guess = kit.Guess(KEY, question(found))
    head = chosen(state["carryhead"], found)
    with stage:
        left, right = source.beside()
        with left:
            _grid(state, found, head, opened=guess.open)
    with right:
        kit.prose(caption(found, head) if guess.open else words.waits_caption.format(**told(found)))
        guess.ask()
    first: Carrier = source.record("carrier", FRANCE)
    hot: Carrier = source.record("carrier", HOT)
    cases: Sixteen = source.record("sixteen", *ONE)
    early: Sixteen = source.record("sixteen", *EARLY)
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks", **looks_told(first, hot))
    kit.section(words.sixteen, **sixteen_told(cases, early))
    if guess.open:
        _countries(cases)
        kit.prose(words.sixteen_read, **sixteen_told(cases, early))
    if guess.open:
        kit.section(words.early, **sixteen_told(cases, early), **looks_told(first, hot))
    kit.chapter_link("attention", "trained", words.proved)
    if guess.open:
        kit.seen(words.end, **told(first), **sixteen_told(cases, early))


def told(found: Carrier) -> dict[str, str | int]:
    """Return what is said of a sentence and its heads."""
    return {
        "answer": source.word(found.answer.text),
        "share": kit.percent(found.answer.share),
        "heads": sum(map(len, found.off)),
        "halved": found.halved(),
    }


def looks_told(first: Carrier, hot: Carrier) -> dict[str, str]:
    """Return what the looks say of two heads and two sentences."""
    return {
        "one_looks": kit.percent(first.looks[ONE[0]][ONE[1]].share),
        "one_off": kit.percent(first.off[ONE[0]][ONE[1]]),
        "early_off": kit.percent(first.off[EARLY[0]][EARLY[1]]),
        "hot_answer": source.word(hot.answer.text),
        "hot_on": kit.percent(hot.answer.share),
        "hot_one": kit.percent(hot.off[ONE[0]][ONE[1]]),
        "hot_early": kit.percent(hot.off[EARLY[0]][EARLY[1]]),
    }


def sixteen_told(cases: Sixteen, early: Sixteen) -> dict[str, str | int]:
    """Return the means over the countries."""
    others = [share for *_, share in cases.others]
    return {
        "count": len(cases.cases),
        "mean_on": kit.percent(float(np.mean([case.on for case in cases.cases]))),
        "mean_off": kit.percent(float(np.mean([case.off for case in cases.cases]))),
        "mean_early": kit.percent(float(np.mean([case.off for case in early.cases]))),
        "others": len(others),
        "least": kit.percent(min(others)),
        "most": kit.percent(max(others)),
        "raised": sum(case.off > case.on for case in cases.cases),
    }


def losses(found: Carrier) -> np.ndarray:
    """Return which part of its share the answer loses without each head, (L, H); a gain is < 0."""
    return 1 - np.array(found.off) / found.answer.share


def chosen(link: str, found: Carrier) -> Head:
    """Return the head that a link names, "23.4"; else the one that the answer needs most."""
    layer, _, head = link.partition(".")
    at = whole_number(layer), whole_number(head)
    if None not in at and at[0] < len(found.off) and at[1] < len(found.off[0]):
        return at
    return found.strongest()


def _grid(state: kit.PageState, found: Carrier, head: Head, *, opened: bool) -> None:
    values = np.clip(losses(found), -1, 1)
    notes = [
        [
            words.note.format(
                head=f"{i}.{j}",
                share=kit.percent(share),
                token=looked.token,
                looks=kit.percent(looked.share),
            )
            for j, (share, looked) in enumerate(zip(*row, strict=True))
        ]
        for i, row in enumerate(zip(found.off, found.looks, strict=True))
    ]
    if not opened:
        values, notes = np.zeros_like(values), [[words.waits] * len(row) for row in notes]

    def clicked() -> None:
        cell = st.session_state[f"{KEY}.grid"].get("chosen")
        if cell and cell[0] < len(found.off) and cell[1] < len(found.off[0]):
            state["carryhead"] = f"{cell[0]}.{cell[1]}"

    cell_grid(
        values,
        key=f"{KEY}.grid",
        row_names=[words.layer.format(layer=layer) for layer in range(len(found.off))],
        column_names=[words.head.format(head=j) for j in range(len(found.off[0]))],
        notes=notes,
        limit=1.0,
        scale=words.scale,
        label=words.grid_label,
        chosen=head if opened else None,
        on_change=clicked,
    )


def caption(found: Carrier, head: Head) -> str:
    """Return what happens without one head, by degree."""
    off, looked = found.off[head[0]][head[1]], found.looks[head[0]][head[1]]
    lost = float(losses(found)[head])
    case = "gone" if lost > 0.5 else "less" if lost > 0.1 else "same" if lost > -0.1 else "more"
    return words.caption[case].format(
        head=f"{head[0]}.{head[1]}",
        token=source.word(looked.token),
        looks=kit.percent(looked.share),
        off=kit.percent(off),
        **told(found),
    )


def question(found: Carrier) -> kit.Question:
    """Ask how many heads halve the answer's share, each alone."""
    right = found.halved()
    wrong = {0: words.ask_none, 30: words.ask_some, 150: words.ask_most}
    apart = {
        n: why for n, why in wrong.items() if abs(n - right) > max(5, right / 2) or n == 0 < right
    }
    reasons = {right: words.ask_right if right else words.ask_right_none, **apart}
    return kit.Question.among(
        words.ask, dict(sorted(reasons.items())), right, scale=True, **told(found)
    )


def _countries(cases: Sixteen) -> None:
    """Draw each country's capital with the head and without it."""
    rows = [
        kit.Case(
            words.country.format(country=case.country, capital=case.capital),
            case.off,
            interval=(min(case.on, case.off), max(case.on, case.off)),
            note=words.on_off.format(on=kit.percent(case.on), off=kit.percent(case.off)),
        )
        for case in cases.cases
    ]
    kit.case_rows(
        rows, kit.Axis(0, 1, words.capital_axis), key=f"{KEY}.cases", words={}, mark="dot"
    )
