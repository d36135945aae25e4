"""Chapter "Experts": which expert gets which words, by village and by kind of word."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.villages import SLOTS, VILLAGES, nats_without_village
from llmviz.course import components as lv
from llmviz.course.components.bar_film.view import bar_film
from llmviz.course.lessons.next.experts import STEPS, model, words
from llmviz.course.lessons.next.experts.model import EXPERTS, ROUTED, recorded
from llmviz.course.ui import kit
from llmviz.interpretability.routing import entropy
from llmviz.nn.experts import route
from llmviz.training.measures import against

KEY = "next.experts"
OWN_SEED = 3  # of a model that learns on the page: another one than those of the record
job_of = kit.job_of("llmviz.course.lessons.next.experts.model:practise", "kind", "seed")
FEW = 0.01  # of all words
EARLY = 30  # the step of the look at which one expert has most
SORTED = 100  # the step at which words are told apart, and villages not yet
NUMBERS = [str(number) for number in range(1, EXPERTS + 1)]
COLORS = ("query", "key", "value", "weights", "residual")  # of villages, and of kinds of words


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show who gets the words, the guess about it, the looks and what goes deeper."""
    if not kit.is_here(words.missing, model.COMMAND, recorded):
        return
    kit.prose(words.hook)
    kind, at = "even" if state["evened"] else "free", STEPS.index(int(state["expertstep"]))
    moved = kind != "free" or state["expertby"] != "village"
    guess = kit.Guess(f"{KEY}.favourite", question(), moved, by_hand=True)
    with kit.stage("experts"):
        by, key = state["expertby"] if guess.open else "", f"{KEY}.bars"
        settled = kit.bound(state, key, step=("expertstep", kit.one_of([*map(str, STEPS)])))
        _film(film(kind, by), by, key, revealed=guess.open, step=at, on_change=settled)
        label = words.favourite_asked if guess.open and kind == "even" else words.favourite
        case, axis = kit.Case(label, favourite()), kit.Axis(0, 1, words.guess_axis)
        guess.cases([case], axis, veiled=[0], picture=f"{KEY}.row")
        if guess.open:
            with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
                kit.choose(state, "expertby", words.by, words.colors)
                st.toggle(words.evened, **state.bind("evened"))
    guess.ask()
    if not guess.open:
        return
    early = kit.whole_percent(load("free", STEPS.index(EARLY)).max())
    said = {"early": early, "top": kit.whole_percent(half())}
    kit.looks(state, words.looks, f"{KEY}.looks", **said)
    _loss()
    _bits()
    _router(state, kind)
    _own(state, kind)
    kit.section(words.known)
    kit.prose(words.mixtral)
    kit.chapter_link("transformer", "since", words.since, change="experts")
    kit.seen(words.end, top=said["top"], **summary("free"))


def _film(
    heights: np.ndarray,
    by: str,
    key: str,
    *,
    revealed: bool = True,
    step: int,
    on_change: Any = None,
) -> None:
    """Draw the share of all words that each expert gets (S, K, E) at the first S of STEPS."""
    loads = heights.sum(1)
    bar_film(
        heights,
        NUMBERS,
        layers(by),
        key=key,
        axes=(words.expert_axis, words.share_axis),
        steps=[words.step.format(step=step) for step in STEPS[: len(heights)]],
        captions=[caption(*pair) if revealed else "" for pair in zip(loads, STEPS, strict=False)],
        limit=max(top(), float(loads.max())),
        step=step,
        on_change=on_change,
    )


def layers(by: str) -> list[tuple[str, str]]:
    """Return the layers of the bars, a name and a colour each: villages, kinds of word, or one."""
    names = {"village": VILLAGES, "kind": [*words.kinds]}.get(by)
    return [(words.all, "residual")] if names is None else [*zip(names, COLORS, strict=False)]


@kit.cached(6)
def film(kind: str, by: str) -> np.ndarray:
    """Return the share of all words that each expert gets at each step of the record (S, K, E)."""
    of, moments = "words" if by == "kind" else "villages", range(len(STEPS))
    return layered([recorded().counts(kind, of, at) for at in moments], by)


def layered(counts: Sequence[np.ndarray], by: str) -> np.ndarray:
    """Return counts as shares of all (S, K, E), K layers.

    counts: of each moment, (E, words) or, but for kinds of words, (E, villages).
    """
    tables = np.array([table.T for table in counts])
    if by != "village":
        size = len(SLOTS[0]) if by else tables.shape[1]
        tables = np.add.reduceat(tables, range(0, tables.shape[1], size), axis=1)
    shares: np.ndarray = tables / tables.sum((1, 2), keepdims=True)
    return shares


def top() -> float:
    """Return the most that an expert gets at any moment, and some room."""
    return 1.05 * max(float(film(way, "").max()) for way in ROUTED)


def favourite() -> float:
    """Return how much of its words the busiest expert gets from one village, at most."""
    counts = recorded().counts("free", "villages", -1)[0]
    return float(counts.max() / counts.sum())


def question() -> kit.Question:
    """Ask how much of its words the busiest expert gets from one village.

    The wrong answers: all, of somebody to whom an expert has a village; of somebody who sees that
    it gets more words than a village has: that whole village, and the rest from others; and of
    somebody who shares a village among the experts.
    """
    right, whole = favourite(), 1 / len(VILLAGES) / float(load("free", -1).max())
    shares = {"right": right, "spread": 1 / EXPERTS, "whole": whole, "all": 1.0}
    reasons, share = words.ask_reasons, kit.whole_percent
    return kit.Question.named(words.ask, reasons, shares, share, experts=EXPERTS)


def load(kind: str, at: int, seed: int = 0) -> np.ndarray:
    """Return the share of all words that each expert gets at a moment (E,)."""
    counts = recorded().counts(kind, "villages", at, seed).sum(1)
    return counts / counts.sum()


def half() -> float:
    """Return what the busier half of the experts gets at the end where nobody evens it."""
    return float(np.sort(load("free", -1))[EXPERTS // 2 :].sum())


def caption(shares: np.ndarray, step: int) -> str:
    """Say how much the busiest and the idlest expert get at a step, of shares (E,)."""
    most, least = float(shares.max()), float(shares.min())
    case = "none" if not least else "few" if least < FEW else "some"
    said = words.caption["chance" if not step else case]
    return said.format(most=kit.whole_percent(most), least=kit.whole_percent(least))


def above(kind: str) -> np.ndarray:
    """Return the loss above the grammar's own at the end, for each seed."""
    return np.array([run.above[-1] for run in recorded().runs[kind]])


def _loss() -> None:
    """Draw the losses of the three kinds of models, and that of who ignores the village."""
    found, blind = recorded(), nats_without_village()
    kit.section(words.loss, blind=blind)
    losses = {kind: above(kind) for kind in ("free", "even", "dense")}
    cases = [
        kit.Case.mean(words.rows[kind], dots, role=role)
        for (kind, dots), role in zip(losses.items(), ("query", "value", "key"), strict=True)
    ]
    axis, levels = kit.Axis(0, 1.1 * blind, words.loss_axis), [(blind, words.blind)]
    kit.case_rows(cases, axis, key=f"{KEY}.losses", form="figure", mark="dot", levels=levels)
    kit.prose(words.loss_read)
    kit.prose(words.dense_read[against(losses["free"], losses["dense"])])
    kit.measured(
        words.how_loss,
        steps=STEPS[-1],
        texts=found.texts,
        parameters=found.parameters["free"],
        small=found.parameters["dense"],
    )


def summary(kind: str) -> dict[str, float]:
    """Return the bits that an expert tells of village and word, means over the seeds."""
    by = {"village": "villages", "word": "words"}
    return {name: max(0.0, float(np.mean(recorded().bits(kind, of)))) for name, of in by.items()}


def _bits() -> None:
    """Draw what an expert tells of the village and of the word."""
    found = recorded()
    kit.section(words.bits)
    cases = []
    for by, role in (("villages", "key"), ("words", "query")):
        for kind in ROUTED:
            dots = found.bits(kind, by)
            label = words.bits_row.format(by=words.of[by], kind=words.rows[kind])
            cases.append(kit.Case.mean(label, dots, role=role))
    axis = kit.Axis.over(cases, words.bits_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.bits", form="figure")
    counts = found.counts("free", "words", -1)
    every = entropy(counts.sum(0))
    kit.prose(words.bits_read, all=every, sorted=SORTED, **summary("free"))
    null = max(run.null for kind in ROUTED for run in found.runs[kind])
    kit.measured(words.how_bits, words=int(counts.sum()), null=null)


def _router(state: kit.PageState, kind: str) -> None:
    """Draw the router's scores of a text, their softmax, and the price for balance."""
    kit.section(words.router)
    kit.choose(state, "experttext", words.village, {name: name for name in VILLAGES})
    found, village = recorded(), state["experttext"]
    text = found.shown[village]
    scores = np.array(found.scores[kind][village])[:, found.order(kind)]
    steps, sent, price = model.routed(scores)
    axes: dict[str, Any] = {"col_labels": NUMBERS, "col_axis": words.expert_axis, "digits": 2}
    rows: dict[str, Any] = axes | {"row_labels": text, "row_axis": words.word_axis}
    share: dict[str, Any] = {"role": "weights", "limit": 1.0}
    rings = {words.sent_to: [*enumerate(steps.argmax(1).tolist())]}
    softmax, total = lv.softmax_rows("scores"), lv.summed("shares")
    divided = lv.scaled("total", 1 / len(text), f"÷ {len(text)}")
    mean, times = steps.mean(0)[None], lv.multiply("sent", "mean")
    picture = [
        lv.Matrix("scores", scores, words.scores, **rows),
        lv.Matrix("shares", steps, words.shares, op=softmax, rings=rings, **rows, **share),
        lv.Matrix("sent", sent[None], words.sent, **axes, **share),
        lv.Matrix("total", steps.sum(0)[None], words.total, op=total, **axes),
        lv.Matrix("mean", mean, words.mean, op=divided, **axes, **share),
        lv.Matrix("product", sent * mean, words.product, op=times, **axes, **share),
    ]
    layout = [["scores", "shares"], ["sent"], ["mean"], ["product"]]
    lv.matrix_view(picture, layout=layout, key=f"{KEY}.router", narrow=EXPERTS)
    word, expert = text[1], int(steps[1].argmax())
    largest = kit.percent(float(steps[1, expert]))
    kit.prose(words.chosen_read, word=word, expert=expert + 1, share=largest)
    kit.prose(words.balance_read, price=price)
    few = scores[:4].round(2)
    kit.show_code([route], words.snippet.format(scores=few.tolist()), model.printed(few))


def _own(state: kit.PageState, kind: str) -> None:
    """Show a model that learns, from other random numbers."""
    kit.section(words.own)
    by = state["expertby"]

    def draw(job: kit.Job) -> None:
        if job.results:
            counts = [now.words if by == "kind" else now.villages for now in job.results]
            _film(layered(counts, by), by, f"{KEY}.own", step=len(counts) - 1)

    kit.live(
        state,
        "expertown",
        job_of,
        (kind, OWN_SEED),
        draw,
        start=words.own_start,
        share=lambda job: job.results[-1].step / STEPS[-1] if job.results else 0.0,
    )
