"""Chapter "Preferences": pairs of endings, a model that learns from them, and the loss of DPO."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.finetuning import typed_beginning
from llmviz.course.lessons.finetuning.preferences import words
from llmviz.course.lessons.finetuning.preferences.model import SETTINGS, recorded
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.finetuning.adapted import adapted_by
from llmviz.finetuning.continuations import continuation
from llmviz.finetuning.dpo import dpo_steps
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.preference_run import (
    BATCH,
    HELD_OUT,
    OWN_TEXTS,
    PROMPTS,
    SHOWN,
    SHOWN_SEED,
    Learned,
    Look,
    looks_every,
    pair_logs,
    pairs_for,
    shown_pairs,
)
from llmviz.finetuning.preferences import Pair
from llmviz.models import GPT
from llmviz.nn.lora_config import LoraConfig

KEY = "finetuning.preferences"
GUESS = f"{KEY}.likelier"
APART = 1.0  # nats between two answers of the question
RANK = 8
TOKENS = 40  # that are written behind the learner's story
LAYOUT = (
    ("now", "−", "before", "=", "gain"),
    ("better", "−", "worse", "=", "difference"),
    ("margin", "→", "probability", "→", "nats"),
)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show which of two endings a model finds likelier, then let it learn from such pairs."""
    kit.prose(words.hook, pairs=pairs_for(SETTINGS["steps"]))
    before = kit.or_refused(base_logs, base(), state["rule"]) if kit.models_here(BASE) else None
    if before is None:
        return
    number, trained, known = state["pair"] - 1, model_of(state), kit.or_refused(recorded)
    run = None if known is None else known[state["rule"]]
    asked = None if run is None or trained is not None else question(run, number)
    guess = kit.Guess(GUESS, asked)
    now, updates = None, 0
    if trained is not None:
        now, updates = logs_of(trained, state["rule"]), state["preferupdates"]
    elif run is not None:
        now, updates = recorded_at(run, SETTINGS["steps"] if guess.asks else state["preferat"])
    pair = shown_pairs(state["rule"])[number]
    with kit.stage("preferences"):
        cases = pair_rows(pair, before[number], None if now is None else now[number], updates)
        rarest = max(case.value or 1 for case in cases)
        if run is not None:  # the axis stays while the slider moves
            rarest = max(rarest, *(one_in(log) for look in run for log in look.logs[number]))
        rarest = max(rarest, *(value for (value,) in asked.values)) if asked else rarest
        if guess.asks:
            cases[3] = replace(cases[3], value=None, note="?")
        axis = kit.Axis(1, 10 * rarest, words.odds_axis, log=True)
        veiled = [1] * (len(cases) > 2)
        look: dict[str, Any] = {
            "veiled": veiled,
            "picture": f"{KEY}.pair",
            "form": "count",
            "mark": "dot",
        }
        guess.cases(cases, axis, **look)
        if guess.open:
            better, worse = map(float, (before if now is None else now)[number])
            kit.prose(thinks(better, worse, updates))
        guess.ask()
        if guess.open and trained is None and run is not None:
            every = looks_every(SETTINGS["steps"])
            st.slider(words.at, step=every, width=420, **state.ranged("preferat"))
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(state, "rule", words.rule, words.rules, then=state.setter(prefer=False))
            st.number_input(words.pair, width=110, **state.ranged("pair"))
        st.code(pair.story, language=None, wrap_lines=True)
    if guess.open and known is not None:
        kit.looks(state, words.looks, f"{KEY}.looks", **look_slots(known))
    _train(state, run)
    _own(state, trained)
    _loss(state, number, before if now is None else now, before)
    if guess.open:
        end = words.end_start
        if now is not None:
            right = int((now[:, 0] > now[:, 1]).sum())
            end = words.end_trained.format(right=of_pairs(right))
        likelier = int((before[:, 0] > before[:, 1]).sum())
        kit.seen(words.end, before=of_pairs(likelier), now=end)


def recorded_at(run: Sequence[Look], step: int) -> tuple[np.ndarray | None, int]:
    """Return ln P of the pairs at the last look of a recorded run up to a step, and its updates.

    None at step 0, where nothing has been learned.
    """
    look = [look for look in run if look.step <= step][-1]
    return (np.array(look.logs), look.step) if look.step else (None, 0)


def look_slots(run: dict[str, tuple[Look, ...]]) -> dict[str, object]:
    """Return what the looks say of the recorded runs: how many pairs have the better one ahead."""
    ahead = {
        rule: [sum(better > worse for better, worse in look.logs) for look in looks]
        for rule, looks in run.items()
    }
    return {
        f"{rule}_{when}": of_pairs(counts[at])
        for rule, counts in ahead.items()
        for when, at in (("before", 0), ("after", -1))
    } | {"updates": SETTINGS["steps"]}


def of_pairs(count: int) -> str:
    """Return in how many of the pairs that are shown something holds."""
    case = "all" if count == SHOWN else "some" if count else "none"
    return words.of_pairs[case].format(count=count, pairs=SHOWN)


@kit.cached(8)
def base_logs(bundled: engine.Bundled, rule: str) -> np.ndarray:
    """Return ln P of the endings under the base, (P, 2)."""
    return pair_logs(bundled.model, bundled.tokenizer, shown_pairs(rule))


@kit.cached(16)
def logs_of(model: GPT, rule: str) -> np.ndarray:
    """Return ln P of the endings under a trained model, (P, 2)."""
    return pair_logs(model, base().tokenizer, shown_pairs(rule))


def pair_rows(
    pair: Pair, before: np.ndarray, now: np.ndarray | None, updates: int
) -> list[kit.Case]:
    """Return each ending and how rare it is, and that after so many updates, if there were any.

    before, now (2,): ln P.
    """
    rows, texts = [], (pair.better, pair.worse)
    for which, text, role, first in zip(words.which, texts, ("value", "key"), before, strict=True):
        label = [(words.row["before"].format(which=which), False), (text, True)]
        rows.append(_row(label, float(first), role))
        if now is not None:
            later = words.row["now"].format(updates=updates, which=which)
            rows.append(_row(later, float(now[len(rows) // 2]), role))
    return rows


def _row(label: str | list[tuple[str, bool]], log: float, role: str) -> kit.Case:
    return kit.Case(label, one_in(log), note=f"1 in {two_digits(one_in(log))}", role=role)


def one_in(log: float) -> float:
    """Return of how many a chance is one, given as its logarithm."""
    return math.exp(min(-log, 700.0))


def two_digits(number: float) -> str:
    """Return a number as one would say it.

    >>> two_digits(1.27), two_digits(253_987), two_digits(7_300_000)
    ('1.3', '250,000', '7.3 million')
    """
    rounded = float(f"{number:.2g}")
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if size <= rounded < 1000 * size:
            return f"{rounded / size:,.3g} {name}"
    return f"{rounded:,.{1 if number < 10 else 0}f}" if number < 1e12 else kit.power_of_ten(number)


def question(run: Sequence[Look], number: int) -> kit.Question | None:
    """Return the question how rare the better ending of a pair becomes; None where it stays.

    The wrong answers are of somebody to whom it stays as it was, of one to whom it goes the other
    way, as many times, and of one to whom both endings change as many times.
    """
    (first, worse), (last, worse_now) = run[0].logs[number], run[-1].logs[number]
    if abs(last - first) < APART or first > -APART:
        return None
    mirror = min(2 * first - last, 0.0)
    way = "rose" if last > first else "fell"
    ahead = "ahead" if last - first > worse_now - worse else "behind"
    said = words.ask_worse[ahead].format(
        before=two_digits(one_in(worse)), now=two_digits(one_in(worse_now))
    )
    reasons = {one_in(first): words.ask_same, one_in(mirror): words.ask_mirror[way]}
    alike = min(first + worse_now - worse, 0.0)
    if min(abs(alike - log) for log in (first, mirror, last)) >= APART:
        reasons[one_in(alike)] = words.ask_alike
    reasons[one_in(last)] = f"{words.ask_right[way]} {said}"
    return kit.Question.among(
        words.ask,
        reasons,
        one_in(last),
        lambda value: f"1 in {two_digits(value)}",
        before=two_digits(one_in(first)),
        updates=SETTINGS["steps"],
    )


def thinks(better: float, worse: float, updates: int = 0) -> str:
    """Return what a model makes of a pair after so many updates, in a sentence; both as ln P."""
    kind = "same" if abs(better - worse) < 0.05 else "better" if better > worse else "worse"
    times = two_digits(one_in(-abs(better - worse)))
    when = words.when["now" if updates else "before"].format(updates=updates)
    return words.thinks[kind].format(when=when, times=times)


@kit.cached(12)
def run_of(rule: str, updates: int, beta: str) -> kit.Job:
    """Return a training in a process of its own; the same one is run only once."""
    target = "llmviz.finetuning.preference_run:preference_run"
    more = {"rank": RANK, "base": BASE}
    return kit.training_jobs().start(target, rule=rule, steps=updates, beta=float(beta), **more)


def given(state: kit.PageState) -> tuple[str, int, str]:
    """Return what makes a run: the rule, the updates, and β as the link writes it."""
    return state["rule"], state["preferupdates"], state["beta"]


def looks(job: kit.Job) -> list[Look]:
    """Return how the model was at each look so far."""
    return [result for result in list(job.results) if isinstance(result, Look)]


def model_of(state: kit.PageState) -> GPT | None:
    """Return the model that the learner's run ended with; None before."""
    if not state["prefer"]:
        return None
    job = kit.job_for(state, "prefer", run_of, given(state))
    done = job.over and any(isinstance(result, Learned) for result in job.results)
    return _model(job, base()) if done else None


@kit.cached(4)
def _model(job: kit.Job, bundled: engine.Bundled) -> GPT:
    (learned,) = (result for result in job.results if isinstance(result, Learned))
    return adapted_by(bundled.model, LoraConfig(RANK, 2.0 * RANK), learned.pairs)


def _train(state: kit.PageState, run: Sequence[Look] | None) -> None:
    """Show the controls, the button and the run; until there is one, the recorded one."""
    updates, anew = state["preferupdates"], state.setter(prefer=False)
    kit.section(
        words.train, pairs=pairs_for(updates), batch=BATCH, about=words.about[state["rule"]]
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        steps = state.ranged("preferupdates", then=anew)
        st.slider(words.updates, step=8, width=300, **steps)
        st.select_slider(words.beta, words.betas, width=300, **state.bind("beta", then=anew))
    if run is not None:
        took = run[-1].seconds * updates / run[-1].step
        st.caption(words.cost.format(updates=updates, seconds=took))
    kit.live(
        state,
        "prefer",
        run_of,
        given(state),
        lambda job: _results(state, looks(job), over=job.over),
        start=words.start,
        share=lambda job: looks(job)[-1].step / updates if looks(job) else 0.0,
    )
    if run is not None and not state["prefer"]:
        kit.prose(words.recorded, updates=run[-1].step, beta=SETTINGS["beta"])
        _results(state, run)


def _results(state: kit.PageState, so_far: Sequence[Look], *, over: bool = True) -> None:
    """Draw the looks at a run: its endings, how many pairs it has right, how far it has moved."""
    if not so_far:
        return
    updates = state["preferupdates"] if state["prefer"] else so_far[-1].step
    number = min(state["pair"], PROMPTS) - 1
    cases = [
        kit.Case(
            [
                (words.after.format(step=look.step), False),
                (look.endings[number].text or words.nothing, True),
            ],
            look.preferred,
        )
        for look in so_far
    ]
    axis = kit.Axis(0, 1, words.right_axis.format(count=HELD_OUT))
    kit.case_rows(cases, axis, key=f"{KEY}.looks_of_run")
    steps = [look.step for look in so_far]
    moved = [look.divergence for look in so_far]
    line = kit.Drawn(words.moved, steps, moved, "weights")
    x = kit.Scale(0, updates, words.updates)
    y = kit.Scale(0, max(0.1, *moved), words.moved_axis)
    kit.draw_on([line], x, y, key=f"{KEY}.moved", words={}, form="figure")
    kit.prose(report(so_far[-1], looks_every(updates)))
    if over and so_far[-1].step == updates:
        kit.section(words.over)
        kit.prose(told_over(so_far))


def report(last: Look, every: int) -> str:
    """Return where a run stands, in a sentence."""
    times = math.exp(min(50.0, last.divergence))
    read = words.read.format(updates=last.step, every=every, preferred=new_pairs(last.preferred))
    moved = words.read_moved.format(
        moved=last.divergence,
        own=OWN_TEXTS,
        times=f"{times:,.2f}" if times < 100 else f"{times:,.0f}",
    )
    return f"{read} {moved}"


def new_pairs(share: float) -> str:
    """Return in which share of the new pairs the better ending has gained more, as said."""
    kind = "all" if share == 1 else "some" if share else "none"
    return words.new_pairs[kind].format(share=kit.percent(share))


def told_over(so_far: Sequence[Look]) -> str:
    """Return how far the model went on after as many pairs were right as ever would be."""
    best = max(so_far, key=lambda look: (look.preferred, -look.step))
    kind = "never" if not best.preferred else "end" if best is so_far[-1] else "before"
    return words.over_best[kind].format(
        share=new_pairs(best.preferred),
        step=best.step,
        then=best.divergence,
        now=so_far[-1].divergence,
    )


def _own(state: kit.PageState, trained: GPT | None) -> None:
    """Show how the base and the model of the last run end the learner's story."""
    kit.section(words.own)
    text = typed_beginning.ask(state, "beginning", words.beginning, words.empty)
    if text is None:
        return
    for label, model in zip(words.models, (base().model, trained), strict=True):
        written = words.not_yet if model is None else ending(model, text)
        kit.prose(words.own_line.format(label=label, text=kit.quote(written, 300)))


@kit.cached(64)
def ending(model: GPT, text: str) -> str:
    """Return what a model writes behind a story."""
    written = continuation(model, base().tokenizer, text, TOKENS).text.strip()
    return written or words.nothing


def _loss(state: kit.PageState, number: int, now: np.ndarray, before: np.ndarray) -> None:
    """Show the loss of each pair as linked matrices, from log-probabilities to nats."""
    rule, beta = state["rule"], float(state["beta"])
    kit.section(words.loss)
    matrices = matrices_of(now.tobytes(), before.tobytes(), beta)
    first = f"nats.{number}.0"
    kit.show(state, matrices, LAYOUT, key=f"{KEY}.loss", control="pairscell", first=first)
    loss = float(np.mean(matrices[-1].values))
    kit.prose(words.loss_read["same" if now is before else "now"], loss=loss, beta=state["beta"])
    slots = {"name": BASE, "rule": rule, "shown": SHOWN, "seed": SHOWN_SEED, "beta": beta}
    shown = f"{[f'{value:.2f}' for value in before[0]]}\n{math.log(2):.4f}"
    kit.show_code([dpo_steps, pair_logs], words.snippet_loss_picture.format(**slots), shown)


@kit.cached(32)
def matrices_of(now: bytes, before: bytes, beta: float) -> tuple[lv.Matrix, ...]:
    """Return the linked matrices; now and before are (P, 2) float64 as bytes, for the key."""
    after, first = (np.frombuffer(raw).reshape(-1, 2) for raw in (now, before))
    gain = after - first
    difference = gain[:, :1] - gain[:, 1:]
    margin = beta * difference
    nats = np.logaddexp(0, -margin)
    columns = (
        after,
        first,
        gain,
        gain[:, :1],
        gain[:, 1:],
        difference,
        margin,
        np.exp(-nats),
        nats,
    )
    values = dict(zip(words.labels, columns, strict=True))
    ops = {
        "gain": lv.subtracted("now", "before"),
        "better": lv.columns("gain", 0),
        "worse": lv.columns("gain", 1),
        "difference": lv.subtracted("better", "worse"),
        "margin": lv.scaled("difference", beta, words.times_beta.format(beta=f"{beta:g}")),
        "probability": lv.function("margin", words.sigma),
        "nats": lv.function("probability", words.minus_ln),
    }
    roles = {"better": "value", "worse": "key", "probability": "weights", "nats": "accent"}
    rows = [words.pair_row.format(number=number + 1) for number in range(len(gain))]
    return tuple(
        lv.Matrix(
            name,
            values[name],
            label,
            formula,
            rows,
            words.which if values[name].shape[1] == 2 else (),
            role=roles.get(name, "neutral"),
            op=ops.get(name),
            scale="sequential" if name in ("probability", "nats") else "auto",
            limit=1.0 if name == "probability" else None,
        )
        for name, (label, formula) in words.labels.items()
    )
