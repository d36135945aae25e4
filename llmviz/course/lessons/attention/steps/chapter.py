"""Chapter "Step by step": the ladder from dot products to several heads, every cell open."""

import numpy as np
import streamlit as st

from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.inputs import examples, opening
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.matrices import linked_matrices as linked
from llmviz.course.lessons.attention.steps import asking_word, origin, rungs, words
from llmviz.course.lessons.attention.steps import code as ladder_code
from llmviz.course.lessons.attention.steps.rungs import Rung
from llmviz.course.ui import engine, kit, matrix_words, model_on_text

STAGED = True
KEY = "attention.ladder"
MOSTLY = 0.9  # of the weight: it lies on the token itself
# Rungs that are not of one head of a model, and what is said of them.
ALL_HEADS = {"simple": words.real_simple, "heads": words.real_heads}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a word's scores and shares, the guess and the looks, then every cell behind them."""
    hook, stage, under = st.container(), kit.stage("steps", stays=False), st.container()
    kit.source(state)
    looks = st.container()
    kit.section(words.intro)
    head, notes, place = st.container(), st.container(), st.container()
    try:
        rung = (_model if state["source"] == "model" else _example)(state, head, notes)
    except ValueError as error:
        kit.refuse(error)
        return
    if rung is None:
        return
    row = asking_word.row_of(rung, state["asking"])
    with hook:
        kit.prose(words.hook, asking=kit.quote(rung.inputs.tokens[row.at]))
    with stage:
        asking_word.draw(state, rung, row)
    with under:
        told = asking_word.ask(rung, row)
    with looks:
        kit.looks(state, words.looks, f"{KEY}.looks")
    with place:
        linked.show(state, asking_word.covered(rung, row), KEY)
    if told:
        _say(rung)
    if rung.kept is not None:
        _say_dropped(rung, state["p"])
    _reasons(state, rung)
    ladder_code.draw(state, rung)
    origin.draw(state)
    if told:
        kit.seen(words.end, **end(rung))


def _controls(state: kit.PageState) -> None:
    to_the_end = examples.to_the_end(state)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        examples.choose_source(state, to_the_end)
        kit.choose(state, "rung", words.rung_label, words.rungs, to_the_end, parts=True)
    kit.prose(words.rung_text[state["rung"]])


def _example(state: kit.PageState, head: st.container, notes: st.container) -> Rung:
    with head:
        _controls(state)
    with notes:  # among them the tables to edit, which the picture follows
        return rungs.of_example(state)


def _model(state: kit.PageState, head: st.container, notes: st.container) -> Rung | None:
    with head:
        _controls(state)
    with notes:
        name = real.LOOKED_INTO.name(state)
        bundled = None if name is None else kit.load(name)
        if bundled is None:
            return None
        place_of_head = opening.head_of(state, bundled)
        reading = model_on_text.read_text(state, bundled, params.DRAWN)
        if reading is None:
            return None
    with head:
        _model_controls(state, bundled, place_of_head)
    rung = rungs.of_model(state, bundled, reading, place_of_head)
    with notes:
        _about(state, bundled, rung)
    return rung


def _model_controls(
    state: kit.PageState, bundled: engine.Bundled, place_of_head: tuple[int, int]
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        real.LOOKED_INTO.menu(state)
        opening.head_menu(state, bundled, place_of_head, heads=state["rung"] not in ALL_HEADS)
    if state["rung"] == "dropout":
        rungs.dropout_controls(state)


def _about(state: kit.PageState, bundled: engine.Bundled, rung: Rung) -> None:
    config = bundled.model.config
    about = {
        "name": kit.label(bundled.name),
        "layer": rung.place[0],
        "head": rung.place[1],
        "size": config.head_size,
        "half": config.head_size // 2,
        "heads": config.n_head,
        "width": config.n_embd,
        "norm": words.norm_before if config.norm == "pre" else "",
    }
    lines = [ALL_HEADS.get(state["rung"], words.real_note)]
    if rung.picture.windows:
        lines.append(words.windows)
    if state["rung"] != "simple":
        lines.append(words.positions[config.positions])
    kit.prose(" ".join(lines), **about)


def _reasons(state: kit.PageState, rung: Rung) -> None:
    """Say why this model and this head are the first that are shown."""
    if not rung.inputs.name:
        return
    bundled = engine.load(rung.inputs.name)
    lines = [opening.why_model(bundled.name)]
    if state["rung"] not in ALL_HEADS:
        lines.insert(0, opening.why(bundled, rung.place))
    if any(lines):
        kit.prose(" ".join(filter(None, lines)))


def _say(rung: Rung) -> None:
    """Say what the largest weight means."""
    weights, tokens = rung.steps.weights.numpy(), rung.inputs.tokens
    if len(tokens) == 1:
        kit.prose(words.one_token)
        return
    looked = weights.reshape(-1, *weights.shape[-2:]).copy()  # (H, T, T)
    looked[:, 0] = -1  # a first token has no choice under a causal mask
    line = words.largest
    if rung.inputs.name and len(tokens) > 2:
        looked[:, :, 0] = -1  # the start token, which often has most of the weight
        looked[:, np.arange(len(tokens)), np.arange(len(tokens))] = -1
        line = words.largest_other
    if looked.max() < 0.005:
        kit.prose(_only_itself(weights))
        return
    _, row, column = np.unravel_index(looked.argmax(), looked.shape)
    takes = matrix_words.TAKES_SELF if row == column else matrix_words.TAKES
    asking, asked, share = kit.quote(tokens[row]), kit.quote(tokens[column]), f"{looked.max():.0%}"
    sentence = (
        takes.format(asking=asking, asked=asked, share=share).replace("“", "").replace("”", "")
    )
    kit.prose(line, sentence=sentence)


def end(rung: Rung) -> dict[str, str]:
    """Return what the chapter's end says of the last token; of several heads, the largest share."""
    tokens = rung.inputs.tokens
    last = rung.steps.weights.reshape(-1, len(tokens), len(tokens))[:, -1].amax(0)  # (T,)
    share, token = f"{last.max():.0%}", kit.quote(tokens[int(last.argmax())])
    return {"asking": kit.quote(tokens[-1]), "share": share, "asked": token}


def _only_itself(weights: np.ndarray) -> str:
    """Return a sentence on weights (…, T, T) where no token takes half a percent from another.

    Those on the first token were left out before, in a model: it may have nearly all of them.
    """
    own = weights.reshape(-1, *weights.shape[-2:]).diagonal(0, 1, 2).min()
    if own < MOSTLY:
        return words.only_itself_or_first
    share = words.nearly_all if own > 0.999 else f"{own:.1%}"
    return words.only_itself.format(share=share)


def _say_dropped(rung: Rung, p: float) -> None:
    """Say what dropout has left of the weights."""
    weights, dropped = rung.steps.weights, rung.steps.dropped
    there = weights > 0
    sums = dropped.sum(-1)
    line = words.dropped.format(
        left=int((there & rung.kept).sum()),
        count=int(there.sum()),
        by=f"{1 - p:.2f}",
        low=f"{sums.min():.2f}",
        high=f"{sums.max():.2f}",
        mean=f"{sums.mean():.2f}",
    )
    lost = [rung.inputs.tokens[i] for i in (sums == 0).nonzero().flatten().tolist()]
    if lost:
        names = ", ".join(kit.quote(token) for token in lost)
        line += " " + words.dropped_all.format(names=names)
    kit.prose(line)
