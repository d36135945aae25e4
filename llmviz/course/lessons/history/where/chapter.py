"""Chapter "Where language models stand": six fields inside each other, each with a program."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus import load_corpus
from llmviz.corpus.counts import LETTERS
from llmviz.course.components.cell_grid.view import cell_grid, read_cell
from llmviz.course.components.rings.view import rings
from llmviz.course.figures.history import beside_each_other
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.where import drawing, letter_pictures, next_letters, words
from llmviz.course.lessons.history.where.model_sizes import KNOWN
from llmviz.course.lessons.history.where.routes import Route, shortest, start, walls
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.models.ngram import ADD_ONE, NGrams, positions

KEY, GUESS = "history.where", "history.where.which"
NETWORK, WRITER, GPT = "names-wavenet", "names-lstm", "names-gpt"
BY_MODEL = {"network": NETWORK, "gpt": GPT}  # the programs that are trained networks
PROGRAM = {"ai": "rules", "ml": "pairs", "dl": "network", "lm": "gpt"}  # of each field
LONGEST = 15
WALL, PASSED = 0.35, 1.0  # colours of squares of the map
STRONG = 0.3  # a probability that has the full colour
SIDE = 20  # squares of a drawn letter


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show three programs, one of them a language model, then the fields with their programs."""
    kit.prose(words.hook, names=len(split()[0]))
    question = kit.Question.of(words.ask)
    guess = kit.Guess(GUESS, question)
    with kit.stage("where"):
        kit.plot(f"{KEY}.three", three, question.right if guess.open else None)
    revealed = guess.ask()
    kit.section(words.boxes)
    picture, name = st.container(), typed_name.ask(state)
    ready = kit.models_here(NETWORK, WRITER, GPT) and engine_ready()
    with picture:
        _rings(state, name if ready else "")
    if not ready:
        return
    kit.prose(about(state["ring"], name))
    kit.looks(state, words.looks, f"{KEY}.looks")
    ring = state["ring"]
    if ring in words.example_of:
        kit.section(words.example)
        kit.prose(words.example_of[ring])
    if ring == "ai":
        _route(state)
    elif ring == "ml":
        drawing.classify(state, name)
    elif ring == "generative":
        drawing.generate(state, name)
    elif ring == "llm":
        _sizes()
    right = {key: kit.percent(share) for key, share in shares().items()}
    kit.section(words.right_section, names=len(split()[1]), **right)
    cases = [kit.Case(words.programs[key], share) for key, share in shares().items()]
    kit.case_rows(cases, kit.Axis(0, 1, words.right_axis), key=f"{KEY}.shares")
    if revealed:
        kit.seen(words.end, **right)


@kit.cached(8)
def three(framed: int | None, mode: kit.Mode) -> kit.Figure:
    """Return a map with a way, a drawn letter, and what follows each letter; one may be framed."""
    blocked = walls()
    squares = np.where(blocked, WALL, 0.0)
    for square in shortest(blocked, start(), goal_of([], blocked), guided=True).squares:
        squares[square] = PASSED
    letter = letter_pictures.picture_of("A", SIDE)
    table = _pairs().rows(np.arange(len(LETTERS)), 1, ADD_ONE)
    drawn = zip(words.programs_drawn.values(), (squares, letter, table / STRONG), strict=True)
    return beside_each_other(dict(drawn), framed, mode)


def _rings(state: kit.PageState, name: str) -> None:
    names, key = list(words.rings), f"{KEY}.rings"
    notes = says(name, state["dice"]) if name else {}
    rings(
        list(words.rings.values()),
        [notes.get(ring, "") for ring in names],
        key=key,
        label=words.picture,
        chosen=names.index(state["ring"]),
        on_change=kit.bound(state, key, chosen=("ring", kit.one_of(names))),
    )


# ---- four programs, and what they say


@kit.cached(1)
def split() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that models learn from and those held out."""
    learned, held_out = load_corpus("names").split(0.1, 0)
    return tuple(learned), tuple(held_out)


@kit.cached(1)
def _pairs() -> NGrams:
    return NGrams(split()[0], 1)


@kit.cached(1)
def shares() -> dict[str, float]:
    """Return how often each program is right on the held-out names."""
    fitting = [name for name in split()[1] if len(name) <= LONGEST]
    right = {
        "rules": next_letters.right_by_rules(fitting),
        "pairs": next_letters.right_by_counts(_pairs(), fitting, 1),
    }
    for key, name in BY_MODEL.items():
        bundled = engine.load(name)
        right[key] = next_letters.right_by_model(bundled.model, bundled.tokenizer, fitting)
    return right


@kit.cached(256)
def chances(program: str, name: str) -> np.ndarray:
    """Return what a program gives the end and each letter after a name, (27,)."""
    if program == "pairs":
        return _pairs().rows(positions([name], 1)[0][-1:], 1, ADD_ONE)[0]
    bundled = engine.load(BY_MODEL[program])
    return next_letters.chances_after(bundled.model, bundled.tokenizer, name)


@kit.cached(256)
def continued(name: str, seed: int) -> str:
    """Return a name as a model goes on with it by random numbers."""
    bundled = engine.load(WRITER)
    return next_letters.continue_by_dice(bundled.model, bundled.tokenizer, name, seed, LONGEST)


def says(name: str, seed: int) -> dict[str, str]:
    """Return in a few words what the program of each field says to a name."""
    notes = {"ai": words.says_rules.format(letter=_spoken(next_letters.next_by_rules(name)[0]))}
    for ring, program in PROGRAM.items():
        if program != "rules":
            row = chances(program, name)
            best = int(row.argmax())
            notes[ring] = words.says[program].format(
                letter=_spoken(LETTERS[best]), p=kit.percent(float(row[best]))
            )
    whole = continued(name, seed)
    notes["generative"] = (words.says_dice if whole != name else words.says_over).format(
        whole=whole
    )
    return notes | {"llm": words.says_llm}


def _spoken(letter: str) -> str:
    return words.name_ends if letter == LETTERS[0] else letter


def about(ring: str, name: str) -> str:
    """Say what a field is, what its program is made of, and for rules which of them was used."""
    network = engine.load(NETWORK).model.config
    text = words.about[ring].format(
        names=len(split()[0]),
        layers=network.n_layer,
        network=engine.card(NETWORK)["parameters"],
        gpt=engine.card(GPT)["parameters"],
        rules=len(next_letters.RULES) + 1,  # a name without letters has one, too
    )
    if ring == "ai" and name:
        return f"{text} {words.by_rule.format(rule=next_letters.next_by_rules(name)[1])}"
    return text


# ---- a way through a map


def _route(state: kit.PageState) -> None:
    """Show the map, the way to the chosen square, and how many squares were looked at."""
    blocked = walls()
    goal, key = goal_of(state["goal"], blocked), f"{KEY}.route"
    way = shortest(blocked, start(), goal, guided=True)

    def clicked() -> None:
        cell = read_cell(st.session_state[key].get("chosen"), *blocked.shape)
        if cell is not None:
            state["goal"] = list(cell)

    rows, columns = blocked.shape
    squares = [[(row, column) for column in range(columns)] for row in range(rows)]
    strong = np.zeros(blocked.shape, dtype=bool)
    for square in way.squares:
        strong[square] = True
    cell_grid(
        np.where(strong, 1.0, np.where(way.steps >= 0, 0.25, 0.0)),
        key=key,
        row_names=[str(row + 1) for row in range(rows)],
        column_names=[chr(ord("A") + column) for column in range(columns)],
        texts=[[_text(way, blocked, goal, square) for square in line] for line in squares],
        strong=strong,
        role="value",
        limit=1.6,
        label=words.route_grid,
        chosen=goal,
        on_change=clicked,
    )
    if list(goal) != state["goal"]:
        kit.inform(words.route_wall, ":material/block:")
    if len(way.squares) > 1:
        steps = kit.count(len(way.squares) - 1, "step")
        kit.prose(
            words.route_done, steps=steps, looked=len(way.looked_at), free=int((~blocked).sum())
        )
    kit.show_code(
        [shortest],
        words.snippet_route.format(goal=goal),
        f"{len(way.squares) - 1} {len(way.looked_at)}",
    )


def goal_of(wanted: list[int], blocked: np.ndarray) -> tuple[int, int]:
    """Return the square that a link asks for, or the last free one where it is a wall or none."""
    rows, columns = blocked.shape
    if len(wanted) == 2 and wanted[0] < rows and wanted[1] < columns and not blocked[tuple(wanted)]:
        return wanted[0], wanted[1]
    row, column = np.argwhere(~blocked)[-1]
    return int(row), int(column)


def _text(way: Route, blocked: np.ndarray, goal: tuple[int, int], square: tuple[int, int]) -> str:
    if blocked[square]:
        return "■"
    if square in (start(), goal):
        return words.route_start if square == start() else words.route_goal
    return str(way.steps[square]) if way.steps[square] >= 0 else ""


# ---- how large


def _sizes() -> None:
    """Draw how many parameters well-known models have, beside the GPT that runs here."""
    own = engine.card(GPT)["parameters"]
    cases = [kit.Case([(words.ours, True)], own, role="value")]
    cases += [kit.Case(f"{size.name}, {size.year}", size.parameters) for size in KNOWN]
    axis = kit.Axis(1e4, 1e12, words.sizes_axis, log=True)
    kit.case_rows(cases, axis, key=f"{KEY}.sizes", form="count")
    largest: Any = max(KNOWN, key=lambda size: size.compute)
    kit.prose(
        words.sizes,
        largest=largest.name,
        times=largest.parameters / own / 1e6,
        tokens=largest.tokens / 1e12,
    )
