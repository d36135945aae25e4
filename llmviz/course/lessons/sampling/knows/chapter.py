"""Chapter "What it knows": the rules of tiny-world, and what temperature does to them."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import streamlit as st

from llmviz.corpus.probes import PROBES, Probe
from llmviz.course.components.writer.view import writer
from llmviz.course.figures import sampling as figures
from llmviz.course.lessons.sampling import source, texts
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.lessons.sampling.knows import probing, words
from llmviz.course.lessons.sampling.params import DEFAULT_MODEL
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.lessons.sampling.writing.chapter import tokens_of, writer_words
from llmviz.course.ui import engine, kit
from llmviz.training.measures import Share, probe_shares

STOPS = probe_chances.TEMPERATURES  # of the curves
WRITTEN = 16  # tokens that go on from the probe
STORY = 700  # characters of it that are shown
LEAST = 0.005  # a share below it is shown with too few digits to ask about
EDGE = 0.03  # of the share at T = 1: nearer to the limit of an answer is too near to ask
KNOWS, GUESSES = 0.9, 0.75  # shares of stories: above the one, below the other

SOON = 0.05  # seconds that the page waits for all rules before it shows how far they are
POLL = 0.5  # seconds between two looks at that


def ahead() -> Iterator[None]:
    """Ask the model that the chapter opens with what a short cut would not answer."""
    if DEFAULT_MODEL in engine.names():
        for kind in probe_chances.SHORT_CUTS:
            _shares_right(engine.load(DEFAULT_MODEL), kind)
            yield


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    bundled = source.model(state)
    if bundled is None:
        return
    if not str(bundled.card.get("corpus", "")).startswith("tiny-world"):
        st.info(words.other_model)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            words.kind,
            list(PROBES),
            format_func=lambda kind: words.kinds.get(kind, kind),
            width=240,
            **state.bind("rule"),
        )
        st.number_input(words.example, step=1, width=140, **state.ranged("example"))
        st.slider(lesson_words.temperature, step=0.1, width=260, **state.ranged("heat"))
    kind, heat = state["rule"], state["heat"]
    probe = probe_chances.examples(kind)[state["example"] - 1]
    try:
        chances = probing.of_kind(bundled, kind)
        _story(state, bundled, probe, heat)
    except ValueError as error:
        kit.refuse(error)
        return
    _score(bundled, kind)
    quiz = question(chances)
    shown = quiz is None or kit.predict(quiz, f"knows.{kind}", covers=True)
    if shown:
        kit.chart(
            story_figure(bundled, kind, state["example"] - 1, heat, kit.theme()),
            "sampling.shares",
            bar=False,
        )
        _all(bundled, kind, heat)
        kit.prose(words.curve, n=probe_chances.EXAMPLES, kind=words.kinds.get(kind, kind))
    _code(bundled, kind, state["example"] - 1, heat)
    if kind in probe_chances.SHORT_CUTS:
        _short_cut(bundled, kind)
    if shown:
        kit.seen(words.end, **end(kind, chances))


@kit.kept(256)
def of_story(bundled: engine.Bundled, kind: str, example: int) -> np.ndarray:
    """Return the chances (2, S) of the right and the wrong words of a story, at each stop."""
    return _chances(bundled, probe_chances.examples(kind)[example], STOPS)


def _chances(bundled: engine.Bundled, probe: Probe, heats: Sequence[float]) -> np.ndarray:
    """The chances (2, S) of the right and the wrong words of a story at S temperatures."""
    pairs = [(probe.prompt, probe.right), (probe.prompt, probe.wrong)]
    return probe_chances.chances(bundled.model, bundled.tokenizer, pairs, heats)


@kit.kept(256)
def story_figure(
    bundled: engine.Bundled, kind: str, example: int, heat: float, mode: kit.Mode
) -> kit.Figure:
    """Return what follows a story at every temperature."""
    right, wrong = of_story(bundled, kind, example)
    return figures.shares(STOPS, right, wrong, heat, mode)


@kit.kept(256)
def rules_figure(bundled: engine.Bundled, kind: str, heat: float, mode: kit.Mode) -> kit.Figure:
    """Return the chances of all rules at every temperature, once they are known."""
    curves = {
        words.kinds.get(rule, rule): probing.of_kind(bundled, rule).mean(axis=0) for rule in PROBES
    }
    chosen = words.kinds.get(kind, kind)
    return figures.chances(STOPS, curves, chosen, heat, mode)


@kit.kept(64)
def _shares_right(bundled: engine.Bundled, kind: str) -> list[Share]:
    from llmviz.training.evaluate import share_right

    return [
        share_right(bundled.model, bundled.tokenizer, part)
        for part in probe_chances.told_apart(kind)
    ]


@kit.kept(256)
def at_heat(bundled: engine.Bundled, kind: str, example: int, heat: float) -> np.ndarray:
    """Return the chances (2,) of the right and the wrong words of a story at a temperature.

    A link may name one at which the curves have no stop: the model's chances are computed there.
    """
    if heat in STOPS:
        return of_story(bundled, kind, example)[:, STOPS.index(heat)]
    return _chances(bundled, probe_chances.examples(kind)[example], [heat])[:, 0]


def _story(state: kit.PageState, bundled: engine.Bundled, probe: Probe, heat: float) -> None:
    known = bundled, state["rule"], state["example"] - 1
    p_right, p_wrong = map(float, at_heat(*known, heat))
    ids = tuple(bundled.tokenizer.encode_from_start(probe.prompt))
    prompt = Prompted(bundled, probe.prompt, ids, np.zeros(1))
    written = texts.text(prompt, {"temperature": heat}, state["seed"], WRITTEN)
    tokens = tokens_of(prompt, written)[:WRITTEN]
    story = probe.prompt if len(probe.prompt) <= STORY else "…" + probe.prompt[-STORY:]
    writer(
        tokens,
        key="sampling.probe",
        prompt=story,
        words=writer_words(prompt),
        length=len(tokens),
        limit=WRITTEN,
        ended=written.ended and len(written.tokens) <= WRITTEN,
        controls=False,
    )
    kit.prose(
        words.numbers,
        t=heat,
        right=kit.bold(kit.quote(probe.right.strip())),
        wrong=kit.quote(probe.wrong.strip()),
        p_right=kit.percent(p_right),
        p_wrong=kit.percent(p_wrong),
        rest=kit.percent(max(0.0, 1 - p_right - p_wrong)),
    )

    def open_story() -> None:
        state["prompt"], state["part"] = probe.prompt, "pipeline"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
        if st.button(words.use, icon=":material/open_in_new:", on_click=open_story):
            st.rerun()  # the whole page: the prompt's box stands outside this part of it


def with_interval(share: Share) -> str:
    """Return a share with its interval."""
    low, high = map(kit.percent, share.interval)
    return words.share.format(share=kit.percent(share.share), low=low, high=high)


def _score(bundled: engine.Bundled, kind: str) -> None:
    """Say how often the model is right by its card, where this has the counts."""
    shares = probe_shares(bundled.card)
    if kind not in shares:
        return
    lowest = min(shares, key=lambda rule: shares[rule].share)
    kit.prose(
        words.score,
        n=f"{shares[kind].count:,}",
        share=with_interval(shares[kind]),
        rules=len(shares),
        lowest=words.kinds.get(lowest, lowest),
        low=with_interval(shares[lowest]),
    )


def _all(bundled: engine.Bundled, kind: str, heat: float) -> None:
    """Show all rules, or how far they are asked, and look again until they are."""
    probing_all = probing.all_kinds(bundled)
    growing = not probing_all.wait(SOON)
    draw_rules = partial(_rules, bundled, probing_all, kind, heat, growing)
    st.fragment(draw_rules, run_every=POLL if growing else None)()


def _rules(
    bundled: engine.Bundled, every_kind: probing.Probing, kind: str, heat: float, growing: bool
) -> None:
    if not every_kind.wait(0):
        st.progress(len(every_kind.curves) / len(PROBES), words.asking)
        return
    if growing:
        st.rerun()  # which ends the looking
    if every_kind.problem:
        kit.refuse(ValueError(every_kind.problem))
        return
    kit.chart(rules_figure(bundled, kind, heat, kit.theme()), "sampling.chances", bar=False)


def _short_cut(bundled: engine.Bundled, kind: str) -> None:
    from llmviz.training.evaluate import share_right

    with st.spinner(words.asking_apart):
        easy, hard = _shares_right(bundled, kind)
    shares, hole = words.short_cuts[kind]
    text = shares.format(
        n=probe_chances.STORIES, easy=with_interval(easy), hard=with_interval(hard)
    )
    if easy.share > KNOWS and hard.share < GUESSES:
        text += hole + words.hidden
    elif min(easy.share, hard.share) > KNOWS:
        text += words.looked_up.get(kind, "")
    kit.prose(text)
    kit.show_code(
        [probe_chances.SHORT_CUTS[kind], probe_chances.told_apart, share_right],
        words.snippet.format(name=bundled.name, kind=kind),
        f"{easy}\n{hard}",
    )


def question(chances: np.ndarray) -> kit.Question | None:
    """Return the question what a temperature of 2 leaves the right words, of chances (N, S).

    N stories, S temperatures. None where the share is tiny, or the answer on the edge between two.
    """
    at_one, at_two = (chances[:, STOPS.index(heat)] for heat in (1.0, 2.0))
    cold, hot = float(at_one.mean()), float(at_two.mean())
    if cold < LEAST or any(abs(hot / cold - edge) < EDGE for edge in (0.5, 1.0)):
        return None
    right = 0 if hot > cold else 1 if hot > cold / 2 else 2
    gained = int(np.count_nonzero(at_two > at_one))
    numbers = {"hot": kit.percent(hot), "cold": kit.percent(cold), "times": f"{hot / cold:.2g}"}
    numbers |= {"gained": gained, "n": len(chances)}
    reasons = [words.ask_knows_no] * 3
    reasons[right] = words.ask_knows_reasons[right]
    return kit.Question.rated(words.ask_knows, words.ask_knows_answers, right, reasons, **numbers)


def end(kind: str, chances: np.ndarray) -> dict[str, str]:
    """Return the numbers that the chapter ends with: of a rule's stories, chances (N, S)."""
    at_one = chances[:, STOPS.index(1.0)]
    return {
        "kind": words.kinds.get(kind, kind),
        "n": kit.count(len(chances), "story", "stories"),
        "low": kit.percent(float(at_one.min())),
        "high": kit.percent(float(at_one.max())),
        "cold": kit.percent(float(at_one.mean())),
        "hot": kit.percent(float(chances[:, STOPS.index(2.0)].mean())),
    }


def _printed(bundled: engine.Bundled, kind: str, example: int, heat: float) -> str:
    return f"{at_heat(bundled, kind, example, heat).round(3)}"


def _code(bundled: engine.Bundled, kind: str, example: int, heat: float) -> None:
    known = bundled, kind, example, heat
    probe = probe_chances.examples(kind)[example]
    kit.show_code(
        [probe_chances.continuation_logits, probe_chances.chance],
        words.snippet_code.format(
            name=bundled.name, prompt=probe.prompt, right=probe.right, wrong=probe.wrong, heat=heat
        ),
        partial(_printed, *known),
    )
