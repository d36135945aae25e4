"""The stage of "Masks": models of names, some of which could look ahead when they learned."""

import math
from functools import cache
from typing import Any

import numpy as np
import torch

from llmviz.corpus import load_corpus
from llmviz.course import components as lv
from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.masks import words
from llmviz.course.lessons.attention.masks.model import LetterByLetter, letter_by_letter
from llmviz.course.lessons.attention.names import typed_name
from llmviz.course.ui import engine, kit, matrix_picture
from llmviz.course.ui.guess_drawn import words as guess_words
from llmviz.course.ui.model_on_text import names_of
from llmviz.nn.attention.study import loss_as_written, weight_ahead
from llmviz.tokenizers import ENDOFTEXT

KEY = "attention.peeking"
GUESS = f"{KEY}.cells"
MODELS = tuple(words.twins)
RIGHT, WRONG = MODELS[:2]
NAMES = 200  # held-out names that are asked letter by letter
LOOKED_AT = 50  # of these, those whose weights are looked at


@cache
def held_out_names() -> list[str]:
    """Return names that no bundled model was trained on."""
    return load_corpus("names").split()[1].documents[:NAMES]


@kit.cached(8)
def honest(bundled: engine.Bundled) -> LetterByLetter:
    """Ask a bundled model of names for each letter of held-out names from the letters before."""
    return letter_by_letter(bundled.model, bundled.tokenizer, held_out_names(), LOOKED_AT)


def all_honest() -> dict[str, LetterByLetter]:
    """Ask all of them that are in this copy, in the order in which they are shown."""
    there = engine.names()
    return {name: honest(engine.load(name)) for name in MODELS if name in there}


def draw(state: kit.PageState) -> bool:
    """Show where a model looks and what it costs it to write; return whether all may be told."""
    if not kit.models_here(*MODELS):
        kit.source(state)
        return True
    kit.prose(words.hook, loss=paper(WRONG))
    name, guess = typed_name(state), kit.Guess(GUESS, None)
    with kit.stage("masks"):
        if name is not None:
            guess = _look(state, name)
        kit.choose(state, "twin", words.twin_label, words.twins)
        kit.text_input(state, "letters", words.name, width=300)
    revealed = guess.ask()
    kit.source(state)
    if revealed:
        kit.looks(state, words.looks, f"{KEY}.looks", **numbers())
    return revealed


def _look(state: kit.PageState, name: str) -> kit.Guess:
    """Draw the head that looks ahead most, and the losses; return the question about its cells."""
    loss = paper(state["twin"])
    bundled, score = engine.load(state["twin"]), honest(engine.load(state["twin"]))
    end = bundled.tokenizer.special_tokens[ENDOFTEXT]
    ids = (end, *bundled.tokenizer.encode(name))[: bundled.model.context_length]
    letters = names_of(ids, bundled.tokenizer)
    guess = kit.Guess(GUESS, question(letters))
    layer, head, weights = looks_ahead(bundled, ids)
    row = row_asked(len(letters))
    guess.cell(
        lv.Matrix(
            "looks",
            weights.round(2),
            lesson_words.head_name.format(layer=layer, head=head).capitalize(),
            row_labels=letters,
            col_labels=letters,
            row_axis=matrix_picture.ASKING_AXIS,
            col_axis=matrix_picture.ASKED_AXIS,
            role="weights",
            limit=1.0,
            digits=2,
        ),
        row=row,
        picture=KEY,
        veiled=[row],  # a lit cell would tell
    )
    others = np.where(np.arange(len(letters))[:, None] == row, 0, weights)
    kit.prose(caption(others if guess.asks else weights, letters))
    blind = math.log(score.vocabulary)
    top = 4 * math.ceil(max(blind, *(known.loss for known in all_honest().values())) / 4)
    kit.case_rows(
        [
            kit.Case(
                words.on_paper,
                loss if math.isfinite(loss) else None,
                note="" if math.isfinite(loss) else words.unknown,
                role="value",
            ),
            kit.Case(words.in_use, score.loss),
        ],
        kit.Axis(0, top, words.nats),
        key=f"{KEY}.loss",
        words=guess_words.bars,
        form="figure",
        levels=[(blind, words.blind)],
    )
    return guess


def paper(name: str) -> float:
    """Return the loss on new names that a model has on paper, where all letters are in view."""
    return float(engine.card(name).get("validation_loss", math.nan))


def looks_ahead(bundled: engine.Bundled, ids: tuple[int, ...]) -> tuple[int, int, np.ndarray]:
    """Return the head with most weight on later letters, and its weights (T, T).

    Where none has any: the one that most often gives nearly all to one earlier letter.
    """
    seen = real.all_maps(bundled, ids)
    ahead = weight_ahead(torch.from_numpy(seen.maps / 255)).numpy()  # (L, H)
    best = (ahead if ahead.max() > 0 else seen.decided).argmax()
    layer, head = (int(at) for at in np.unravel_index(int(best), ahead.shape))
    return layer, head, real.traced(bundled, ids, layer)["weights"][head].numpy()


def caption(weights: np.ndarray, letters: list[str]) -> str:
    """Return what to see in weights (T, T): the largest share that comes from a later letter."""
    later = np.triu(weights, 1)
    i, j = (int(at) for at in np.unravel_index(int(later.argmax()), later.shape))
    if later[i, j] < 0.005:
        return words.caption["tight"]
    return words.caption["ahead"].format(
        asks=kit.quote(letters[i]), asked=kit.quote(letters[j]), share=kit.percent(later[i, j])
    )


def row_asked(t: int) -> int:
    """Return the row of T in which a cell is clicked; there is one before it and one after it."""
    return t // 2


def question(letters: list[str]) -> kit.Question | None:
    """Return the question which is the first cell of a row that must go; None for two tokens.

    The wrong answers are of somebody who hides what was just read, of one who leaves the very next
    letter in view, and of one who hides what comes before.
    """
    row = row_asked(len(letters))
    reasons = {
        row - 1: words.ask_before,
        row: words.ask_itself,
        row + 1: words.ask_next,
        row + 2: words.ask_late,
    }
    there = {at: why for at, why in reasons.items() if at < len(letters)}
    if row + 1 not in there:
        return None

    def written(column: float) -> str:
        at = int(column)
        return words.cell.format(letter=letters[at], at=at)

    near: dict[str, Any] = {"asking": kit.quote(letters[row]), "next": kit.quote(letters[row + 1])}
    return kit.Question.among(
        words.ask, there, row + 1, written, row=row, before=kit.quote(letters[row - 1]), **near
    )


def numbers() -> dict[str, str]:
    """Return the losses that looks and end say, on paper and in use, by the models' short names."""
    if not set(MODELS) <= set(engine.names()):
        return {}
    said: dict[str, Any] = {}
    for name, score in all_honest().items():
        short = name.removeprefix("names-gpt").strip("-").replace("-", "_") or "right"
        said |= {f"{short}_paper": loss_text(paper(name)), f"{short}_use": loss_text(score.loss)}
        said["blind"] = loss_text(math.log(score.vocabulary))
    return said


def loss_text(loss: float) -> str:
    """Return a loss with two digits; of one that they do not show, that it is nearly 0.

    >>> loss_text(1.5827), loss_text(0.0049), loss_text(0.005)
    ('1.58', 'nearly 0', '0.01')
    """
    return words.nearly_none if round(loss, 2) == 0 else f"{loss:.2f}"


def code() -> None:
    kit.show_code(
        [loss_as_written, weight_ahead],
        lesson_words.snippet_trained_mistakes.format(wrong=WRONG, names=NAMES),
        f"{paper(WRONG):.4f} {honest(engine.load(WRONG)).loss:.2f}",
        label=words.peeking_code,
    )
