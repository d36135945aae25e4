"""Chapter "Reading the stream": the logit lens on the learner's text, and the ledger of a logit.

T tokens, L layers, P = L + 1 points: the embeddings, and the end of each layer.
"""

import math

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid, read_cell
from llmviz.course.figures.losses import compared
from llmviz.course.lessons.transformer.stream import ledger, words
from llmviz.course.lessons.transformer.stream.arithmetic import lens_picture
from llmviz.course.ui import engine, kit, pinned_cells
from llmviz.course.ui.matrix_picture import Picture
from llmviz.interpretability.lens import LISTED, Lens, logit_lens
from llmviz.interpretability.readout import read_out
from llmviz.textfile import whole_number
from llmviz.tokenizers import Tokenizer

DRAWN = 64  # tokens that have a column
KEY = "transformer.stream.grid"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.text_box(state, height=80)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = kit.Picker().choose(state)
        kit.choose(state, "lens", words.colour, words.colours)
    model_and_text = kit.load_and_read(state, name, DRAWN)
    if model_and_text is None:
        return
    bundled, read = model_and_text
    lens = lens_of(bundled, read.ids)
    point, at = _grid(state, bundled, read, lens)
    _opened(bundled, read, lens, point, at)
    _numbers(state, bundled, read, point, at)
    _code(bundled, read, lens, point, at)
    best = lens.tokens[-1].tolist()
    line = ledger.draw(state, bundled, read, at, best[at], best[-1][0])
    if line is not None:
        kit.seen(words.end, ledger=line, **answer(bundled, read, lens))


def answer(bundled: engine.Bundled, read: kit.Read, lens: Lens) -> dict[str, str]:
    """Return the model's answer after the last token, and from where on it stands."""
    return {
        "last": kit.spoken(read.ids[-1], bundled.tokenizer),
        "best": kit.spoken(int(lens.tokens[-1, -1, 0]), bundled.tokenizer),
        "share": kit.percent(float(lens.probabilities[-1, -1, 0])),
        "settled": settled(lens, -1),
    }


lens_of = kit.kept(32)(kit.on_model(logit_lens))


def opened_cell(written: str, points: int, tokens: int) -> tuple[int, int]:
    """Return the cell that a link names ("2.5"); the last one where there is none such.

    >>> opened_cell("1.2", 3, 4), opened_cell("", 3, 4), opened_cell("9.x", 3, 4)
    ((1, 2), (2, 3), (2, 3))
    """
    place = [whole_number(part) for part in written.split(".")]
    return read_cell(place, points, tokens) or (points - 1, tokens - 1)


def point_names(points: int) -> list[str]:
    """Return what the rows are called."""
    after = [words.after.format(layer=layer) for layer in range(points - 2)]
    return [words.embeddings, *after, words.output.format(layer=points - 2)]


def colours(lens: Lens, kind: str) -> np.ndarray:
    """Return the values (P, T) that colour the grid."""
    if kind == "entropy":
        return lens.entropy.numpy()
    return (lens.of_last if kind == "agreement" else lens.probabilities[..., 0]).numpy()


def _grid(
    state: kit.PageState, bundled: engine.Bundled, read: kit.Read, lens: Lens
) -> tuple[int, int]:
    points, tokens = lens.entropy.shape
    texts, notes = cell_lines(bundled, read.ids)
    kind, most = state["lens"], math.log(bundled.model.vocab_size)
    low, high = words.scales[kind]

    place = opened_cell(state["point"], points, tokens)
    cell_grid(
        colours(lens, kind),
        key=KEY,
        row_names=point_names(points),
        column_names=read.tokens,
        texts=texts,
        notes=notes,
        strong=lens.agrees.numpy() if kind == "agreement" else None,
        limit=most if kind == "entropy" else 1.0,
        scale=(low, high.format(most=most)),
        label=words.grid,
        chosen=place,
        on_change=kit.bound(state, KEY, chosen=("point", kit.link_of)),
    )
    early = int(lens.agrees[-2].sum())
    kit.prose(
        words.colour_notes[kind]
        + " "
        + words.read.format(
            **answer(bundled, read, lens),
            early=early,
            tokens=kit.count(tokens, "column"),
        )
        + repeated(lens, read.ids, tied=bundled.model.config.tied_head)
    )
    return place


def repeated(lens: Lens, ids: tuple[int, ...], *, tied: bool) -> str:
    """Return how many tokens the embeddings alone say once more, where the head explains it.

    tied: whether the head is the embedding matrix.
    """
    same = sum(guess == own for guess, own in zip(lens.tokens[0, :, 0].tolist(), ids, strict=True))
    if not tied or 2 * same <= len(ids):
        return ""
    return " " + words.tied.format(same=same, tokens=kit.count(len(ids), "column"))


def settled(lens: Lens, at: int) -> str:
    """Return from which point on the final answer at a token is the first choice."""
    agrees = lens.agrees[:, at].tolist()
    first = len(agrees) - 1
    while first and agrees[first - 1]:
        first -= 1
    if not first:
        return words.settled_first
    last = first == len(agrees) - 1
    return words.settled_last if last else words.settled.format(layer=first - 1)


@kit.kept(32)
def cell_lines(
    bundled: engine.Bundled, ids: tuple[int, ...]
) -> tuple[list[list[str]], list[list[str]]]:
    """Return each cell's token and the line about it."""
    return lines_of(lens_of(bundled, ids), bundled.tokenizer)


def lines_of(lens: Lens, tokenizer: Tokenizer) -> tuple[list[list[str]], list[list[str]]]:
    """Return the token and the line of each cell of a lens."""
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


def _opened(bundled: engine.Bundled, read: kit.Read, lens: Lens, point: int, at: int) -> None:
    tokenizer, last = bundled.tokenizer, lens.entropy.shape[0] - 1
    where = words.point.format(layer=point - 1) if point else words.point_embeddings
    token = kit.spoken(read.ids[at], tokenizer)
    picture, beside = st.columns([3, 2], gap="large", vertical_alignment="center")
    with picture:
        kit.prose(kit.bold(words.opened.format(point=where, token=token)))
        kit.chart(best_bars(bundled, read.ids, point, at, kit.theme()), "transformer.stream.best")
    line = words.opened_text.format(
        token=token,
        point=where,
        through=words.through[bundled.model.config.norm],
        width=bundled.model.config.n_embd,
        vocab=bundled.model.vocab_size,
        entropy=float(lens.entropy[point, at]),
        most=math.log(bundled.model.vocab_size),
    )
    final = kit.spoken(int(lens.tokens[-1, at, 0]), tokenizer)
    more = words.opened_before.format(final=final, own=kit.percent(float(lens.of_last[point, at])))
    with beside:
        kit.prose(f"{line}\n\n{words.opened_end if point == last else more}")


@kit.kept(64)
def best_bars(
    bundled: engine.Bundled, ids: tuple[int, ...], point: int, at: int, mode: kit.Mode
) -> kit.Figure:
    """Return the ten best of a cell as bars."""
    lens = lens_of(bundled, ids)
    best = lens.tokens[point, at].tolist()
    names = [kit.escape_plotly(token) for token in kit.names_of(best, bundled.tokenizer)]
    unlike = [n + "\u200b" * names[:i].count(n) for i, n in enumerate(names)]  # bars need own names
    values = lens.probabilities[point, at].tolist()
    return compared(unlike, values, 0, words.opened_axis, mode)


@kit.kept(32)
def numbers_of(bundled: engine.Bundled, ids: tuple[int, ...], point: int, at: int) -> Picture:
    """Return the arithmetic of a cell: its vector, the norm, the head, the ten probabilities."""
    lens, model = lens_of(bundled, ids), bundled.model
    best = lens.tokens[point, at].tolist()
    readout = read_out(model, lens.stream[point, at], best)
    return lens_picture(readout, kit.names_of(best, bundled.tokenizer), model.vocab_size)


def _numbers(
    state: kit.PageState, bundled: engine.Bundled, read: kit.Read, point: int, at: int
) -> None:
    kit.prose(f"{kit.bold(words.numbers_title)}\n\n{words.numbers_text}")
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
