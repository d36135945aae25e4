"""What a model was along its training, beside its curve: read from the weights that were kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.course.components.run_film.view import Film, run_film
from llmviz.course.lessons.training import words
from llmviz.course.lessons.training.charted_runs import ChartedRun
from llmviz.course.ui import kit
from llmviz.course.ui.text import visible
from llmviz.models.catalogue import able
from llmviz.training.kept_weights import kept_models, kept_steps, planes_of, texts_of, weights_of
from llmviz.training.reading import read_tokenizer

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel

TEXTS, LENGTH = 5, 12  # what is written at each step: so many texts of so many tokens
LONGEST = 16  # tokens that a head looks at
DOTS = 100  # tokens of a vocabulary that still can be told apart on the plane
VOWELS = frozenset("aeiou")
STARTS = {"names": "samira"}  # what the heads read until something is typed
START = "Once there was"


def has_film(run: ChartedRun) -> bool:
    """Whether a run that writes has kept weights on its way."""
    return able(run.description["model"]["name"], "next_token") and len(_steps(run)) > 1


def draw(state: kit.PageState, run: ChartedRun) -> Film | None:
    """Show and return the film of a run that has one; its controls begin with `film_`."""
    corpus = run.description["data"]["corpus"]
    text = state["film_text"] or STARTS.get(corpus, START)
    steps = tuple(_steps(run))
    try:
        film = _film(str(run.folder), run.description["model"]["name"], steps, text)
    except (ValueError, OSError) as error:
        kit.refuse(error)
        return None
    key = f"{state.page}.run_film"
    controls = {name: f"film_{name}" for name in ("head", "asking", "pane")}
    run_film(
        film,
        key=key,
        words=words.film,
        on_change=kit.bound(state, key, **controls),
        **{name: state[control] for name, control in controls.items()},
    )
    if film.weights is not None:
        kit.text_input(state, "film_text", words.film_text, placeholder=text, width=260)
    return film


def code(state: kit.PageState, run: ChartedRun, film: Film) -> None:
    """Show how the weights of a bundled run are read at each step, for the head that is shown."""
    text = state["film_text"] or STARTS.get(run.description["data"]["corpus"], START)
    if film.weights is None or not run.is_bundled:
        return
    head = state["film_head"] if state["film_head"] < len(film.names) else 0
    largest = film.weights[:, head, -1].max(-1)
    kit.show_code(
        [kept_models, weights_of, planes_of],
        words.film_snippet.format(name=run.name, text=text, longest=LONGEST, head=head),
        "\n".join(f"{step} {share:.2f}" for step, share in zip(film.steps, largest, strict=True)),
        label=words.film_code,
    )


def _steps(run: ChartedRun) -> list[int]:
    return kept_steps(run.folder)


@kit.cached(2)
def _models(folder: str, steps: tuple[int, ...]) -> list[LanguageModel]:
    """The models of the steps, loaded once for all texts that their heads read."""
    return [model for _, model in kept_models(Path(folder))]


@kit.cached(32)
def _film(folder: str, kind: str, steps: tuple[int, ...], text: str) -> Film:
    """Compute the film; what does not depend on the text is kept on its own."""
    texts, labels, lit, points, share = _still(folder, kind, steps)
    found = _looks(folder, kind, steps, text)
    tokens, names, weights = found or ((), (), None)
    return Film(steps, texts, tokens, names, weights, labels, lit, points, share)


@kit.cached(16)
def _still(
    folder: str, kind: str, steps: tuple[int, ...]
) -> tuple[list[list[str]], list[str], list[int], np.ndarray | None, float]:
    """What a model writes at each step, and where the rows of its tokens lie."""
    from llmviz.interpretability.vector_tables import table_of

    tokenizer = read_tokenizer(Path(folder))
    few = tokenizer.vocab_size <= DOTS
    texts, tables = [], []
    for model in _models(folder, steps):
        texts.append(texts_of(model, tokenizer, TEXTS, LENGTH))
        if few and able(kind, "token_table"):
            tables.append(table_of(folder, model, tokenizer).exact)
    if not tables:
        return texts, [], [], None, 0.0
    named = [tokenizer.decode([i]) for i in range(tokenizer.vocab_size)]
    shown = [i for i, label in enumerate(named) if label.strip() and len(label) == 1]
    points, share = planes_of([table[shown] for table in tables])
    lit = [place for place, i in enumerate(shown) if named[i] in VOWELS]
    return texts, [named[i] for i in shown], lit, points, share


def _looks(
    folder: str, kind: str, steps: tuple[int, ...], text: str
) -> tuple[list[str], list[str], np.ndarray] | None:
    """Where each head looks at each step; None where the model has no heads.

    Raises ValueError for a text that its tokens cannot spell.
    """
    from llmviz.training.data import end_id

    tokenizer = read_tokenizer(Path(folder))
    ids = [end_id(tokenizer), *tokenizer.encode(text)][:LONGEST]
    models = _models(folder, steps)
    if not able(kind, "attention"):
        return None
    weights = [weights_of(model, ids[: model.context_length]) for model in models]
    layers = models[0].config.n_layer
    heads = len(weights[0]) // layers
    names = [f"{layer}.{head}" for layer in range(layers) for head in range(heads)]
    tokens = ["⏎", *(visible(tokenizer.decode([i])) for i in ids[1:])][: weights[0].shape[-1]]
    return tokens, names, np.stack(weights)
