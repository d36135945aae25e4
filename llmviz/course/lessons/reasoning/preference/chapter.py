"""Chapter "A model of preference": a reward model learned from pairs, its loss and its holes."""

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.reasoning.preference import accuracy, holes, models, words
from llmviz.course.lessons.reasoning.preference.params import FIRST, SECOND
from llmviz.course.lessons.reasoning.preference.preference_model import (
    COMMAND,
    LABELLER,
    LONGEST,
    PAIRS,
)
from llmviz.course.lessons.reasoning.preference.preference_reading import (
    PairNumbers,
    Reading,
    pair_numbers,
    readings,
)
from llmviz.course.lessons.reasoning.preference.preference_record import BY_LENGTH, recorded
from llmviz.course.ui import kit
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.preferences import happier
from llmviz.textfile import check_text

KEY = "reasoning.preference"
SURE = 0.9  # a probability from which on a pair changes little
Given = tuple[str, str, str]  # the story and both endings
LAYOUT = (
    ("rewards", "→", "preferred", "−", "other", "=", "difference"),
    ("probability", "→", "nats", None, None, None, None),
    ("pull", "×", "sign", "=", "gradient", None, None),
)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.prose(
        words.labeller, by_length=kit.percent(LABELLER.by_length), wrong=kit.percent(LABELLER.wrong)
    )
    if not kit.models_here(BASE):
        return
    if not kit.is_here(words.missing, COMMAND, recorded, models.reward):
        return
    kit.prose(words.made, width=models.reward().config.n_embd, pairs=PAIRS)
    given = _fields(state)
    if given is not None:
        question = higher_question(given)
        if question is None or kit.predict(question, f"{KEY}.higher", covers=True):
            _pair(state, given)
            _places(given)
    shown = accuracy.draw()
    found = holes.draw(state, given)
    if shown and found:
        kit.seen(words.end, **end())


def _fields(state: kit.PageState) -> Given | None:
    kit.text_area(state, "prefstory", words.story, holes.anew(state), height=120)
    kit.text_input(state, "prefone", words.one, holes.anew(state))
    kit.text_input(state, "preftwo", words.two)
    given = state["prefstory"].strip(), state["prefone"].strip(), state["preftwo"].strip()
    return None if any(kit.or_refused(check_text, text) is None for text in given) else given


@kit.kept(64)
def readings_of(given: Given) -> list[Reading]:
    """Return both endings as the reward model reads them."""
    story, *endings = given
    return readings(models.reward(), models.tokenizer(), story, tuple(endings))


def rewards_of(given: Given) -> tuple[float, float]:
    """Return the rewards of both endings."""
    first, second = readings_of(given)
    return first.reward, second.reward


def higher_question(given: Given) -> kit.Question | None:
    """Return the question which ending has the higher reward; none where both are as high."""
    first, second = rewards_of(given)
    if first == second:
        return None
    apart = happier(given[1], given[0]) - happier(given[2], given[0])
    rule = words.rule_text["same" if not apart else "one" if apart > 0 else "two"]
    reason = words.higher_reason.format(one=kit.signed(first), two=kit.signed(second), rule=rule)
    return kit.Question.of(words.ask_higher, int(second > first), reason=reason)


def _pair(state: kit.PageState, given: Given) -> None:
    kit.section(words.pair)
    names = {which: words.wins_names[which] for which in (FIRST, SECOND)}
    st.segmented_control(words.wins, **state.named("prefwins", names))
    preferred = int(state["prefwins"] == SECOND)
    kit.show(
        state,
        pair_matrices(given, preferred),
        LAYOUT,
        key=f"{KEY}.pair",
        control="prefcell",
        first="nats.0.0",
    )
    steps = pair_numbers(rewards_of(given), preferred)
    kit.prose(pair_read(steps))
    kit.prose(words.only_difference)
    _code(given, steps, preferred)


@kit.kept(64)
def pair_matrices(given: Given, preferred: int) -> tuple[lv.Matrix, ...]:
    """Return the way from two hidden vectors to the loss and its gradient."""
    both = readings_of(given)
    rewards = np.array([[reading.reward] for reading in both])
    steps = pair_numbers((both[0].reward, both[1].reward), preferred)
    sign = np.array([[1.0], [1.0]])
    sign[preferred] = -1
    values = {
        "rewards": rewards,
        "preferred": rewards[[preferred]],
        "other": rewards[[1 - preferred]],
        "difference": np.array([[steps.difference]]),
        "probability": np.array([[steps.probability]]),
        "nats": np.array([[steps.nats]]),
        "pull": np.array([[steps.pull]]),
        "sign": sign,
        "gradient": np.array([[grad] for grad in steps.gradient]),
    }
    ops = {
        "rewards": lv.matmul("hidden", "weights"),
        "preferred": lv.lookup("rewards", [preferred]),
        "other": lv.lookup("rewards", [1 - preferred]),
        "difference": lv.subtracted("preferred", "other"),
        "probability": lv.function("difference", words.sigma),
        "nats": lv.function("probability", words.minus_ln),
        "pull": lv.function("probability", words.from_one),
        "gradient": lv.multiply("pull", "sign"),
    }
    roles = {"rewards": "value", "probability": "weights", "nats": "accent", "gradient": "key"}
    rows = [words.row_one, words.row_two]
    weights = models.reward().head.weight.numpy().T
    return (
        lv.Matrix("hidden", np.stack([reading.hidden for reading in both])),
        lv.Matrix("weights", weights),
        *(
            lv.Matrix(
                name,
                value,
                *words.labels[name],
                row_labels=rows if len(value) == len(rows) else (),
                role=roles.get(name, "neutral"),
                op=ops.get(name),
                scale="sequential" if name in ("probability", "nats", "pull") else "diverging",
                limit=1.0 if name in ("probability", "pull", "sign", "gradient") else None,
            )
            for name, value in values.items()
        ),
    )


def pair_read(steps: PairNumbers) -> str:
    """Return what the loss says of a pair."""
    kind = (
        "equal"
        if steps.difference == 0
        else "against"
        if steps.difference < 0
        else "sure"
        if steps.probability >= SURE
        else "leaning"
    )
    return words.pair_read[kind].format(
        probability=kit.percent(steps.probability), loss=steps.nats, pull=steps.pull
    )


def _code(given: Given, steps: PairNumbers, preferred: int) -> None:
    from llmviz.finetuning.reward_model import pair_steps

    story, *endings = given
    kit.show_code(
        [pair_steps, readings],
        "from llmviz.course.lessons.reasoning.preference.preference_model import both_models\n"
        "from llmviz.course.lessons.reasoning.preference.preference_reading import "
        "pair_numbers, readings\n\n"
        "base, model, tokenizer = both_models()\n"
        f"story = {story!r}\n"
        f"endings = {tuple(endings)!r}\n"
        "one, two = readings(model, tokenizer, story, endings)\n"
        f"print(f'{{pair_numbers((one.reward, two.reward), {preferred}).nats:.4f}}')",
        f"{steps.nats:.4f}",
    )


def _places(given: Given) -> None:
    kit.section(words.places)
    both = readings_of(given)
    drawn = [at for at, reading in enumerate(both) if reading.tokens]
    if not drawn:
        kit.prose(words.no_tokens)
        return
    most = max(float(np.abs(reading.rewards).max()) for reading in both)
    lv.token_strip(
        [token_row(both[at], words.which[at]) for at in drawn],
        key=f"{KEY}.tokens",
        show_ids=False,
        value_label=words.value_label,
        value_range=(-most, most),
    )
    kit.prose("\n\n".join(most_read(both[at], words.which[at]) for at in drawn))
    if max(len(reading.tokens) for reading in both) == LONGEST:
        kit.prose(words.cut, most=LONGEST)


def token_row(reading: Reading, name: str) -> lv.TokenRow:
    """Return the tokens of an ending, coloured by the reward after each."""
    details = [{words.before_label: kit.signed(float(before))} for before in reading.rewards[:-1]]
    return lv.TokenRow(name, reading.tokens, values=reading.rewards[1:].tolist(), details=details)


def most_read(reading: Reading, name: str) -> str:
    """Return which token changes the reward of an ending most."""
    at = int(np.abs(np.diff(reading.rewards)).argmax())
    return words.most_read.format(
        which=name,
        token=kit.quote(reading.tokens[at].data.decode("utf-8", "replace")),
        before=kit.signed(float(reading.rewards[at])),
        after=kit.signed(float(reading.rewards[at + 1])),
    )


def end() -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    run, found = recorded().bundled, recorded().holes
    return {
        "pairs": PAIRS,
        "all": kit.percent(run.right["all"].share),
        "plain": kit.percent(float(accuracy.shorter(BY_LENGTH[0]).mean())),
        "biased": kit.percent(float(accuracy.shorter(BY_LENGTH[-1]).mean())),
        "most": kit.percent(BY_LENGTH[-1]),
        "holes": found.right,
        "count": found.count,
    }
