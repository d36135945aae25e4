"""Chapter "Curves": runs beside each other, known losses to compare them with, and forks."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.curves.view import OFFERED, View, hidden_of, step_of
from llmviz.course.lessons.training import charted_runs, run_chart
from llmviz.course.lessons.training.charted_runs import ChartedRun
from llmviz.course.lessons.training.curves import checkpoint, words
from llmviz.course.ui import kit, runs
from llmviz.course.ui.paint_order import pictures_first
from llmviz.training import run_folders
from llmviz.training.curves import CSV_HEAD, csv_rows, smooth
from llmviz.training.forks import EXERCISES

KEY = "training.curves"
_WATCHED = "_training_watched"  # in the session: the run that was seen while it trained
START = ("names-gpt", "names-gru", "names-bigram")
NEAR = 0.02  # nats: closer than that to the line of pairs is neither above nor below
WEIGHTS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)


def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    growing = any(map(charted_runs.is_growing, _wanted(state, charted_runs.available())))
    drawn: list[ChartedRun] = []
    run_chart.polled(partial(_chapter, state, growing, drawn), growing=growing)
    _download(drawn)


def _wanted(state: kit.PageState, names: list[str]) -> list[str]:
    """The runs on the chart; at first the visitor's own, and three that come with the project."""
    if state["runs"]:
        return [name for name in state["runs"] if name in names or _is_there(name)]
    own = [run_folders.PREFIX + run.name for run in runs.mine()]
    return [*own[:5], *(name for name in START if name in names)]


def _choose(state: kit.PageState) -> list[str]:
    names = charted_runs.available()
    wanted = _wanted(state, names)
    for name in set(state["runs"]) - set(wanted):
        try:
            charted_runs.folder_of(name)
        except ValueError as error:
            kit.refuse(error)
    st.multiselect(
        words.runs,
        list(dict.fromkeys([*wanted, *names])),
        format_func=charted_runs.label,
        **state.several("runs"),
        **kit.tied(f"_runs@{state.page}", wanted, partial(state.__setitem__, "runs")),
        help=words.runs_help,
    )
    return wanted


def _is_there(name: str) -> bool:
    try:
        return bool(charted_runs.folder_of(name))
    except ValueError:
        return False


def _read(names: list[str]) -> list[ChartedRun]:
    """Those of the runs that have a point by now; the others are refused with the reason."""
    charted = []
    for name in names:
        try:
            run = charted_runs.read(name)
        except ValueError as error:
            if runs.manager().run(run_folders.split_name(name)[0]) is None:
                kit.refuse(error)
            continue
        if len(run.curve):
            charted.append(run)
    return charted


def _view(state: kit.PageState) -> View:
    return View(state["axis"], state["unit"], state["mean"], state["logx"], state["logy"])


def _chapter(state: kit.PageState, growing: bool, drawn: list[ChartedRun]) -> None:
    """The chart and all texts about it: what is done on the chart reruns no more than this.

    `drawn` holds the runs that are on the chart from then on.
    """
    names = _choose(state)
    if growing != any(map(charted_runs.is_growing, names)):
        st.rerun()  # which begins the polling, or ends it
    drawn[:] = _read(names)
    if not drawn:
        st.info(words.nothing, icon=":material/show_chart:")
        return
    main = drawn[0].name
    grows = charted_runs.is_growing(main)
    if grows:
        st.session_state[_WATCHED] = main
    watched = st.session_state.get(_WATCHED) == main  # what was seen is not covered at its end
    quiz = None if grows else question(drawn[0])  # a run that goes on has no last step
    shown = quiz is None or kit.predict(quiz, "training.lines", covers=not watched) or watched
    at = None if state["at"] < 0 else state["at"]
    if shown:
        _chart(state, drawn, at)
    if not growing:  # or each second's look at a run would last longer
        pictures_first()
    checkpoint.draw(state, drawn[0], at)
    checkpoint.fork_told(drawn[0])
    if shown:
        _about(drawn[0])
    _code(drawn[0], state["mean"])
    if shown and not grows and (line := end(drawn[0])):
        kit.seen(words.end, told=line)


def _chart(state: kit.PageState, drawn: list[ChartedRun], at: int | None) -> None:
    run_chart.chart(
        drawn,
        _view(state),
        key=KEY,
        at=at,
        weights=WEIGHTS,
        offered=OFFERED,
        on_view=partial(run_chart.take_view, state, KEY, {name: name for name in OFFERED}),
        on_at=lambda: state.__setitem__("at", step_of(KEY)),
        hidden=[run.name for run in drawn[1:] if run.name in state["hide"]],
        on_hidden=partial(_hide, state),
    )


def end(main: ChartedRun) -> str:
    """Return what was seen of a run: its last losses. Empty where one of them is no number."""
    train, loss = float(main.curve.train[-1]), main.curve.last_validation
    if loss is None or not np.isfinite([train, loss]).all():
        return ""
    text = words.end_higher if loss > train else words.end_lower
    if main.description.get("plan", {}).get(EXERCISES):
        text = words.end_exercises
    unit = words.end_units[main.counted]
    return text.format(name=kit.quote(main.label), train=train, loss=loss, unit=unit)


def _hide(state: kit.PageState) -> None:
    """Put into the link which runs were hidden on the chart; a browser may send anything."""
    chosen = hidden_of(KEY)
    known = state["runs"] or _wanted(state, charted_runs.available())
    state["hide"] = [name for name in known if name in chosen]


def _download(drawn: list[ChartedRun]) -> None:
    """Offer the runs of the chart, as they are at the click.

    The button is not drawn again while they grow: its file would have another name each second,
    and a click in between would ask for one that is gone.
    """

    def table() -> bytes:
        rows = [CSV_HEAD]
        for run in list(drawn):
            rows += csv_rows(run.label, run.curve)
        return ("\n".join(rows) + "\n").encode("utf-8")

    st.download_button(
        words.csv, table, "runs.csv", "text/csv", icon=":material/download:", on_click="ignore"
    )


def _about(main: ChartedRun) -> None:
    """What the lines mean for this run, in its own numbers."""
    references, loss = charted_runs.references_of(main), main.curve.last_validation
    if references is None or loss is None:
        return
    counts, corpus = references
    numbers = {
        "name": kit.quote(main.label),
        "corpus": kit.quote(corpus),
        "loss": f"{loss:.3f}",
        "vocabulary": f"{np.exp(counts.uniform):,.0f}",
        "uniform": f"{counts.uniform:.2f}",
        "unigram": f"{counts.unigram:.2f}",
        "bigram": f"{counts.bigram:.2f}",
        "tokens": f"{counts.tokens:,}",
    }
    copies = copied(main.description)
    said = against_pairs(counts.bigram - loss) if copies is None else words.copies[copies]
    text = f"{words.lines.format(**numbers)} {said}"
    if counts.floor is not None and copies is None:
        text += " " + words.floor.format(
            floor=f"{counts.floor:.2f}",
            documents=counts.floor_documents,
            apart=beside_floor(loss, counts.floor),
        )
    kit.prose(text)


def beside_floor(loss: float, floor: float) -> str:
    """Say how far a validation loss is from the floor, which was measured on other texts."""
    text = words.floor_above if loss >= floor else words.floor_below
    return text.format(share=kit.percent(abs(loss / floor - 1)))


def against_pairs(below: float) -> str:
    """Say what follows from how far a validation loss is below the line of pair counts, in nats."""
    if abs(below) <= NEAR:
        return words.near.format(near=NEAR)
    return (words.below if below > 0 else words.above).format(gap=f"{abs(below):.2f}")


def copied(description: dict[str, Any]) -> str | None:
    """Return the setting by which a model was shown what it predicts; None if it was not."""
    config = description["model"].get("config", {})
    if not config.get("shift", True):
        return "shift"
    return None if config.get("mask", "causal") == "causal" else "mask"


def first_below(main: ChartedRun, line: float) -> int | None:
    """The step of the first measured validation loss below a line; None if there is none."""
    curve = main.curve
    below = np.flatnonzero(curve.validation < line)
    return int(curve.steps[below[0]]) if below.size else None


def question(main: ChartedRun) -> kit.Question | None:
    """Ask when a run first was below the line of pairs; None where that cannot be seen.

    A run that comes within 0.05 nats below the line, and no further, is not asked about: on the
    chart nobody could tell. Nor is one that was not measured in its first quarter and is below
    the line when it first is, nor one that is shown what it has to predict.
    """
    reference, losses = charted_runs.references_of(main), main.curve.validation
    if reference is None or np.isnan(losses).all() or copied(main.description) is not None:
        return None
    line: float = reference[0].bigram
    step, last = first_below(main, line), int(main.curve.steps[-1])
    measured = int(main.curve.steps[np.flatnonzero(~np.isnan(losses))[0]])
    if step == measured > last / 4:
        return None
    best = float(np.nanmin(losses))
    if step is None:
        right, why = 2, words.ask_never.format(best=f"{best:.3f}", line=f"{line:.2f}")
    elif line - best < 0.05:
        return None
    else:
        right = 0 if step <= last / 4 else 1
        why = words.ask_first.format(step=f"{step:,}", last=f"{last:,}", line=f"{line:.2f}")
    reasons = [why if i == right else words.ask_wrong for i in range(3)]
    values = {"name": kit.quote(main.label), "line": f"{line:.2f}"}
    return kit.Question.rated(words.ask, words.ask_answers, right, reasons, **values)


def _code(main: ChartedRun, weight: float) -> None:
    if not main.is_bundled:
        where = f"find_run({main.name!r})"
        start = "from llmviz.training.run_folders import find_run\n"
    else:
        where, start = f"Path('data/checkpoints/{main.name}')", "from pathlib import Path\n"
    train = main.curve.train
    kit.show_code(
        [smooth],
        start + words.snippet.format(where=where, weight=weight),
        f"{round(float(train[0]), 4)} {round(float(smooth(train, weight)[-1]), 4)}",
    )
