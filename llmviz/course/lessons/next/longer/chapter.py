"""Chapter "Longer texts": what a model makes of places that it was never trained on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.draw_on.view import draw_on
from llmviz.course.lessons.next.longer import longer_record as record
from llmviz.course.lessons.next.longer import model, words
from llmviz.course.lessons.next.longer.longer_record import (
    BIN,
    KEPT,
    TEXTS,
    TIMES,
    TUNED,
    TWINS,
    WINDOWS,
    Longer,
)
from llmviz.course.ui import kit
from llmviz.training.measures import against

KEY = "next.longer"
ROLES = {
    "plain": "query",
    "learned": "residual",
    "linear": "key",
    "ntk": "value",
    "yarn": "weights",
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how the losses go on beyond the context, the guess, the looks and what goes deeper."""
    found = record.recorded()
    context, end = found.context, TIMES * found.context
    slots = {"context": context, "end": end, "next": context + 1, "steps": found.tuned}
    kit.prose(words.hook, **slots)
    guess = kit.Guess(f"{KEY}.line", question(found), state["stretch"] != "plain")
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("longer", stays=True):
            _picture(state, found, guess)
            if guess.open:
                with st.container(horizontal=True, vertical_alignment="bottom"):
                    kit.choose(state, "stretch", words.ways_label, words.ways)
                    fixed = state["stretch"] == "learned"  # nobody practised with the table
                    st.toggle(words.tuned_label, disabled=fixed, **state.bind("stretchtuned"))
                kit.prose(caption(found, kind_of(state)))
        guess.ask()
        if not guess.open:
            return
        kit.looks(state, words.looks, f"{KEY}.looks", **slots)
    kit.section(words.turns, pairs=model.SIZE // 2)
    _turns(state["stretch"] if state["stretch"] in record.WAYS else "plain", context)
    kit.section(words.practice, context=context)
    _practice(found)
    kit.prose(words.practice_read, **numbers(found), **slots)
    kit.section(words.first, window=WINDOWS[0])
    _first(found)
    seeds = kit.listed([str(seed) for seed in record.SEEDS])
    kit.measured(
        words.measured,
        seeds=seeds,
        size=model.SIZE,
        texts=TEXTS,
        bin=BIN,
        half=context // 2,
        **slots,
    )
    kit.section(words.large)
    kit.chapter_link("embeddings", "ways", words.proved)
    kit.seen(words.end, times=TIMES, **numbers(found))


def kind_of(state: kit.PageState) -> str:
    """Return the kind of model that the controls name; a table was not tuned."""
    way = state["stretch"]
    return f"{way}{TUNED}" if state["stretchtuned"] and way != "learned" else way


def question(found: Longer) -> kit.Question:
    """Ask for the rest of the line of a model that turns its words, with nothing done about it.

    The wrong lines: as before, by somebody who trusts the rule; up at once, as a learned table.
    """
    known = found.context // BIN
    right, table = (found.over_floor(kind)[known:] for kind in ("plain", "learned"))
    level = np.full(len(right), found.near("plain").mean())
    lines = {"right": right, "level": level, "table": table}
    slots = {"context": found.context, "next": found.context + 1, "scale": True}
    return kit.Question.named(words.ask, words.reasons, lines, words.answers, **slots)


def line_of(found: Longer, kind: str) -> kit.Drawn:
    """Return the line of a kind."""
    way = kind.removesuffix(TUNED)
    label = words.lines[way].format(times=TIMES)
    if kind != way:
        label = words.lines["tuned"].format(line=label)
    role = "residual" if kind == f"plain{TUNED}" else ROLES[way]  # beside the same without practice
    return kit.Drawn(label, found.places, found.over_floor(kind).tolist(), role)


def _picture(state: kit.PageState, found: Longer, guess: kit.Guess) -> None:
    kind, highest = kind_of(state), max(found.over_floor(kind).max() for kind in record.KINDS)
    more = [line_of(found, kind)] if guess.open and kind != "plain" else []
    context = found.context
    guess.line(
        more,
        line_of(found, "plain"),
        kit.Scale(0, TIMES * context, words.place_axis, marks=model.marks(context)),
        kit.Scale(0, 1.05 * float(highest), words.over_axis),
        known=context // BIN,
        picture=f"{KEY}.line",
    )


def caption(found: Longer, kind: str) -> str:
    """Return what a kind wastes at the end of the texts, beside a model without help."""
    way, plain, far = kind.removesuffix(TUNED), found.far("plain"), found.far(kind)
    case = way if kind in ("plain", "learned") else against(far, plain)
    if kind == f"plain{TUNED}":
        case = "practised"
    name = words.ways[way] if kind == way else words.practised_way.format(way=words.ways[way])
    return words.caption[case].format(
        way=name,
        context=found.context,
        near=f"{found.near(kind).mean():.2f}",
        far=f"{far.mean():.2f}",
        plain=f"{plain.mean():.2f}",
    )


def _turns(way: str, context: int) -> None:
    """Draw how much of its circle each pair has come to, in training and now."""
    trained, now = model.circles("plain", context, 1), model.circles(way, context, TIMES)
    places = list(range(1, len(now) + 1))
    named = {"context": context, "end": TIMES * context}
    draw_on(
        [
            kit.Drawn(words.trained.format(**named), places, trained.tolist(), "residual"),
            kit.Drawn(words.now.format(**named), places, now.tolist(), "query"),
        ],
        kit.Scale(1, len(places), words.pair_axis, marks=[(n, str(n)) for n in places]),
        kit.Scale(0, 1, words.circle_axis),
        key=f"{KEY}.turns",
        words={"picture": words.circle_axis},
        form="percent",
    )
    new = int((now > trained + 1e-9).sum())
    case = "none" if not new else "one" if new == 1 else "new"
    kit.prose(words.turns_read[case].format(count=new, pairs=len(places)))
    slots = {"size": model.SIZE, "times": TIMES, "end": TIMES * context}
    kit.show_code([model.frequencies], words.snippet.format(**slots), model.printed(context))


def _practice(found: Longer) -> None:
    cases = [
        kit.Case.mean(
            line_of(found, kind).label,
            found.far(kind),
            role=ROLES[kind.removesuffix(TUNED)],
        )
        for kind in record.KINDS
    ]
    axis = kit.Axis.over(cases, words.far_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.practice", form="figure")


def _first(found: Longer) -> None:
    """Draw what a window costs both twins, with and without the beginning."""
    cases, misses = [], {}
    for twin in reversed(TWINS):
        costs = {kept: found.cost(twin, WINDOWS[0], kept) for kept in ("", KEPT)}
        apart = costs[""] - costs[KEPT]  # of the same training, so its error is that of the pairs
        misses[twin] = against(apart, np.zeros_like(apart)) == "worse"
        cases += [
            kit.Case.mean(words.twins[f"{twin}{kept}"], cost, role="query" if kept else "key")
            for kept, cost in costs.items()
        ]
    axis = kit.Axis.over(cases, words.cost_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.first", form="figure")
    kit.prose(words.first_read[who_misses(misses)])
    kit.prose(words.first_large)
    kit.chapter_link("real", "first", words.first_seen)


def who_misses(misses: Mapping[str, bool]) -> str:
    """Return "both", "none", or the one twin that misses its beginning."""
    missing = [twin for twin in TWINS if misses[twin]]
    return missing[0] if len(missing) == 1 else "both" if missing else "none"


def numbers(found: Longer) -> dict[str, Any]:
    """Return what is said of the last words of the texts."""
    far = {kind: float(found.far(kind).mean()) for kind in record.KINDS}
    tuned = {way: far[f"{way}{TUNED}"] for way in record.WAYS}
    best = min(tuned, key=tuned.__getitem__)
    said = {way: f"{far[way]:.2f}" for way in ("linear", "ntk")}
    return said | {
        "best": f"“{words.ways[best]}”",
        "low": f"{tuned[best]:.2f}",
        "plain": f"{far['plain']:.2f}",
        "practised": f"{tuned['plain']:.2f}",
        "tuned": f"{np.mean(list(tuned.values())):.2f}",
    }
