"""Chapter "The race": seven kinds of models on the same names, bundled and trained again here."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from llmviz.components.curves.view import View
from llmviz.lessons.training import charted_runs, run_chart
from llmviz.lessons.training import model_picker as readers
from llmviz.lessons.training import started_runs as started
from llmviz.lessons.training.clicks import clicked
from llmviz.lessons.training.race import names as race_names
from llmviz.lessons.training.race import words
from llmviz.lessons.training.race.params import STEPS
from llmviz.lessons.training.started_runs import Titled
from llmviz.training.run_state import ACTIVE_EACH
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.common import count, refuse
from llmviz.ui.lesson import section
from llmviz.ui.notices import warn
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState, tied

KEY = "training.race.chart"
SLOT = "_training_race"
EARLY = 20.0  # seconds of training after which the order by speed is read
SLOTS = {"axis": "raxis", "unit": "runit"}  # what the chart offers, by the page's controls


def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    there = [name for name in words.MODELS if name in engine.names()]
    missing = [name for name in words.MODELS if name not in there]
    if missing:
        command = f"python -m llmviz checkpoints make {missing[0]}"
        text = words.MISSING.format(names=", ".join(missing), command=command)
        st.info(text, icon=":material/download:")
    titled = [_read(name) for name in there]
    full = [one for one in titled if one is not None]
    if len(full) >= 3:
        asked = question(full)
        if asked is not None:
            predict(asked, "training.race.best")  # before the picture that answers it
    _who(state)
    drawn = [one for one in full if one.name in state["who"]]
    if not drawn and not started.names(SLOT):
        st.info(words.NOBODY, icon=":material/touch_app:")
        return
    growing = started.active(SLOT)
    run_chart.polled(partial(_chart, state, drawn, growing), growing)
    if len(full) >= 3:
        _table(state, full)
    if full:
        _code(full[-1])
    race_names.draw(state, there)
    _again(state, there)


def _read(name: str) -> Titled | None:
    try:
        return started.titled(charted_runs.read(name), words.MODELS[name][0])
    except ValueError as error:
        refuse(error)
        return None


def _who(state: PageState) -> None:
    st.pills(
        words.WHO,
        list(words.MODELS),
        selection_mode="multi",
        format_func=lambda name: words.MODELS[name][0],
        wrap=True,
        **state.bind("who"),
    )


def _chart(state: PageState, drawn: list[Titled], growing: bool) -> None:
    if growing and not started.active(SLOT):
        st.rerun()
    mine = started.read(SLOT)
    if not drawn and not mine:
        return
    order = list(words.MODELS)
    colours = [order.index(one.name) for one in drawn]
    colours += [len(order) + i for i in range(len(mine))]
    view = View(state["raxis"], state["runit"], 0.9)
    all_of_them = [*drawn, *mine]
    run_chart.chart(
        all_of_them,
        view,
        key=KEY,
        main=len(drawn) - 1 if drawn else 0,
        offered=tuple(SLOTS),
        on_view=partial(run_chart.take_view, state, KEY, SLOTS),
        colours=colours,
    )
    for line in started.lines(SLOT):
        warn(line)


def _table(state: PageState, full: list[Titled]) -> None:
    """What each had reached by a step, and what it then wrote."""
    longest = max(full, key=lambda one: len(one.curve.samples))
    steps = [int(longest.curve.steps[i]) for i, _ in longest.curve.samples]
    at = state["rstep"] if state["rstep"] in steps else steps[-1]

    def moved(chosen: int) -> None:
        state["rstep"] = -1 if chosen == steps[-1] else chosen

    st.select_slider(
        words.AT,
        steps,
        format_func=lambda step: f"{step:,}",
        width=420,
        **tied("_rstep@training", at, moved),
    )
    rows = [_row(one, at) for one in full]
    table = pd.DataFrame(rows, columns=list(words.COLUMNS.values()))
    three = st.column_config.NumberColumn(format="%.3f")
    formats = {words.COLUMNS[key]: three for key in ("validation", "training")}
    formats[words.COLUMNS["parameters"]] = st.column_config.TextColumn(alignment="right")
    st.dataframe(table, hide_index=True, column_config=formats)
    prose(report(full, at))


def _row(one: Titled, step: int) -> list[object]:
    curve = one.curve
    at = int(np.searchsorted(curve.steps, step))
    at = min(at, len(curve) - 1)
    texts = {int(curve.steps[i]): text for i, text in curve.samples}
    return [
        one.title,
        words.MODELS[one.name][1],
        f"{one.description['parameters']:,}",
        round(float(curve.seconds[at])),
        loss_by(one, step),
        float(curve.train[at]),
        texts.get(step, words.NOT_YET),
    ]


def loss_by(one: Titled, step: int) -> float:
    """The last validation loss measured up to a step; NaN before there is one."""
    known = one.curve.validation[one.curve.steps <= step]
    measured = known[~np.isnan(known)]
    return float(measured[-1]) if measured.size else float("nan")


def after(one: Titled, seconds: float) -> float:
    """The last validation loss measured within some seconds of training; NaN before one."""
    known = one.curve.validation[one.curve.seconds <= seconds]
    measured = known[~np.isnan(known)]
    return float(measured[-1]) if measured.size else float("nan")


def report(full: list[Titled], step: int) -> str:
    """Say who is ahead at a step, who was within the first seconds, and who learns by heart."""
    order = sorted(full, key=lambda one: np.nan_to_num(loss_by(one, step), nan=np.inf))
    quick = min(full, key=lambda one: np.nan_to_num(after(one, EARLY), nan=np.inf))
    text = words.END.format(
        step=step,
        first=order[0].title,
        loss=loss_by(order[0], step),
        second=order[1].title,
        gap=loss_by(order[1], step) - loss_by(order[0], step),
        last=order[-1].title,
        worst=loss_by(order[-1], step),
    )
    if not np.isnan(after(quick, EARLY)):
        text += words.QUICK[quick is order[0]].format(
            seconds=f"{EARLY:g}", quick=quick.title, loss=after(quick, EARLY)
        )
    low = min(full, key=_train)
    place = sorted(full, key=_end).index(low) + 1
    if place > 1:
        gap = _end(low) - _train(low)
        text += " " + words.OVERFIT.format(
            name=low.title, train=_train(low), place=place, loss=_end(low), gap=gap
        )
    return text


def _train(one: Titled) -> float:
    return float(one.curve.train[-1])


def _end(one: Titled) -> float:
    loss = one.curve.last_validation
    return float("inf") if loss is None else loss


def question(full: list[Titled]) -> Question | None:
    """Ask which model ends best on new names; None where the lowest training loss tells it.

    None as well where two models end alike in the digits that are shown.
    """
    low, order = min(full, key=_train), sorted(full, key=_end)
    if order[0] is low or f"{_end(order[0]):.3f}" == f"{_end(order[1]):.3f}":
        return None
    asked = list({one.name: one for one in (low, order[-1], order[0], order[2])}.values())
    asked.sort(key=lambda one: one.title)
    return Question(
        words.ASK.format(
            low=low.title,
            train=_train(low),
            step=int(low.curve.steps[-1]),
            count=f"{low.description['data']['validation_documents']:,}",
        ),
        [_answer(one) for one in asked],
        asked.index(order[0]),
        [
            (words.ASK_RIGHT if one is order[0] else words.ASK_WRONG).format(
                name=one.title,
                loss=_end(one),
                place=order.index(one) + 1,
                all=len(order),
            )
            for one in asked
        ],
    )


def _answer(one: Titled) -> str:
    """What one can go by before looking: a model's size and its training loss."""
    return words.ASK_ANSWER.format(
        name=one.title,
        parameters=one.description["parameters"],
        train=_train(one),
    )


def _code(one: Titled) -> None:
    from llmviz.training.curves import CurveFile

    show_code(
        [CurveFile],
        "from pathlib import Path\n"
        "from llmviz.training.curves import CurveFile\n\n"
        f"for name in ({', '.join(repr(name) for name in ('names-bigram', one.name))}):\n"
        "    curve = CurveFile(Path('data/checkpoints') / name).read()\n"
        "    print(name, len(curve), f'{curve.last_validation:.4f}')",
        "\n".join(
            f"{name} {len(curve)} {curve.last_validation:.4f}"
            for name in ("names-bigram", one.name)
            for curve in [charted_runs.read(name).curve]
        ),
    )


def _again(state: PageState, there: list[str]) -> None:
    """Start the same runs on this machine."""
    section(words.AGAIN_TITLE, words.AGAIN_TEXT)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.multiselect(
            words.AGAIN_WHO.format(most=ACTIVE_EACH),
            there,
            format_func=lambda name: words.MODELS[name][0],
            max_selections=ACTIVE_EACH,
            width=380,
            **state.bind("again"),
        )
        choices = sorted({*STEPS, state["asteps"]})
        st.selectbox(words.AGAIN_STEPS, choices, width=130, **state.bind("asteps"))
        chosen = [name for name in state["again"] if name in there]
        pressed = clicked(
            words.AGAIN.format(count=count(len(chosen), "run")),
            "race.again",
            type="primary",
            icon=":material/play_arrow:",
            disabled=not chosen,
        )
        if started.names(SLOT):
            st.button(words.AGAIN_FORGET, on_click=started.forget, args=(SLOT,))
    if pressed and readers.engine_ready():
        started.start(SLOT, plans(chosen, state["asteps"]))
        st.rerun()
    started.problem()


def plans(names: list[str], steps: int) -> dict:
    """Return the plans of some bundled models with fewer steps, by what their runs are called."""
    from llmviz.training.recipes import plan_of

    plan_of_title = {}
    for name in names:
        plan = plan_of(
            name,
            steps=steps,
            warmup_steps=min(100, steps // 4),
            eval_every=max(1, steps // 10),
            eval_batches=6,
            log_every=max(1, steps // 100),
            sample_every=max(1, steps // 4),
            checkpoint_every=0,
            threads=1,
            compile="off",
        )
        plan_of_title[words.YOURS.format(name=words.MODELS[name][0])] = plan
    return plan_of_title
