"""The stage of "Step by step": one word's scores and shares, of which the largest is guessed."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from llmviz.course.lessons.attention.steps import words
from llmviz.course.lessons.attention.steps.rungs import Rung
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


def row_of(rung: Rung, asks: int) -> Row:
    """Return the row of a token, or that of the last one."""
    size = len(rung.inputs.tokens)
    at = asks if 0 <= asks < size else size - 1
    scores, shares = (
        part.reshape(-1, size, size)[0, at] for part in (rung.steps.masked, rung.steps.weights)
    )
    return Row(at, scores, shares)


def draw(state: kit.PageState, rung: Rung, row: Row) -> None:
    """Show the scores of a word, and its shares once one of them was guessed."""
    tokens, guess = rung.inputs.tokens, kit.Guess(GUESS, share_question(rung, row))
    told = guess.open
    cases = []
    for at, (token, score, share) in enumerate(
        zip(tokens, row.scores.tolist(), row.shares.tolist(), strict=True)
    ):
        hidden = score == float("-inf")
        label = words.masked if hidden else words.score.format(score=kit.signed(score))
        known = told or at == row.most
        cases.append(
            kit.Case(
                [(token, at == row.at), (label, False)],
                share if known else None,
                note=kit.percent(share) if known else words.waits,
                role="query" if at == row.most else "residual",
            )
        )
    guess.cases(cases, kit.Axis(0, 1, words.share_axis), veiled=[row.most], picture=KEY)
    kit.prose(
        words.caption if told else words.caption_before,
        asking=kit.quote(tokens[row.at]),
        asked=kit.quote(tokens[row.most]),
        score=kit.signed(float(row.scores[row.most])),
        share=kit.percent(float(row.shares[row.most])),
    )
    if len(tokens) > 1:
        with st.container(horizontal=True):
            for at, token in enumerate(tokens):
                kind = "primary" if at == row.at else "secondary"
                st.button(
                    escape_markdown(token),
                    key=f"{KEY}.{at}",
                    type=kind,
                    on_click=state.setter(asking=at),
                )


def ask(rung: Rung, row: Row) -> bool:
    """Ask for the largest share; return whether it may be told."""
    return kit.Guess(GUESS, share_question(rung, row), by_hand=True).ask()


def share_question(rung: Rung, row: Row) -> kit.Question | None:
    """Return the question which share the word with the highest score gets.

    The wrong answers are those of somebody to whom the best match wins everything, of one who
    shares evenly, and of one who shares by the scores themselves. None where too few are apart.
    """
    drawn = [matrix.name for matrix in rung.picture.matrices]
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
        asking=kit.quote(rung.inputs.tokens[row.at]),
        asked=kit.quote(rung.inputs.tokens[row.most]),
        right=kit.percent(right),
    )


def covered(rung: Rung, row: Row) -> Picture:
    """Return the picture of a rung, with the row of shares covered until one was guessed."""
    if kit.Guess(GUESS, share_question(rung, row)).open:
        return rung.picture
    matrices = [
        replace(matrix, hidden=[(row.at, column) for column in range(matrix.values.shape[1])])
        if matrix.name.startswith(("weights", "dropped", "context"))
        else matrix
        for matrix in rung.picture.matrices
    ]
    return replace(rung.picture, matrices=matrices)
