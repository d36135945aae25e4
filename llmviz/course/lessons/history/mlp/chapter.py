"""Chapter "MLP": a window slides over the name, what it costs to look farther back, and a tree.

T tokens of the name, W window.
"""

from typing import Any

import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.document import languages
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.counting.model import learned_pairs
from llmviz.course.lessons.history.letter_pairs import probabilities
from llmviz.course.lessons.history.mlp import words
from llmviz.course.lessons.history.mlp.model import WindowsRead, read_windows
from llmviz.course.lessons.history.typed_name import spoken_next
from llmviz.course.ui import engine, kit
from llmviz.models.ngram import V

KEY, GUESS, MODEL = "history.mlp", "history.mlp.twice", "names-mlp"
TOP = 5  # tokens of the next letter that have a bar
AFTER = ("oli", "v")  # the place of a name that a look is about


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the window on a name and what comes next, then what a longer window costs."""
    if (bundled := typed_name.load(MODEL)) is None:
        return
    config = bundled.model.config
    sizes = {
        "window": config.window,
        "width": config.n_embd,
        "hidden": config.hidden_size,
        "row": config.window * config.n_embd,
        "tokens": config.vocab_size,
        "parameters": engine.card(MODEL)["parameters"],
        "rows": V**config.window,
    }
    kit.prose(words.hook, **sizes)
    guess = kit.Guess(GUESS, question(sizes))
    with kit.stage("mlp"):
        _sizes(sizes, guess)
        guess.ask()
        picture = st.container()
        name = typed_name.ask(state)
        if not name:
            return
        read = windows(bundled, name)
        targets = [*bundled.tokenizer.encode(name), bundled.tokenizer.end]
        at = state["slideat"] if 0 <= state["slideat"] < len(targets) else len(targets) - 1
        with picture:
            _grid(state, read, targets, at)
            kit.prose(report(read, targets[at], at))
            _next(read, targets[at], at)
    kit.looks(state, words.looks, f"{KEY}.looks", **at_the_v(bundled))
    kit.section(words.opened)
    from llmviz.course.lessons.history.mlp import opened  # with torch, which has come by now
    from llmviz.course.lessons.history.typed_name import show

    matrices = opened.window_picture(bundled, read, slot_names(read, at), at)
    show(state, matrices, key=f"{KEY}.opened", control="sliding", stacked=True)
    kit.programmers(words.shapes, **sizes)
    p = read.logits[at].softmax(-1)
    kit.show_code(
        [type(bundled.model).forward, read_windows],
        words.snippet_window.format(bundled_name=bundled.name, name=name, at=at),
        f"{int(p.argmax())} {float(p.max()):.4f}",
    )
    from llmviz.course.lessons.history.mlp import tree  # with torch, too

    tree.draw_section(state, name)
    chances = read.logits.double().log_softmax(-1)[range(len(targets)), targets]
    if guess.open:
        kit.seen(words.end, name=kit.quote(name), loss=-float(chances.mean()), **sizes)


@kit.cached(64)
def windows(bundled: engine.Bundled, name: str) -> WindowsRead:
    """Return what the bundled MLP computes on a name, the start token in front."""
    return read_windows(bundled.model, bundled.tokenizer.encode_from_start(name))


def letter_name(token: int | None) -> str:
    """Return how a place of the window is shown; a dot where no letter is."""
    tokenizer = engine.tokenizer(MODEL)
    if token is None or token in tokenizer.special_tokens.values():
        return words.pad
    return kit.names_of([token], tokenizer)[0]


def slot_names(read: WindowsRead, at: int) -> list[str]:
    """Return the names of a window's places: each letter and how far back it stands."""
    last = len(read.seen[at]) - 1
    return [
        (words.place_now if i == last else words.place_back).format(
            letter=letter_name(token), n=last - i
        )
        for i, token in enumerate(read.seen[at])
    ]


def _grid(state: kit.PageState, read: WindowsRead, targets: list[int], at: int) -> None:
    key, (rows, slots) = f"{KEY}.grid", read.added.shape
    p, tokenizer = read.logits.double().softmax(-1), engine.tokenizer(MODEL)
    names = [
        words.row.format(
            token=unmarked(spoken_next(target, tokenizer)), p=kit.percent(float(p[row, target]))
        )
        for row, target in enumerate(targets)
    ]
    back = [words.slot.format(n=slots - 1 - i) for i in range(slots - 1)]
    cell_grid(
        read.added.numpy(),
        key=key,
        row_names=names,
        column_names=[*back, words.slot_now],
        texts=[[letter_name(symbol) for symbol in seen] for seen in read.seen],
        notes=[
            [words.slot_note.format(length=f"{value:.2f}") for value in row]
            for row in read.added.tolist()
        ],
        role="weights",
        scale=(words.grid_scale[0], words.grid_scale[1].format(limit=float(read.added.max()))),
        label=words.grid,
        chosen=(at, slots - 1),
        on_change=kit.bound(
            state, key, chosen=("slideat", lambda at: at and (-1 if at[0] == rows - 1 else at[0]))
        ),
    )


def _next(read: WindowsRead, target: int, at: int) -> None:
    p, tokenizer = read.logits[at].double().softmax(-1), engine.tokenizer(MODEL)
    shown = p.topk(TOP).indices.tolist()
    shown += [target] if target not in shown else []
    cases = [
        kit.Case([(unmarked(spoken_next(token, tokenizer)), token == target)], float(p[token]))
        for token in shown
    ]
    kit.case_rows(cases, kit.Axis(0, 1, words.next_axis), key=f"{KEY}.next")


def report(read: WindowsRead, target: int, at: int) -> str:
    """Say what a window holds, which place of it adds most, and what comes next."""
    p, tokenizer = read.logits[at].double().softmax(-1), engine.tokenizer(MODEL)
    letters = "".join(map(letter_name, read.seen[at])).lstrip(words.pad)
    text = words.window_read if letters else words.window_empty
    return text.format(
        letters=kit.quote(letters),
        most=unmarked(kit.quote(slot_names(read, at)[int(read.added[at].argmax())])),
        token=spoken_next(target, tokenizer),
        p=kit.percent(float(p[target])),
    )


def question(sizes: dict[str, int]) -> kit.Question:
    """Ask for the numbers of a network whose window is twice as long.

    The wrong answers are those of somebody to whom they are squared, as the rows of the table are,
    and of one to whom each letter more multiplies them by 27.
    """
    grown = sizes["row"] * sizes["hidden"]
    right = sizes["parameters"] + grown
    reasons = {
        right: words.ask_right,
        sizes["parameters"] ** 2: words.ask_squared,
        sizes["parameters"] * sizes["rows"]: words.ask_times,
    }
    values: dict[str, Any] = sizes | {"twice": 2 * sizes["window"], "grown": grown, "right": right}

    def written(numbers: int) -> str:
        return kit.power_of_ten(numbers) if numbers >= 1e9 else languages.number(f"{numbers:,}")

    return kit.Question.among(words.ask, reasons, right, written, **values)


def _sizes(sizes: dict[str, int], guess: kit.Guess) -> None:
    """Draw the rows of a table and the numbers of the network, for both windows."""
    short, long = sizes["window"], 2 * sizes["window"]
    (right,), squared = guess.right, sizes["rows"] ** 2
    cases = [
        kit.Case(words.table_of.format(n=short), sizes["rows"], role="key"),
        kit.Case(
            words.table_of.format(n=long), squared, note=kit.power_of_ten(squared, 2), role="key"
        ),
        kit.Case(words.network_of.format(n=short), sizes["parameters"]),
        kit.Case(words.network_of.format(n=long), right),
    ]
    guess.cases(
        cases,
        kit.Axis(1e3, 1e24, words.size_axis, log=True),
        veiled=[3],
        picture=f"{KEY}.sizes",
        form="count",
    )


@kit.cached(1)
def at_the_v(bundled: engine.Bundled) -> dict[str, str]:
    """Return what the network and the table of pairs say at the place that a look is about."""
    before, letter = AFTER
    p = windows(bundled, before).logits[-1].double().softmax(-1)
    (token,) = bundled.tokenizer.encode(letter)
    first, second = (1 + ord(c) - ord("a") for c in (before[-1], letter))
    return {
        "network": kit.percent(float(p[token])),
        "pairs": kit.percent(float(probabilities(learned_pairs())[first, second])),
    }
