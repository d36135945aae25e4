"""The shortest way through a map of squares, by searching: nothing is learned."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

Square = tuple[int, int]

# "#" is a wall, "." can be walked on, "S" is the start.
MAP = (
    "S....#.",
    ".###.#.",
    "...#...",
    "##.####",
    ".......",
    ".####.#",
    ".#.....",
    ".#.###.",
    ".#...#.",
    ".###.#.",
    ".......",
)


@dataclass(frozen=True)
class Route:
    """A way found.

    squares: from the start to the goal; empty where there is none. looked_at: the squares whose
    neighbours were tried, in their order. steps (R, C): from the start, −1 where nothing was tried.
    """

    squares: tuple[Square, ...]
    looked_at: tuple[Square, ...]
    steps: np.ndarray


def walls() -> np.ndarray:
    """Return which squares of the map are walls, (R, C) of bool."""
    return np.array([[square == "#" for square in row] for row in MAP])


def start() -> Square:
    (row,) = (row for row, line in enumerate(MAP) if "S" in line)
    return row, MAP[row].index("S")


def shortest(blocked: np.ndarray, begin: Square, goal: Square, *, guided: bool) -> Route:
    """Find a shortest way by steps up, down, left and right.

    guided: squares whose steps so far plus the steps to the goal as the crow walks, around no wall,
    are fewest come first; without it those with the fewest steps so far.
    Raises ValueError for a begin or goal that is a wall or outside.

    Reference: Dijkstra 1959; guided: Hart, Nilsson and Raphael 1968 (A*).
    """
    rows, columns = blocked.shape
    for name, (row, column) in (("start", begin), ("goal", goal)):
        if not (0 <= row < rows and 0 <= column < columns) or blocked[row, column]:
            raise ValueError(f"the {name} must be a square without a wall; got {row}, {column}")

    def rest(square: Square) -> int:
        return abs(square[0] - goal[0]) + abs(square[1] - goal[1]) if guided else 0

    steps = np.full(blocked.shape, -1)
    steps[begin] = 0
    before: dict[Square, Square] = {}
    waiting = [(rest(begin), 0, begin)]
    done: dict[Square, None] = {}
    while waiting:
        _, so_far, square = heappop(waiting)
        if square in done:
            continue
        done[square] = None
        if square == goal:
            break
        so_far = -so_far
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            beside = square[0] + down, square[1] + right
            inside = 0 <= beside[0] < rows and 0 <= beside[1] < columns
            if not inside or blocked[beside] or 0 <= steps[beside] <= so_far + 1:
                continue
            steps[beside] = so_far + 1
            before[beside] = square
            # Of two that look alike the one that has come farther goes first.
            heappush(waiting, (so_far + 1 + rest(beside), -(so_far + 1), beside))
    if goal not in done:
        return Route((), tuple(done), steps)
    way = [goal]
    while way[-1] != begin:
        way.append(before[way[-1]])
    return Route(tuple(reversed(way)), tuple(done), steps)
