"""Two translators side by side: one vector for a whole sentence, or a look back at every word."""

from typing import Any

import streamlit as st

from llmviz.course.figures.attention import Axes, bars
from llmviz.course.figures.networks import network_number
from llmviz.course.lessons.attention.why import words
from llmviz.course.ui import engine, kit
from llmviz.interpretability.translation_trace import translated
from llmviz.models.recurrent_translator import RecurrentTranslator

ONE_VECTOR, LOOKS_BACK = "pairs-rnn", "pairs-seq2seq"

Counts = dict[int, tuple[int, int]]  # words of a sentence: how many there are, how many exact


def draw(state: kit.PageState) -> None:
    """Show both translations of a sentence, and how often each model is right, by length."""
    kit.section(words.translators)
    if not kit.models_here(ONE_VECTOR, LOOKS_BACK):
        return
    _one_sentence(state)
    cards = [engine.card(name) for name in (ONE_VECTOR, LOOKS_BACK)]
    counts = [by_length(card) for card in cards]
    if all(counts):
        _by_length(cards, counts)


def by_length(card: dict[str, Any]) -> Counts:
    """Return how many held-out sentences of each length there were, and how many were exact."""
    counts = card.get("score", {}).get("by_length", {})
    return {int(length): (int(all_), int(exact)) for length, (all_, exact) in counts.items()}


def _one_sentence(state: kit.PageState) -> None:
    # Both translators have the same vocabulary and context.
    sentence = kit.read_sentence(state, engine.load(ONE_VECTOR))
    if sentence is None:
        return
    known, ids = sentence
    lines, outputs = [], {}
    for name, line in ((ONE_VECTOR, words.by_one_vector), (LOOKS_BACK, words.by_looking_back)):
        bundled = engine.load(name)
        outputs[name] = bundled.tokenizer.decode(translation(bundled, ids))
        mark = words.exact if outputs[name] == known.target else words.not_exact
        lines.append(f"{line.format(text=kit.quote(outputs[name], 200))} {mark}")
    kit.prose("\n\n".join([words.rules.format(text=kit.quote(known.target, 200)), *lines]))
    kit.show_code(
        [RecurrentTranslator],
        words.snippet_translators.format(given=(ONE_VECTOR, LOOKS_BACK), source=known.source),
        "\n".join(outputs.values()),
        label=words.code_translator,
    )


translation = kit.kept(64)(kit.on_model(translated))


def _by_length(cards: list[dict[str, Any]], counts: list[Counts]) -> None:
    lengths = sorted(set(counts[0]) & set(counts[1]))
    shares = [[count[length][1] / count[length][0] for length in lengths] for count in counts]
    figure = exact_bars(tuple(lengths), tuple(map(tuple, shares)), kit.theme())
    kit.chart(figure, "attention.translators")
    listed = ", ".join(f"{counts[0][n][0]} × {n}" for n in lengths)
    st.caption(words.exact_caption.format(listed=listed))
    kit.prose(report(cards, counts))


@kit.kept(8)
def exact_bars(
    lengths: tuple[int, ...], shares: tuple[tuple[float, ...], ...], mode: kit.Mode
) -> kit.Figure:
    """Return the share of exact translations by length as bars, a series for each model."""
    return bars(
        [str(length) for length in lengths],
        dict(zip(words.translator_names, shares, strict=True)),
        Axes(words.length_axis, words.exact_axis),
        title=words.exact_title,
        roles=(network_number("rnn"), network_number("gpt")),  # as above: what keeps one vector
        mode=mode,
    )


def report(cards: list[dict[str, Any]], counts: list[Counts]) -> str:
    """Return what the bars say: each model's share of short and of long sentences.

    cards and counts: of the model with one vector, and of the one that looks back.
    """
    lengths = sorted(set(counts[0]) & set(counts[1]))
    middle = (lengths[0] + lengths[-1]) // 2
    short = [length for length in lengths if length <= middle]
    long = [length for length in lengths if length > middle] or short

    def share(count: Counts, part: list[int]) -> str:
        return f"{sum(count[n][1] for n in part) / sum(count[n][0] for n in part):.1%}"

    return words.exact_read.format(
        middle=middle,
        one_short=share(counts[0], short),
        one_long=share(counts[0], long),
        back_short=share(counts[1], short),
        back_long=share(counts[1], long),
        one_size=cards[0]["parameters"],
        back_size=cards[1]["parameters"],
    )
