"""The rounds of the learner's story, computed once and told step by step."""

from __future__ import annotations

import streamlit as st

from llmviz.components.guess_rounds.view import (
    ACCEPTED,
    REJECTED,
    UNCHECKED,
    PlaceBars,
    RoundPicture,
    guess_rounds,
)
from llmviz.lessons.efficiency.guess import words
from llmviz.lessons.efficiency.guess.params import MOST_STEPS, WRITTEN
from llmviz.sampling.settings import SamplingSettings
from llmviz.sampling.speculative import Guess, Round, speculate
from llmviz.study.drafts import draft_of
from llmviz.study.guess_places import Place, places_of
from llmviz.tokenizers import ENDOFTEXT
from llmviz.ui import engine
from llmviz.ui.common import count, percent
from llmviz.ui.kept import kept
from llmviz.ui.model_on_text import names_of
from llmviz.ui.state import PageState

KEY = "efficiency.guess"
LISTED = 6  # tokens of a place that are shown
SHOWN = 40  # tokens of the prompt that are shown

Settings = tuple[str, str, tuple[int, ...], str, int, float, int]


@kept(8)
def draft_for(kind: str, name: str, version: str) -> object:
    """Return a draft for a model; one that reads with a cache is made anew for each text."""
    return draft_of(kind, engine.load(name).tokenizer)


@kept(32)
def rounds_of(
    name: str, version: str, ids: tuple[int, ...], kind: str, k: int, heat: float, luck: int
) -> list[Round]:
    """Return the rounds that write up to WRITTEN tokens behind ids."""
    import torch

    bundled = engine.load(name)
    draft = draft_for(kind, name, version) if kind == "counts" else None
    return list(
        speculate(
            bundled.model,
            draft or draft_of(kind, bundled.tokenizer),
            ids,
            WRITTEN,
            k,
            SamplingSettings(heat),
            torch.Generator().manual_seed(luck),
            bundled.tokenizer.special_tokens.get(ENDOFTEXT),
        )
    )


@kept(32)
def pictured(*given: object) -> list[RoundPicture]:
    """Return the rounds as the picture takes them, with their sentences."""
    name = str(given[0])
    return [_picture(number, one, name) for number, one in enumerate(rounds_of(*given))]


def _picture(number: int, one: Round, name: str) -> RoundPicture:
    bundled = engine.load(name)
    vocab = bundled.model.vocab_size
    guessed = names_of([guess.token for guess in one.guesses], bundled.tokenizer)
    (drawn,) = names_of([one.drawn], bundled.tokenizer)
    lines = []
    if one.guesses:
        made = count(len(one.guesses), "guess", "guesses")
        lines.append(words.LINE_GUESS.format(round=number + 1, guesses=made))
    checks = [
        check_line(guess, token)
        for guess, token in zip(one.guesses[: one.checked], guessed, strict=False)
    ]
    end = draw_line(one, drawn)
    bars = []
    for place, line in zip(places_of(one, vocab, LISTED), [*checks, end], strict=False):
        bars.append(_bars(place, names_of(place.tokens, bundled.tokenizer), line, vocab))
    verdicts = [
        (token, UNCHECKED if guess.u is None else ACCEPTED if guess.accepted else REJECTED)
        for token, guess in zip(guessed, one.guesses, strict=True)
    ]
    ended = one.accepted + 1 - len(one.tokens)
    return RoundPicture(verdicts, drawn, bars, [*lines, *checks, end], ended)


def check_line(guess: Guess, token: str) -> str:
    """Return what became of a guess, in a sentence."""
    p, q = float(guess.p[guess.token]), guess.q.of(guess.token)
    if guess.chance == 1.0:
        why = words.WHY_SURE
    else:
        chance, u = told_apart(guess.chance, guess.u)
        why = (words.WHY_BELOW if guess.accepted else words.WHY_ABOVE).format(chance=chance, u=u)
    told = words.LINE_YES if guess.accepted else words.LINE_NO
    return told.format(token=token, p=percent(p), q=percent(q), why=why)


def told_apart(a: float, b: float) -> tuple[str, str]:
    """Return two numbers from 0 to 1 with three digits, or as many more as tell them apart.

    >>> told_apart(0.5, 0.25), told_apart(0.50001, 0.5)
    (('0.500', '0.250'), ('0.50001', '0.50000'))
    """
    for digits in range(3, 17):
        written = f"{a:.{digits}f}", f"{b:.{digits}f}"
        if written[0] != written[1]:
            break
    return written


def draw_line(one: Round, token: str) -> str:
    """Return how the last token of a round came about, in a sentence."""
    rejected = one.accepted < len(one.guesses)
    told = words.LINE_RESIDUAL if rejected else words.LINE_FREE
    if not one.guesses:
        told = words.LINE_ALONE
    share = percent(float(one.drawn_from[one.drawn]))
    line = told.format(token=token, share=share, added=count(len(one.tokens), "token"))
    return line + (words.LINE_END if one.accepted + 1 > len(one.tokens) else "")


def _bars(place: Place, names: list[str], line: str, vocab: int) -> PlaceBars:
    told = words.TOLD_FREE
    if place.q.any():
        told = words.TOLD.format(
            kept=percent(float(place.kept.sum())),
            added=percent(float(place.added.sum())),
            vocab=vocab,
            error=f"{place.error:.0e}" if place.error else "0",
        )
    return PlaceBars(names, place.p, place.q, place.kept, place.added, line, told)


def total(rounds: list[Round]) -> str:
    """Return what all rounds did, in a sentence."""
    tokens, checked = sum(len(one.tokens) for one in rounds), sum(one.checked for one in rounds)
    accepted = sum(one.accepted for one in rounds)
    share = words.TOTAL_SHARE.format(share=percent(accepted / checked)) if checked else ""
    return words.TOTAL.format(
        rounds=count(len(rounds), "round"),
        tokens=count(tokens, "token"),
        each=tokens / len(rounds),
        checked=count(checked, "guess", "guesses"),
        accepted=accepted,
        share=share,
    )


def draw(state: PageState, given: Settings, tokens: tuple[str, ...]) -> None:
    """Draw the rounds behind the prompt's tokens."""

    def keep_step() -> None:
        step = st.session_state[f"{KEY}.rounds"].get("step")
        if isinstance(step, int) and 0 <= step <= MOST_STEPS:
            state["guessstep"] = step

    guess_rounds(
        tokens[-SHOWN:],
        pictured(*given),
        key=f"{KEY}.rounds",
        words=words.PICTURE,
        step=state["guessstep"],
        on_change=keep_step,
    )
