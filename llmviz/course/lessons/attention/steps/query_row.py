"""The stage of "Step by step": one word's scores and shares, of which the largest is guessed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from llmviz.course.lessons.attention.steps import words
from llmviz.course.lessons.attention.steps.drawn_variant import Variant
from llmviz.course.ui import kit
from llmviz.course.ui.matrix_picture import Picture
from llmviz.course.ui.text import escape_markdown

KEY = "attention.asks"
GUESS = f"{KEY}.share"
APART = 0.06  # between the answers of the question


class Row(NamedTuple):
    """What one token has: scores (T,) as the softmax reads them, shares (T,), and which it is.

    Of several heads, those of the first.
    """

    at: int
    scores: Tensor
    shares: Tensor

    @property
    def most(self) -> int:
        """The token that gets the largest share."""
        return int(self.shares.argmax())


def row_of(variant: Variant, asks: int) -> Row:
    """Return the row of a token, or that of the last one."""
    size = len(variant.inputs.tokens)
    at = asks if 0 <= asks < size else size - 1
    scores, shares = (
        part.reshape(-1, size, size)[0, at]
        for part in (variant.steps.masked, variant.steps.weights)
    )
    return Row(at, scores, shares)


def draw(state: kit.PageState, variant: Variant, row: Row) -> None:
    """Show the scores of a word, and its shares once one of them was guessed."""
    tokens, guess = variant.inputs.tokens, kit.Guess(GUESS, share_question(variant, row))
    revealed = guess.open
    cases, shares = [], row.shares.tolist()
    for at, (token, score, share, said) in enumerate(
        zip(tokens, row.scores.tolist(), shares, written(shares), strict=True)
    ):
        hidden = score == float("-inf")
        label = words.masked if hidden else words.score.format(score=kit.signed(score))
        known = revealed or at == row.most
        cases.append(
            kit.Case(
                [(token, at == row.at), (label, False)],
                share if known else None,
                note=said if known else words.waits,
                role="query" if at == row.most else "residual",
            )
        )
    guess.cases(cases, kit.Axis(0, 1, words.share_axis), veiled=[row.most], picture=KEY)
    kit.prose(caption(tokens, row) if revealed else caption_before(tokens, row))
    if len(tokens) > 1:
        with st.container(horizontal=True):
            for at, token in enumerate(tokens):
                st.button(
                    escape_markdown(token),
                    key=f"{KEY}.{at}",
                    type="primary" if at == row.at else "secondary",
                    on_click=state.setter(asking=at),
                )


def caption(tokens: Sequence[str], row: Row) -> str:
    """Return from whom a word takes most: one, several with the same share, all, or itself."""
    seen, most = int(row.scores.isfinite().sum()), _largest(row.shares, kit.percent)
    case = "one" if len(most) == 1 else "even" if len(most) == seen else "tied"
    return words.caption["alone" if seen == 1 else case].format(
        asking=kit.quote(tokens[row.at]),
        most=_listed(tokens, most),
        share=kit.percent(float(row.shares[row.most])),
    )


def caption_before(tokens: Sequence[str], row: Row) -> str:
    """Return who has the best score, before the shares are told."""
    return words.caption_before.format(
        asking=kit.quote(tokens[row.at]),
        score=kit.signed(float(row.scores[row.most])),
        best=_listed(tokens, _largest(row.scores, kit.signed)),
    )


def _largest(values: Tensor, write: Callable[[float], str]) -> list[int]:
    """Return where the largest value stands, and those that are written like it."""
    texts = [write(value) if value > float("-inf") else "" for value in values.tolist()]
    return [at for at, text in enumerate(texts) if text == texts[int(values.argmax())]]


def _listed(tokens: Sequence[str], places: Sequence[int]) -> str:
    return kit.listed(list(dict.fromkeys(kit.quote(tokens[at]) for at in places)))


def written(shares: Sequence[float]) -> list[str]:
    """Return shares in percent, with the digits at which what is printed adds up to 100.

    Where they need more than three digits: as anywhere else.

    >>> written([0.10651, 0.78698, 0.10651])
    ['10.65\xa0%', '78.70\xa0%', '10.65\xa0%']
    """
    for digits in (1, 2, 3):
        if sum(round(10**digits * 100 * share) for share in shares) == 100 * 10**digits:
            return [f"{100 * share:.{digits}f}\u00a0%" for share in shares]
    return [kit.percent(share) for share in shares]


def ask(variant: Variant, row: Row) -> bool:
    """Ask for the largest share; return whether it may be told."""
    return kit.Guess(GUESS, share_question(variant, row), by_hand=True).ask()


def share_question(variant: Variant, row: Row) -> kit.Question | None:
    """Return the question which share the word with the highest score gets.

    The wrong answers are those of somebody to whom the best match wins everything, of one who
    shares evenly, and of one who shares by the scores themselves. None where too few are apart.
    """
    drawn = [matrix.name for matrix in variant.picture.matrices]
    if any(name.startswith("softmax") for name in drawn):
        return None
    scores = row.scores[row.scores.isfinite()]
    right = float(row.shares[row.most])
    guesses = {1.0: words.ask_share_all, 1 / len(scores): words.ask_share_even}
    if (scores >= 0).all() and scores.sum() > 0:
        guesses |= {float(scores.max() / scores.sum()): words.ask_share_scores}
    wrong: dict[float, str] = {}
    for at, why in guesses.items():
        if all(abs(at - other) >= APART for other in (right, *wrong)):
            wrong[at] = why
    if len(scores) < 2 or len(wrong) < 2:
        return None
    return kit.Question.among(
        words.ask_share,
        wrong | {right: words.ask_share_right},
        right,
        kit.percent,
        asking=kit.quote(variant.inputs.tokens[row.at]),
        asked=kit.quote(variant.inputs.tokens[row.most]),
        right=kit.percent(right),
    )


def covered(variant: Variant, row: Row) -> Picture:
    """Return the picture of a variant, with the row of shares covered until one was guessed."""
    if kit.Guess(GUESS, share_question(variant, row)).open:
        return variant.picture
    matrices = [
        replace(matrix, hidden=[(row.at, column) for column in range(matrix.values.shape[1])])
        if matrix.name.startswith(("weights", "dropped", "context"))
        else matrix
        for matrix in variant.picture.matrices
    ]
    return replace(variant.picture, matrices=matrices)
