"""Which misses of the first guess are the dice: the same places, drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components.token_strip.view import TokenRow, token_strip
from llmviz.course.lessons.errors.chance import words
from llmviz.course.lessons.errors.story import ReadStory, tokens_of, truth_of
from llmviz.course.ui import engine, kit
from llmviz.evaluation.exact_loss import DividedLoss, draw_again

if TYPE_CHECKING:
    from llmviz.tokenizers import Tokenizer

KEY = "errors.chance.throws"
LEAST = 0.05  # of tokens that could be saved on average: below, no model could do better


def draw(state: kit.PageState, story: ReadStory, divided: DividedLoss) -> dict[str, Any] | None:
    """Show the section; return its numbers for the end, None while its question covers them."""
    kit.section(words.again)
    if not kit.predict(question(divided), KEY, covers=True):
        return None
    st.number_input(words.throw, step=1, width=140, **state.ranged("throw"))
    drawn = drawn_of(story.bundled, story.text, len(divided), state["throw"])
    tokenizer = story.bundled.tokenizer
    guesses = kit.names_of(divided.guess.tolist(), tokenizer)
    rows = [
        _row(words.row_came, divided.ids, divided.guess, guesses, tokenizer),
        _row(words.row_drawn, drawn, divided.guess, guesses, tokenizer),
    ]
    token_strip(rows, key=f"{KEY}.rows", show_ids=False, value_label=words.row_value)
    numbers = misses(divided)
    again = divided.guess != drawn
    kit.prose(
        words.missed.format(
            **numbers,
            throw=state["throw"],
            again=int(again.sum()),
            changed=kit.count(int((again != divided.missed).sum()), "guess", "guesses"),
        )
        + "\n\n"
        + mean_line(divided)
    )
    return numbers


def misses(divided: DividedLoss) -> dict[str, Any]:
    """Return how many first guesses missed, and how many of them no guess could have saved."""
    missed = divided.missed
    return {
        "missed": int(missed.sum()),
        "tokens": kit.count(len(divided), "token"),
        "by_dice": int((missed & divided.best_guess).sum()),
        "by_lack": int((missed & ~divided.best_guess).sum()),
    }


def mean_line(divided: DividedLoss) -> str:
    """Return how many guesses miss on average, the model's and the best ones."""
    model, best = float((1 - divided.guess_true).sum()), float((1 - divided.best_true).sum())
    apart = model - best
    verdict = words.missed_verdict["none" if apart < LEAST else "lack"].format(apart=apart)
    tokens = kit.count(len(divided), "token")
    return words.missed_mean.format(model=model, best=best, tokens=tokens, verdict=verdict)


def question(divided: DividedLoss) -> kit.Question:
    """Return the question what share even the best guesses miss."""
    share = float((1 - divided.best_true).mean())
    reasons = [reason.format(share=kit.percent(share)) for reason in words.ask_perfect_reasons]
    return kit.share_question(words.ask_perfect, share, reasons, kit.percent)


@kit.kept(64)
def drawn_of(bundled: engine.Bundled, text: str, tokens: int, seed: int) -> np.ndarray:
    """Return a token for each place of a story, drawn from the true distribution."""
    return draw_again(truth_of(bundled, text), tokens, seed)


def _row(
    name: str, ids: np.ndarray, guess: np.ndarray, guesses: list[str], tokenizer: Tokenizer
) -> TokenRow:
    details = [{words.card_first: text} for text in guesses]
    missed = (ids != guess).astype(float)
    return TokenRow(name, tokens_of(ids.tolist(), tokenizer), values=missed, details=details)
