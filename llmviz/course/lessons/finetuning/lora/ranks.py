"""How much of a change each rank can hold: its singular values, and the nearest matrix of a rank.

R rows and C columns of the change, N = min(R, C).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from llmviz.course import components as lv
from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.finetuning.lora import source, words
from llmviz.course.lessons.finetuning.lora.lora_race import PARTS, SQUARE
from llmviz.course.lessons.finetuning.lora.source import beside
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.finetuning.adapted import Spectrum, Studied, spectrum
from llmviz.finetuning.lora import share_kept

KEY = "finetuning.lora.ranks"
DRAWN = 32  # singular values of the chart
TINY = 1e-6  # of the largest; what is below is rounding
ROLES = {"adapter": "weights", "all": "query", "lora": "key"}


@dataclass(frozen=True, eq=False)  # by its identity, for the keys of what is kept of it
class Trained:
    """The changes that a race ended with: of each way, path of a matrix -> its change."""

    changes: Mapping[str, Mapping[str, Studied]]
    rank: int


def draw(state: kit.PageState, name: str, path: str, trained: Trained | None) -> bool:
    """Show the section, once asked; trained: what the race below has ended with, None before."""
    kit.section(words.rank_section)
    kit.choose(state, "change", words.change, words.changes)
    whose = state["change"] if trained is not None else "adapter"
    if whose != state["change"]:
        kit.inform(words.not_trained, ":material/info:")
    change = source.change_of(beside(name), path)
    rank = len(change.a)
    if whose == "adapter":
        question = rank_question(change_of(beside(name), path, None, whose).spectrum, rank)
        if question is not None and not kit.predict(question, f"{KEY}.ask", covers=True):
            return False
    _stages(state, name, path, trained, whose)
    kit.chart(spectra(beside(name), path, trained, kit.theme()), f"{KEY}.values")
    known = ["adapter", *(trained.changes if trained is not None else ())]
    kit.prose("\n\n".join(read(name, path, trained, way) for way in known))
    _code(name, path)
    return True


def change_of(bundled: engine.Bundled, path: str, trained: Trained | None, whose: str) -> Studied:
    """Return the change of the chosen matrix: the adapter's, or one of the race's."""
    if whose == "adapter" or trained is None:
        return source.studied_of(bundled, path)
    return trained.changes[whose][path]


def above_zero(values: np.ndarray) -> int:
    """Return how many singular values are not zero but for rounding."""
    return int((values > TINY * values[0]).sum())


def rank_question(spectrum: Spectrum, rank: int) -> kit.Question | None:
    """Return the question how much of a change rank 1 holds; None for zeros, and for rank 1."""
    if rank < 2 or not spectrum.s[0]:
        return None
    held = 1 - float(spectrum.left()[1])
    reasons = [
        reason.format(share=kit.percent(held))
        for reason in (words.rank_right, words.rank_less, words.rank_more)
    ]
    return kit.share_question(words.rank_ask.format(rank=rank), held, reasons, kit.percent)


def end_numbers(name: str, path: str) -> dict[str, object]:
    """Return what the end of the chapter says of an adapter's change."""
    change = source.change_of(beside(name), path)
    rows, columns = change.weight.shape
    rank = len(change.a)
    left = change_of(beside(name), path, None, "adapter").spectrum.left()
    return {
        "rows": rows,
        "columns": columns,
        "trained": rank * (rows + columns),
        "share": kit.percent(rank * (rows + columns) / (rows * columns)),
        "first": kit.percent(1 - float(left[1])),
        "rank": rank,
    }


def _label(trained: Trained | None, whose: str, rank: int) -> str:
    ranked = trained.rank if whose == "lora" and trained is not None else rank
    return words.spectrum_names[whose].format(rank=ranked)


def read(name: str, path: str, trained: Trained | None, whose: str) -> str:
    """Return what a change's singular values say."""
    spectrum = change_of(beside(name), path, trained, whose).spectrum
    rank = len(source.change_of(beside(name), path).a)
    few = min(rank, len(spectrum.s))
    line = {
        "name": _label(trained, whose, rank),
        "few": few,
        "held": kit.percent(1 - float(spectrum.left()[few])),
        "count": above_zero(spectrum.s),
        "all": len(spectrum.s),
    }
    text = words.spectrum_read.format(**line)
    return text[0].upper() + text[1:]


@kit.kept(64)
def spectra(
    bundled: engine.Bundled, path: str, trained: Trained | None, mode: kit.Mode
) -> kit.Figure:
    """Return the first singular values of every change that there is."""
    rank = len(source.change_of(bundled, path).a)
    curves = []
    for whose in ("adapter", *(trained.changes if trained is not None else ())):
        values = change_of(bundled, path, trained, whose).spectrum.s[:DRAWN]
        values = values / values[0]  # their sizes differ; what matters is how fast they fall
        number = range(1, len(values) + 1)
        label = _label(trained, whose, rank)
        curves.append(Curve(label, number, values, ROLES[whose], marks=True))
    return lines(curves, words.spectrum_axes, mode)


@kit.kept(32)
def picture_of(
    bundled: engine.Bundled, path: str, trained: Trained | None, whose: str
) -> lv.StagePicture:
    """Return a stage for each rank: B and A of that rank, their product, and what is left over."""
    studied = change_of(bundled, path, trained, whose)
    spectrum, row, column, change = studied.spectrum, studied.row, studied.column, studied.part
    u = (spectrum.u * spectrum.s[: spectrum.u.shape[1]])[row : row + SQUARE]
    v = spectrum.v[:, column : column + SQUARE]
    labels = words.rank_labels
    names = {
        "row_labels": [str(row + i) for i in range(len(u))],
        "col_labels": [str(column + j) for j in range(v.shape[1])],
        "limit": float(np.abs(change).max()),
        "role": "key",
    }
    matrices = [lv.Matrix("change", change, labels["change"], **names)]
    stages = []
    held = 1 - spectrum.left()
    size = studied.shape
    for rank in range(1, min(PARTS, len(spectrum.s)) + 1):
        b, a, part, left = (f"{kind}{rank}" for kind in ("b", "a", "part", "left"))
        nearest = u[:, :rank] @ v[:rank]
        matrices += [
            lv.Matrix(b, u[:, :rank], labels["b"], row_labels=names["row_labels"], role="value"),
            lv.Matrix(a, v[:rank], labels["a"], col_labels=names["col_labels"], role="value"),
            lv.Matrix(
                part,
                nearest,
                labels["part"],
                words.rank_part_formula.format(rank=rank),
                op=lv.matmul(b, a),
                **names,
            ),
            lv.Matrix(
                left,
                change - nearest,
                labels["left"],
                words.rank_left_formula,
                op=lv.subtracted("change", part),
                **names,
            ),
        ]
        line = {
            "rank": rank,
            "held": kit.percent(held[rank]),
            "left": kit.percent(max(0.0, 1 - held[rank])),
            "numbers": rank * sum(size),
            "whole": size[0] * size[1],
            "share": kit.percent(rank * sum(size) / (size[0] * size[1])),
            "shown": SQUARE,
        }
        stages.append(
            lv.Stage(
                words.rank_stage.format(**line),
                str(rank),
                str(rank),
                [[b, "×", a, "=", part], ["change", None, None, "→", left]],
                words.rank_caption.format(**line),
                "key",
            )
        )
    return lv.stage_picture(matrices, stages, {})


def _stages(
    state: kit.PageState, name: str, path: str, trained: Trained | None, whose: str
) -> None:
    picture = picture_of(beside(name), path, trained, whose)

    lv.stage_view(
        picture,
        key=KEY,
        step=state["keptrank"] - 1,
        pinned=lv.cell_of(state["rankcell"], picture.shapes),
        on_change=kit.bound(
            state,
            KEY,
            step=("keptrank", kit.one_of(range(1, picture.last + 2))),
            pinned=("rankcell", kit.link_of),
        ),
    )


def _code(name: str, path: str) -> None:
    parts = change_of(beside(name), path, None, "adapter").spectrum
    kit.show_code(
        [spectrum, Spectrum, share_kept],
        words.snippet_ranks.format(base_name=base().name, name=name, path=path),
        f"{[f'{value:.3f}' for value in parts.s[:4]]}\n"
        f"{[f'{share:.3f}' for share in parts.left()[:4]]}",
    )
