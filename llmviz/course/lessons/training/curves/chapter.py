"""Chapter "Curves": runs beside each other, known losses to compare them with, and forks."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.curves.view import OFFERED, View, hidden_of, step_of
from llmviz.course.lessons.training import charted_runs, run_chart, run_film, started_runs
from llmviz.course.lessons.training.charted_runs import ChartedRun
from llmviz.course.lessons.training.curves import checkpoint, race, words
from llmviz.course.ui import kit, runs
from llmviz.runs import store
from llmviz.training.curves import CSV_HEAD, csv_rows, smooth
from llmviz.training.forks import EXERCISES

KEY = "training.curves"
GUESS = "training.lines"
KNOWN = 6  # of a run, the first part of this many that is drawn before the question
PLACES = 12  # at which the rest is drawn by hand, at most
POINTS = 200  # of the line of training losses
APART = 0.08  # of the axis, on average, between the answers of the question
_WATCHED = "_training_watched"  # in the session: the run that was seen while it trained
START = ("names-gpt", "names-gru", "names-bigram")
NEAR = 0.02  # nats: closer than that to the line of pairs is neither above nor below
WEIGHTS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)


def draw(state: kit.PageState) -> None:
    """Show the first part of a run and how it goes on, then runs beside each other."""
    drawn: list[ChartedRun] = []

    def growing() -> bool:
        return any(map(charted_runs.is_growing, _wanted(state, charted_runs.available())))

    kit.polled(lambda _: _chapter(state, drawn), growing, run_chart.POLL)
    _download(drawn)


def _wanted(state: kit.PageState, names: list[str]) -> list[str]:
    """The runs on the chart; at first the visitor's own, and three that come with the project."""
    if state["runs"]:
        return [name for name in state["runs"] if name in names or _is_there(name)]
    own = [store.PREFIX + run.name for run in runs.mine()]
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
            if runs.manager().run(store.split_name(name)[0]) is None:
                kit.refuse(error)
            continue
        if len(run.curve):
            charted.append(run)
    return charted


def _chapter(state: kit.PageState, drawn: list[ChartedRun]) -> None:
    """The chart and all texts about it: what is done on the chart reruns no more than this.

    `drawn` holds the runs that are on the chart from then on.
    """
    hook, stage = st.container(), kit.stage("curves")
    with st.popover(words.another, icon=":material/tune:"):
        names = _choose(state)
    drawn[:] = _read(names)
    with hook:
        read = drawn[0].description["data"]["corpus"] if drawn else ""
        kit.prose(words.hook.get(read, words.hook["other"]))
    if not drawn:
        st.info(words.nothing, icon=":material/show_chart:")
        return
    main = drawn[0]
    grows = charted_runs.is_growing(main.name)
    if grows:
        st.session_state[_WATCHED] = main.name
    watched = st.session_state.get(_WATCHED) == main.name  # what was seen is not covered at its end
    guess = kit.Guess(
        GUESS, None if grows or watched else question(main)
    )  # a run that goes on has no end
    at = None if state["at"] < 0 else state["at"]
    shown = guess.open
    with stage:
        told = guess.given is not None and not grows and len(measured(main)[0]) > 1
        if guess.question is not None or told:
            _guess(guess, main)
        guess.ask()
        if shown:
            _chart(state, drawn, at)
            if not grows and run_film.has_film(main):
                run_film.draw(state, main)
    if shown:
        kit.looks(state, words.looks, f"{KEY}.looks")
    checkpoint.draw(state, main, at)
    checkpoint.fork_told(main)
    kit.section(words.intro)
    if shown:
        _about(main)
    _code(main, state["mean"])
    racers = [name for name in words.racers if name in charted_runs.available()]
    race.draw(state, [started_runs.titled(run, words.racers[run.name]) for run in _read(racers)])
    if shown and not grows and (line := end(main)):
        kit.seen(words.end, told=line)


def _guess(guess: kit.Guess, main: ChartedRun) -> None:
    """Draw the validation losses of a run's beginning; the hand draws on, and then all is told."""
    steps, losses, known = measured(main)
    revealed = guess.open
    train = trained(main, steps[-1] if revealed else steps[known - 1])
    references = charted_runs.references_of(main)
    levels = [(references[0].uniform, words.blind)] if references else []
    heights = [*losses, *train.y, *(at for at, _ in levels)]
    guess.line(
        [train],
        kit.Drawn(words.validation, steps, losses, "loss"),
        kit.Scale(0, steps[-1], words.step),
        kit.Scale(min(0.0, *losses), 1.05 * max(heights), words.axis),
        known=known,
        picture=f"{KEY}.guess",
        levels=levels,
    )
    wrote = [
        (int(main.curve.steps[i]), kit.quote(" ".join(text.split())[:60]))
        for i, text in main.curve.samples
        if revealed or main.curve.steps[i] <= steps[known - 1]
    ]
    if wrote:
        (step, text), (last, end) = wrote[0], wrote[-1]
        case = "later" if last > step else "wrote"
        kit.prose(words.caption[case], step=step, text=text, last=last, end=end)


def trained(main: ChartedRun, until: int) -> kit.Drawn:
    """Return the smoothed loss on what a run learns from, up to a step."""
    curve = main.curve
    there = np.flatnonzero(np.isfinite(curve.train) & (curve.steps <= until))
    means = smooth(curve.train[there], 0.8)
    kept = np.unique(np.linspace(0, there.size - 1, POINTS).round().astype(int))
    kept = kept[: there.size]
    return kit.Drawn(
        words.train,
        curve.steps[there][kept].tolist(),
        means[kept].tolist(),
        "residual",
    )


def measured(main: ChartedRun) -> tuple[list[int], list[float], int]:
    """Return steps and losses of a run's validation, and how many of them are told at first.

    Of what comes later, some places that lie evenly, the last among them.
    """
    curve = main.curve
    there = np.flatnonzero(np.isfinite(curve.validation))
    steps, losses = curve.steps[there], curve.validation[there]
    known = max(2, int((steps <= steps[-1] / KNOWN).sum())) if there.size else 0
    later = np.arange(known, there.size)
    if later.size > PLACES:
        later = np.unique(np.linspace(known, there.size - 1, PLACES).round().astype(int))
    kept = [*range(min(known, there.size)), *later.tolist()]
    return [int(steps[i]) for i in kept], [float(losses[i]) for i in kept], known


def _chart(state: kit.PageState, drawn: list[ChartedRun], at: int | None) -> None:
    run_chart.chart(
        drawn,
        View(*(state[key] for key in ("axis", "unit", "mean", "logx", "logy"))),
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
    references, loss = charted_runs.references_of(main), main.curve.last_validation
    if references is None or loss is None:
        return
    counts, _ = references
    numbers = {
        "name": kit.quote(main.label),
        "loss": f"{loss:.3f}",
        "unigram": f"{counts.unigram:.2f}",
        "bigram": f"{counts.bigram:.2f}",
    }
    copies = copied(main.description)
    said = against_pairs(counts.bigram - loss) if copies is None else words.copies[copies]
    text = f"{words.lines.format(**numbers)} {said}"
    if counts.floor is not None and copies is None:
        text += " " + words.floor.format(
            floor=f"{counts.floor:.2f}", apart=beside_floor(loss, counts.floor)
        )
    kit.prose(text)
    if counts.floor is not None and copies is None:
        kit.measured(words.how_floor, documents=counts.floor_documents)


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


def question(main: ChartedRun) -> kit.Question | None:
    """Ask how a validation loss goes on; None where too little was measured to tell.

    The wrong answers are those of a ruler laid along the last two losses, and of somebody to whom
    the bend is past. None where the loss is climbing already, or falls as fast as the ruler.
    """
    steps, losses, known = measured(main)
    if known < 2 or len(steps) - known < 2:
        return None
    later, truth = np.array(steps[known:]), np.array(losses[known:])
    last, before = losses[known - 1], losses[known - 2]
    slope = (last - before) / (steps[known - 1] - steps[known - 2])
    ruler = np.maximum(0, last + slope * (later - steps[known - 1]))
    near = APART * max(losses)
    if slope >= 0 or (truth - ruler).mean() < near:
        return None
    level = np.full(later.size, last)
    case = "above" if truth[-1] - min(last, *truth) > near else "down"
    values = {"ruler": ruler, "level": level, case: truth}
    if np.abs(level - truth).mean() < near:
        case = "level"
        values["level"] = values.pop("down", truth)
        values.pop("above", None)
    about = {"last": steps[-1], "loss": losses[-1]}
    return kit.Question(
        words.ask.format(step=steps[known - 1], **about),
        [words.ask_answers[name] for name in values],
        list(values).index(case),
        [
            (words.ask_level if name == case == "level" else words.ask_reasons[name]).format(
                **about
            )
            for name in values
        ],
        values=[tuple(map(float, line)) for line in values.values()],
    )


def _code(main: ChartedRun, weight: float) -> None:
    if not main.is_bundled:
        where = f"find_run({main.name!r})"
        start = "from llmviz.runs.store import find_run\n"
    else:
        where, start = f"Path('data/checkpoints/{main.name}')", "from pathlib import Path\n"
    train = main.curve.train
    kit.show_code(
        [smooth],
        start + words.snippet.format(where=where, weight=weight),
        f"{round(float(train[0]), 4)} {round(float(smooth(train, weight)[-1]), 4)}",
    )
