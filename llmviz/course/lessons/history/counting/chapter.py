"""Chapter "Counting": a table of letter pairs judges a name and writes one; then longer tables."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.counts import LETTERS
from llmviz.course import components as lv
from llmviz.course.components._shared.transport import Stored
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.dice.view import dice
from llmviz.course.components.table_film.view import film_of_table, table_film
from llmviz.course.lessons.history import NAME, letter_pairs, typed_name
from llmviz.course.lessons.history.counting import LONGEST, STEPS, model, words
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.invented_names import names_learned_from
from llmviz.models.ngram import METHODS, NGrams, V

KEY, GUESS, LINES = "history.counting", "history.counting.row", "history.counting.lines"
STRONG_SHARE = 0.4  # from which on a colour is as strong as it gets
PLAIN = 0.9  # a share from which on nobody needs to guess, as that of u after q
OTHER = V  # stands for each letter that is no answer of the question
BARS = 12  # letters that have a bar of their own
OTHERS = 199  # random numbers that fall on a strip beside the name's own
KNOWN = 3  # lengths whose loss is told before the question: 0, 1 and 2 letters back
APART = 0.1  # nats, on average, between the lines of the question

counts = kit.cached(1)(model.learned_pairs)
known = kit.cached(1)(lambda: frozenset(names_learned_from()))


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the table with a row that is guessed, a name's way through it, and what it leads to."""
    table = counts()
    kit.prose(words.hook)
    row, asked = row_question(table, typed_name.read(state[NAME.key]).letters)
    guess = kit.Guess(GUESS, asked, by_hand=True)
    revealed = guess.open
    with kit.stage("counting"):
        _matrix(state, table, row, guess, revealed=revealed)
        guess.ask()
        name = typed_name.ask(state)
    if revealed and name:
        steps = letter_pairs.walk(table, name)
        kit.section(words.walk)
        _grid(state, steps)
        kit.prose(result(table, name, steps))
        kit.show_code(
            [letter_pairs.walk],
            words.snippet_pairs.format(name=name),
            "\n".join(f"{step.first} {step.second} {step.chance:.4f}" for step in steps),
        )
    kit.looks(
        state, words.looks, f"{KEY}.looks", q=int(table[LETTERS.index("q")].sum()), longest=LONGEST
    )
    parts = {"dice": _dice, "longer": _longer, "network": _network}
    kit.draw_part(state, "count", words.parts_label, words.parts, parts)
    if revealed and name:
        kit.seen(words.end, **end(table, name))


def _matrix(
    state: kit.PageState, table: np.ndarray, row: int, guess: kit.Guess, *, revealed: bool
) -> None:
    """Draw the shares of all pairs; the row that is asked about is veiled and takes the guess."""
    shares = letter_pairs.probabilities(table)
    sent = np.where(np.arange(V)[:, None] == row, 0, table) if not revealed else table
    drawn: dict[str, Any] = {"row_labels": LETTERS, "col_labels": LETTERS}
    matrices = [
        lv.Matrix("counts", sent, words.counts, digits=0, **drawn),
        lv.Matrix(
            "P",
            shares if revealed else np.where(sent == table, shares, 0),
            words.probabilities,
            words.probabilities_formula,
            role="weights",
            limit=STRONG_SHARE,
            op=lv.rows_normalised("counts"),
            row_axis=words.first_axis,
            col_axis=words.second_axis,
            hidden=() if revealed else [(row, column) for column in range(V)],
            rings=guess.rings(row, range(V)),
            **drawn,
        ),
    ]
    key = f"{KEY}.pairs"
    known_answers = {at for (at,) in guess.question.values} if guess.question else set()

    def clicked() -> None:
        pinned = st.session_state[key].get("pinned")
        state["paircell"] = kit.link_of(pinned)
        match pinned:
            case ["P", int(at), int(column)] if at == row and guess.asks:
                guess.settle([column if column in known_answers else OTHER])

    shapes = {"P": table.shape}
    pinned = lv.cell_of(state["paircell"], shapes)
    lv.matrix_view(matrices, layout=[["P"]], key=key, pinned=pinned, on_change=clicked)
    of_row = int(table[row].sum())
    kit.prose(words.caption, pairs=int(table.sum()), row=kit.quote(LETTERS[row]), of_all=of_row)


def row_question(table: np.ndarray, name: str) -> tuple[int, kit.Question]:
    """Ask for the letter that comes most often after one of the name, and say after which.

    The wrong answers are the commonest letter of all, and the one that comes most often before it.
    It is the letter of the name after which one is most clearly first; of the alphabet, where no
    letter of the name has three different answers.
    """
    shares, common = letter_pairs.probabilities(table), 1 + int(table[:, 1:].sum(0).argmax())

    def answers(row: int) -> tuple[int, int, int]:
        return int(table[row].argmax()), common, 1 + int(table[1:, row].argmax())

    def clear(row: int) -> float:
        right, often, before = answers(row)
        fit = len({0, right, often, before}) == 4 and shares[row, right] < PLAIN
        return float(fit and shares[row, right])

    rows = sorted({LETTERS.index(letter) for letter in name}) or [0]
    row = max(rows, key=clear)
    row = row if clear(row) else max(range(1, V), key=clear)
    right, often, before = answers(row)

    def written(at: float) -> str:
        return words.ask_other if at == OTHER else kit.quote(LETTERS[int(at)])

    reasons = {
        right: words.ask_right,
        often: words.ask_often,
        before: words.ask_before,
        OTHER: words.ask_row,
    }
    return row, kit.Question.among(
        words.ask,
        reasons,
        right,
        written,
        row=kit.quote(LETTERS[row]),
        right=kit.quote(LETTERS[right]),
        often=kit.quote(LETTERS[often]),
        before=kit.quote(LETTERS[before]),
        p=kit.percent(float(shares[row, right])),
        p_often=kit.percent(float(shares[row, often])),
        p_before=kit.percent(float(shares[row, before])),
    )


def _grid(state: kit.PageState, steps: list[letter_pairs.PairStep]) -> None:
    """Draw the pairs of a name, each with its probability and its loss; a click opens its cell."""
    losses = np.array([step.loss for step in steps])
    most = max(float(losses[np.isfinite(losses)].max(initial=0.0)), 1.0)
    notes = [words.note.format(p=small(step.chance), **vars(step)) for step in steps]
    key = f"{KEY}.walk"

    def opened() -> None:
        at = st.session_state[key].get("chosen")
        if at:
            step = steps[at[1]]
            state["paircell"] = kit.link_of(
                ["P", LETTERS.index(step.first), LETTERS.index(step.second)]
            )

    cell_grid(
        np.tile(np.minimum(losses, most), (2, 1)),
        key=key,
        row_names=[words.row_chance, words.row_loss],
        column_names=[step.first + step.second for step in steps],
        texts=[
            [kit.percent(step.chance) for step in steps],
            [f"{loss:.2f}" if np.isfinite(loss) else "∞" for loss in losses],
        ],
        notes=[notes, notes],
        role="key",
        limit=most,
        scale=(words.scale[0], words.scale[1].format(most=most)),
        label=words.grid_label,
        on_change=opened,
    )


def small(p: float) -> str:
    """Return a probability that may be tiny, with three digits or so.

    >>> small(0.1234), small(0.000171), small(0.0)
    ('0.1234', '1.71·10⁻⁴', '0')
    """
    return f"{p:.4f}" if p >= 0.001 else kit.power_of_ten(p, 3)


def result(table: np.ndarray, name: str, steps: list[letter_pairs.PairStep]) -> str:
    """Say how likely a name is, and its mean loss beside that of all names."""
    never = next((step for step in steps if not step.seen), None)
    if never is not None:
        smooth = np.mean([step.loss for step in letter_pairs.walk(table + 1, name)])
        pair = kit.quote(never.first + never.second)
        return words.never.format(pair=pair, name=kit.quote(name), smooth=smooth)
    return words.result.format(
        name=kit.quote(name),
        product=small(steps[-1].product),
        loss=np.mean([step.loss for step in steps]),
        mean=letter_pairs.average_loss(table),
    )


def end(table: np.ndarray, name: str) -> dict[str, object]:
    """Return the numbers that the chapter ends with, for a name of at least one letter."""
    loss = np.mean([step.loss for step in letter_pairs.walk(table, name)])
    return {
        "names": int(table[0].sum()),
        "name": kit.quote(name),
        "loss": f"{loss:.2f}" if np.isfinite(loss) else "∞",
        "mean": letter_pairs.average_loss(table),
        "rows": V**LONGEST,
        "longest": LONGEST,
    }


# ---- a name by the dice


def _dice(state: kit.PageState) -> None:
    kit.section(words.dice)
    throws = thrown(state["throw"])
    if state["letter"] > len(throws):  # of another seed
        state["letter"] = len(throws)
    at = state["letter"] - 1
    _strip(throws[at], state["throw"], at)
    kit.prose(f"{step_told(at, throws[at])} {written(throws)}")
    seed, letter = st.columns(2, gap="medium")
    seed.number_input(words.dice_seed, **state.ranged("throw"))
    if len(throws) > 1:
        letter.slider(words.dice_letter, **state.ranged("letter", most=len(throws)))
    kit.show_code(
        [letter_pairs.sample_name],
        words.snippet_dice.format(throw=state["throw"]),
        "\n".join(f"{roll.u:.4f} {roll.letter}" for roll in throws),
    )


@kit.cached(256)
def thrown(seed: int) -> list[letter_pairs.Throw]:
    """Return the letters that the counted table writes from a seed."""
    return letter_pairs.sample_name(letter_pairs.probabilities(counts()), seed)


def _strip(throw: letter_pairs.Throw, seed: int, at: int) -> None:
    """Draw the row's strip, with other random numbers and the name's own one as the last."""
    row = letter_pairs.probabilities(counts())[LETTERS.index(throw.first)]
    ends = np.cumsum(row)
    others, fallen = letter_pairs.fall(row, OTHERS, (seed, at))
    own = LETTERS.index(throw.letter)
    taken = np.bincount([*fallen, own], minlength=V)
    named = [int(i) for i in np.argsort(-row, kind="stable")[:BARS] if row[i] > 0]
    named += [own] if own not in named else []
    rest = [i for i in range(V) if i not in named]
    thrown_there = [(float(u), LETTERS[i]) for u, i in zip(others, fallen, strict=True)]
    dice(
        [LETTERS[i] for i in named],
        [float(row[i]) for i in named],
        [int(taken[i]) for i in named],
        key=f"{KEY}.dice",
        draws=OTHERS + 1,
        rest=(len(rest), float(row[rest].sum()), int(taken[rest].sum())),
        strip=[(k, float(ends[i] - row[i]), float(ends[i])) for k, i in enumerate(named)],
        recent=[*thrown_there, (throw.u, throw.letter)],
    )


def step_told(at: int, throw: letter_pairs.Throw) -> str:
    """Say which letter a random number chose, and how long its piece of the strip is."""
    first, letter = (
        words.dot if c == LETTERS[0] else kit.quote(c) for c in (throw.first, throw.letter)
    )
    chance = kit.percent(throw.end - throw.start)
    return words.dice_step.format(
        number=at + 1, first=first, u=throw.u, letter=letter, chance=chance
    )


def written(throws: list[letter_pairs.Throw]) -> str:
    """Say which name random numbers wrote, and whether it is one of those that were counted."""
    name = "".join(throw.letter for throw in throws if throw.letter != LETTERS[0])
    if throws[-1].letter != LETTERS[0]:
        return words.dice_cut.format(name=kit.quote(name), all=len(name))
    return words.dice_written.format(name=kit.quote(name), known=words.dice_known[name in known()])


# ---- longer contexts


@kit.cached(1)
def measure() -> model.LongerContexts:
    """Return what was counted and measured, for all visitors."""
    return model.longer_contexts(LONGEST)


def _longer(state: kit.PageState) -> None:
    """Show the loss over the letters that a table looks back at; most of the line is drawn."""
    measured = measure()
    lengths = range(LONGEST + 1)
    kit.section(words.longer, held_out=len(measured.held_out))
    guess = kit.Guess(LINES, lines_question(measured))
    revealed = guess.open
    lines = {name: [row.losses[name] for row in measured.rows] for name in METHODS}
    plain = lines.pop(METHODS[0])
    roles = ("key", "value")
    guess.line(
        [
            kit.Drawn(words.methods[name], lengths, line, role)
            for (name, line), role in zip(lines.items(), roles, strict=True)
            if revealed
        ],
        kit.Drawn(words.methods[METHODS[0]], lengths, plain),
        kit.Scale(0, LONGEST, words.axes[0]),
        kit.Scale(1.2, 3.2, words.axes[1]),
        known=KNOWN,
        picture=f"{KEY}.longer",
    )
    if not guess.ask():
        return
    st.slider(words.n_label, **state.ranged("back"))
    at = measured.rows[state["back"]]
    share = at.seen / at.rows
    kit.prose(
        words.filled["some" if at.known < 1 else "all"],
        n=kit.count(at.n, "letter"),
        rows=f"{at.rows:,}",
        share=kit.percent(share) if share > 1e-3 else f"one in {round(1 / share):,}",
        unknown=kit.percent(1 - at.known),
    )
    add, ney = measured.best(METHODS[0]), measured.best(METHODS[2])
    kit.prose(words.longer_methods, add=add.n)
    kit.show_code(
        [NGrams],
        words.snippet_longer.format(longest=LONGEST, n=ney.n),
        f"{ney.seen} {ney.losses[METHODS[2]]:.4f}",
    )


def lines_question(measured: model.LongerContexts) -> kit.Question | None:
    """Ask how the loss of adding 1 goes on; None where it does not turn, or answers are near.

    The wrong lines are those of somebody to whom each letter more helps as the last one did, by its
    share, and of one to whom nothing more is won or lost.
    """
    losses = np.array([row.losses[METHODS[0]] for row in measured.rows])
    later, last, before = losses[KNOWN:], losses[KNOWN - 1], losses[KNOWN - 2]
    falls = last * (last / before) ** np.arange(1, later.size + 1)
    values = {"turns": later, "falls": falls, "level": np.full(later.size, last)}
    names = list(values)
    apart = [
        np.abs(values[a] - values[b]).mean() for n, a in enumerate(names) for b in names[n + 1 :]
    ]
    if min(apart) < APART or later[-1] <= later.min() + APART:
        return None
    return kit.Question(
        words.ask_lines,
        [words.ask_answers[name] for name in names],
        0,
        [words.ask_reasons[name] for name in names],
        values=[tuple(map(float, line)) for line in values.values()],
    )


# ---- the same table, learned


def _network(state: kit.PageState) -> None:
    """Show the film, and how near the network comes to the counted table."""
    kit.section(words.network, weights=V * V)
    if not engine_ready():
        return
    way, film = _film()
    key = f"{KEY}.film"
    table_film(
        film,
        LETTERS,
        way.floor,
        key=key,
        words=words.film,
        step=state["learnstep"],
        steps=STEPS,
        on_change=kit.bound(state, key, step=("learnstep", kit.one_of([*range(STEPS), -1]))),
    )
    kit.prose(words.network_result)
    kit.measured(
        words.how_network,
        steps=STEPS,
        blind=way.losses[0],
        loss=way.losses[-1],
        gap=way.losses[-1] - way.floor,
    )
    kit.show_code(
        [model.table_descent],
        words.snippet_network.format(steps=STEPS),
        f"{way.losses[0]:.4f} {way.losses[-1]:.4f} {way.floor:.4f}",
    )


@kit.cached(1)
def _film() -> tuple[model.TableDescent, Stored]:
    way = model.table_descent(STEPS)
    return way, film_of_table(way.tables, way.losses, way.target)
