"""Chapter "When it goes wrong": runs that overfit or do not learn, beside runs that do."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.curves.view import View
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.training import run_chart
from llmviz.course.lessons.training import started_runs as started
from llmviz.course.lessons.training.clicks import clicked
from llmviz.course.lessons.training.overfitting import words
from llmviz.course.lessons.training.started_runs import Titled
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.invented_names import names_learned_from
from llmviz.training.curves import Curve, CurveFile
from llmviz.training.experiments import EXPERIMENTS, PLANS, bundled, copied, read_card
from llmviz.training.reading import read_description
from llmviz.training.references import KEY as REFERENCES

KEY = "training.wrong"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    title, then = words.intro.title, lambda: _usual_axis(state)
    kit.choose_below_title(state, "failing", title, words.kinds, then, parts=True)
    kind = state["failing"]
    try:
        own = {name: _bundled(kind, name) for name in EXPERIMENTS[kind].runs}
    except ValueError:
        st.info(words.missing, icon=":material/download:")
        st.code(words.missing_command, language=None)
        return
    facts = facts_of(own)
    kit.prose(words.compared[kind])
    slot = f"_training_{kind}"
    _buttons(state, kind, slot)
    if kit.predict(question(kind, facts), f"{KEY}.{kind}", covers=True):
        growing = started.active(slot)
        run_chart.polled(
            partial(_chart, state, kind, list(own.values()), slot, growing), growing=growing
        )
        kit.prose(words.run_text[kind], **facts)
        if kind == "heart":
            _by_heart(state, own["heart"])
        _table(list(own.values()))
        _code(EXPERIMENTS[kind].runs[0], own)
        kit.seen(words.end, told=words.end_told[kind].format(**facts))


def _usual_axis(state: kit.PageState) -> None:
    """A loss that explodes, or goes to zero, asks for a logarithmic axis."""
    state["failog"] = state["failing"] in ("rate", "shift")


def title_of(kind: str, name: str) -> str:
    """What a run is called in one of the comparisons."""
    return words.runs_of.get(kind, {}).get(name, words.runs[name])


def _bundled(kind: str, name: str) -> Titled:
    """A bundled short run. Raises ValueError: it is not there, or damaged."""
    folder = bundled(name)
    description, curve = read_description(folder), _curve(str(folder))
    return Titled(name, folder, description, curve, title_of(kind, name))


@kit.kept(32)
def _curve(folder: str) -> Curve:
    return CurveFile(Path(folder)).read()


def facts_of(own: dict[str, Titled]) -> dict[str, Any]:
    """The numbers that the sentences name: ends, best points, peaks; keys as the sentences say."""
    facts: dict[str, Any] = {}
    for name, run in own.items():
        key, curve = name.replace("-", "_").replace("heart_all", "all"), run.curve
        facts[key] = curve.last_validation if curve.last_validation is not None else math.nan
        facts[f"{key}_train"] = float(curve.train[-1])
        facts[f"{key}_peak"] = float(curve.train.max())
        facts[f"{key}_norm"] = float(curve.grad_norm.max())
        half = curve.validation[curve.steps <= middle_step(curve)]
        facts[f"{key}_half"] = float(np.append(np.nan, half[~np.isnan(half)])[-1])
    first = next(iter(own.values()))
    facts |= {
        "steps": int(first.curve.steps[-1]),
        "blind": math.log(first.description["tokenizer"]["vocab_size"]),
        "unigram": first.description["data"][REFERENCES]["unigram"],
        "bigram": first.description["data"][REFERENCES]["bigram"],
        "peak": float(first.curve.train.max()),
        "middle_step": middle_step(first.curve),
        "best": float(np.nanmin(first.curve.validation)),
        "best_step": int(first.curve.steps[int(np.nanargmin(first.curve.validation))]),
    }
    if "rate-gone" in own:
        facts["gone"] = read_card("rate-gone")["line"].split(";")[0]
    return facts


def middle_step(curve: Curve) -> int:
    """The last step in the first half of a run at which the validation loss was measured."""
    measured = curve.steps[~np.isnan(curve.validation) & (curve.steps <= curve.steps[-1] / 2)]
    return int(measured[-1]) if measured.size else 0


def _buttons(state: kit.PageState, kind: str, slot: str) -> None:
    names = EXPERIMENTS[kind].runs
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        label = words.again.format(count=kit.count(len(names), "run"))
        pressed = clicked(label, f"wrong.{kind}", type="primary", icon=":material/play_arrow:")
        if started.names(slot):
            st.button(words.forget, on_click=started.forget, args=(slot,))
        st.toggle(words.log, **state.bind("failog"))
    if pressed and engine_ready():
        started.start(slot, {title_of(kind, name): PLANS[name] for name in names})
        st.rerun()
    started.problem()


def _chart(state: kit.PageState, kind: str, own: list[Titled], slot: str, growing: bool) -> None:
    if growing and not started.active(slot):
        st.rerun()
    mine = started.read(slot)
    drawn = mine or own
    order = [title_of(kind, name) for name in EXPERIMENTS[kind].runs]
    run_chart.chart(
        drawn,
        View("steps", "nats", 0.0, False, state["failog"]),
        key=f"{KEY}.{kind}",
        colours=[order.index(run.title) for run in drawn],
    )
    if mine or growing:
        st.caption(words.mine)
        for line in started.lines(slot):
            kit.warn(line)
        return
    card = read_card(own[0].name)
    made = words.made_by.format(command=card["command"], seconds=card["seconds"])
    st.caption(as_markdown(made))
    for run in own:
        if (line := read_card(run.name)["line"]) != "":
            ending = words.ended.format(title=run.title, line=line)
            kit.warn(ending)


def _by_heart(state: kit.PageState, run: Titled) -> None:
    """Which of the names that it wrote stand in its list."""
    kit.section(words.wrote_section)
    samples = {int(run.curve.steps[i]): text for i, text in run.curve.samples}
    steps = list(samples)
    at = state["by_heart"] if state["by_heart"] in steps else steps[-1]

    def moved(chosen: int) -> None:
        state["by_heart"] = -1 if chosen == steps[-1] else chosen

    st.select_slider(words.wrote_at, steps, width=420, **kit.tied("_by_heart@training", at, moved))
    names = training_names(run)
    known, new = copied(samples[at], names)
    text = words.wrote.format(
        all=len(known) + len(new),
        step=at,
        copied=len(known),
        some=words.wrote_some.format(names=_listed(known)) if known else "",
    )
    if new:
        text += words.wrote_new.format(names=_listed(new))
    letters = sum(len(name) + 1 for name in names) / len(names)
    floor = math.log(len(names)) / letters
    kit.prose(text)
    kit.prose(words.floor, floor=floor, ln=math.log(len(names)))


def training_names(run: Titled) -> list[str]:
    """The names that a run learned from."""
    plan = run.description["plan"]
    return names_learned_from(plan["corpus"], plan["fraction"], plan["split_seed"])


def _listed(names: list[str]) -> str:
    return ", ".join(kit.quote(name) for name in dict.fromkeys(names))


def _table(own: list[Titled]) -> None:
    rows = []
    for run in own:
        curve = run.curve
        measured = not np.isnan(curve.validation).all()
        best = int(np.nanargmin(curve.validation)) if measured else None
        rows.append(
            [
                run.title,
                f"{curve.steps[-1]:,.0f}",
                f"{curve.train[-1]:.3f}",
                f"{curve.last_validation:.3f}" if best is not None else words.not_measured,
                f"{curve.validation[best]:.3f}" if best is not None else words.not_measured,
                f"{curve.steps[best]:,.0f}" if best is not None else words.not_measured,
            ]
        )
    right = st.column_config.TextColumn(alignment="right")  # figures, though some are a dash
    formats = dict.fromkeys(list(words.table.values())[1:], right)
    kit.rows_table(rows, words.table.values(), width=820, column_config=formats)


def question(kind: str, facts: dict[str, Any]) -> kit.Question:
    """The question on a comparison, with the numbers of its runs."""
    if kind == "dropout":  # as far on the other side of the run with dropout
        facts = facts | {"mirrored": 2 * facts["dropout_train"] - facts["no_dropout_train"]}
    return kit.Question.of(getattr(words, f"ask_{kind}"), **facts)


def _code(name: str, own: dict[str, Titled]) -> None:
    from llmviz.training.experiments import make

    curve = own[name].curve
    kit.show_code(
        [make, copied],
        words.snippet.format(name=name),
        f"{int(curve.steps[-1])} {curve.train[-1]:.4f} {curve.last_validation:.4f}",
    )
