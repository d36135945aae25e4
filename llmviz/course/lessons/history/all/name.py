"""The learner's name, letter by letter, through nine models."""

import numpy as np

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.all import chapter, words
from llmviz.course.lessons.history.typed_name import link_onward
from llmviz.course.ui import kit
from llmviz.evaluation.invented_names import names_learned_from
from llmviz.evaluation.nine_models import NINE, chances_by_model

KEY = "history.all.name"


@kit.kept(1)
def _learned() -> frozenset[str]:
    return frozenset(names_learned_from())


def draw(state: kit.PageState) -> None:
    """Show the losses of each letter of the name, by model."""
    kit.section(words.intro, names=len(_learned()))
    name = typed_name.ask(state)
    if not name:
        return
    chances = scores(name)
    losses = -np.log(chances)
    means = losses.mean(axis=1, keepdims=True)
    table = np.hstack([losses, means])
    most = float(table.max())
    letters = [*name, words.end_mark]
    cell_grid(
        table,
        key=KEY,
        row_names=[words.models[key] for key in NINE],
        column_names=[*letters, words.mean],
        texts=[[f"{loss:.2f}" for loss in row] for row in table],
        notes=_notes(letters, chances, losses),
        strong=np.hstack([np.zeros_like(losses, bool), means <= means.min()]),
        starts=[2],
        role="key",
        limit=max(most, 1e-6),
        scale=(words.scale[0], words.scale[1].format(most=most)),
        label=words.grid,
    )
    kit.prose(f"{best(name, chances)} {words.listed[name in _learned()]}")
    link_onward(name)
    _code(name, chances)


@kit.kept(256)
def scores(name: str) -> np.ndarray:
    """Return what each of the nine gives each letter and the end of a name, (9, T)."""
    return np.array([chapter.chances(key, name) for key in NINE])


def _notes(letters: list[str], chances: np.ndarray, losses: np.ndarray) -> list[list[str]]:
    notes = []
    for key, row, own in zip(NINE, chances, losses, strict=True):
        model = words.models[key]
        line = [
            words.note.format(model=model, letter=letter, p=kit.percent(p), loss=loss)
            for letter, p, loss in zip(letters, row, own, strict=True)
        ]
        notes.append([*line, words.note_mean.format(model=model, loss=own.mean())])
    return notes


def best(name: str, chances: np.ndarray) -> str:
    """Say which model has the lowest loss for a name, and at which letter they differ most."""
    losses = -np.log(chances)
    means = losses.mean(axis=1)
    low, high = int(means.argmin()), int(means.argmax())
    if f"{means[low]:.3f}" == f"{means[high]:.3f}":
        return words.best_tie.format(name=kit.quote(name), low=means[low])
    at = int((losses.max(axis=0) - losses.min(axis=0)).argmax())
    letters = [words.place.format(number=i, letter=kit.quote(c)) for i, c in enumerate(name, 1)]
    least, most = int(chances[:, at].argmin()), int(chances[:, at].argmax())
    return words.best.format(
        name=kit.quote(name),
        best=words.models[NINE[low]],
        worst=words.models[NINE[high]],
        low=means[low],
        high=means[high],
        place=[*letters, words.place_end][at],
        least=kit.percent(chances[least, at]),
        least_model=words.models[NINE[least]],
        most=kit.percent(chances[most, at]),
        most_model=words.models[NINE[most]],
    )


def _code(name: str, chances: np.ndarray) -> None:
    gpt = chances[NINE.index("names-gpt")]
    kit.show_code(
        [chances_by_model],
        words.snippet_name.format(name=name),
        "\n".join(f"{p:.4f}" for p in gpt),
    )
