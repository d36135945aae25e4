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
from llmviz.training.curves import Curve, CurveFile, smooth
from llmviz.training.mistakes import EXPERIMENTS, PLANS, bundled, copied, read_card
from llmviz.training.reading import read_description

KEY = "training.wrong"
SMOOTH = 0.8
TOP = 6.0  # nats, of the picture: so its height does not tell how high a line will climb
KNOWN = {"heart": 2}  # losses that are told before the question
WRONG = {  # what somebody might draw: see `question`
    "heart": ("along", "level"),
    "rate": (),
    "shift": ("other", "blind"),
    "warmup": ("other", "blind"),
    "dropout": ("other", "along"),
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a run that goes wrong up to where one has to guess, then all of it."""
    kind = state["failing"]
    try:
        own = {name: _bundled(kind, name) for name in EXPERIMENTS[kind].runs}
    except ValueError:
        st.info(words.missing, icon=":material/download:")
        st.code(words.missing_command, language=None)
        return
    kit.prose(words.hook[kind])
    guess = kit.Guess(f"{KEY}.guess", question(kind, own))
    revealed = guess.open
    with kit.stage("wrong"):
        _picture(kind, own, guess)
        guess.ask()
        if revealed or "along" in WRONG[kind]:
            _at_step(state, own[EXPERIMENTS[kind].runs[0]], revealed=revealed)
        title, then = words.kinds_title, lambda: _usual_axis(state)
        kit.choose_below_title(state, "failing", title, words.kinds, then, parts=True)
    if not revealed:
        return
    kit.looks(state, words.looks, f"{KEY}.looks")
    facts = facts_of(own)
    kit.section(words.happened)
    kit.prose(words.run_text[kind], **facts)
    how = words.how_run[kind].format(**facts)
    if kind == "heart":
        names = training_names(own["heart"])
        floor = floor_of(names)
        how += words.floor.format(floor=floor, names=len(names), ln=math.log(len(names)))
    kit.measured(how)
    kit.section(words.all_lines)
    slot = f"_training_{kind}"
    _buttons(state, kind, slot)
    drawing = partial(_chart, state, kind, list(own.values()), slot)
    kit.polled(drawing, partial(started.active, slot), run_chart.POLL)
    _code(EXPERIMENTS[kind].runs[0], own)
    kit.seen(words.end, told=words.end_told[kind].format(**facts))


def measured(run: Titled) -> tuple[list[int], list[float]]:
    """Return steps and losses of a run on new names, where they were measured."""
    there = np.flatnonzero(np.isfinite(run.curve.validation))
    steps = run.curve.steps[there].astype(int)
    return steps.tolist(), run.curve.validation[there].tolist()


def question(kind: str, own: dict[str, Titled]) -> kit.Question | None:
    """Ask for the loss of the failing run on new names; None where nothing can be asked."""
    failing, other = (own[name] for name in EXPERIMENTS[kind].runs[:2])
    steps, losses = measured(failing)
    known = KNOWN.get(kind, 0)
    later, truth = steps[known:], np.array(losses[known:])
    blind = math.log(failing.description["tokenizer"]["vocab_size"])
    lines = {
        "along": lambda: np.interp(later, failing.curve.steps, smooth(failing.curve.train, SMOOTH)),
        "level": lambda: np.full(len(later), losses[known - 1]),
        "other": lambda: np.interp(later, *measured(other)),
        "blind": lambda: np.full(len(later), blind),
    }
    values = {"right": truth} | {name: lines[name]() for name in WRONG[kind]}
    if len(values) == 1:
        return None
    about = {"steps": steps[-1], "from_step": steps[max(known, 1) - 1], "end": losses[-1]}
    return kit.Question(
        words.ask[kind].format(**about),
        [words.answers[f"{kind} right" if name == "right" else name] for name in values],
        0,
        [words.reasons[f"{kind} {name}"].format(**about) for name in values],
        values=[tuple(map(float, line)) for line in values.values()],
    )


def _picture(kind: str, own: dict[str, Titled], guess: kit.Guess) -> None:
    """The losses on new names; that of the failing run is drawn on by hand."""
    failing, *others = (own[name] for name in EXPERIMENTS[kind].runs)
    revealed, known = guess.open, KNOWN.get(kind, 0)
    lines = []
    if "along" in WRONG[kind]:
        curve = failing.curve
        train = smooth(curve.train, SMOOTH).tolist()
        label = words.own_names.format(run=failing.title)
        lines.append(kit.Drawn(label, curve.steps.tolist(), train, "residual"))
    for run, role in zip(others, ("key", "value", "residual"), strict=False):
        if measured(run)[0] and (revealed or "other" in WRONG[kind]):
            lines.append(kit.Drawn(words.new_names.format(run=run.title), *measured(run), role))
    whole = kit.Drawn(words.new_names.format(run=failing.title), *measured(failing), "loss")
    guess.line(
        lines,
        whole,
        kit.Scale(0, whole.x[-1], words.step),
        kit.Scale(0, max(TOP, *(1.05 * y for line in (*lines, whole) for y in line.y)), words.axis),
        known=known,
        picture=f"{KEY}.{kind}.line",
        levels=[(math.log(failing.description["tokenizer"]["vocab_size"]), words.blind)],
    )


def _at_step(state: kit.PageState, run: Titled, *, revealed: bool) -> None:
    """What a run writes at a step; once it is told, what it costs and which names are copies."""
    samples = {int(run.curve.steps[i]): text for i, text in run.curve.samples}
    steps = list(samples)
    at = state["by_heart"] if state["by_heart"] in steps else steps[-1]

    def moved(chosen: int) -> None:
        state["by_heart"] = -1 if chosen == steps[-1] else chosen

    st.select_slider(words.wrote_at, steps, width=420, **kit.tied("_by_heart@training", at, moved))
    kit.prose(caption(run, at, samples[at], revealed=revealed))


def caption(run: Titled, step: int, text: str, *, revealed: bool) -> str:
    """Say what a run writes at a step, and what its own names and new ones cost it there."""
    curve, names = run.curve, training_names(run)
    there = int(np.searchsorted(curve.steps, step))
    known, new = copied(text, names)
    loss = curve.validation[there]
    case = "before" if not revealed else "told" if np.isfinite(loss) else "plain"
    said = words.caption[case].format(step=step, train=float(curve.train[there]), loss=float(loss))
    if not known and not new:
        return f"{said} {words.wrote_nothing}"
    if not revealed:
        return f"{said} {words.wrote.format(names=_listed(text.split()))}"
    if not known:
        return f"{said} {words.wrote_no_copy.format(names=_listed(new))}"
    line = words.wrote_copies["each" if len(set(known)) == len(known) else "again"]
    lit = line.format(all=len(known) + len(new), copied=len(known), names=_listed(known))
    return f"{said} {lit} {words.wrote_new.format(names=_listed(new)) if new else ''}"


def floor_of(names: list[str]) -> float:
    """Return what a letter of a list costs on average somebody who knows the list by heart."""
    return math.log(len(names)) * len(names) / sum(len(name) + 1 for name in names)


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


@kit.cached(32)
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
        half = curve.validation[curve.steps <= curve.steps[-1] / 2]
        facts[f"{key}_half"] = float(np.append(np.nan, half[~np.isnan(half)])[-1])
    first = next(iter(own.values()))
    facts |= {
        "steps": int(first.curve.steps[-1]),
        "blind": math.log(first.description["tokenizer"]["vocab_size"]),
        "best": float(np.nanmin(first.curve.validation)),
        "best_step": int(first.curve.steps[int(np.nanargmin(first.curve.validation))]),
    }
    if "rate-gone" in own:
        facts["gone"] = read_card("rate-gone")["line"].split(";")[0]
    return facts


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


def training_names(run: Titled) -> list[str]:
    plan = run.description["plan"]
    return names_learned_from(plan["corpus"], plan["fraction"], plan["split_seed"])


def _listed(names: list[str]) -> str:
    return ", ".join(kit.quote(name) for name in dict.fromkeys(names))


def _code(name: str, own: dict[str, Titled]) -> None:
    from llmviz.training.mistakes import make

    curve = own[name].curve
    kit.show_code(
        [make, copied],
        words.snippet.format(name=name),
        f"{int(curve.steps[-1])} {curve.train[-1]:.4f} {curve.last_validation:.4f}",
    )
