"""Chapter "Reading the stream": the logit lens on the learner's text, and the ledger of a logit.

T tokens, L layers, P = L + 1 points: the embeddings, and the end of each layer.
"""

import math

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid, read_cell
from llmviz.course.lessons.transformer import TEXT
from llmviz.course.lessons.transformer.page import MODEL
from llmviz.course.lessons.transformer.stream import ledger, words
from llmviz.course.lessons.transformer.stream.arithmetic import lens_picture
from llmviz.course.ui import engine, kit, pinned_cells
from llmviz.course.ui.matrix_picture import Picture
from llmviz.files.text import whole_number
from llmviz.interpretability.lens import LISTED, Lens, logit_lens
from llmviz.interpretability.readout import read_out
from llmviz.tokenizers import Tokenizer

DRAWN = 64  # tokens that have a column
KEY = "transformer.stream.grid"
GUESS = "transformer.stream.first"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the grid, the guess on it and the looks, then a cell's numbers and a logit's parts."""
    kit.prose(words.hook)
    model_and_text = kit.load_and_read(state, MODEL.name(state), DRAWN)
    if model_and_text is None:
        kit.source(state, opened=True)
        return
    bundled, read = model_and_text
    lens = lens_of(bundled, read.ids)
    asked = question(lens, kit.spoken(read.ids[-1], bundled.tokenizer))
    leads = f"point={first_row(lens, -1)}.{len(read.ids) - 1}"
    guess = kit.Guess(GUESS, asked, by_hand=True, leads=leads)
    shown = guess.open
    with kit.stage("stream"):
        point, at = _grid(state, bundled, read, lens, guess)
        kit.choose(state, "lens", words.colour, words.colours)
        said = words.caption.format(**answer(bundled, read, lens)) if shown else ""
        kit.prose(f"{words.colour_notes[state['lens']]} {said}")
    guess.ask()
    kit.source(state)
    if not shown:
        return
    if state["text"] in (TEXT, TEXT.replace("The book", "The candle")):  # where looks lead
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_look(state, words.real, f"{KEY}.real")
    kit.section(words.intro)
    kit.prose(repeated(lens, read.ids, tied=bundled.model.config.tied_head))
    _numbers(state, bundled, read, point, at)
    _code(bundled, read, lens, point, at)
    best = lens.tokens[-1].tolist()
    ledger.draw(state, bundled, read, at, best[at])
    kit.seen(words.end, **answer(bundled, read, lens))


def answer(bundled: engine.Bundled, read: kit.Read, lens: Lens) -> dict[str, str]:
    """Return the model's answer after the last token, and from where on it leads."""
    return {
        "last": kit.spoken(read.ids[-1], bundled.tokenizer),
        "best": kit.spoken(int(lens.tokens[-1, -1, 0]), bundled.tokenizer),
        "share": kit.percent(float(lens.probabilities[-1, -1, 0])),
        "settled": settled(lens, -1),
    }


def question(lens: Lens, token: str) -> kit.Question | None:
    """Ask from which row on the final answer after the text leads; None if the first has it.

    The wrong answers are those of somebody to whom the question settles it, and of one to whom an
    answer grows a bit in every layer.
    """
    right, last = first_row(lens, -1), lens.agrees.shape[0] - 1
    middle = next((row for row in (last // 2, last // 2 + 1) if row not in (0, right)), None)
    if not right or middle is None:
        return None
    names = point_names(last + 1)
    reasons = {0: words.ask_start, middle: words.ask_middle, right: words.ask_right}
    if last not in reasons:
        reasons[last] = words.ask_end
    return kit.Question.among(words.ask, reasons, right, names.__getitem__, scale=True, token=token)


lens_of = kit.cached(32)(kit.on_model(logit_lens))


def opened_cell(written: str, points: int, tokens: int) -> tuple[int, int]:
    """Return the cell that a link names ("2.5"); the last one where there is none such.

    >>> opened_cell("1.2", 3, 4), opened_cell("", 3, 4), opened_cell("9.x", 3, 4)
    ((1, 2), (2, 3), (2, 3))
    """
    place = [whole_number(part) for part in written.split(".")]
    return read_cell(place, points, tokens) or (points - 1, tokens - 1)


def point_names(points: int) -> list[str]:
    after = [words.after.format(layer=layer) for layer in range(points - 2)]
    return [words.embeddings, *after, words.output.format(layer=points - 2)]


def colours(lens: Lens, kind: str) -> np.ndarray:
    """Return the values (P, T) that colour the grid."""
    if kind == "entropy":
        return lens.entropy.numpy()
    return (lens.of_last if kind == "agreement" else lens.probabilities[..., 0]).numpy()


def _grid(
    state: kit.PageState,
    bundled: engine.Bundled,
    read: kit.Read,
    lens: Lens,
    guess: kit.Guess,
) -> tuple[int, int]:
    """Show the grid; a click opens a cell, or answers in the last column where that is asked."""
    points, tokens = lens.entropy.shape
    texts, notes = lines_of(lens, bundled.tokenizer)
    kind, most = state["lens"], math.log(bundled.model.vocab_size)
    low, high = words.scales[kind]

    place = opened_cell(state["point"], points, tokens)
    values = colours(lens, kind).copy()
    waiting = [(point, tokens - 1) for point in range(points)] if guess.asks else []
    if guess.asks:
        values[:, -1] = 0
        texts, notes = ([[*line[:-1], words.waits] for line in part] for part in (texts, notes))

    def clicked() -> None:
        cell = st.session_state[KEY].get("chosen")
        if cell and read_cell(cell, points, tokens):
            state["point"] = kit.link_of(cell)
            if guess.asks and cell[1] == tokens - 1:
                guess.settle([cell[0]])

    cell_grid(
        values,
        key=KEY,
        row_names=point_names(points),
        column_names=read.tokens,
        texts=texts,
        notes=notes,
        strong=lens.agrees.numpy() if kind == "agreement" and guess.open else None,
        limit=most if kind == "entropy" else 1.0,
        scale=(low, high.format(most=most)),
        label=words.grid,
        chosen=None if place in waiting else place,  # one of these is clicked
        together=waiting,
        ghost=None if guess.missed is None else (guess.missed, tokens - 1),
        on_change=clicked,
    )
    return place


def repeated(lens: Lens, ids: tuple[int, ...], *, tied: bool) -> str:
    """Return how many tokens the embeddings alone say once more, where the head explains it.

    tied: whether the head is the embedding matrix.
    """
    same = sum(guess == own for guess, own in zip(lens.tokens[0, :, 0].tolist(), ids, strict=True))
    if not tied or 2 * same <= len(ids):
        return ""
    line = words.tied["all" if same == len(ids) else "most"]
    return line.format(same=same, tokens=kit.count(len(ids), "column"))


def first_row(lens: Lens, at: int) -> int:
    """Return from which row on the final answer at a token is the first choice."""
    wrong = [row for row, agrees in enumerate(lens.agrees[:, at].tolist()) if not agrees]
    return max(wrong, default=-1) + 1


def settled(lens: Lens, at: int) -> str:
    """Return the sentence about the row from which on the final answer at a token leads."""
    first, last = first_row(lens, at), lens.agrees.shape[0] - 1
    if not first:
        return words.settled_first
    return words.settled_last if first == last else words.settled.format(layer=first - 1)


def lines_of(lens: Lens, tokenizer: Tokenizer) -> tuple[list[list[str]], list[list[str]]]:
    finals = kit.names_of(lens.tokens[-1, :, 0].tolist(), tokenizer)
    texts = [kit.names_of(row, tokenizer) for row in lens.tokens[..., 0].tolist()]
    notes = [
        [
            words.note.format(
                best=best,
                share=kit.percent(float(lens.probabilities[p, t, 0])),
                entropy=float(lens.entropy[p, t]),
                final=finals[t],
                own=kit.percent(float(lens.of_last[p, t])),
            )
            for t, best in enumerate(line)
        ]
        for p, line in enumerate(texts)
    ]
    return texts, notes


@kit.cached(32)
def numbers_of(bundled: engine.Bundled, ids: tuple[int, ...], point: int, at: int) -> Picture:
    """Return the arithmetic of a cell: its vector, the norm, the head, the ten probabilities."""
    lens, model = lens_of(bundled, ids), bundled.model
    best = lens.tokens[point, at].tolist()
    readout = read_out(model, lens.stream[point, at], best)
    return lens_picture(readout, kit.names_of(best, bundled.tokenizer), model.vocab_size)


def _numbers(
    state: kit.PageState, bundled: engine.Bundled, read: kit.Read, point: int, at: int
) -> None:
    where = words.point.format(layer=point - 1) if point else words.point_embeddings
    token = kit.spoken(read.ids[at], bundled.tokenizer)
    kit.prose(kit.bold(words.opened.format(point=where, token=token)))
    picture = numbers_of(bundled, read.ids, point, at)
    pinned_cells.show(
        state,
        picture.matrices,
        picture.layout,
        key="transformer.stream.numbers",
        control="readcell",
        windows=picture.windows,
        narrow=LISTED,
    )


def _code(bundled: engine.Bundled, read: kit.Read, lens: Lens, point: int, at: int) -> None:
    best = lens.tokens[point, at, :3].tolist()
    shares = [f"{p:.3f}" for p in lens.probabilities[point, at, :3].tolist()]
    kit.show_code(
        [logit_lens, read_out],
        words.snippet.format(name=bundled.name, ids=list(read.ids), point=point, at=at),
        f"{best}\n{shares}",
    )
