"""One group of answers to the learner's sum: rewards, advantages, and every token of an answer."""

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.reasoning.reinforce import words
from llmviz.course.lessons.reasoning.reinforce.model import Group, Sample, group_update
from llmviz.course.lessons.reasoning.reinforce.params import LEARNED
from llmviz.course.lessons.reasoning.sum_field import sum_of
from llmviz.course.lessons.reasoning.sum_texts import LEAST, MOST, Sum, bundled
from llmviz.course.ui import kit
from llmviz.finetuning.policy import GROUP, METHODS, SMALL, advantages

KEY = "reasoning.reinforce"
Given = tuple[Sum, str, int, int]
"""What makes a group: the sum, the way to learn, how many answers, the random draw."""


def draw(state: kit.PageState) -> None:
    """Show the controls, the group and one of its answers."""
    kit.section(words.group)
    anew = state.setter(rlrun=False)
    kit.choose(state, "rlway", words.way, {name: words.ways[name] for name in LEARNED}, then=anew)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "rlsum", words.sum, width=200)
        st.slider(words.group_size, width=240, **state.ranged("rlgroup", then=anew))
        st.number_input(words.draw, width=140, **state.ranged("rldraw"))
    way = state["rlway"]
    how = METHODS[way]
    low, high = bounds(how.clip)
    kit.prose(words.way_text[way].format(passes=how.passes, low=low, high=high))
    numbers = sum_of(state["rlsum"])
    if numbers is None:
        kit.refuse(words.bad_sum.format(least=LEAST, most=MOST))
        return
    if state["rlgroup"] == 1 and how.compares:
        kit.refuse(words.refused_group.format(way=words.ways[way]))
        return
    given = numbers, way, state["rlgroup"], state["rldraw"]
    group = group_of(given)
    kit.rows_table(answer_rows(group), words.answer_columns)
    kit.prose(group_read(group))
    _advantages(state, given)
    _tokens(state, given)


def bounds(clip: float | None) -> tuple[float, float]:
    """Return between which ratios more brings something."""
    return (0.0, float("inf")) if clip is None else (1 - clip, 1 + clip)


@kit.kept(64)
def group_of(given: Given) -> Group:
    """Return the group of the controls."""
    return group_update(bundled(), *given)


def answer_rows(group: Group) -> list[tuple[str, ...]]:
    """Return a row for each answer."""
    return [
        (
            str(at),
            sample.text,
            f"{sample.reward:g}",
            kit.signed(sample.advantage),
            f"{sample.times:.2f}",
        )
        for at, sample in enumerate(group.samples, 1)
    ]


def average_times(samples: list[Sample]) -> str:
    """Return how many times as probable answers are after the update, on geometric average."""
    return f"{np.exp(np.mean([np.log(sample.times) for sample in samples])):.2f}"


def group_read(group: Group) -> str:
    """Return what the update from a group does."""
    right = [sample for sample in group.samples if sample.reward]
    wrong = [sample for sample in group.samples if not sample.reward]
    numbers = {"count": len(group.samples), "right": len(right), "reward": group.rewards[0]}
    if right and wrong:
        times = {"right_times": average_times(right), "wrong_times": average_times(wrong)}
        return words.group_read["mixed"].format(**numbers, **times)
    if METHODS[group.way].compares:
        return words.group_read["flat"].format(**numbers)
    if right:
        return words.group_read["right"].format(**numbers, right_times=average_times(right))
    return words.group_read["wrong"]


def _advantages(state: kit.PageState, given: Given) -> None:
    how = METHODS[given[1]]
    if not how.compares:
        return
    layout = [["rewards", "−", "mean", "=", "apart", "→", "advantage"]]
    if how.advantage == GROUP:
        layout.append([None, None, "deviation", "→", "divisor", None, None])
    kit.show(
        state,
        advantage_matrices(given),
        layout,
        key=f"{KEY}.advantages",
        control="rlcell",
        first="advantage.0.0",
    )
    group = group_of(given)
    kit.show_code(
        [advantages],
        "import torch\n"
        "from llmviz.finetuning.policy import advantages\n\n"
        f"rewards = torch.tensor([{group.rewards.tolist()}])\n"
        f"print([f'{{one:.4f}}' for one in advantages(rewards, {how.advantage!r})[0].tolist()])",
        str([f"{sample.advantage:.4f}" for sample in group.samples]),
    )


@kit.kept(64)
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


def _tokens(state: kit.PageState, given: Given) -> None:
    kit.section(words.tokens)
    group = group_of(given)
    places = list(range(1, len(group.samples) + 1))
    kit.keep(state, "rlsample", places)
    names = {at: f"{at}: {group.samples[at - 1].text}" for at in places}
    if len(places) > 1:
        st.select_slider(words.sample, width=420, **state.named("rlsample", names))
    at = state["rlsample"] - 1
    last = "clipped" if group.clip is not None else "ratio"
    layout = [["before"], ["after"], ["difference"], ["ratio"]]
    if group.clip is not None:
        layout.append(["clipped"])
    kit.show(
        state,
        token_matrices(given, at),
        [*layout, ["pull"]],
        key=f"{KEY}.tokens",
        control="rltoken",
        first=f"{last}.0.0",
    )
    kit.prose(pull_text(group, at))
    kit.prose(token_read(group, at))


@kit.kept(64)
def token_matrices(given: Given, at: int) -> tuple[lv.Matrix, ...]:
    """Return the tokens of an answer before and after the update as matrices that open."""
    group = group_of(given)
    sample, (low, high) = group.samples[at], bounds(group.clip)
    difference = sample.after - sample.before
    values = {
        "before": sample.before,
        "after": sample.after,
        "difference": difference,
        "ratio": np.exp(difference),
        "clipped": np.exp(difference).clip(low, high),
        "pull": sample.pull,
    }
    ops = {
        "difference": lv.subtracted("after", "before"),
        "ratio": lv.function("difference", words.power),
        "clipped": lv.function("ratio", words.kept_between),
    }
    roles = {"before": "residual", "after": "residual", "ratio": "weights", "clipped": "weights"}
    return tuple(
        lv.Matrix(
            name,
            value[None],
            words.labels[name][0],
            words.labels[name][1].format(low=low, high=high),
            col_labels=list(sample.text),
            role=roles.get(name, "accent" if name == "pull" else "neutral"),
            op=ops.get(name),
            scale="sequential" if name in ("ratio", "clipped") else "diverging",
        )
        for name, value in values.items()
        if name != "clipped" or group.clip is not None
    )


def pull_text(group: Group, at: int) -> str:
    """Return what the pull on a token of an answer is."""
    average = METHODS[group.way].average
    return words.pull_text[average].format(
        count=len(group.samples),
        length=len(group.samples[at].text),
        tokens=sum(len(sample.text) for sample in group.samples),
    )


def token_read(group: Group, at: int) -> str:
    """Return where the tokens of an answer are pulled, and where they went."""
    sample = group.samples[at]
    if not any(other.advantage for other in group.samples):
        return words.token_read["still"]
    kind = "up" if sample.advantage > 0 else "down" if sample.advantage < 0 else "none"
    moved = sample.after - sample.before
    return words.token_read[kind].format(
        length=len(moved), more=int((moved > 0).sum()), less=int((moved < 0).sum())
    )
