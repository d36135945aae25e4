"""The same model trained rightly and with a mistake each: their losses, and what each looks at."""

import math
from functools import cache
from typing import Any

import numpy as np
import streamlit as st
import torch

from llmviz.corpus import load_corpus
from llmviz.course.components import head_view
from llmviz.course.lessons.attention import words
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.masks import words as mistake_words
from llmviz.course.lessons.attention.masks.letter_by_letter import LetterByLetter, letter_by_letter
from llmviz.course.lessons.attention.names import typed_name
from llmviz.course.ui import engine, kit, model_on_text
from llmviz.nn.attention.leaks import loss_as_written, weight_ahead
from llmviz.tokenizers import ENDOFTEXT

RIGHT, WRONG = "names-gpt", "names-gpt-no-mask"
OTHERS = tuple(mistake_words.mistake_quiet)
NAMES = 200  # held-out names that are asked letter by letter
LOOKED_AT = 50  # of these, those whose weights are looked at


@cache
def held_out_names() -> list[str]:
    """Return names that no bundled model was trained on."""
    return load_corpus("names").split()[1].documents[:NAMES]


@kit.kept(8)
def honest(bundled: engine.Bundled) -> LetterByLetter:
    """Ask a bundled model of names for each letter of held-out names from the letters before."""
    return letter_by_letter(bundled.model, bundled.tokenizer, held_out_names(), LOOKED_AT)


def all_honest() -> dict[str, LetterByLetter]:
    """Ask all of them that are in this copy, in the order in which they are shown."""
    there = engine.names()
    names = [name for name in (RIGHT, WRONG, *OTHERS) if name in there]
    return {name: honest(engine.load(name)) for name in names}


def draw(state: kit.PageState) -> dict[str, Any] | None:
    """Show the right model and those with a mistake side by side, and where each looks.

    Returns the numbers of the model without a mask; None where the models are missing.
    """
    kit.section(mistake_words.mistake_intro)
    if not kit.models_here(RIGHT, WRONG):
        return None
    scores = all_honest()
    names = list(scores)
    cards = {name: engine.card(name) for name in names}
    _table(cards, scores)
    wrong = _told(WRONG, cards, scores)
    lines = [mistake_words.mistake_leak.format(**wrong)]
    for name in OTHERS:
        if name in scores:
            lines.append(mistake_words.mistake_quiet[name].format(**_told(name, cards, scores)))
    for line in lines:
        kit.prose(line)
    kit.show_code(
        [loss_as_written, weight_ahead],
        words.snippet_trained_mistakes.format(wrong=WRONG, names=NAMES),
        f"{cards[WRONG].get('validation_loss', math.nan):.4f} {scores[WRONG].loss:.2f}",
        label=mistake_words.mistake_code,
    )
    _looking(state, names)
    return wrong


def _looking(state: kit.PageState, names: list[str]) -> None:
    """Show the head of the chosen model that looks ahead most, on the name of chapter "Why"."""
    kit.keep(state, "twin", names)
    kit.choose(
        state,
        "twin",
        mistake_words.mistake_look_label,
        {name: mistake_words.mistake_names[name] for name in names},
    )
    letters = typed_name(state)
    if letters is None:
        return
    bundled = engine.load(state["twin"])
    end = bundled.tokenizer.special_tokens[ENDOFTEXT]
    ids = (end, *bundled.tokenizer.encode(letters))[: bundled.model.context_length]
    scores = real.all_maps(bundled, ids)
    maps = scores.maps
    ahead = weight_ahead(torch.from_numpy(maps / 255)).numpy()  # (L, H)
    looks = bool(ahead.max() > 0)
    best = (ahead if looks else scores.decided).argmax()
    layer, head = (int(i) for i in np.unravel_index(int(best), ahead.shape))
    title = words.head_name.format(layer=layer, head=head)
    line = mistake_words.mistake_ahead if looks else mistake_words.mistake_not_ahead
    share = f"{ahead[layer, head]:.0%}"
    kit.prose(line, name=kit.quote(letters), head=title, share=share)
    letters_read = model_on_text.names_of(ids, bundled.tokenizer)
    head_view(
        maps[layer, head][None], letters_read, key="attention.twins", names=[title.capitalize()]
    )
    st.caption(words.view_rounded)


def _table(cards: dict[str, dict[str, Any]], scores: dict[str, LetterByLetter]) -> None:
    rows = [
        [
            mistake_words.mistake_names[name],
            cards[name].get("steps"),
            cards[name].get("validation_loss", math.nan),
            scores[name].loss,
            scores[name].ahead,
        ]
        for name in scores
    ]
    number = st.column_config.NumberColumn(format="%.4f")
    columns = {mistake_words.mistake_columns[key]: number for key in ("loss", "honest")}
    columns[mistake_words.mistake_columns["ahead"]] = st.column_config.NumberColumn(
        format="percent"
    )
    kit.rows_table(rows, mistake_words.mistake_columns.values(), width=760, column_config=columns)


def _told(name: str, cards: dict[str, Any], scores: dict[str, LetterByLetter]) -> dict[str, Any]:
    """Return the numbers of the sentences on a model with a mistake."""
    d = engine.load(RIGHT).model.config.head_size
    wrong, right = scores[name], scores[RIGHT]
    return {
        "d": d,
        "factor": math.sqrt(d),
        "loss": cards[name].get("validation_loss", math.nan),
        "right_loss": cards[RIGHT].get("validation_loss", math.nan),
        "honest": wrong.loss,
        "right": right.loss,
        "more": wrong.loss - right.loss,
        "names": wrong.names,
        "vocabulary": wrong.vocabulary,
        "blind": math.log(wrong.vocabulary),
        "ahead": wrong.ahead,
    }
