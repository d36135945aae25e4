"""Chapter "Reinforcement": a small GPT of sums learns from rewards, update by update."""

import math
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.reasoning import reward_runs, sum_texts
from llmviz.course.lessons.reasoning.reinforce import BETAS, LEARNED, bandit, words
from llmviz.course.lessons.reasoning.reinforce.model import Group, Sample, group_update
from llmviz.course.lessons.reasoning.reward_runs import (
    SAMPLES,
    UPDATES,
    WAYS,
    Look,
    config_of,
    recorded,
)
from llmviz.course.lessons.reasoning.sum_texts import LEAST, MOST, Sum, bundled, sum_of
from llmviz.course.ui import kit
from llmviz.finetuning.policy import GROUP, METHODS, SMALL, advantages

KEY = "reasoning.reinforce"
GUESS = f"{KEY}.wrong"
APART = 1.25  # times, between two answers of the question
EVERY = 20  # updates between two looks of a run
SURE = 2.0  # standard errors
"""A difference of means of three runs is told where it is larger than this many errors."""
Given = tuple[Sum, str, int, int]
"""What makes a group: the sum, the way to learn, how many answers, the random draw."""


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a group of answers and what one update makes of each, then runs of many updates."""
    kit.prose(words.hook)
    commands = f"{sum_texts.COMMAND}\n{reward_runs.COMMAND}"
    if not kit.is_here(words.missing, commands, recorded, bundled):
        return
    guess, group, given = kit.Guess(GUESS, None), None, _given(state)
    anew = state.setter(rlrun=False)
    with kit.stage("reinforce"):
        if given is not None:
            group = group_of(given)
            guess = kit.Guess(GUESS, question(group))
            _answers(group, guess)
        kit.choose(
            state, "rlway", words.way, {name: words.ways[name] for name in LEARNED}, then=anew
        )
        kit.text_input(state, "rlsum", words.sum, width=200)
    opened = guess.open
    if opened and group is not None:
        kit.prose(group_read(group))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    _advantages(state, given)
    bandit.draw(state)
    _learning(state)
    _runs()
    if opened:
        after, passed = (mean("grpo", k) for k in (1, SAMPLES))
        base = recorded().base
        shares = {"before": base.right, "after": after, "passed": passed}
        shares["old"] = base.passed(SAMPLES)
        said = {name: kit.percent(share) for name, share in shares.items()}
        kit.seen(words.end, samples=SAMPLES, **said)


def _given(state: kit.PageState) -> Given | None:
    """Return what makes the group; None after one clear line."""
    numbers, way = sum_of(state["rlsum"]), state["rlway"]
    if numbers is None:
        kit.refuse(words.bad_sum.format(least=LEAST, most=MOST))
        return None
    if state["rlgroup"] == 1 and METHODS[way].compares:
        kit.refuse(words.refused_group.format(way=words.ways[way]))
        return None
    return numbers, way, state["rlgroup"], state["rldraw"]


@kit.cached(64)
def group_of(given: Given) -> Group:
    return group_update(bundled(), *given)


def average_times(samples: list[Sample]) -> float:
    """Return how many times as probable answers are after the update, on geometric average."""
    return float(np.exp(np.mean([np.log(sample.times) for sample in samples])))


def question(group: Group) -> kit.Question | None:
    """Return the question what becomes of the first wrong answer; None where answers are too near.

    The wrong answers are of somebody to whom praise leaves wrong answers alone, and to whom they
    lose as much as the right ones gain.
    """
    right = [sample for sample in group.samples if sample.reward]
    wrong = [sample for sample in group.samples if not sample.reward]
    if not right or not wrong:
        return None
    how = "compares" if METHODS[group.way].compares else "alone"
    told = {
        wrong[0].times: words.ask_right[how],
        1.0: words.ask_alone[how],
        1 / average_times(right): words.ask_mirror,
    }
    logs = np.log(sorted(told))
    if len(told) < 3 or np.diff(logs).min() < math.log(APART):
        return None
    return kit.Question.among(
        words.ask,
        told,
        wrong[0].times,
        lambda times: words.times.format(times=kit.roughly(times)),
        text=kit.quote(wrong[0].text),
    )


def _answers(group: Group, guess: kit.Guess) -> None:
    """Draw how many times as probable each answer became; a wrong one is dragged."""
    revealed = guess.open
    at = next((n for n, sample in enumerate(group.samples) if not sample.reward), 0)
    cases = []
    for n, sample in enumerate(group.samples):
        mark, shown = words.marks[int(sample.reward)], revealed or sample.reward or n == at
        cases.append(
            kit.Case(
                [(sample.text, bool(sample.reward)), (f" {mark}", False)],
                sample.times if shown else None,
                note="" if shown else "?",
                role="value" if sample.reward else "query",
            )
        )
    times = [sample.times for sample in group.samples]
    low = (
        min(
            0.01, *times, *(min(v) for v in (guess.question.values if guess.question else [(1.0,)]))
        )
        / 1.2
    )
    axis = kit.Axis(low, 1.2 * max(3.0, *times), words.times_axis, log=True)
    look: dict[str, Any] = {
        "veiled": [at],
        "picture": f"{KEY}.answers",
        "form": "figure",
        "mark": "dot",
    }
    guess.cases(cases, axis, levels=[(1.0, words.before)], **look)


def group_read(group: Group) -> str:
    right = [sample for sample in group.samples if sample.reward]
    wrong = [sample for sample in group.samples if not sample.reward]
    pulls = not METHODS[group.way].compares
    how = ("right" if pulls else "all") if right else "wrong" if pulls else "none"
    return words.group_read["mixed" if right and wrong else how].format(
        count=len(group.samples),
        right=len(right),
        right_times=times_text(right) if right else "",
        wrong_times=times_text(wrong) if wrong else "",
    )


def times_text(samples: list[Sample]) -> str:
    return kit.roughly(average_times(samples))


def _advantages(state: kit.PageState, given: Given | None) -> None:
    """Show the way from rewards to advantages, and the group's controls."""
    how, anew = METHODS[state["rlway"]], state.setter(rlrun=False)
    kit.section(words.group)
    kit.prose(words.way_text[state["rlway"]])
    if given is not None and how.compares:
        layout: list[list[str | None]] = [["rewards", "−", "mean", "=", "apart", "→", "advantage"]]
        if how.advantage == GROUP:
            layout.append([None, None, "deviation", "→", "divisor", None, None])
        parts, first = advantage_matrices(given), "advantage.0.0"
        kit.show(state, parts, layout, key=f"{KEY}.advantages", control="rlcell", first=first)
        group = group_of(given)
        kit.show_code(
            [advantages],
            words.snippet.format(rewards=group.rewards.tolist(), way=how.advantage),
            str([f"{sample.advantage:.4f}" for sample in group.samples]),
        )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.group_size, width=240, **state.ranged("rlgroup", then=anew))
        st.number_input(words.draw, width=140, **state.ranged("rldraw"))


@kit.cached(64)
def advantage_matrices(given: Given) -> tuple[lv.Matrix, ...]:
    """Return the way from rewards to advantages as matrices that open."""
    group, how = group_of(given), METHODS[given[1]]
    count, rewards = len(group.samples), group.rewards
    deviation = float(rewards.std(ddof=1))
    values = {
        "rewards": rewards[:, None],
        "mean": np.array([[rewards.mean()]]),
        "apart": (rewards - rewards.mean())[:, None],
        "advantage": np.array([[sample.advantage] for sample in group.samples]),
        "deviation": np.array([[deviation]]),
        "divisor": np.array([[deviation + SMALL]]),
    }
    times = words.times_others.format(count=count, others=count - 1)
    ops = {
        "apart": lv.subtracted("rewards", "mean"),
        "divisor": lv.function("deviation", words.plus_small),
        "advantage": lv.divided("apart", "divisor")
        if how.advantage == GROUP
        else lv.scaled("apart", count / (count - 1), times),
    }
    formula = words.advantage_how[how.advantage].format(count=count, others=count - 1)
    roles = {"rewards": "key", "advantage": "value"}
    return tuple(
        lv.Matrix(
            name,
            value,
            words.labels[name][0],
            formula if name == "advantage" else words.labels[name][1],
            row_labels=[sample.text for sample in group.samples] if len(value) == count > 1 else (),
            role=roles.get(name, "neutral"),
            op=ops.get(name),
            scale="diverging",
        )
        for name, value in values.items()
    )


@kit.cached(12)
def job_of(way: str, group: int, updates: int, beta: str) -> kit.Job:
    """Return a run in a process of its own; the same one is made only once."""
    config = config_of(way, updates=updates, group=group, beta=float(beta))
    return kit.training_jobs().start(
        "llmviz.course.lessons.reasoning.reward_runs:reward_run", config=config, every=EVERY
    )


def _learning(state: kit.PageState) -> None:
    """Let the model learn from rewards while the learner watches."""
    way, size, anew = state["rlway"], state["rlgroup"], state.setter(rlrun=False)
    kit.section(words.live)
    kit.programmers(words.beta_code)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {beta: beta for beta in BETAS}
        st.select_slider(words.beta, width=260, **state.named("rlbeta", names, anew))
        st.slider(words.updates, step=10, width=260, **state.ranged("rlupdates", then=anew))
    if size == 1 and METHODS[way].compares:
        return  # said where the group is shown
    updates = state["rlupdates"]
    kit.live(
        state,
        "rlrun",
        job_of,
        (way, size, updates, state["rlbeta"]),
        lambda job: _results(job, updates),
        start=words.start,
        share=lambda job: parts(job)[0][-1].step / updates if parts(job)[0] else 0.0,
    )


def parts(job: kit.Job) -> tuple[list[Any], list[Look]]:
    every = list(job.results)
    return [result for result in every if not isinstance(result, Look)], [
        result for result in every if isinstance(result, Look)
    ]


def _results(job: kit.Job, updates: int) -> None:
    done, looks = parts(job)
    if not done:
        return
    kit.draw_on(
        run_lines(done, looks),
        kit.Scale(0, updates, words.updates_axis),
        kit.Scale(0, 1, words.share_axis),
        key=f"{KEY}.live",
        words={},
        form="percent",
    )
    last = done[-1]
    shares = {"right": kit.percent(last.reward), "flat": kit.percent(last.flat)}
    kit.prose(words.live_read, step=last.step, seconds=last.seconds, **shares)
    if job.over and len(looks) > 1:
        kit.prose(live_end(looks))


def run_lines(done: list[Any], looks: list[Look]) -> list[kit.Drawn]:
    """Return the lines of a run so far: right answers of each update, and in tests."""
    own, tested = words.live_names
    found = [kit.Drawn(own, [update.step for update in done], [update.reward for update in done])]
    if looks:
        steps = [look.step for look in looks]
        found.append(kit.Drawn(tested, steps, [look.right for look in looks], "value"))
    return found


def live_end(looks: list[Look]) -> str:
    """Return what the model answers to sums for testing, before and after."""
    first, last = looks[0], looks[-1]
    return words.live_end.format(before=kit.percent(first.right), after=kit.percent(last.right))


def mean(way: str, k: int) -> float:
    """Return how many sums have a right one among k answers, the mean of a way's runs."""
    return float(recorded().values(way, lambda look: look.passed(k)).mean())


def run_cases(k: int) -> list[kit.Case]:
    """Return the base and each way as lines: sums with a right one among k answers."""
    base = recorded().base.passed(k)
    cases = [kit.Case(words.base_name, base, role="query")]
    for way in WAYS:
        runs = recorded().values(way, lambda look: look.passed(k))
        cases.append(
            kit.Case(words.ways[way], mean(way, k), dots=[*map(float, runs)], role="value")
        )
    return cases


def _runs() -> None:
    """Show what the runs of each way came to: one answer, and one right among many."""
    config = config_of("grpo")
    kit.section(words.runs)
    kit.case_rows(run_cases(1), kit.Axis(0, 1, words.right_axis), key=f"{KEY}.right")
    kit.prose(words.runs_read)
    axis = kit.Axis(0, 1, words.pass_axis.format(samples=SAMPLES))
    kit.case_rows(run_cases(SAMPLES), axis, key=f"{KEY}.passed", mark="dot")
    kit.prose(pass_read())
    kit.prose(words.sharpen)
    run = {"updates": UPDATES, "prompts": config.prompts, "group": config.group}
    kit.measured(words.how_runs, samples=SAMPLES, **run)


def verdict(shares: np.ndarray, base: float, questions: int) -> str:
    """Return whether shares of runs lie above or below the base's share of the same questions.

    All runs answer the same few questions, so their number counts once, however well runs agree:
    each share has the error of a count, with one right and one wrong answer added (Agresti and
    Coull 1998), which is not 0 where all are right.
    """
    shrunk = [(share * questions + 1) / (questions + 2) for share in (float(shares.mean()), base)]
    counted = sum(share * (1 - share) / (questions + 2) for share in shrunk)
    error = math.sqrt(shares.var(ddof=1) / len(shares) + counted)
    apart = float(shares.mean()) - base
    return "tie" if abs(apart) <= SURE * error else "above" if apart > 0 else "below"


def pass_read() -> str:
    """Return which ways stand above or below the base at the largest k."""
    base, said = recorded().base, []
    found = {
        way: verdict(
            recorded().values(way, lambda look: look.passed(SAMPLES)),
            base.passed(SAMPLES),
            base.questions,
        )
        for way in WAYS
    }
    if set(found.values()) == {"tie"}:
        return words.pass_read["all"].format(samples=SAMPLES, questions=base.questions)
    for kind in ("above", "below", "tie"):
        names = [words.ways[way] for way in WAYS if found[way] == kind]
        if names:
            shown = {"samples": SAMPLES, "questions": base.questions, "ways": kit.listed(names)}
            said.append(words.pass_read[kind].format(**shown))
    return " ".join(said)
