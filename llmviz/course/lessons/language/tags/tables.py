"""The tables of the hidden Markov model: counts, smoothing, probabilities; each cell opens."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from llmviz.corpus.roles import TAGS
from llmviz.course import components as lv
from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.tags import words
from llmviz.course.ui import kit

KEY = "language.tags.tables"
COLUMNS = 12  # different words of the sentence that have a column
LONG = 12  # letters of a word that name its column


class Tables(NamedTuple):
    """The matrices of a table, all of the same tags down."""

    counts: np.ndarray
    smoothed: np.ndarray
    totals: np.ndarray  # (rows, 1), what each row is divided by
    chances: np.ndarray


def draw(state: kit.PageState, sentence: tuple[str, ...]) -> None:
    """Show the section on the tables."""
    kit.section(words.tables)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "table", words.table, words.table_names)
        kit.choose(state, "smooth", words.smoothing, words.smoothings)
    different = tuple(dict.fromkeys(sentence))
    listed = different[:COLUMNS]
    is_emission = state["table"] == "emission"
    picture = picture_of(state["table"], state["smooth"], listed if is_emission else ())

    lv.stage_view(
        picture,
        key=KEY,
        step=state["tstage"],
        pinned=lv.cell_of(state["tcell"], picture.shapes),
        on_change=kit.bound(
            state, KEY, step=("tstage", kit.one_of((0, 1), 0)), pinned=("tcell", kit.link_of)
        ),
    )
    if is_emission:
        known = len(counted.tag_counts().words)
        line = words.emission_note.format(words=known, columns=known + 1)
        if len(different) > len(listed):
            line = words.emission_cut.format(drawn=len(listed), all=len(different)) + line
        kit.prose(line)


def transition_tables(smoothing: float) -> Tables:
    """Return the table of tags after tags; its first row is the start of a sentence."""
    known = counted.tag_counts()
    counts = np.vstack([known.start, known.transition])
    smoothed = counts + smoothing
    totals = smoothed.sum(1, keepdims=True)
    return Tables(counts, smoothed, totals, smoothed / totals)


def emission_tables(smoothing: float, listed: tuple[str, ...]) -> Tables:
    """Return the columns of some words in the table of words of tags, (K, words)."""
    known = counted.tag_counts()
    counts = np.stack([known.of(word) for word in listed], axis=1)
    smoothed = counts + smoothing
    totals = (known.totals + smoothing * (len(known.words) + 1))[:, None]
    return Tables(counts, smoothed, totals, smoothed / totals)


@kit.kept(64)
def picture_of(table: str, smoothing: str, listed: tuple[str, ...]) -> lv.StagePicture:
    """Return the picture of a table; listed: the words of its columns, for that of words."""
    added = float(smoothing)
    if table == "transition":
        tables = transition_tables(added)
        labels = {
            "row_labels": [words.start, *TAGS],
            "col_labels": TAGS,
            "row_axis": words.before_axis,
            "col_axis": words.after_axis,
        }
        count_formula, chance_formula = words.count_transition, words.chance_transition
    else:
        tables = emission_tables(added, listed)
        short = [word if len(word) <= LONG else f"{word[: LONG - 1]}…" for word in listed]
        labels = {
            "row_labels": TAGS,
            "col_labels": short,
            "row_axis": words.tag_axis,
            "col_axis": words.word_axis,
        }
        count_formula, chance_formula = words.count_emission, words.chance_emission
    total_formula = words.total_emission.format(columns=len(counted.tag_counts().words) + 1)
    op = lv.rows_normalised("smoothed")
    if table == "emission":
        op = lv.divided("smoothed", "totals")
    labels |= {"scale": "sequential"}
    small = {
        "scale": "sequential",
        "row_labels": labels["row_labels"],
        "row_axis": labels["row_axis"],
    }
    matrices = [
        lv.Matrix("counts", tables.counts, words.counts, count_formula, digits=0, **labels),
        lv.Matrix("added", np.array([[added]]), words.added, scale="sequential"),
        lv.Matrix(
            "smoothed", tables.smoothed, words.smoothed, op=lv.add("counts", "added"), **labels
        ),
        lv.Matrix("totals", tables.totals, words.total, total_formula, **small),
        lv.Matrix(
            "chances",
            tables.chances,
            words.chance,
            chance_formula,
            role="weights",
            op=op,
            limit=1.0,
            **labels,
        ),
    ]
    if table == "transition":
        matrices = [matrix for matrix in matrices if matrix.name != "totals"]
    beside = [["smoothed"], ["totals"]] if table == "emission" else [["smoothed"]]
    stages = [
        lv.Stage(words.counts, words.counts, words.counts, [["counts"]], count_formula),
        lv.Stage(
            words.chance,
            words.chance,
            words.chance,
            [["chances"], ["added"], *beside],
            chance_formula,
            role="weights",
        ),
    ]
    return lv.stage_picture(matrices, stages, {})
