"""How often both taggers are right on held-out stories, read from the bundled measurements."""

from typing import Any

import streamlit as st

from llmviz.corpus.roles import TAGS
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language.measured import card
from llmviz.course.lessons.language.tags import words
from llmviz.course.ui import kit
from llmviz.language.role_scores import scores_of

KEY = "language.tags.confusion"


def draw(state: kit.PageState) -> None:
    """Show the section on how often they are right."""
    try:
        measured = card()
    except ValueError as error:
        kit.section(words.scores.title)
        kit.refuse(error)
        return
    slots = {"stories": measured["test_stories"], "words": measured["test_words"]}
    kit.section(words.scores, command=measured["command"], smoothing=measured["smoothing"], **slots)
    kit.choose(state, "tagger", words.tagger, words.taggers)
    scores = scores_of(measured, state["tagger"])
    rows = scores.confusion.sum(1, keepdims=True)
    shares = scores.confusion / rows.clip(1)

    def opened() -> None:
        cell = st.session_state[KEY].get("chosen")
        if cell is not None:
            state["truetag"], state["giventag"] = TAGS[cell[0]], TAGS[cell[1]]

    cell_grid(
        shares,
        key=KEY,
        row_names=TAGS,
        column_names=TAGS,
        texts=[[f"{n:,}" if n else "" for n in row] for row in scores.confusion.tolist()],
        notes=[
            [
                words.confusion_note.format(
                    count=scores.confusion[i, j],
                    all=int(rows[i, 0]),
                    true=true,
                    given=given,
                    share=kit.percent(shares[i, j]),
                )
                for j, given in enumerate(TAGS)
            ]
            for i, true in enumerate(TAGS)
        ],
        limit=1.0,
        scale=words.confusion_scale,
        label=words.confusion,
        chosen=(TAGS.index(state["truetag"]), TAGS.index(state["giventag"])),
        on_change=opened,
    )
    kit.prose(words.scores_read, **_shares(measured))


def _shares(measured: dict[str, Any]) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    for name in words.taggers:
        scores = scores_of(measured, name)
        slots[name] = kit.percent(scores.accuracy)
        for kind in ("ambiguous", "unseen"):
            right, every = getattr(scores, kind)
            slots |= {f"{name}_{kind}": kit.percent(right / max(1, every)), kind: every}
    return slots
