"""A name that the table of letter pairs writes, one random number a letter."""

import numpy as np
import streamlit as st

from llmviz.corpus.counts import LETTERS
from llmviz.course.components.dice.view import dice
from llmviz.course.lessons.history.counting import pairs, words
from llmviz.course.lessons.history.letter_pairs import Throw, fall, probabilities, throw_name
from llmviz.course.ui import kit
from llmviz.evaluation.invented_names import names_learned_from

MORE = 8  # seeds whose names are listed
LONGEST = 30  # letters
BARS = 12  # letters that have a bar of their own
OTHERS = 199  # random numbers that fall on a strip beside the name's own


def draw(state: kit.PageState) -> None:
    """Show the strip of one letter, and the name that the letters make."""
    kit.section(words.dice)
    seed, letter = st.columns(2, gap="medium")
    seed.number_input(words.dice_seed, **state.ranged("throw"))
    throws = thrown(state["throw"])
    if state["letter"] > len(throws):  # of another seed
        state["letter"] = len(throws)
    if len(throws) > 1:
        letter.slider(words.dice_letter, **state.ranged("letter", most=len(throws)))
    at = state["letter"] - 1
    _strip(throws[at], state["throw"], at)
    kit.prose(f"{_step(at, throws[at])} {words.dice_others.format(others=OTHERS)}")
    others = [spelled(thrown(state["throw"] + more)) for more in range(1, MORE + 1)]
    listed = ", ".join(kit.quote(name) for name in others)
    kit.prose(f"{_written(throws)} {words.dice_more.format(count=MORE, listed=listed)}")
    kit.show_code(
        [throw_name],
        words.snippet_dice.format(throw=state["throw"]),
        "\n".join(f"{roll.u:.4f} {roll.start:.4f} {roll.end:.4f} {roll.letter}" for roll in throws),
    )


@kit.kept(256)
def thrown(seed: int) -> list[Throw]:
    """Return the letters that the counted table writes from a seed."""
    return throw_name(_table(), seed, LONGEST)


@kit.kept(1)
def _table() -> np.ndarray:
    return probabilities(pairs.counts())


@kit.kept(1)
def _known() -> frozenset[str]:
    return frozenset(names_learned_from())


def spelled(throws: list[Throw]) -> str:
    """Return the name that letters make, without its end."""
    return "".join(throw.letter for throw in throws if throw.letter != LETTERS[0])


def _strip(throw: Throw, seed: int, at: int) -> None:
    """Draw the row's strip, with other random numbers and the name's own one as the last."""
    row = _table()[LETTERS.index(throw.first)]
    ends = np.cumsum(row)
    others, fallen = fall(row, OTHERS, (seed, at))
    own = LETTERS.index(throw.letter)
    counts = np.bincount([*fallen, own], minlength=len(row))
    order = np.argsort(-row, kind="stable")
    named = [int(i) for i in order[:BARS] if row[i] > 0]
    if own not in named:
        named.append(own)
    rest = [i for i in range(len(row)) if i not in named]
    thrown_there = [(float(u), LETTERS[i]) for u, i in zip(others, fallen, strict=True)]
    dice(
        [LETTERS[i] for i in named],
        [float(row[i]) for i in named],
        [int(counts[i]) for i in named],
        key=f"{pairs.KEY}.dice",
        draws=OTHERS + 1,
        rest=(len(rest), float(row[rest].sum()), int(counts[rest].sum())),
        strip=[(k, float(ends[i] - row[i]), float(ends[i])) for k, i in enumerate(named)],
        recent=[*thrown_there, (throw.u, throw.letter)],
    )


def _step(at: int, throw: Throw) -> str:
    return words.dice_step.format(
        number=at + 1,
        first=words.dot if throw.first == LETTERS[0] else kit.quote(throw.first),
        u=throw.u,
        start=throw.start,
        end=throw.end,
        letter=words.dot if throw.letter == LETTERS[0] else kit.quote(throw.letter),
        chance=throw.end - throw.start,
    )


def _written(throws: list[Throw]) -> str:
    name = spelled(throws)
    if throws[-1].letter != LETTERS[0]:
        return words.dice_cut.format(name=kit.quote(name), all=len(name))
    return words.dice_written.format(name=kit.quote(name), known=words.dice_known[name in _known()])
