"""The counted table of letter pairs, and the learner's name walked through it."""

from itertools import pairwise

import numpy as np

from llmviz.corpus.counts import LETTERS, letter_pair_counts
from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.counting import words
from llmviz.course.lessons.history.letter_pairs import PairStep, average_loss, probabilities, walk
from llmviz.course.ui import kit, pinned_cells

KEY = "history.counting"
FIRST_CELL = "P.1.14"  # what opens before anything is touched: n after a
STRONG_COUNT, STRONG_SHARE = 3_000, 0.4  # from which on a colour is as strong as it gets

counts = kit.kept(1)(letter_pair_counts)


def draw(state: kit.PageState) -> None:
    """Show the table and the name's way through it."""
    table = counts()
    kit.section(words.intro, names=int(table[0].sum()))
    name = typed_name.ask(state)
    question = row_question(table, name) if name else None
    divided = question is None or kit.predict(question, f"{KEY}.row", covers=True)
    pinned_cells.show(
        state,
        matrices() if divided else matrices()[:1],
        [["counts"], ["P"]] if divided else [["counts"]],
        key=f"{KEY}.pairs",
        control="paircell",
        first=FIRST_CELL,
        stacked=True,
    )
    if not name or not divided:
        return
    kit.section(words.walk)
    steps = walk(table, name)
    _grid(steps)
    kit.prose(result(table, name, steps))
    kit.show_code(
        [walk],
        words.snippet_pairs.format(name=name),
        "\n".join(f"{step.first} {step.second} {step.seen} {step.chance:.4f}" for step in steps),
    )


@kit.kept(1)
def matrices() -> list[lv.Matrix]:
    """Return the counts and the probabilities as matrices whose cells open."""
    labels = {"row_labels": LETTERS, "col_labels": LETTERS}
    axes = {"row_axis": words.first_axis, "col_axis": words.second_axis}
    drawn = labels | axes
    shares = probabilities(counts())
    return [
        lv.Matrix(
            "counts",
            counts(),
            words.counts,
            words.counts_formula,
            scale="sequential",
            limit=STRONG_COUNT,
            digits=0,
            **drawn,
        ),
        lv.Matrix(
            "P",
            shares,
            words.probabilities,
            words.probabilities_formula,
            role="weights",
            limit=STRONG_SHARE,
            op=lv.rows_normalised("counts"),
            **drawn,
        ),
    ]


def small(p: float) -> str:
    """Return a probability that may be tiny, with three digits or so.

    >>> small(0.1234), small(0.000171), small(0.0)
    ('0.1234', '1.71·10⁻⁴', '0')
    """
    if p >= 0.001:
        return f"{p:.4f}"
    return kit.power_of_ten(p, 3)


def _grid(steps: list[PairStep]) -> None:
    losses = np.array([step.loss for step in steps])
    finite = losses[np.isfinite(losses)]
    most = max(float(finite.max(initial=0.0)), 1.0)
    shades = np.where(np.isfinite(losses), losses, most)
    cell_grid(
        np.tile(shades, (3, 1)),
        key=f"{KEY}.walk",
        row_names=[words.row_chance, words.row_product, words.row_loss],
        column_names=[step.first + step.second for step in steps],
        texts=[
            [small(step.chance) for step in steps],
            [small(step.product) for step in steps],
            [_loss(step.loss) for step in steps],
        ],
        notes=_notes(steps),
        role="key",
        limit=most,
        scale=(words.scale[0], words.scale[1].format(most=most)),
        label=words.grid_label,
    )


def _loss(loss: float) -> str:
    return f"{loss:.2f}" if np.isfinite(loss) else "∞"


def _notes(steps: list[PairStep]) -> list[list[str]]:
    chances = [
        words.chance_note.format(
            seen=step.seen,
            of_all=step.of_all,
            first=step.first,
            second=step.second,
            p=small(step.chance),
        )
        for step in steps
    ]
    products = [
        words.product_note.format(number=number, product=small(step.product))
        for number, step in enumerate(steps, 1)
    ]
    losses = [words.loss_note.format(p=small(step.chance), loss=_loss(step.loss)) for step in steps]
    return [chances, products, losses]


def result(table: np.ndarray, name: str, steps: list[PairStep]) -> str:
    """Say how likely the name is, and what its mean loss is beside that of all names."""
    plain, smooth = average_loss(table), average_loss(table, added=1)
    never = next((step for step in steps if not step.seen), None)
    if never is not None:
        own = [step.loss for step in walk(table + 1, name)]
        return words.never.format(
            pair=kit.quote(never.first + never.second),
            names=int(table[0].sum()),
            name=kit.quote(name),
            smooth=sum(own) / len(own),
            mean=plain,
            mean_smooth=smooth,
        )
    return words.result.format(
        name=kit.quote(name),
        product=small(steps[-1].product),
        loss=sum(step.loss for step in steps) / len(steps),
        pairs=int(table.sum()),
        mean=plain,
        smooth=smooth,
    )


def end(table: np.ndarray, name: str) -> dict[str, object]:
    """Return the numbers that the chapter ends with, for a name of at least one letter."""
    losses = [step.loss for step in walk(table, name)]
    loss = sum(losses) / len(losses)
    return {
        "pairs": int(table.sum()),
        "name": kit.quote(name),
        "loss": f"{loss:.2f}" if np.isfinite(loss) else "∞",
        "mean": average_loss(table),
    }


def row_question(table: np.ndarray, name: str) -> kit.Question | None:
    """Ask what a count has to be divided by, on the first pair of the name that is fit for it.

    Not fit: a pair that was never seen, whose probability is 0 without any division, and one
    whose row and column have the same sum, such as a letter twice. None where no pair is fit.
    """
    symbols = [LETTERS.index(letter) for letter in f"{name}."]
    fit = (
        (i, j) for i, j in pairwise(symbols) if table[i, j] and table[i].sum() != table[:, j].sum()
    )
    i, j = next(fit, (0, 0))
    if not i:
        return None
    first, second = LETTERS[i], LETTERS[j]
    seen = int(table[i, j])
    numbers = {
        "first": kit.quote(first),
        "second": kit.quote(second),
        "seen": seen,
        "of_all": int(table[i].sum()),
        "ends": int(table[:, j].sum()),
        "pairs": int(table.sum()),
        "p": seen / table[i].sum(),
        "joint": seen / table.sum(),
        "back": seen / table[:, j].sum(),
    }
    answers = numbers | {"first": first, "second": second}
    return kit.Question(
        words.ask_row.text.format(**numbers),
        [answer.format(**answers) for answer in words.ask_row.answers],
        0,
        [reason.format(**numbers) for reason in words.ask_row.answers.values()],
    )
