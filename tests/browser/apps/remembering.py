"""Components that remember by themselves what the hand set, each on data simple enough to read."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from llmviz.course.components.beam_tree.view import Branch, beam_tree
from llmviz.course.components.curves.view import RunCurve, curves
from llmviz.course.components.descent_view.view import DescentState, Row, Walker, descent_view
from llmviz.course.components.scatter_film.view import Film, scatter_film
from llmviz.course.components.tile_film.view import ROWS, WORDS, tile_film
from llmviz.course.components.writer.view import WrittenToken, writer
from llmviz.course.lessons.training import words as run_chart_words
from llmviz.course.lessons.training.optimizers import words as descent_words


def curve():
    """A run of a hundred steps, whose axis the hand may choose."""
    steps = np.arange(1, 101)
    run = RunCurve(
        name="run",
        label="run",
        colour=0,
        bits=1.0,
        steps=steps,
        tokens=8 * steps,
        seconds=steps / 10,
        train=3 / steps**0.5,
        means=np.empty((0, 100)),
        measured={"steps": steps[::10], "tokens": 8 * steps[::10], "seconds": steps[::10] / 10},
        validation=3 / steps[::10] ** 0.5,
        lr=np.full(100, 0.01),
        grad_norm=np.ones(100),
        rate=np.full(100, 80.0),
    )
    axes = {
        "x": run_chart_words.run_chart_axes,
        "y": run_chart_words.run_chart_units,
        "lr": run_chart_words.run_chart_lr,
        "grad": run_chart_words.run_chart_gradient,
    }
    curves(
        [run], key="curves", axes=axes, words=run_chart_words.run_chart_picture, offered=["axis"]
    )


def points():
    places = np.array([[[0, 0], [1, 0], [0, 1], [1, 1]]], np.float32)
    words = ("find", "map", "choose", "near", "drop", "out", "in", "whole", "kinds", "all", "none")
    scatter_film(
        Film(
            places,
            ["ant", "bee", "cat", "bear"],
            words={
                **{word: word for word in words},
                "found": "{n} found",
                "lost": "",
                "false": "false",
            },
        ),
        key="map",
    )


def beam():
    branches = [
        Branch(None, "The", 0, 0.0, 0.0, 0.0, "kept"),
        Branch(0, " cat", 1, -0.2, -0.2, -0.2, "kept"),
        Branch(0, " dog", 1, -0.9, -0.9, -0.9, "pruned"),
        Branch(1, " sat", 2, -0.3, -0.5, -0.5, "finished"),
    ]
    words = {word: word for word in ("best", "kept", "pruned", "abandoned")}
    beam_tree(branches, [3], key="beam", hidden={}, words=words, captions=["prompt", "one", "two"])


def tiles():
    """Four tokens in three tiles of two rows and two columns."""
    cells = np.where(np.tri(4, dtype=bool), 1.0, np.nan)
    made = SimpleNamespace(
        scores=cells,
        exponentials=np.tri(4),
        tiles=np.array([[0, 2, 0, 2], [2, 4, 0, 2], [2, 4, 2, 4]]),
        read=np.arange(3),
        written=np.arange(3),
        output=np.ones((3, 2, 2)),
        **{name: np.ones((3, 2)) for name in ROWS},
    )
    words = {word: word for word in WORDS} | {"traffic": "{read} {written}"}
    names = ["a", "b", "c", "d"]
    tile_film(names, made, key="tiles", captions=["one", "two", "three"], words=words, step=2)


def descent():
    """One weight that comes nearer to zero by half its step each time."""
    path = np.array([[[1.0], [0.5], [0.25], [0.125]]])
    walker = Walker(
        name="sgd",
        label="SGD",
        role="query",
        path=path,
        losses=path[..., 0] ** 2,
        lasted=np.array([3]),
        settled=np.array([True]),
        best=0,
        values={"grad": path[:, :3], "step": -path[:, :3] / 2},
        rows=[Row("grad", "gradient"), Row("step", "step", "−{lr} · {grad}")],
    )
    descent_view(
        [walker],
        np.array([0.5]),
        key="descent",
        words=descent_words.view,
        floor=0.0,
        state=DescentState(1, (0,), 0),
        names=("w",),
    )


def text():
    """Three tokens, each with another one that it could have been."""
    tokens = [
        WrittenToken(i, word, 0.5, 0.5, 1, 0.7, 0.1, [(i + 9, " or", 0.25)])
        for i, word in enumerate([" cat", " sat", " down"])
    ]
    spoken = ("one", "run", "stop", "clear", "nothing", "ended", "full", "slid", "scale")
    words = {word: word for word in (*spoken, "alternatives", "tree", "trunk")}
    writer(tokens, key="writer", prompt="The", words=words, length=3, limit=3)


SHOW = {
    "curve": curve,
    "points": points,
    "beam": beam,
    "tiles": tiles,
    "descent": descent,
    "text": text,
}
