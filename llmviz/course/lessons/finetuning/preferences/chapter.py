"""Chapter "Preferences": pairs of endings, a model that learns from them, and the loss of DPO."""

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.finetuning import typed_beginning
from llmviz.course.lessons.finetuning.preferences import words
from llmviz.course.lessons.finetuning.preferences.model import SETTINGS, recorded
from llmviz.course.lessons.finetuning.training_cost import tell_cost
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.finetuning.adapted import adapted_by
from llmviz.finetuning.continuations import continuation
from llmviz.finetuning.dpo import dpo_steps
from llmviz.finetuning.plan import BASE, LoraConfig
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
    kit.prose(words.hook)
    before = kit.or_refused(base_logs, base(), state["rule"]) if kit.models_here(BASE) else None
    if before is None:
        return
    number, trained = state["pair"] - 1, model_of(state)
    run = kit.or_refused(recorded)
    if trained is not None:
        now, updates = logs_of(trained, state["rule"]), state["preferupdates"]
    else:
        now, updates = (None, 0) if run is None else recorded_at(run[state["rule"]], state)
    pair, guess = (
        shown_pairs(state["rule"])[number],
        kit.Guess(GUESS, question(*map(float, before[number]))),
    )
    opened = guess.open
    with kit.stage("preferences", stays=False):
        rows = pair_rows(pair, before[number], None if now is None else now[number])
        low = min(2 * float(before[number].min()), *(row.value or 0.0 for row in rows))
        if opened and run is not None:  # the axis stays while the slider moves
            low = min(low, *(log for look in run[state["rule"]] for log in look.logs[number]))
        axis = kit.Axis(low, 0, words.log_axis)
        look = {"veiled": [1], "picture": f"{KEY}.pair", "form": "figure", "mark": "dot"}
        guess.cases(rows if opened else rows[:2], axis, **look)
        if opened:
            kit.prose(thinks(*map(float, (before if now is None else now)[number]), updates))
        if opened and trained is None and run is not None:
            every = looks_every(SETTINGS["steps"])
            st.slider(words.at, step=every, width=420, **state.ranged("preferat"))
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(state, "rule", words.rule, words.rules, then=state.setter(prefer=False))
            st.number_input(words.pair, width=110, **state.ranged("pair"))
        st.code(pair.story, language=None, wrap_lines=True)
    guess.ask()
    if opened and run is not None:
        kit.looks(state, words.looks, f"{KEY}.looks", **look_slots(run))
    _train(state, None if run is None else run[state["rule"]])
    _own(state, trained)
    _loss(state, number, before if now is None else now, before)
    if opened:
        end = words.end_start
        if now is not None:
            gain = now - before
            right = int((gain[:, 0] > gain[:, 1]).sum())
            end = words.end_trained.format(updates=updates, right=right)
        likelier = int((before[:, 0] > before[:, 1]).sum())
        kit.seen(words.end, before=likelier, pairs=SHOWN, now=end)


def recorded_at(run: Sequence[Look], state: kit.PageState) -> tuple[np.ndarray | None, int]:
    """Return ln P of the pairs at the last look of a recorded run up to a step, and its updates.

    None at step 0, where nothing has been learned.
    """
    look = [look for look in run if look.step <= state["preferat"]][-1]
    return (np.array(look.logs), look.step) if look.step else (None, 0)


def look_slots(run: dict[str, tuple[Look, ...]]) -> dict[str, object]:
    """Return what the looks say of the recorded runs: how many pairs have the better one ahead."""
    ahead = {
        rule: [sum(better > worse for better, worse in look.logs) for look in looks]
        for rule, looks in run.items()
    }
    return {
        f"{rule}_{when}": counts[at]
        for rule, counts in ahead.items()
        for when, at in (("before", 0), ("after", -1))
    } | {"updates": SETTINGS["steps"], "pairs": SHOWN}


@kit.kept(8)
def base_logs(bundled: engine.Bundled, rule: str) -> np.ndarray:
    """Return ln P of the endings under the base, (P, 2)."""
    return pair_logs(bundled.model, bundled.tokenizer, shown_pairs(rule))


@kit.kept(16)
def logs_of(model: GPT, rule: str) -> np.ndarray:
    """Return ln P of the endings under a trained model, (P, 2)."""
    return pair_logs(model, base().tokenizer, shown_pairs(rule))


def pair_rows(pair: Pair, before: np.ndarray, now: np.ndarray | None) -> list[kit.Case]:
    """Return both endings with their probability, and that after the training, where there is one.

    before, now (2,): ln P.
    """
    texts, roles = (pair.better, pair.worse), ("value", "key")
    rows = []
    for when, logs in (("before", before), ("now", now)):
        for at, name in enumerate(words.which if logs is not None else ()):
            label = [(words.row[when].format(which=name), False), (texts[at], True)]
            log = float(logs[at])
            rows.append(kit.Case(label, log, note=odds(log), role=roles[at]))
    return rows


def odds(log: float) -> str:
    """Return a chance, given as its logarithm, as one in so many, in two digits.

    >>> odds(-math.log(28.4)), odds(-math.log(10_000_000)), odds(-100)
    ('1 in 28', '1 in 10,000,000', '1 in 2.7·10⁴³')
    """
    return f"1 in {two_digits(math.exp(min(-log, 700)))}"


def two_digits(number: float) -> str:
    """Return a number as one would say it.

    >>> two_digits(1.27), two_digits(253_987)
    ('1.3', '250,000')
    """
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.{1 if number < 10 else 0}f}" if number < 1e12 else kit.power_of_ten(number)


def question(better: float, worse: float) -> kit.Question | None:
    """Return the question how probable the worse ending is to the untrained model; both as ln P.

    The wrong answers are of somebody to whom an untrained model knows no difference, and of one to
    whom the better one is likelier, as many times as it is less likely. None where they are near.
    """
    if abs(worse - better) < APART or worse < better:
        return None
    reasons = {
        better: words.ask_alike,
        2 * better - worse: words.ask_taste,
        worse: words.ask_right,
    }
    return kit.Question.among(words.ask, reasons, worse, odds)


def thinks(better: float, worse: float, updates: int = 0) -> str:
    """Return what a model makes of a pair after so many updates, in a sentence; both as ln P."""
    kind = "same" if abs(better - worse) < 0.05 else "better" if better > worse else "worse"
    times = math.exp(min(50.0, abs(better - worse)))
    written = (
        f"{times:.1f}"
        if times < 10
        else f"{float(f'{times:.2g}'):,.0f}"
        if times < 1e6
        else words.million
    )
    when = words.when["now" if updates else "before"].format(updates=updates)
    return words.thinks[kind].format(when=when, times=written)


@kit.kept(12)
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


@kit.kept(4)
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
    tell_cost(words.cost, 2 * BATCH * updates, updates=updates)
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
    kit.case_rows(cases, axis, key=f"{KEY}.looks_of_run", words={})
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
    return words.read.format(
        updates=last.step,
        every=every,
        seconds=last.seconds,
        preferred=kit.percent(last.preferred),
        moved=last.divergence,
        own=OWN_TEXTS,
        times=f"{times:,.2f}" if times < 100 else f"{times:,.0f}",
    )


def told_over(so_far: Sequence[Look]) -> str:
    """Return how far the model went on after as many pairs were right as ever would be."""
    best = max(so_far, key=lambda look: (look.preferred, -look.step))
    kind = "never" if not best.preferred else "end" if best is so_far[-1] else "before"
    return words.over_best[kind].format(
        share=kit.percent(best.preferred),
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


@kit.kept(64)
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


@kit.kept(32)
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
            *words.labels[name],
            row_labels=rows,
            col_labels=words.which if values[name].shape[1] == 2 else (),
            role=roles.get(name, "neutral"),
            op=ops.get(name),
            scale="sequential" if name in ("probability", "nats") else "auto",
            limit=1.0 if name == "probability" else None,
        )
        for name in words.labels
    )
