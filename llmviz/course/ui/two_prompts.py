"""Two prompts of the learner's and their answers, for chapters that patch one into the other.

A token that is chosen or typed is one of a model's. V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from llmviz.course.ui import engine
from llmviz.course.ui.cached import cached
from llmviz.course.ui.common import percent
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.model_on_text import names_of, spoken
from llmviz.course.ui.prose import prose
from llmviz.course.ui.selectable_models import label
from llmviz.course.ui.state import PageState
from llmviz.course.ui.text_field import text_input
from llmviz.files.text import check_text
from llmviz.interpretability.patching import Reading, read_prompt
from llmviz.tokenizers import Tokenizer


def token_of(written: str, best: Sequence[int], tokenizer: Tokenizer) -> int:
    """Return the token that was chosen or typed; a space may be written as a dot.

    Raises ValueError: what was typed is not one token.
    """
    names = names_of(best, tokenizer)
    if written in names:
        return best[names.index(written)]
    ids = []
    for text in (written, written.replace("·", " ")):
        ids = [tokenizer.special_tokens[text]] if text in tokenizer.special_tokens else []
        ids = ids or tokenizer.encode(text)
        if len(ids) == 1:
            return ids[0]
    if not ids:
        raise ValueError(furniture.prompts["nothing_typed"])
    listed = ", ".join(names_of(ids[:8], tokenizer)) + (", …" if len(ids) > 8 else "")
    raise ValueError(
        furniture.prompts["not_one"].format(text=written[:40], count=len(ids), tokens=listed)
    )


@cached(64)
def reading(bundled: engine.Bundled, ids: tuple[int, ...]) -> Reading:
    """Return what a model made of a prompt."""
    return read_prompt(bundled.model, ids)


def ids_of(text: str, bundled: engine.Bundled) -> tuple[int, ...]:
    """Return a prompt's tokens behind the start token.

    Raises ValueError: it is empty, cannot be written as UTF-8, or is longer than the context.
    """
    if not text:
        raise ValueError(furniture.prompts["empty"])
    ids = bundled.tokenizer.encode_from_start(check_text(text))
    limit = bundled.model.context_length
    if len(ids) > limit:
        name = label(bundled.name)
        raise ValueError(furniture.prompts["long"].format(count=len(ids), name=name, limit=limit))
    return tuple(ids)


def boxes(state: PageState, words: Any) -> None:
    """Show the boxes for the two prompts and their answers, with the texts of a chapter."""
    left, right = st.columns([3, 1])
    with left:
        text_input(state, "prompt", words.prompt)
        text_input(state, "donor", words.other_prompt)
    with right:
        text_input(state, "answer", words.answer, help=words.answer_help)
        text_input(state, "other", words.other_answer, help=words.answer_help)


def both_ids(state: PageState, bundled: engine.Bundled) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the tokens of both prompts. Raises ValueError: see `ids_of`; or they are the same."""
    own, donor = (ids_of(state[key], bundled) for key in ("prompt", "donor"))
    if own == donor:
        raise ValueError(furniture.prompts["same_prompts"])
    return own, donor


def answers(
    state: PageState, bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...]
) -> tuple[int, int]:
    """Return the two answers: those typed, or the most probable token after each prompt.

    Raises ValueError: one is no single token, or both are the same.
    """
    pair = []
    for key, ids in (("answer", own), ("other", donor)):
        best = int(reading(bundled, ids).logits.argmax())
        written = state[key]
        pair.append(token_of(written, [], bundled.tokenizer) if written else best)
    if pair[0] == pair[1]:
        token = names_of(pair[:1], bundled.tokenizer)[0]
        raise ValueError(furniture.prompts["same_answers"].format(token=token))
    return pair[0], pair[1]


def named(bundled: engine.Bundled, pair: tuple[int, int]) -> dict[str, str]:
    """Return both answers as texts name them."""
    own, other = (spoken(token, bundled.tokenizer) for token in pair)
    return {"own": own, "other": other}


def chances(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> None:
    """Say how probable both answers are after each prompt."""
    shares = [reading(bundled, ids).logits.softmax(-1)[list(pair)].tolist() for ids in (own, donor)]
    prose(
        furniture.prompts["says"],
        **named(bundled, pair),
        own_share=percent(shares[0][0]),
        own_other=percent(shares[0][1]),
        donor_own=percent(shares[1][0]),
        donor_share=percent(shares[1][1]),
    )


def written(share: float) -> str:
    r"""Return a share with a true minus sign.

    >>> written(-0.126), written(1)
    ('−13\xa0%', '100\xa0%')
    """
    return f"{100 * share:.0f}\u00a0%".replace("-", "−").replace("−0\u00a0%", "0\u00a0%")
