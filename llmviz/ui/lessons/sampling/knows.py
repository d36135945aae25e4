"""Chapter "What it knows": the rules of tiny-world, and what temperature does to them."""

from __future__ import annotations

from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.corpus.probes import PROBES, Probe
from llmviz.figures import sampling as figures
from llmviz.figures.theme import Mode
from llmviz.ui import codec, engine
from llmviz.ui.components.writer import writer
from llmviz.ui.kept import kept
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.common import percent, refuse, theme
from llmviz.ui.lessons.sampling import facts, probing, source, texts, words
from llmviz.ui.lessons.sampling.source import Prompted
from llmviz.ui.lessons.sampling.writing import tokens_of, writer_words
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

WRITTEN = 16  # tokens that go on from the probe
STORY = 700  # characters of it that are shown
KNOWS, GUESSES = 0.9, 0.75  # shares of stories: above the one, below the other
PARAMS = [
    codec.choice("rule", "capitals", list(PROBES)),
    codec.integer("example", 1, 1, facts.EXAMPLES),
    codec.number("heat", 1.0, 0.0, facts.TEMPERATURES[-1]),
]


SOON = 0.2  # seconds that the page waits for all rules before it shows how far they are
POLL = 0.5  # seconds between two looks at that


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.knows.TITLE, words.knows.TEXT)
    bundled = source.model(state)
    if bundled is None:
        return
    if not str(bundled.card.get("corpus", "")).startswith("tiny-world"):
        st.info(words.knows.OTHER_MODEL)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            words.knows.KIND,
            list(PROBES),
            format_func=lambda kind: words.knows.KINDS.get(kind, kind),
            width=240,
            **state.bind("rule"),
        )
        st.number_input(words.knows.EXAMPLE, step=1, width=140, **state.ranged("example"))
        st.slider(words.TEMPERATURE, step=0.1, width=260, **state.ranged("heat"))
    kind, heat = state["rule"], state["heat"]
    probe = facts.examples(kind)[state["example"] - 1]
    try:
        mean = probing.of_kind(bundled.name, bundled.version, kind).mean(axis=0)
        _story(state, bundled, probe, heat)
    except ValueError as error:
        refuse(error)
        return
    _ask(mean, bundled, kind)
    _all(bundled, kind, heat)
    prose(words.knows.CURVE.format(n=facts.EXAMPLES, kind=words.knows.KINDS.get(kind, kind)))
    _code(bundled, probe, heat)
    if kind in facts.SHORT_CUTS:
        _short_cut(bundled, kind)


@kept(256)
def of_story(name: str, version: str, kind: str, example: int) -> np.ndarray:
    """Return the chances (2, S) of the right and the wrong words of a story, at each stop."""
    probe, bundled = facts.examples(kind)[example], engine.load(name)
    asked = [(probe.prompt, probe.right), (probe.prompt, probe.wrong)]
    return facts.chances(bundled.model, bundled.tokenizer, asked)


@kept(256)
def story_figure(
    name: str, version: str, kind: str, example: int, heat: float, mode: Mode
) -> go.Figure:
    """Return what follows a story at every temperature."""
    right, wrong = of_story(name, version, kind, example)
    return figures.shares(facts.TEMPERATURES, right, wrong, heat, mode)


@kept(256)
def rules_figure(name: str, version: str, kind: str, heat: float, mode: Mode) -> go.Figure:
    """Return the chances of all rules at every temperature, once they are known."""
    curves = {
        words.knows.KINDS.get(one, one): probing.of_kind(name, version, one).mean(axis=0)
        for one in PROBES
    }
    chosen = words.knows.KINDS.get(kind, kind)
    return figures.chances(facts.TEMPERATURES, curves, chosen, heat, mode)


@kept(64)
def _shares_right(name: str, version: str, kind: str) -> list[float]:
    from llmviz.training.evaluate import share_right

    bundled = engine.load(name)
    return [share_right(bundled.model, bundled.tokenizer, part) for part in facts.told_apart(kind)]


def at_heat(curve: np.ndarray, heat: float) -> float:
    """Return a curve's value at a temperature between its stops."""
    return float(np.interp(heat, facts.TEMPERATURES, curve))


def _story(state: PageState, bundled: engine.Bundled, probe: Probe, heat: float) -> None:
    known = bundled.name, bundled.version, state["rule"], state["example"] - 1
    right, wrong = of_story(*known)
    p_right, p_wrong = at_heat(right, heat), at_heat(wrong, heat)
    ids = tuple(bundled.tokenizer.encode_from_start(probe.prompt))
    said = Prompted(bundled, probe.prompt, ids, np.zeros(1))
    written = texts.text(said, {"temperature": heat}, state["seed"], WRITTEN)
    shown = tokens_of(said, written)[:WRITTEN]
    story = probe.prompt if len(probe.prompt) <= STORY else "…" + probe.prompt[-STORY:]
    writer(
        shown,
        key="sampling.probe",
        prompt=story,
        words=writer_words(said),
        length=len(shown),
        limit=WRITTEN,
        ended=written.ended and len(written.tokens) <= WRITTEN,
        controls=False,
    )
    prose(
        words.knows.NUMBERS.format(
            t=heat,
            right=f"**{quote(probe.right.strip())}**",
            wrong=quote(probe.wrong.strip()),
            p_right=percent(p_right),
            p_wrong=percent(p_wrong),
            rest=percent(max(0.0, 1 - p_right - p_wrong)),
        )
    )

    def open_story() -> None:
        state["prompt"], state["part"] = probe.prompt, "pipeline"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(words.SEED, step=1, width=150, **state.ranged("seed"))
        if st.button(words.knows.USE, icon=":material/open_in_new:", on_click=open_story):
            st.rerun()  # the whole page: the prompt's box stands outside this part of it
    st.plotly_chart(
        story_figure(*known, heat, theme()),
        key="sampling.shares",
        theme=None,
        config={"displayModeBar": False},
    )


def _all(bundled: engine.Bundled, kind: str, heat: float) -> None:
    """Show all rules, or how far they are asked, and look again until they are."""
    asked = probing.all_kinds(bundled.name, bundled.version)
    growing = not asked.wait(SOON)
    draw_rules = partial(_rules, bundled, asked, kind, heat, growing)
    st.fragment(draw_rules, run_every=POLL if growing else None)()


def _rules(
    bundled: engine.Bundled, asked: probing.Probing, kind: str, heat: float, growing: bool
) -> None:
    if not asked.wait(0):
        st.progress(len(asked.curves) / len(PROBES), words.knows.ASKING)
        return
    if growing:
        st.rerun()  # which ends the looking
    if asked.problem:
        refuse(ValueError(asked.problem))
        return
    st.plotly_chart(
        rules_figure(bundled.name, bundled.version, kind, heat, theme()),
        key="sampling.chances",
        theme=None,
        config={"displayModeBar": False},
    )


def _short_cut(bundled: engine.Bundled, kind: str) -> None:
    from llmviz.training.evaluate import share_right

    with st.spinner(words.knows.ASKING_APART):
        easy, hard = _shares_right(bundled.name, bundled.version, kind)
    said, hole = words.knows.SHORT_CUTS[kind]
    said = said.format(n=facts.STORIES, easy=percent(easy), hard=percent(hard))
    if easy > KNOWS and hard < GUESSES:
        said += hole + words.knows.HIDDEN
    elif min(easy, hard) > KNOWS:
        said += words.knows.LOOKED_UP.get(kind, "")
    prose(said)
    show_code(
        [facts.SHORT_CUTS[kind], facts.told_apart, share_right],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.training.evaluate import share_right\n"
        "from llmviz.ui.lessons.sampling.facts import told_apart\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"for asked in told_apart({kind!r}):\n"
        "    print(share_right(model, tokenizer, asked))",
        f"{easy}\n{hard}",
    )


def _ask(curve: np.ndarray, bundled: engine.Bundled, kind: str) -> None:
    cold, hot = at_heat(curve, 1.0), at_heat(curve, 2.0)
    right = 0 if hot > cold else 1 if hot >= cold / 2 else 2
    vocabulary = bundled.tokenizer.vocab_size
    reason = words.knows.ASK_KNOWS_REASON.format(hot=percent(hot), v=vocabulary)
    predict(
        Question(
            words.knows.ASK_KNOWS.format(cold=percent(cold)),
            words.knows.ASK_KNOWS_ANSWERS,
            right,
            [reason if i == right else words.knows.ASK_KNOWS_NO for i in range(3)],
        ),
        f"knows.{kind}",
    )


def _code(bundled: engine.Bundled, probe: Probe, heat: float) -> None:
    asked = [(probe.prompt, probe.right), (probe.prompt, probe.wrong)]

    def prints() -> str:
        found = facts.chances(bundled.model, bundled.tokenizer, asked, [heat])[:, 0]
        return f"{found.round(3)}"

    show_code(
        [facts.continuation_logits, facts.chance],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.ui.lessons.sampling.facts import chances\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"story = {probe.prompt!r}\n"
        f"asked = [(story, {probe.right!r}), (story, {probe.wrong!r})]\n"
        f"print(chances(model, tokenizer, asked, [{heat!r}])[:, 0].round(3))",
        prints,
    )
