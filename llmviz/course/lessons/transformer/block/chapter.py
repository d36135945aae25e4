"""Chapter "One block, opened": how much a layer adds to a word, and a layer stage by stage."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.transformer.block import code, words
from llmviz.course.lessons.transformer.block.drawing import stage_names
from llmviz.course.lessons.transformer.block.picture import picture_of
from llmviz.course.lessons.transformer.page import WITH_PARTS
from llmviz.course.lessons.transformer.params import TEXT
from llmviz.course.lessons.transformer.subject import (
    DRAWN,
    Subject,
    choose_subject,
)
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import read_windows
from llmviz.interpretability.block import STAGES, require_block

STAGED = True
KEY = "transformer.block"
GUESS = f"{KEY}.added"
APART = 0.03  # of the axis, between the answers of the question
WIDER = 4  # times as many numbers as a word has: a feed-forward network of most models
ROW_ROLES = {"x": "residual", "attn": "weights", "mlp": "value", "out": "residual"}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what a layer adds to a word, the guess and the looks, then every number of a layer."""
    opened = kit.load_and_read(state, WITH_PARTS.name(state), DRAWN, require_block)
    shown, token = True, ""
    if opened is not None:
        bundled, read = opened
        token = kit.spoken(read.ids[-1], bundled.tokenizer)
        layers = bundled.model.config.n_layer
        layer = min(state["layer"], layers - 1)
        subject = Subject(*bundled.kept_as, bundled.model, read.ids, read.tokens, layer)
        added = lengths(subject)
        asked = question(added, token) if layer == 0 else None  # another layer is there to be seen
        shown = asked is None or kit.answered(asked, GUESS)
        kit.prose(words.hook)
        with kit.stage("block", stays=False):
            _rows(subject, added, asked, shown=shown)
            if layers > 1:
                st.number_input(words.layer, width=140, **state.ranged("layer", most=layers - 1))
            case = "told" if shown else "asked"
            kit.prose(words.caption[case], token=token, layer=layer, **added)
        if asked is not None:
            kit.predict(asked, GUESS, covers=True, hand=True)
    kit.source(state, opened=opened is None)
    # what the looks say was measured on one model and one text
    measured = opened is not None and kit.bundled_models()[:1] == [bundled.name]
    if measured and shown and state["text"] == TEXT:
        kit.looks(state, words.looks, f"{KEY}.looks")
    _cells(state, opened)
    if opened is not None and shown:
        norm = subject.model.config.norm
        said = words.end_out[norm].format(out=added["out"])
        kit.seen(words.end, layer=layer, token=token, said=said, **added)


def lengths(subject: Subject) -> dict[str, float]:
    """Return how long the last token's vector is, what is added to it and what comes out."""
    out = STAGES[subject.model.config.norm][-1]
    steps = {"x": "input", "attn": "attn", "mlp": "mlp", "out": out}
    return {name: float(subject.steps[step][-1].norm()) for name, step in steps.items()}


def question(added: Mapping[str, float], token: str) -> kit.Question | None:
    """Ask how much the feed-forward network adds; None where two answers are nearly the same.

    The wrong answers are those of somebody to whom a layer only touches a word up, to whom both
    parts add alike, and to whom a network four times as wide adds four times as much.
    """
    right = round(added["mlp"], 2)
    reasons = {
        right: words.reasons["right"],
        round(added["x"] / 10, 2): words.reasons["touch"],
        round(added["attn"], 2): words.reasons["alike"],
        round(WIDER * added["attn"], 2): words.reasons["wider"],
    }
    values = sorted(reasons)
    top = axis_end(added)
    if len(reasons) < 4 or any(b - a < APART * top for a, b in pairwise(values)):
        return None
    return kit.Question.among(words.ask, reasons, right, "{:.2f}".format, token=token, **added)


def axis_end(added: Mapping[str, float]) -> float:
    """Return where the axis of the lengths ends."""
    return 1.2 * max(*added.values(), WIDER * added["attn"])


def _rows(
    subject: Subject, added: Mapping[str, float], asked: kit.Question | None, *, shown: bool
) -> None:
    cases = [
        kit.Case(words.rows[name], value if shown or name != "out" else None, role=ROW_ROLES[name])
        for name, value in added.items()
    ]
    if not shown:
        cases[-1] = replace(cases[-1], note="?")
    kit.guess_cases(
        cases,
        kit.Axis(0.0, axis_end(added), words.axis),
        asked,
        GUESS,
        veiled=[2],
        picture=f"{KEY}.rows",
        form="figure",
        mark="bar",
    )


def _cells(state: kit.PageState, opened: tuple[engine.Bundled, kit.Read] | None) -> None:
    """Show a layer stage by stage, and its code."""
    kit.section(words.intro)
    subject = choose_subject(state, opened)
    if subject is None:
        return
    heads = subject.model.config.n_head
    if heads > 1:
        st.number_input(words.head, width=120, **state.ranged("head", most=heads - 1))
    head = min(state["head"], heads - 1)
    stage = _picture(state, subject, head)
    code.draw(subject, stage, head)


def _picture(state: kit.PageState, subject: Subject, head: int) -> str:
    """Draw the layer; return the stage that is open."""
    picture, names = picture_of(subject, head), stage_names(subject.model.config.norm)
    stage = state["stage"] if state["stage"] in names else names[0]
    key = f"{KEY}.matrices"

    lv.stage_view(
        picture,
        key=key,
        step=names.index(stage),
        pinned=lv.cell_of(state["cell"], picture.shapes),
        windows=read_windows(state["seen"], picture.windows),
        narrow=DRAWN,
        on_change=kit.bound(
            state,
            key,
            step=("stage", kit.one_of(names)),
            pinned=("cell", kit.link_of),
            window=("seen", kit.windows_link),
        ),
    )
    return stage
