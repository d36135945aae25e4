"""Chapter "Stems": Porter's algorithm rule by rule, Snowball beside it, and both their faults."""

from string import ascii_lowercase

import numpy as np
import pandas as pd
import streamlit as st

from llmviz.corpus.roles import split_words
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.language.stems import questions, words
from llmviz.course.lessons.language.stems.model import families, judged_pairs, snowball_stem
from llmviz.course.lessons.language.stems.opened import opened_text
from llmviz.course.lessons.language.stems.rows import rows_of
from llmviz.course.ui import kit
from llmviz.language.porter import STEPS, StemStep, forms, measure, stem, stem_steps
from llmviz.textfile import check_text, whole_number

KEY = "language.stems"
DRAWN = 12  # words that have a column
LETTERS = 30  # of a stem that are opened


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    rules = sum(map(len, STEPS.values()))
    kit.section(words.intro, rules=rules, steps=len(STEPS))
    with st.container(gap=None):
        kit.text_input(state, "forms", words.forms)
        text_guard(kit.HALF_CHARACTER)
    text = kit.or_refused(check_text, state["forms"])
    if text is None:
        return
    every = words_of(text)
    if not every:
        kit.inform(words.empty, ":material/edit:")
        return
    listed = every[:DRAWN]
    if len(every) > DRAWN:
        kit.inform(words.most.format(drawn=DRAWN, all=len(every)), ":material/content_cut:")
    column, row = _grid(state, listed)
    _opened(listed[column], row)
    for line in remarks(listed):
        kit.prose(line)
    question = questions.stem_of(listed)
    if question is not None:
        kit.predict(question, f"{KEY}.stem")
    _beside(listed)
    _faults()
    _code(listed)
    kit.seen(words.end, **end(listed))


def end(listed: tuple[str, ...]) -> dict[str, object]:
    """Return what the chapter ends with, for at least one word."""
    judged = judged_pairs("porter")
    return {
        "one": kit.quote(stem("connected")),
        "other": kit.quote(stem("connecting")),
        "words": kit.count(len(listed), "word"),
        "changed": sum(stem(word) != word.lower() for word in listed),
        "over": sum(pair.fault == "over" for pair in judged),
        "pairs": len(judged),
    }


def words_of(text: str) -> tuple[str, ...]:
    """Return the different words of a text, without punctuation; capitals make no difference.

    >>> words_of("Cats, cats and dogs!")
    ('Cats', 'and', 'dogs')
    """
    different: dict[str, str] = {}
    for word, _ in split_words(text):
        if any(sign.isalnum() for sign in word):
            different.setdefault(word.lower(), word)
    return tuple(different.values())


def remarks(listed: tuple[str, ...]) -> list[str]:
    """Return what is to be said of words with other signs than a to z, and of very short ones."""
    other = [word for word in listed if set(word.lower()) - set(ascii_lowercase)]
    short = [word for word in listed if len(word) < 3 and stem(word) != word.lower()]
    return [
        line.format(words=", ".join(map(kit.quote, some)))
        for line, some in ((words.other_letters, other), (words.short, short))
        if some
    ]


@kit.kept(1_024)
def steps_of(word: str) -> tuple[StemStep, ...]:
    """Return what each step of Porter's algorithm does to a word."""
    return tuple(stem_steps(word))


def _grid(state: kit.PageState, listed: tuple[str, ...]) -> tuple[int, int]:
    """Draw the words after each step; return the open cell as (column, row)."""
    columns = [rows_of(steps_of(word)) for word in listed]
    count_rows = len(columns[0])
    wanted = [whole_number(part) for part in state["rule"].split(".")]
    place = next(
        ((c, r) for c, rows in enumerate(columns) for r, cell in enumerate(rows) if cell.fired),
        (0, 0),
    )
    if len(wanted) == 2 and None not in wanted:
        column, row = wanted
        if column < len(listed) and row < count_rows:
            place = column, row
    key = f"{KEY}.grid"
    by_row = [[rows[r] for rows in columns] for r in range(count_rows)]
    cell_grid(
        np.array([[cell.colour for cell in line] for line in by_row], dtype=np.float32),
        key=key,
        row_names=[line[0].name for line in by_row],
        column_names=listed,
        texts=[[cell.text for cell in line] for line in by_row],
        notes=[[cell.note for cell in line] for line in by_row],
        strong=np.array([[cell.fired for cell in line] for line in by_row]),
        starts=[1],
        limit=1.6,
        scale=words.scale,
        label=words.grid,
        chosen=(place[1], place[0]),
        on_change=kit.bound(
            state, key, chosen=("rule", lambda cell: kit.link_of(cell and cell[::-1]))
        ),
    )
    return place


def _opened(word: str, row: int) -> None:
    """Show what a step looked at in a word."""
    steps = steps_of(word)
    step, text = opened_text(word, steps, row)
    kit.prose(text)
    if step is None or step.rule is None or not step.stem:
        return
    letters = step.stem[-LETTERS:]
    kinds = forms(step.stem)[-LETTERS:]
    before = len(step.stem) - len(letters)
    so_far = [measure(step.stem[: before + i + 1]) for i in range(len(letters))]
    meets = [so_far[i] - (measure(step.stem[: before + i])) for i in range(len(letters))]
    cell_grid(
        np.array([[0.0] * len(letters), [0.0] * len(letters), meets], dtype=np.float32),
        key=f"{KEY}.letters",
        row_names=words.letter_rows,
        column_names=[str(before + i + 1) for i in range(len(letters))],
        texts=[list(letters), list(kinds), [str(m) for m in so_far]],
        notes=[list(letters), list(kinds), [f"m = {m}" for m in so_far]],
        limit=1.6,
        label=words.letters,
    )
    st.caption(as_markdown(words.conditions))


def _beside(listed: tuple[str, ...]) -> None:
    kit.section(words.beside)
    rows = [(word, stem(word), snowball_stem(word)) for word in listed]
    kit.rows_table(rows, words.beside_columns, width=520, height="content")
    different = [word for word, ours, theirs in rows if ours != theirs]
    sentence = words.beside_different if different else words.beside_same
    if len(rows) == 1:
        sentence = words.beside_one_different if different else words.beside_one_same
    line = sentence.format(
        words=kit.count(len(rows), "word"),
        different=len(different),
        list=", ".join(map(kit.quote, different)),
    )
    shared = families(listed, "porter")
    groups = "; ".join(
        f"{', '.join(map(kit.quote, members))} ({kit.quote(name)})"
        for name, members in shared.items()
    )
    if len(rows) > 1:
        line += " " + (words.families.format(families=groups) if shared else words.no_families)
    kit.prose(line)


@kit.kept(1)
def _fault_table() -> pd.DataFrame:
    pairs = {name: judged_pairs(name) for name in ("porter", "snowball")}
    rows = [
        (
            " · ".join(ours.words),
            words.yes_no[ours.together],
            " · ".join(ours.stems),
            words.fault_names[ours.fault],
            " · ".join(theirs.stems),
            words.fault_names[theirs.fault],
        )
        for ours, theirs in zip(*pairs.values(), strict=True)
    ]
    return pd.DataFrame(rows, columns=list(words.fault_columns))


def _faults() -> None:
    kit.section(words.faults)
    st.dataframe(_fault_table(), hide_index=True, height="content")
    slots = {
        f"{name}_{fault}": sum(pair.fault == fault for pair in judged_pairs(name))
        for name in ("porter", "snowball")
        for fault in ("over", "under")
    }
    kit.prose(words.faults_read, pairs=len(_fault_table()), **slots)


def _code(listed: tuple[str, ...]) -> None:
    quoted = [word for word in listed if len(word) <= 60]
    kit.show_code(
        [stem_steps, measure],
        words.snippet.format(quoted=quoted),
        "\n".join(
            f"{word} {stem(word)} {[step.name for step in stem_steps(word) if step.fired]}"
            for word in quoted
        ),
    )
