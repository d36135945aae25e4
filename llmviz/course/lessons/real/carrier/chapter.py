"""Chapter "The head that carries it": each head off in turn, and what the answer loses."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.lessons.real import source
from llmviz.course.lessons.real.carrier import words
from llmviz.course.lessons.real.carrier.model import Carrier, Sixteen, grow
from llmviz.course.lessons.real.defaults import FRANCE, HOT
from llmviz.course.ui import kit
from llmviz.interpretability.heads_on_text import chances_without

KEY = "real.carrier"
ONE, EARLY = (23, 4), (0, 4)  # the head that the chapter is about, and an early one
Head = tuple[int, int]


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show all heads by what the answer loses without them, the guess, and sixteen countries."""
    kit.prose(words.hook)
    found: Carrier
    fields = {"carrytext": words.own_label}
    stage, _, looks, found, (text,) = source.measured_text(state, "carrier", fields)
    guess = kit.Guess(KEY, question(found))
    chosen = source.cell_of(state["carryhead"], *losses(found).shape)
    head = chosen or found.strongest()
    with stage:
        left, right = source.beside()
        with left:
            _grid(state, found, opened=guess.open)
    with right:
        if guess.open:
            kit.prose(caption(found, head))
        if guess.open and chosen:
            kit.prose(words.sum, **sum_told(found, head))
        guess.ask()
    if guess.open:
        with looks:
            kit.looks(state, words.looks, f"{KEY}.looks", **facts())
    kit.section(words.sixteen, **facts())
    if guess.open:
        _countries(source.record("sixteen", *ONE))
        kit.prose(words.sixteen_read, **facts())
        _code(text, found, head)
        kit.section(words.early, **facts())
    source.proved("attention", "trained")
    if guess.open:
        kit.seen(words.end, **facts())


def summary(found: Carrier) -> dict[str, Any]:
    """Return what is said of a sentence and its heads."""
    return {
        "answer": source.word(found.answer.text),
        "share": kit.percent(found.answer.share),
        "heads": sum(map(len, found.off)),
        "halved": found.halved(),
    }


def facts() -> dict[str, Any]:
    """Return what is recorded of two heads, two sentences and the countries."""
    first, hot = (source.record("carrier", text) for text in (FRANCE, HOT))
    cases, early = (source.record("sixteen", *head) for head in (ONE, EARLY))
    others = [share for *_, share in cases.others]
    means = {
        "mean_on": [case.on for case in cases.cases],
        "mean_off": [case.off for case in cases.cases],
        "mean_early": [case.off for case in early.cases],
    }
    return {
        **summary(first),
        "one_looks": kit.percent(first.looks[ONE[0]][ONE[1]].share),
        "one_off": kit.percent(first.off[ONE[0]][ONE[1]]),
        "early_off": kit.percent(first.off[EARLY[0]][EARLY[1]]),
        "hot_answer": source.word(hot.answer.text),
        "hot_on": kit.percent(hot.answer.share),
        "hot_one": kit.percent(hot.off[ONE[0]][ONE[1]]),
        "hot_early": kit.percent(hot.off[EARLY[0]][EARLY[1]]),
        "count": len(cases.cases),
        **{name: kit.percent(float(np.mean(shares))) for name, shares in means.items()},
        "others": len(others),
        "least": kit.percent(min(others)),
        "most": kit.percent(max(others)),
        "raised": sum(case.off > case.on for case in cases.cases),
    }


def losses(found: Carrier) -> np.ndarray:
    """Return which part of its share the answer loses without each head, (L, H); a gain is < 0."""
    return 1 - np.array(found.off) / found.answer.share


def sum_told(found: Carrier, head: Head) -> dict[str, str]:
    """Return what the colour of a head's cell is computed from."""
    on, off = found.answer.share, found.off[head[0]][head[1]]
    lost = f"{kit.signed(100 * float(losses(found)[head]), 0)}\N{NO-BREAK SPACE}%"
    return {"on": kit.percent(on), "off": kit.percent(off), "lost": lost}


def _code(text: str, found: Carrier, head: Head) -> None:
    on, off = found.answer.share, found.off[head[0]][head[1]]
    slots = {"text": text, "head": tuple(head)}
    kit.show_code(
        [grow, chances_without], source.snippet(words.snippet, **slots), f"{on:.1%} {off:.1%}"
    )


def _grid(state: kit.PageState, found: Carrier, *, opened: bool) -> None:
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
    look = {"scale": words.scale, "label": words.grid_label}
    source.grid(state, "carryhead", values, notes, opened=opened, **look)


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
        **summary(found),
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
        words.ask, dict(sorted(reasons.items())), right, scale=True, **summary(found)
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
    kit.case_rows(rows, kit.Axis(0, 1, words.capital_axis), key=f"{KEY}.cases", mark="dot")
