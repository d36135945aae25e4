"""The nine models on the same axes: what each costs and what it brings."""

from functools import partial

import numpy as np
import streamlit as st

from llmviz.course.figures.history import by_measure
from llmviz.course.figures.networks import network_number
from llmviz.course.lessons.history.all import nine, words
from llmviz.course.lessons.history.all.nine import Measured, measures
from llmviz.course.ui import kit
from llmviz.evaluation.nine_models import COUNTED, NINE, TIE, Written, reach

KEY = "history.all.axes"
COUNT, LONGEST = 100, 15  # names that each writes, and the letters of the longest
POLL = 0.5  # seconds between two looks at the job
LISTED = 3  # names of each that are shown


def draw(state: kit.PageState) -> None:
    """Show the chart of two measures, and what the models write."""
    kit.section(words.axes)
    names = {key: title.format(count=COUNT) for key, title in words.measures.items()}
    left, right = st.columns(2, gap="medium")
    for place, key, label in ((left, "across", words.across), (right, "up", words.up)):
        place.selectbox(label, list(names), format_func=names.__getitem__, **state.bind(key))
    job = kit.going_job(f"{KEY}.write", _writing, state["wseed"]) if state["wrote"] else None
    going = job is not None and not job.over
    st.fragment(partial(_growing, state, job, going), run_every=POLL if going else None)()
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    left.number_input(words.write_seed, **state.ranged("wseed"))
    right.button(
        words.write.format(count=COUNT),
        icon=":material/edit_note:",
        on_click=partial(state.__setitem__, "wrote", True),
    )
    _code()


@kit.kept(16)
def _writing(seed: int) -> kit.Job:
    target = "llmviz.evaluation.nine_models:write_names"
    return kit.training_jobs().start(target, count=COUNT, seed=seed, longest=LONGEST)


def _growing(state: kit.PageState, job: kit.Job | None, going: bool) -> None:
    """The chart, as far as the nine have written."""
    if going and job is not None and job.over:
        st.rerun()  # which ends the polling
    if job is not None and job.problem:
        _writing.forget(state["wseed"])
        kit.refuse_failed(job)
    written = {} if job is None else {result.key: result for result in list(job.results)}
    if job is not None and not job.over:
        done = len(written)
        text = words.writing.format(done=done, all=len(NINE)) if done else words.waits
        st.progress(done / len(NINE), text)
    chosen = (state["across"], state["up"])
    if any(key in ("write_rate", "new") for key in chosen) and not written:
        st.info(words.unwritten, icon=":material/edit_note:")
    else:
        speeds = tuple((result.key, _rate(result), result.new) for result in written.values())
        st.plotly_chart(_figure(*chosen, speeds, kit.theme()), key=f"{KEY}.chart")
    if written:
        listed = "; ".join(
            words.wrote_one.format(
                model=words.models[result.key],
                names=", ".join(kit.quote(name) for name in result.names[:LISTED]),
            )
            for result in written.values()
        )
        kit.prose(words.wrote, seed=state["wseed"], listed=listed)


def _rate(result: Written) -> float:
    return result.tokens / max(result.seconds, 1e-9)


def value_of(model: Measured, measure: str, speeds: dict[str, tuple[float, int]]) -> float:
    """Return a measure of one of the nine; NaN where it was not measured yet."""
    if measure in ("write_rate", "new"):
        rate, new = speeds.get(model.key, (np.nan, np.nan))
        return float(rate if measure == "write_rate" else new)
    return float(getattr(model, measure))


@kit.kept(64)
def _figure(
    across: str, up: str, speeds: tuple[tuple[str, float, int], ...], mode: kit.Mode
) -> kit.Figure:
    known = {key: (rate, new) for key, rate, new in speeds}
    points = {
        words.models[model.key]: (value_of(model, across, known), value_of(model, up, known))
        for model in measures()
    }
    numbers = [network_number(model.key) for model in measures()]
    titles = [words.measures[key].format(count=COUNT) for key in (across, up)]
    return by_measure(points, numbers, titles, [key in words.powers for key in (across, up)], mode)


def lowest(models: tuple[Measured, ...]) -> str:
    """Say which of the nine has the lowest loss, and which of those that were trained."""
    first = min(models, key=lambda model: model.loss)
    order = sorted((model for model in models if model.key not in COUNTED), key=lambda m: m.loss)
    trained = order[0]
    near = [words.models[model.key] for model in order[1:] if model.loss - trained.loss <= TIE]
    follow = "follows" if len(near) == 1 else "follow"
    ties = words.lowest_ties.format(others=kit.listed(near), follow=follow, tie=TIE)
    text = words.lowest.format(
        best=words.models[first.key],
        low=first.loss,
        trained=words.models[trained.key],
        trained_low=trained.loss,
        parameters=trained.parameters,
        ties=ties if near else "",
    )
    if first.key != "counted-fours":
        return text
    return text + words.counts_win.format(known=kit.percent(_known()))


@kit.kept(1)
def _known() -> float:
    from llmviz.corpus import load_corpus

    held_out = list(load_corpus("names").split(0.1, 0)[1])
    table = nine.counted("counted-fours")
    return table.grams.known(held_out, table.n)


def _code() -> None:
    gpt = next(model for model in measures() if model.key == "names-gpt")
    kit.show_code(
        [reach],
        words.snippet_axes,
        f"{gpt.parameters} {gpt.context}",
    )
