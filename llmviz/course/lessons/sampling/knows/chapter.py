"""Chapter "What it knows": a rule of tiny-world, and what temperature does to its right words."""

from collections.abc import Iterator, Sequence

import numpy as np
import streamlit as st

from llmviz.corpus.probes import PROBES, Probe
from llmviz.course.components.writer.view import writer
from llmviz.course.lessons.sampling import source, texts
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.lessons.sampling.knows import words
from llmviz.course.lessons.sampling.params import DEFAULT_MODEL
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.lessons.sampling.writing.chapter import tokens_of, writer_words
from llmviz.course.ui import engine, kit
from llmviz.training.measures import Share, probe_shares

KEY, GUESS = "sampling.knows", "knows.on"
STOPS = probe_chances.TEMPERATURES
DRAWN = (*range(11), *range(12, 31, 2))  # of the stops, those of the picture
KNOWN = 11  # of them, those up to T = 1, which are drawn before the question
WRITTEN = 16  # tokens that go on from the probe
TAIL = 8  # words of the story that stand above the picture
STORY = 700  # characters of it that are shown
APART = 0.06  # between two answers, as a mean over the temperatures
KNOWS, GUESSES = 0.9, 0.75  # shares of stories: above the one, below the other

of_kind = kit.cached(16 * len(PROBES))(kit.on_model_and_tokenizer(probe_chances.of_kind))


def ahead() -> Iterator[None]:
    """Ask the model that the chapter opens with what a short cut would not answer."""
    if DEFAULT_MODEL in engine.names():
        for kind in probe_chances.SHORT_CUTS:
            _shares_right(engine.load(DEFAULT_MODEL), kind)
            yield


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how sure the model is up to T = 1, ask how that goes on, then other stories."""
    kind, heat, example = state["rule"], state["heat"], state["example"] - 1
    probe = probe_chances.examples(kind)[example]
    kit.prose(words.hook, tail=" ".join(probe.prompt.split()[-TAIL:]))
    bundled = source.model(state)
    try:
        chances = of_story(bundled, kind, example) if bundled else None
    except ValueError as error:
        kit.refuse(error)
        return
    if bundled is None or chances is None:
        kit.source(state)
        return
    # Who has turned T up has seen it.
    guess = kit.Guess(GUESS, question(chances, probe), seen=heat > 1)
    shown = guess.open
    with kit.stage("knows"):
        _lines(chances, probe, heat, guess)
        p_right, p_wrong = map(float, at_heat(bundled, kind, example, heat))
        said = {"right": kit.quote(probe.right.strip()), "wrong": kit.quote(probe.wrong.strip())}
        rest = kit.percent(max(0.0, 1 - p_right - p_wrong))
        kit.prose(
            words.numbers,
            t=heat,
            p_right=kit.percent(p_right),
            p_wrong=kit.percent(p_wrong),
            rest=rest,
            **said,
        )
        st.slider(lesson_words.temperature, step=0.1, width=260, **state.ranged("heat"))
    guess.ask()
    kit.source(state)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            words.kind,
            list(PROBES),
            format_func=lambda kind: words.kinds.get(kind, kind),
            width=240,
            **state.bind("rule"),
        )
        st.number_input(words.example, step=1, width=140, **state.ranged("example"))
    if not str(bundled.card.get("corpus", "")).startswith("tiny-world"):
        st.info(words.other_model)
    if shown:
        at_two = chances[:, STOPS.index(2.0)]
        two = {"two": at_two[0], "wrong_two": at_two[1], "rest_two": max(0.0, 1 - at_two.sum())}
        kit.looks(state, words.looks, f"{KEY}.looks", **said, **two)
    kit.section(words.intro)
    _story(state, bundled, probe, heat)
    _score(bundled)
    _code(bundled, kind, example, heat)
    if kind in probe_chances.SHORT_CUTS:
        _short_cut(bundled, kind)
    if shown:
        kit.seen(words.end, **end(kind, of_kind(bundled, kind)))


def _lines(chances: np.ndarray, probe: Probe, heat: float, guess: kit.Guess) -> None:
    revealed = guess.open
    at = [STOPS[place] for place in DRAWN]
    right, wrong = chances[:, DRAWN]
    rest = np.clip(1 - right - wrong, 0, 1)
    count = len(at) if revealed else KNOWN
    names = {"wrong": probe.wrong.strip(), "right": probe.right.strip()}
    guess.line(
        [
            kit.Drawn(f"T = {heat:g}", [heat, heat], [0, 1], "residual", dashed=True),
            kit.Drawn(words.rest, at[:count], rest[:count].tolist(), "key"),
            kit.Drawn(
                words.line.format(word=names["wrong"]), at[:count], wrong[:count].tolist(), "value"
            ),
        ],
        kit.Drawn(words.line.format(word=names["right"]), at, right.tolist()),
        kit.Scale(0, STOPS[-1], words.axis),
        kit.Scale(0, 1, words.share_axis),
        known=KNOWN,
        picture=f"{KEY}.lines",
        form="percent",
    )


@kit.cached(256)
def of_story(bundled: engine.Bundled, kind: str, example: int) -> np.ndarray:
    """Return the chances (2, S) of the right and the wrong words of a story, at each stop."""
    return _chances(bundled, probe_chances.examples(kind)[example], STOPS)


def _chances(bundled: engine.Bundled, probe: Probe, heats: Sequence[float]) -> np.ndarray:
    """The chances (2, S) of the right and the wrong words of a story at S temperatures."""
    pairs = [(probe.prompt, probe.right), (probe.prompt, probe.wrong)]
    return probe_chances.chances(bundled.model, bundled.tokenizer, pairs, heats)


@kit.cached(64)
def _shares_right(bundled: engine.Bundled, kind: str) -> list[Share]:
    from llmviz.training.evaluate import share_right

    return [
        share_right(bundled.model, bundled.tokenizer, part)
        for part in probe_chances.told_apart(kind)
    ]


@kit.cached(256)
def at_heat(bundled: engine.Bundled, kind: str, example: int, heat: float) -> np.ndarray:
    """Return the chances (2,) of the right and the wrong words of a story at a temperature.

    A link may name one at which the curves have no stop: the model's chances are computed there.
    """
    if heat in STOPS:
        return of_story(bundled, kind, example)[:, STOPS.index(heat)]
    return _chances(bundled, probe_chances.examples(kind)[example], [heat])[:, 0]


def _story(state: kit.PageState, bundled: engine.Bundled, probe: Probe, heat: float) -> None:
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

    def open_story() -> None:
        state["prompt"], state["part"] = probe.prompt, "pipeline"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
        if st.button(words.use, icon=":material/open_in_new:", on_click=open_story):
            st.rerun()  # the whole page: the prompt's box stands outside this part of it


def with_interval(share: Share) -> str:
    low, high = map(kit.percent, share.interval)
    return words.share.format(share=kit.percent(share.share), low=low, high=high)


def _score(bundled: engine.Bundled) -> None:
    """Show how often the model is right on each rule by its card, where this has the counts."""
    shares = probe_shares(bundled.card)
    if not shares:
        return
    rows = sorted(shares, key=lambda rule: shares[rule].share)
    lowest = shares[rows[0]]
    kit.case_rows(
        [
            kit.Case(words.kinds.get(rule, rule), shares[rule].share, shares[rule].interval)
            for rule in rows
        ],
        kit.Axis(min(0.9, lowest.interval[0]), 1.0, words.score_axis),
        key=f"{KEY}.score",
        mark="dot",
    )
    kit.prose(
        words.score,
        n=f"{lowest.count:,}",
        rules=len(shares),
        lowest=words.kinds.get(rows[0], rows[0]),
        low=with_interval(lowest),
    )


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


def question(chances: np.ndarray, probe: Probe) -> kit.Question | None:
    """Ask how the chance of a story's right words goes on above T = 1, of chances (2, S).

    The wrong answers are those of somebody to whom what is known is known, and to whom T divides
    the chance. None where two of the answers are nearly the same.
    """
    later = [STOPS[place] for place in DRAWN[KNOWN:]]
    right = chances[0, DRAWN]
    cold = float(right[KNOWN - 1])
    lines = {
        "right": right[KNOWN:],
        "level": np.full(len(later), cold),
        "divided": cold / np.array(later),
    }
    every = list(lines.values())
    if min(np.abs(a - b).mean() for n, a in enumerate(every) for b in every[:n]) < APART:
        return None
    ends = [words.ask_answer.format(end=kit.percent(float(line[-1]))) for line in every]
    numbers = {
        "word": kit.quote(probe.right.strip()),
        "cold": kit.percent(cold),
        "two": kit.percent(float(chances[0, STOPS.index(2.0)])),
        "hot": kit.percent(float(right[-1])),
    }
    case = "right" if right[-1] < cold else "rising"
    reasons = [words.ask_reasons[name] for name in (case, "level", "divided")]
    return kit.Question(
        words.ask.format(**numbers),
        ends,
        0,
        [reason.format(**numbers) for reason in reasons],
        values=[tuple(map(float, line)) for line in every],
    )


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


def _code(bundled: engine.Bundled, kind: str, example: int, heat: float) -> None:
    probe = probe_chances.examples(kind)[example]
    kit.show_code(
        [probe_chances.continuation_logits, probe_chances.chance],
        words.snippet_code.format(
            name=bundled.name, prompt=probe.prompt, right=probe.right, wrong=probe.wrong, heat=heat
        ),
        lambda: f"{at_heat(bundled, kind, example, heat).round(3)}",
    )
