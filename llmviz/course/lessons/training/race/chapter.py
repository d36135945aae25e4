"""Chapter "The race": seven kinds of models on the same names, bundled and trained again here."""

from functools import partial

import streamlit as st

from llmviz.course.components.curves.view import View
from llmviz.course.document.marks import as_markdown
from llmviz.course.figures.history import network_number
from llmviz.course.lessons.training import charted_runs, run_chart
from llmviz.course.lessons.training import started_runs as started
from llmviz.course.lessons.training.clicks import clicked
from llmviz.course.lessons.training.race import STEPS, standings, words
from llmviz.course.lessons.training.started_runs import Titled
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.invented_names import invented_names, names_learned_from
from llmviz.training.mistakes import copied
from llmviz.training.permissions import ACTIVE_EACH

INVENTED_NAMES = 8  # names
LONGEST = 20  # letters


def draw_names(state: kit.PageState, there: list[str]) -> None:
    """Let every model write some names from one seed."""
    if not there:
        return
    kit.section(words.invent, count=INVENTED_NAMES)
    st.number_input(words.invent_seed, width=150, **state.ranged("inventing"))
    if not engine_ready():
        return
    lines = []
    for name in there:
        settings = engine.load(name), state["inventing"]
        written = invented(*settings)
        listed = ", ".join(kit.quote(text) for text in written)
        lines.append(
            words.invented.format(
                name=words.models[name][0], listed=listed, known=_known(*settings)
            )
        )
    kit.prose("\n\n".join(lines))
    _names_code(there[-1], state["inventing"])


@kit.kept(128)
def invented(bundled: engine.Bundled, seed: int) -> list[str]:
    """Return the names that a model writes from a seed."""
    return invented_names(bundled.model, bundled.tokenizer, seed, INVENTED_NAMES, LONGEST)


@kit.kept(128)
def _known(bundled: engine.Bundled, seed: int) -> int:
    """How many of the names that a model writes stand in the list that it learned from."""
    return len(copied("\n".join(invented(bundled, seed)), _learned_from())[0])


_learned_from = kit.kept(1)(names_learned_from)


def _names_code(name: str, seed: int) -> None:
    from llmviz.sampling import generate

    kit.show_code(
        [generate],
        words.snippet_names.format(name=name, seed=seed, asked=INVENTED_NAMES, longest=LONGEST),
        "\n".join(invented(engine.load(name), seed)),
        label=words.invent_code,
    )


KEY = "training.race.chart"
SLOT = "_training_race"
SLOTS = {"axis": "raxis", "unit": "runit"}  # what the chart offers, by the page's controls


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the standings, the guess and the looks, then the curves, the names, and a race here."""
    there = [name for name in words.models if name in engine.names()]
    missing = [name for name in words.models if name not in there]
    if missing:
        command = f"python -m llmviz checkpoints make {missing[0]}"
        text = words.missing.format(names=", ".join(missing), command=command)
        st.info(as_markdown(text), icon=":material/download:")
    titled = [_read(name) for name in there]
    full = [run for run in titled if run is not None]
    shown, numbers = True, None
    if len(full) >= 3:
        kit.prose(words.hook, models=len(full))
        guess = kit.Guess(standings.GUESS, standings.question(full))
        told = guess.open
        with kit.stage("race", stays=False):
            standings.rows(state, full, guess, told=told)
        shown = guess.ask()
        numbers = standings.end(full) if shown else None
    if shown and not missing:
        kit.looks(state, words.looks, "training.race.looks", **standings.quickest(full))
    kit.section(words.intro)
    _who(state)
    drawn = [run for run in full if run.name in state["who"]]
    if not drawn and not started.names(SLOT):
        st.info(words.none_chosen, icon=":material/touch_app:")
    elif shown:
        growing = partial(started.active, SLOT)
        kit.polled(lambda _: _chart(state, drawn), growing, run_chart.POLL)
    if full and shown:
        _code(full[-1])
    draw_names(state, there)
    _again(state, there)
    if numbers is not None:
        kit.seen(words.end, **numbers)


def _read(name: str) -> Titled | None:
    try:
        return started.titled(charted_runs.read(name), words.models[name][0])
    except ValueError as error:
        kit.refuse(error)
        return None


def _who(state: kit.PageState) -> None:
    st.pills(
        words.who,
        list(words.models),
        selection_mode="multi",
        format_func=lambda name: words.models[name][0],
        wrap=True,
        **state.bind("who"),
    )


def _chart(state: kit.PageState, drawn: list[Titled]) -> None:
    mine = started.read(SLOT)
    if not drawn and not mine:
        return
    colours = [network_number(run.name) for run in drawn]
    colours += [len(words.models) + i for i in range(len(mine))]
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
        kit.warn(line)


def _code(run: Titled) -> None:
    from llmviz.training.curves import CurveFile

    kit.show_code(
        [CurveFile],
        words.snippet.format(given=", ".join(repr(name) for name in ("names-bigram", run.name))),
        "\n".join(
            f"{name} {len(curve)} {curve.last_validation:.4f}"
            for name in ("names-bigram", run.name)
            for curve in [charted_runs.read(name).curve]
        ),
    )


def _again(state: kit.PageState, there: list[str]) -> None:
    """Start the same runs on this machine."""
    kit.section(words.again_section)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.multiselect(
            words.again_who.format(most=ACTIVE_EACH),
            there,
            format_func=lambda name: words.models[name][0],
            **state.several("again"),
            width=380,
            **state.bind("again"),
        )
        choices = sorted({*STEPS, state["asteps"]})
        st.selectbox(words.again_steps, choices, width=130, **state.bind("asteps"))
        chosen = [name for name in state["again"] if name in there]
        pressed = clicked(
            words.again.format(count=kit.count(len(chosen), "run")),
            "race.again",
            type="primary",
            icon=":material/play_arrow:",
            disabled=not chosen,
        )
        if started.names(SLOT):
            st.button(words.again_forget, on_click=started.forget, args=(SLOT,))
    if pressed and engine_ready():
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
        plan_of_title[words.yours.format(name=words.models[name][0])] = plan
    return plan_of_title
