"""How the directions of a toy model grow, and what it keeps of its features."""

from collections.abc import Callable

import numpy as np

from llmviz.course.components.scatter_film.view import LAST, ORIGIN, Curve, Film, scatter_film
from llmviz.course.lessons.discoveries.superposition import words
from llmviz.course.lessons.discoveries.superposition.model import ALONE, KEPT, Learned
from llmviz.course.ui import kit

PENTAGON = 3.0  # degrees that the angles of a pentagon may be off


def draw_film(
    learned: Learned, key: str, step: int = LAST, on_step: Callable[[], None] | None = None
) -> None:
    """Show how the directions of a toy with two dimensions grew."""
    moments, count = learned.moments, learned.toy.features
    scatter_film(
        Film(
            np.array([moment.directions.T for moment in moments]),
            [str(number + 1) for number in range(count)],
            words=words.film_words,
            kinds=np.arange(count),
            kind_names=[words.feature.format(number=number + 1) for number in range(count)],
            lit=range(count),
            links=[(ORIGIN, number) for number in range(count)],
            captions=[
                words.caption.format(step=moment.step, steps=moment.steps, loss=moment.loss)
                for moment in moments
            ],
            curve=Curve(words.loss, [moment.loss for moment in moments]),
            axes=tuple(words.film_axes),
        ),
        key=key,
        step=step,
        on_step=on_step,
    )


def report(learned: Learned) -> str:
    """Return what a training keeps, in sentences."""
    count, shared = int(learned.kept.sum()), int(learned.shared.sum())
    how = "none" if not count else "shared" if shared else "apart"
    said = [
        words.report[how].format(
            step=learned.last.step,
            kept=count,
            shared=shared,
            features=learned.toy.features,
            dimensions=learned.toy.dimensions,
            kept_from=KEPT,
            alone=ALONE,
        )
    ]
    if learned.toy.dimensions == 2 and count > 1:
        gaps = learned.gaps
        said.append(words.angles.format(angles=kit.listed([f"{gap:.0f}°" for gap in gaps])))
        if count == 5 and np.abs(gaps - 72).max() < PENTAGON:
            said.append(words.pentagon)
    return " ".join(said)
