"""The one-layer network that learns the table of letter pairs, as a film of its steps."""

import numpy as np

from llmviz.corpus.counts import LETTERS
from llmviz.course.components._shared.transport import Stored
from llmviz.course.components.table_film.view import film_of_table, table_film
from llmviz.course.lessons.history.counting import pairs, words
from llmviz.course.lessons.history.counting.params import STEPS
from llmviz.course.lessons.history.counting.table_descent import RATES, TableDescent, table_descent
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready

KEY = f"{pairs.KEY}.film"


def draw(state: kit.PageState) -> None:
    """Show the film, and how near the network comes to the counted table."""
    counts = pairs.counts()
    numbers = {"weights": counts.size, "pairs": int(counts.sum())}
    kit.section(words.network, **numbers)
    if not engine_ready():
        return
    kit.choose(state, "learn", words.optimizer, words.optimizers)
    way, film = _film(state["learn"])
    if not kit.predict(start_question(way, counts.size), f"{KEY}.start", covers=True):
        return

    table_film(
        film,
        LETTERS,
        way.floor,
        key=KEY,
        words=words.film,
        step=state["learnstep"],
        steps=STEPS,
        on_change=kit.bound(state, KEY, step=("learnstep", kit.one_of([*range(STEPS), -1]))),
    )
    kit.prose(result(way, counts, state["learn"]))
    kit.prose(words.network_more)
    kit.show_code(
        [table_descent],
        words.snippet_network.format(optimizer=state["learn"], steps=STEPS),
        f"{way.losses[0]:.4f} {way.losses[-1]:.4f} {way.floor:.4f}",
    )


@kit.kept(len(RATES))
def _film(optimizer: str) -> tuple[TableDescent, Stored]:
    way = table_descent(optimizer, STEPS)
    return way, film_of_table(way.tables, way.losses, way.target)


def gaps(way: TableDescent, counts: np.ndarray) -> np.ndarray:
    """Return how far each row's own loss is above that of the counted row at the end, (V,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(counts > 0, np.log(way.target / way.tables[-1]), 0.0)
    return (way.target * ratio).sum(1)


def result(way: TableDescent, counts: np.ndarray, optimizer: str) -> str:
    """Say how near the network came, and which row is farthest from the counted one."""
    rows = gaps(way, counts)
    worst = int(rows.argmax())
    return words.network_result.format(
        steps=len(way.losses) - 1,
        rate=RATES[optimizer],
        loss=way.losses[-1],
        floor=way.floor,
        gap=way.losses[-1] - way.floor,
        worst=words.dot if worst == 0 else kit.quote(LETTERS[worst]),
        worst_gap=rows[worst],
        worst_pairs=int(counts[worst].sum()),
    )


def start_question(way: TableDescent, weights: int) -> kit.Question:
    """Ask for the loss of a network whose weights are all 0."""
    numbers = {"blind": float(np.log(len(LETTERS))), "floor": way.floor, "weights": weights}

    return kit.Question.of(words.ask_start, **numbers)
