"""Letters of the learner: what each model takes for the next one, and where the heads look."""

from collections.abc import Sequence

import numpy as np

from llmviz.course.components import heads_grid
from llmviz.course.lessons.discoveries.induction import film, words
from llmviz.course.lessons.discoveries.induction.induction_record import (
    ONE,
    frame_of,
    learned,
    model_at,
)
from llmviz.course.lessons.discoveries.induction.params import SECOND
from llmviz.course.ui import kit
from llmviz.interpretability.heads_on_text import HeadMaps, head_maps
from llmviz.interpretability.induction import LETTERS, ids_of, next_chances

KEY = "discoveries.induction.yours"
BEST = 4  # next letters that are shown


def draw(state: kit.PageState) -> None:
    """Show a field for letters, what comes next, and the attention of all heads."""
    kit.section(words.yours)
    kit.text_input(state, "copyletters", words.letters)
    try:
        ids = tuple(ids_of(state["copyletters"]))
    except ValueError as error:
        kit.refuse(error)
        return
    frame, place = frame_of(film.place_of(state))
    of_two, of_one, maps = results(ids, frame)
    step = learned().moments[place].step
    rows = [(words.two_name.format(step=step), best(of_two)), (words.one_name, best(of_one))]
    kit.rows_table(rows, words.next_columns)
    kit.prose(yours_read(ids, of_two, of_one))
    layers, heads = maps.maps.shape[:2]
    key = f"{KEY}.heads"
    heads_grid(
        maps.maps,
        key=key,
        tokens=[LETTERS[token] for token in ids],
        chosen=head_of(state["copyhead"], layers, heads) or (1, SECOND),
        lines=True,
        on_change=kit.bound(state, key, chosen=("copyhead", lambda at: kit.link_of(at) or None)),
    )


def head_of(written: str, layers: int, heads: int) -> tuple[int, int] | None:
    """Return the head that a link names, or None where there is no such head.

    >>> head_of("1.0", 2, 2), head_of("7.0", 2, 2), head_of("", 2, 2)
    ((1, 0), None, None)
    """
    names = {f"{layer}.{head}": (layer, head) for layer, head in np.ndindex(layers, heads)}
    return names.get(written)


@kit.kept(64)
def results(ids: tuple[int, ...], frame: int) -> tuple[np.ndarray, np.ndarray, HeadMaps]:
    """Return the next letter's probabilities of both models (V,), and the maps of two layers."""
    two = model_at(frame=frame)
    return next_chances(two, ids), next_chances(model_at(ONE), ids), head_maps(two, ids)


def best(chances: np.ndarray) -> str:
    """Return the most probable next letters with their probabilities."""
    order = np.argsort(-chances, kind="stable")[:BEST]
    return ", ".join(f"{LETTERS[token]} {kit.percent(float(chances[token]))}" for token in order)


def yours_read(ids: Sequence[int], of_two: np.ndarray, of_one: np.ndarray) -> str:
    """Return what followed the last letter before, and what each model gives it."""
    *before, last = ids
    places = [place for place, letter in enumerate(before) if letter == last]
    if not places:
        return words.yours_read["new"].format(last=LETTERS[last])
    followed = ids[places[-1] + 1]
    return words.yours_read["again"].format(
        last=LETTERS[last],
        after=LETTERS[followed],
        two=kit.percent(float(of_two[followed])),
        one=kit.percent(float(of_one[followed])),
    )
