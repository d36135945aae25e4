"""A way through a map: in artificial intelligence, and nothing is learned."""

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid, read_cell
from llmviz.course.lessons.history.where import words
from llmviz.course.lessons.history.where.routes import Route, shortest, start, walls
from llmviz.course.ui import kit

KEY = "history.where.route"


def draw(state: kit.PageState, name: str) -> None:
    """Show the map, the way to the chosen square, and how many squares were looked at."""
    kit.prose(words.route)
    blocked = walls()
    goal = goal_of(state["goal"], blocked)
    way = _route(goal, True)

    def clicked() -> None:
        cell = read_cell(st.session_state[KEY].get("chosen"), *blocked.shape)
        if cell is not None:
            state["goal"] = list(cell)

    _grid(way, blocked, goal, clicked)
    if list(goal) != state["goal"]:
        st.info(words.route_wall, icon=":material/block:")
    kit.prose(report(way, _route(goal, False), int((~blocked).sum())))
    kit.show_code(
        [shortest],
        words.snippet_route.format(goal=goal),
        f"{len(way.squares) - 1} {len(way.looked_at)}",
    )


@kit.kept(256)
def _route(goal: tuple[int, int], guided: bool) -> Route:
    return shortest(walls(), start(), goal, guided=guided)


def goal_of(wanted: list[int], blocked: np.ndarray) -> tuple[int, int]:
    """Return the square that a link asks for, or the last free one where it is a wall or none."""
    rows, columns = blocked.shape
    if len(wanted) == 2 and wanted[0] < rows and wanted[1] < columns and not blocked[tuple(wanted)]:
        return wanted[0], wanted[1]
    row, column = np.argwhere(~blocked)[-1]
    return int(row), int(column)


def _grid(way: Route, blocked: np.ndarray, goal: tuple[int, int], clicked) -> None:
    texts, notes = [], []
    for row, line in enumerate(way.steps):
        texts.append([_text(way, blocked, goal, (row, at), int(s)) for at, s in enumerate(line)])
        notes.append(
            [
                words.route_is_wall
                if blocked[row, at]
                else words.route_note.format(steps=kit.count(int(s), "step"))
                if s >= 0
                else words.route_untried
                for at, s in enumerate(line)
            ]
        )
    strong = np.zeros(blocked.shape, dtype=bool)
    for square in way.squares:
        strong[square] = True
    cell_grid(
        np.where(strong, 1.0, np.where(way.steps >= 0, 0.25, 0.0)),
        key=KEY,
        row_names=[str(row + 1) for row in range(blocked.shape[0])],
        column_names=[chr(ord("A") + at) for at in range(blocked.shape[1])],
        texts=texts,
        notes=notes,
        strong=strong,
        role="value",
        limit=1.6,
        label=words.route_grid,
        chosen=goal,
        on_change=clicked,
    )


def _text(
    way: Route, blocked: np.ndarray, goal: tuple[int, int], square: tuple[int, int], steps: int
) -> str:
    if blocked[square]:
        return "■"
    if square == start():
        return words.route_start
    if square == goal:
        return words.route_goal
    return str(steps) if steps >= 0 else ""


def report(way: Route, plain: Route, free: int) -> str:
    """Say how long the way is and how many squares both searches looked at."""
    if not way.squares:
        return words.route_none
    if len(way.squares) == 1:
        return words.route_here
    return words.route_done.format(
        steps=kit.count(len(way.squares) - 1, "step"),
        guided=len(way.looked_at),
        plain=len(plain.looked_at),
        free=free,
    )
