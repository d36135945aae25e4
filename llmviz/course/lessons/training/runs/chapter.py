"""Chapter "Train one": start a run, watch it, pause it, keep it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.curves.view import View, step_of
from llmviz.course.lessons.training import charted_runs, run_chart, run_film
from llmviz.course.lessons.training.charted_runs import ChartedRun
from llmviz.course.lessons.training.clicks import clicked
from llmviz.course.lessons.training.loss_unit import PAIR, blind, random_words
from llmviz.course.lessons.training.runs import cost, form, presets, words
from llmviz.course.ui import kit, runs
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.runs import store
from llmviz.runs.manager import RunManager
from llmviz.runs.visitors import RESUMABLE, RunState
from llmviz.training.curves import time_left
from llmviz.training.measures import perplexity
from llmviz.training.reading import CONFIG, MODEL, steps_saved

LARGEST_ZIP = 200_000_000  # bytes of weights that are packed for a download
FIRST_POINT = 0.9  # seconds that a start waits for the first point of its curve
ACTED = "_training_acted"  # in the session: a button was answered, and the page is of before
PROBLEM = "_training_problem"  # in the session: why the last thing asked for was not done


def begin(state: kit.PageState, start: Callable[[], RunState]) -> None:
    """Start a run and look at it; a refusal is kept for the next drawing of the page."""
    try:
        run = start()
    except ValueError as error:
        st.session_state[PROBLEM] = str(error)
    else:
        state["run"], state["at"] = store.PREFIX + run.name, -1
        runs.manager().wait(run.name, FIRST_POINT)
    st.rerun()


def draw_panel(state: kit.PageState, run: RunState | None, charted: ChartedRun | None) -> None:
    if st.session_state.pop(ACTED, False):
        st.rerun()  # all of the page, which says how busy the machine is
    if charted is not None and charted.is_bundled:
        return
    with st.container(border=True):
        last, steps = _progress(run, charted)
        st.markdown(_headline(run, charted))
        if run is None or run.state != "waiting":
            st.progress(min(1.0, last / max(1, steps)), text=_speed(run, charted, last, steps))
        if run is not None and run.line:
            kit.warn(run.line)
        elif run is None and charted is not None and (line := charted.wrong):
            kit.warn(line)
        _buttons(state, run, charted)


def _progress(run: RunState | None, charted: ChartedRun | None) -> tuple[int, int]:
    last = int(charted.curve.steps[-1]) if charted and len(charted.curve) else 0
    if run is not None:
        return last, run.steps
    return last, charted.steps if charted else 1


def _headline(run: RunState | None, charted: ChartedRun | None) -> str:
    if run is None:
        assert charted is not None
        going = words.elsewhere if charted_runs.is_growing(charted.name) else words.at_rest
        return f"**{kit.escape_markdown(charted.label)}** · {going}"
    state = words.states[run.state]
    if run.state == "waiting":
        manager = runs.manager()
        state = words.place.format(
            before=kit.count(manager.queue_position(run.name), "run"), waiting=manager.waiting
        )
    kept = words.kept if run.kept else ""
    return f"**{kit.escape_markdown(runs.label(run))}** · {state}{kept}"


def _speed(run: RunState | None, charted: ChartedRun | None, last: int, steps: int) -> str:
    if charted is None or not len(charted.curve):
        return words.preparing
    text = words.progress.format(last=f"{last:,}", steps=f"{steps:,}")
    if run is not None and run.state == "training":
        text += words.rate.format(rate=f"{charted.curve.rate[-1]:,.0f}", unit=charted.counted)
        left = time_left(charted.curve, steps)
        if left is not None:
            text += words.left.format(time=kit.duration(left))
    return text


def _buttons(state: kit.PageState, run: RunState | None, charted: ChartedRun | None) -> None:
    manager, owner = runs.manager(), runs.visitor()
    if run is None:
        if charted and _can_go_on(charted):
            name = store.split_name(charted.name)[0]
            _act(words.go_on, "play_arrow", lambda: _take_up(state, name, owner))
        return
    if not manager.controls(run.name, owner):
        st.caption(words.watching_kept if run.kept else words.watching)
        return
    with st.container(horizontal=True):
        if run.active and run.state != "stopping":
            _act(words.pause, "pause", lambda: manager.pause(run.name, owner))
            _act(words.stop, "stop_circle", lambda: manager.stop(run.name, owner))
        elif run.state in RESUMABLE:
            _act(
                words.go_on,
                "play_arrow",
                lambda: _take_up(state, run.name, owner),
                type="primary",
            )
        if not run.kept and run.state != "stopping":
            _keep(state, run, owner)
            if not run.active:
                _act(words.delete, "delete", lambda: manager.discard(run.name, owner))


def _can_go_on(charted: ChartedRun) -> bool:
    """Whether a run on the disk is not at its end and nobody writes it."""
    last = int(charted.curve.steps[-1]) if len(charted.curve) else 0
    unfinished = last < charted.steps and charted.plan is not None
    return unfinished and not charted.is_bundled and not charted_runs.is_growing(charted.name)


def _act(label: str, icon: str, act: Callable[[], object], **more: Any) -> None:
    """A button that acts before the script runs, so that no `st.rerun()` can lose the click."""

    def answer() -> None:
        st.session_state[ACTED] = True
        try:
            act()
        except ValueError as error:
            st.session_state[PROBLEM] = str(error)

    st.button(label, icon=f":material/{icon}:", key=f"run.{icon}", on_click=answer, **more)


def _take_up(state: kit.PageState, name: str, owner: str) -> None:
    run = runs.manager().resume(name, owner)
    state["run"] = store.PREFIX + run.name
    runs.manager().wait(run.name, FIRST_POINT)


def _keep(state: kit.PageState, run: RunState, owner: str) -> None:
    with st.popover(words.keep, icon=":material/bookmark_add:"):
        st.caption(words.keep_text.format(root=kit.escape_markdown(str(store.root()))))
        wanted = st.text_input(words.keep_name, runs.label(run), max_chars=60)
        if clicked(words.keep_button, f"run.keep.{run.name}", type="primary"):
            try:
                runs.manager().keep(run.name, owner, wanted)
            except ValueError as error:
                kit.refuse(error)
                return
            state["run"] = ""
            st.rerun()


KEY, GUESS = "training.live", "training.runs.pause"


def draw(state: kit.PageState) -> None:
    """Show a run's curve with its film, the button that starts one, and all that can be set."""
    kit.prose(words.hook)
    manager = kit.or_refused(runs.manager)
    if manager is None:
        return
    manager.warm()
    if state["run"]:  # after F5 the link names it; it is this visitor's again if nobody else has it
        runs.come_back(state["run"])
    above = st.container()
    with kit.stage("runs"):
        kit.Guess(GUESS, kit.Question.of(words.ask)).ask()
        picture, side = st.columns([3, 2], gap="medium")
    below = st.container()
    with below:
        kit.prose(words.preset_texts[state["preset"]])
        form.own_text(state)  # before the button, which needs it
    with above, st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            words.preset,
            list(words.presets),
            format_func=words.presets.get,
            label_visibility="collapsed",
            width=210,
            **state.bind("preset", lambda: presets.use(state, state["preset"])),
        )
        with st.container(width="content"):  # beside the menu on a phone, too
            st.fragment(partial(_start, state))()
    with below:
        unknown = _time_unknown(state)
        settings = partial(_settings, state, unknown, form.needs_own_text(state), _works(state))
        st.fragment(settings, run_every=run_chart.POLL if unknown else None)()
        names = charted_runs.available()
        name = _chosen(state, names)
    with picture:
        charted = _read(state, name)
        if charted is None:
            return

        def growing() -> bool:
            return charted_runs.is_growing(name) or any(run.active for run in runs.mine())

        kit.polled(lambda _: _live(state, name), growing, run_chart.POLL)
        if name == charted_runs.FIRST:
            st.caption(words.bundled.format(steps=charted.steps))
    rests = not charted_runs.is_growing(charted.name)
    film = None
    if rests and run_film.has_film(charted):
        with side:
            film = run_film.draw(state, charted)
        kit.looks(state, words.looks, f"{KEY}.looks")
    if rests:
        _weights(charted)
        _told(charted)
    _code(charted)
    if film is not None:
        run_film.code(state, charted, film)
    if rests and (line := end(charted)):
        kit.seen(words.end, told=line)


def _weights(charted: ChartedRun) -> None:
    """Offer the weights of a run with its config and tokenizer, as one file."""

    def packed() -> bytes:
        from llmviz.training.export import zipped

        return zipped(charted.folder)

    saved = [] if charted.is_bundled else steps_saved(charted.folder)
    if not saved or (saved[-1][1] / MODEL).stat().st_size > LARGEST_ZIP:
        return
    look: dict[str, Any] = {
        "icon": ":material/download:",
        "on_click": "ignore",
        "key": "run.weights",
    }
    name = store.split_name(charted.name)[0]
    st.download_button(words.weights, packed, f"{name}.zip", "application/zip", **look)


def end(charted: ChartedRun) -> str:
    """Return what was seen of a run at rest; empty where one of its losses is no number."""
    curve = charted.curve
    if not curve.train.size or not np.isfinite([curve.train[0], curve.train[-1]]).all():
        return ""
    return words.told_end.format(
        name=kit.quote(charted.label),
        steps=kit.count(int(curve.steps[-1]), "step"),
        time=kit.duration(float(curve.seconds[-1])),
        first=float(curve.train[0]),
        last=float(curve.train[-1]),
        unit=words.end_units[charted.counted],
    )


def _time_unknown(state: kit.PageState) -> bool:
    """Whether a process is going to measure how long a step of the present plan takes."""
    try:
        plan, text = form.plan_and_text(state)
    except ValueError:
        return False
    return cost.is_being_timed(plan, text)


def _works(state: kit.PageState) -> bool:
    """Whether a run of the present settings can be started."""
    try:
        return cost.works(*form.plan_and_text(state))
    except ValueError:
        return False


def _start(state: kit.PageState) -> None:
    """Show the button; all that can be set stands below the picture."""
    pressed = clicked(
        words.start,
        "run.start",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not _works(state),
    )
    if pressed and _works(state):
        plan, text = form.plan_and_text(state)
        begin(state, lambda: runs.manager().start(runs.visitor(), plan, text))
    if problem := st.session_state.pop(PROBLEM, ""):
        kit.refuse(problem)


def _settings(state: kit.PageState, unknown: bool, own_text: str, works: bool) -> None:
    """The short form, what the run would cost, and every other setting behind a fold."""
    if unknown and not _time_unknown(state):
        st.rerun()  # which ends the polling
    if form.needs_own_text(state) != own_text or _works(state) != works:
        st.rerun()  # the box for it, or the button, stands above
    form.short(state)
    place = st.container()
    box = kit.fold(words.settings, "_training.settings", ":material/tune:")
    if box is not None:
        with box:
            if engine_ready():
                form.fields(state)
    with place:
        if form.awaits_file(state):
            kit.inform(words.no_file, ":material/upload_file:")
            return
        planned = kit.or_refused(form.plan_and_text, state)
        if planned is not None:
            cost.show(*planned)
        st.caption(_machine(runs.manager()))


def _machine(manager: RunManager) -> str:
    training = manager.training
    if not training:
        return words.free.format(limit=kit.count(manager.limit, "run"))
    line = words.busy.format(training=kit.count(training, "run"), limit=manager.limit)
    if manager.waiting:
        line += " " + words.queue.format(waiting=kit.count(manager.waiting, "run"))
    return line


def _chosen(state: kit.PageState, names: list[str]) -> str:
    """The run to look at: the one chosen, else the visitor's newest, else a bundled one."""
    mine = [store.PREFIX + run.name for run in runs.mine()]
    wanted = state["run"] or (mine[0] if mine else charted_runs.FIRST)
    if wanted not in names:
        names.append(wanted)
    st.selectbox(
        words.show,
        names,
        format_func=charted_runs.label,
        **kit.tied(f"_run@{state.page}", wanted, partial(_choose, state)),
        accept_new_options=True,
        help=words.show_help.format(root=kit.escape_markdown(str(store.root()))),
        width=420,
    )
    return wanted


def _choose(state: kit.PageState, name: str | None) -> None:
    if not name:
        return
    if name not in charted_runs.available():
        try:  # a folder that was typed
            name = store.PREFIX + store.run_name(store.find_run(name))
        except ValueError as error:
            st.session_state[PROBLEM] = str(error)
            return
    state["run"] = name


def _read(state: kit.PageState, name: str) -> ChartedRun | None:
    try:
        return charted_runs.read(name)
    except ValueError as error:
        if _run(name) is None:
            kit.refuse(error)
            return None
    kit.polled(lambda _: draw_panel(state, _run(name), None), partial(_waits, name), run_chart.POLL)
    return None


def _run(name: str) -> RunState | None:
    return runs.manager().run(store.split_name(name)[0])


def _waits(name: str) -> bool:
    run = _run(name)
    return run is not None and run.active and not (run.folder / CONFIG).exists()


def _live(state: kit.PageState, name: str) -> None:
    """A run's panel and its curve; drawn again each second while something goes on."""
    try:
        charted = charted_runs.read(name)
    except ValueError:  # kept under another name, or deleted
        _follow(state, name)
        return
    draw_panel(state, _run(name), charted)
    if len(charted.curve):
        at = None if state["at"] < 0 else state["at"]
        run_chart.chart(
            [charted],
            View(),
            key=KEY,
            at=at,
            on_at=lambda: state.__setitem__("at", step_of(KEY)),
        )


def _told(charted: ChartedRun) -> None:
    curve, loss = charted.curve, charted.curve.last_validation
    if loss is None:
        return
    if charted.counted == PAIR:
        kit.prose(_told_pairs(charted, loss))
        return
    kit.prose(
        words.told,
        name=kit.quote(charted.label),
        steps=kit.count(int(curve.steps[-1]), "step"),
        tokens=kit.count(int(curve.tokens[-1]), "token"),
        time=kit.duration(float(curve.seconds[-1])),
        loss=loss,
        perplexity=perplexity_told(loss, charted.description["tokenizer"]["vocab_size"]),
    )


def perplexity_told(loss: float, vocabulary: int) -> str:
    """Say what a loss in nats is as a perplexity, beside the number of tokens there are."""
    value = perplexity(loss)
    text = words.told_perplexity["above" if round(value, 1) > vocabulary else "below"]
    return text.format(value=value, vocabulary=vocabulary)


def _told_pairs(charted: ChartedRun, loss: float) -> str:
    """The same of word2vec, which answers questions on pairs of words."""
    curve, negatives = charted.curve, random_words(charted.description)
    return words.told_pairs.format(
        name=kit.quote(charted.label),
        steps=kit.count(int(curve.steps[-1]), "step"),
        pairs=kit.count(int(curve.tokens[-1]), "pair"),
        time=kit.duration(float(curve.seconds[-1])),
        loss=loss,
        negatives=kit.count(negatives, "random word"),
        questions=1 + negatives,
        blind=blind(charted.description),
    )


def _follow(state: kit.PageState, name: str) -> None:
    state["run"] = ""
    st.rerun()


def _code(charted: ChartedRun) -> None:
    if not charted.is_bundled or not len(charted.curve):
        return
    from llmviz.training.curves import CurveFile

    curve = charted.curve
    kit.show_code(
        [CurveFile],
        words.snippet.format(name=charted.name),
        f"{len(curve)} {int(curve.steps[-1])} {round(curve.last_validation or 0, 4)}",
    )
