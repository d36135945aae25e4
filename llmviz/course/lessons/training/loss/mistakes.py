"""Losses with a mistake: on the learner's text, and in a model that was trained with one."""

import math
from typing import Any

import streamlit as st

from llmviz.course.figures.losses import compared
from llmviz.course.lessons.training.loss import questions, words
from llmviz.course.lessons.training.model_picker import logits_of
from llmviz.course.ui import engine, kit
from llmviz.evaluation.text_loss import mistake_numbers, mistaken_losses
from llmviz.training.reading import read_metrics

KEY = "training.loss"
RIGHT, WRONG = "names-gpt", "names-gpt-no-shift"


def draw(state: kit.PageState, reading: kit.Read) -> None:
    """Show the mistakes, ask which one was made; with the missing shift, a model trained so."""
    kit.section(words.mistakes_section)
    kit.choose_below_title(state, "wrong", words.mistake, words.mistakes)
    with_mistakes, facts = _numbers(reading.bundled, reading.ids)
    kind = state["wrong"]
    kit.prose(mistake_text(kind, facts))
    question = questions.spot(with_mistakes, facts["right"], facts["blind"])
    if question is None or kit.predict(question, f"{KEY}.spot", covers=True):
        _in_numbers(kind, facts, with_mistakes)
    if kind == "shift":
        _twins()


def _in_numbers(kind: str, facts: dict[str, Any], with_mistakes: dict[str, float]) -> None:
    """Show the loss with a mistake beside the right one."""
    kit.prose(mistake_result(kind, facts, with_mistakes.get(kind, math.nan)))
    if kind == "perplexity":
        names = list(words.chart_perplexities.values())
        values = [facts[name] for name in words.chart_perplexities]
        axis = words.chart_axis_perplexity
        figure = bars(tuple(names), tuple(values), 0, axis, kit.theme(), True)
    else:
        names = [words.chart_right, words.chart_wrong, words.chart_blind]
        values = [facts["right"], with_mistakes[kind], facts["blind"]]
        if kind == "probabilities":
            names.append(words.chart_lowest)
            values.append(facts["lowest"])
        figure = bars(tuple(names), tuple(values), 1, words.chart_axis, kit.theme(), False)
    st.plotly_chart(figure, key=f"{KEY}.compared", config={"displayModeBar": False})


@kit.kept(128)
def _numbers(
    bundled: engine.Bundled, ids: tuple[int, ...]
) -> tuple[dict[str, float], dict[str, Any]]:
    """The loss of a text with each mistake, and the numbers that explain them."""
    logits = logits_of(bundled, ids)
    return mistaken_losses(logits, ids[1:], ids[:-1]), mistake_numbers(logits, ids[1:])


def mistake_text(kind: str, facts: dict[str, Any]) -> str:
    """Return what a mistake is, and how it shows."""
    sums = ""
    if kind == "rows":
        sums = (words.sums if facts["positions"] > 1 else words.sums_one).format(**facts)
    return words.mistake_text[kind].format(**facts | {"sums": sums})


def mistake_result(kind: str, facts: dict[str, Any], wrong: float) -> str:
    """Return what a mistake does to the loss of a text; `wrong` is the loss with it, in nats."""
    more = {}
    if kind == "column":
        above = "both above" if facts["right"] > facts["blind"] else "above"
        sign = words.column_sign[above if wrong > facts["blind"] else "below"]
        more["sign"] = sign.format(blind=facts["blind"])
    elif kind == "classes":
        extra = facts["positions"] - facts["vocabulary"]
        more["sign"] = words.classes_sign[
            "equal" if not extra else "more" if extra > 0 else "fewer"
        ]
    text = words.mistake_result.get(kind, words.mistake_usual)
    return text.format(**facts | more | {"wrong": wrong})


@kit.kept(128)
def bars(
    names: tuple[str, ...],
    values: tuple[float, ...],
    chosen: int,
    axis: str,
    mode: kit.Mode,
    logarithmic: bool,
) -> kit.Figure:
    """Return losses as bars; see `compared`."""
    return compared(names, values, chosen, axis, mode, logarithmic=logarithmic)


@kit.kept(8)
def last_sample(bundled: engine.Bundled) -> str:
    """Return what a bundled model wrote at the end of its training."""
    return read_metrics(engine.folder_of(bundled.name))[-1].sample


def _twins() -> None:
    """Show what was trained with the mistake beside what was not."""
    if not {RIGHT, WRONG} <= set(engine.names()):
        return
    kit.section(words.twin)
    cards = {name: engine.card(name) for name in (RIGHT, WRONG)}
    rows = [
        [
            name,
            card["steps"],
            card["validation_loss"],
            card["score"]["nats_per_token"],
            last_sample(engine.load(name)) or words.twin_sample_empty,
        ]
        for name, card in cards.items()
    ]
    number = st.column_config.NumberColumn(format="%.5f")
    formats = {words.twin_columns[key]: number for key in ("reported", "honest")}
    kit.rows_table(rows, words.twin_columns.values(), width=820, column_config=formats)
    wrong = cards[WRONG]
    reading = words.twin_read.format(
        wrong=WRONG,
        reported=wrong["validation_loss"],
        steps=wrong["steps"],
        honest=wrong["score"]["nats_per_token"],
        blind=math.log(engine.tokenizer(WRONG).vocab_size),
    )
    caption = words.twin_caption.format(one=cards[RIGHT]["command"], two=wrong["command"])
    kit.prose(f"{reading}\n\n{caption}")
