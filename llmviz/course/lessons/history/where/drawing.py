"""Pictures of letters: one network names what the learner draws, another draws by itself."""

from collections.abc import Callable
from functools import partial
from string import ascii_uppercase

import numpy as np
import streamlit as st

from llmviz.corpus.drawn_pictures import SIDE, read_picture, write_picture
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.draw_pad.view import draw_pad
from llmviz.course.lessons.history.where import letter_pictures, words
from llmviz.course.ui import kit

KEY = "history.where.pad"
BARS = 6  # letters that have a bar
DEFAULT = "A"  # what stands on the canvas where there is no name


def classify(state: kit.PageState, name: str) -> None:
    """Show the canvas and what the network takes the drawing for."""
    _once_trained(partial(_classify, state, name))


def generate(state: kit.PageState, name: str) -> None:
    """Show a picture of the name's first letter that the other network draws."""
    _once_trained(partial(_generate, state, name))


_training = kit.job_of("llmviz.course.lessons.history.where.letter_pictures:train_networks")


def _once_trained(draw: Callable[[letter_pictures.Networks], None]) -> None:
    job = _training()
    if job.over:
        _draw_results(job, draw)
        return
    kit.polled(lambda _: _waiting(job), lambda: not job.over)


def _waiting(job: kit.Job) -> None:
    done = list(job.results)
    if not done:
        st.progress(0.0, words.waits)
        return
    step, loss, _ = done[-1]
    st.progress(
        step / letter_pictures.STEPS,
        words.training.format(step=step, steps=letter_pictures.STEPS, loss=loss),
    )


def _draw_results(job: kit.Job, draw: Callable[[letter_pictures.Networks], None]) -> None:
    networks = job.results[-1][2] if job.results else None
    if networks is not None and not job.problem:
        draw(networks)
        return
    _training.forget()  # so that it can be tried again
    kit.refuse_failed(job)


def _first(name: str) -> str:
    return name[0].upper() if name else DEFAULT


def _classify(state: kit.PageState, name: str, networks: letter_pictures.Networks) -> None:

    known = read_picture(state["pad"])
    picture = letter_pictures.picture_of(_first(name), SIDE) if known is None else known
    left, right = st.columns([1, 2], gap="medium")
    with left:
        drawn = kit.bound(
            state, KEY, cells=("pad", lambda cells: None if read_picture(cells) is None else cells)
        )
        draw_pad(picture, key=KEY, words=words.pad_words, on_change=drawn)
    with right:
        if not picture.any():
            st.info(words.pad_empty, icon=":material/edit:")
            return
        p = letter_pictures.which_letter(networks, picture)
        _bars(p)
        kit.prose(report(p, networks))
    _code(picture, p)


def _bars(p: np.ndarray) -> None:
    cases = [
        kit.Case(ascii_uppercase[i], float(p[i])) for i in np.argsort(-p, kind="stable")[:BARS]
    ]
    kit.case_rows(cases, kit.Axis(0, 1, words.pad_letters), key=f"{KEY}.letters")


def report(p: np.ndarray, networks: letter_pictures.Networks) -> str:
    best = int(p.argmax())
    return words.pad_done.format(
        best=kit.bold(ascii_uppercase[best]),
        p=kit.percent(p[best]),
        tested=networks.tested,
        accuracy=kit.percent(networks.accuracy),
    )


def _code(picture: np.ndarray, p: np.ndarray) -> None:
    best = int(p.argmax())
    kit.show_code(
        [letter_pictures.which_letter, letter_pictures.fitted],
        words.snippet_drawing.format(picture=write_picture(picture)),
        f"{ascii_uppercase[best]} {p[best]:.3f}",
    )


def drawn_letter(name: str, letter: str, pixels: np.ndarray) -> str:
    """Say which letter was drawn, and how much of the picture is black."""
    return words.draws_done.format(
        letter=kit.quote(letter),
        whose=words.draws_whose[bool(name)],
        black=int(pixels.sum()),
        all=pixels.size,
    )


def _generate(state: kit.PageState, name: str, networks: letter_pictures.Networks) -> None:

    st.number_input(words.draws_seed, width=200, **state.ranged("drawseed"))
    letter = _first(name)
    pixels = letter_pictures.draw_letter(networks, letter, state["drawseed"])
    with st.container(width=440):
        cell_grid(
            pixels,
            key="history.where.drawn",
            row_names=[str(row + 1) for row in range(len(pixels))],
            column_names=[str(column + 1) for column in range(len(pixels))],
            role="residual",
            limit=1.0,
            label=words.draws_grid,
        )
    kit.prose(drawn_letter(name, letter, pixels))
    kit.show_code(
        [letter_pictures.draw_letter],
        words.snippet_drawing_generate.format(letter=letter, drawseed=state["drawseed"]),
        "\n".join("".join("#" if pixel else "." for pixel in row) for row in pixels),
    )
