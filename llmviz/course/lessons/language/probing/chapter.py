"""Chapter "What layers know": a linear probe for each layer, beside that of a control task."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.corpus.roles import ENTITY_TAGS, TAGS
from llmviz.course.lessons.language.probing import words
from llmviz.course.lessons.language.sentence import BASE, card
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready

KEY = "language.probing"
GUESS = f"{KEY}.lot"
FEW = 4  # stories of the snippet, which should take a second
APART = 0.05  # between two answers of the question
CLASSES = {"tag": len(TAGS), "entity": len(ENTITY_TAGS)}
job_of = kit.job_of("llmviz.language.role_scores:measure_probes", "model", "kind", "train", "test")


class Probe(NamedTuple):
    """What the probes of one place of the model reached, as shares of held-out words."""

    layer: str
    accuracy: float
    control: float


def can_be_read(card: kit.Card) -> bool:
    """Whether probes of a model can be fitted: a transformer of decoder blocks on tiny-world."""
    return kit.reads_text(card) and str(card.get("corpus", "")).startswith("tiny-world")


PROBED = kit.Picker("probed", can_be_read)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how well each layer's vectors tell the tag, and how well tags that were drawn by lot."""
    kit.prose(words.hook)
    if not engine_ready():
        return
    name, kind, stories = PROBED.name(state), state["probe"], state["told"]
    asked_for = bundled(name, kind, stories) if name else ()
    measured = asked_for or bundled(BASE, kind)
    guess = kit.Guess(GUESS, question(measured, CLASSES[kind]))
    opened = guess.open
    with kit.stage("probing"):
        if not asked_for:
            kit.inform(words.none, ":material/info:")
        if measured:
            if not asked_for:
                kit.prose(words.instead, name=kit.label(BASE), stories=card()["probe_stories"])
            _rows(measured, guess, opened=opened)
            if opened:
                kit.prose(read_line(measured))
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(state, "probe", words.kind, words.kinds, parts=True)
            PROBED.menu(state)
            st.slider(words.stories, step=10, width=240, **state.ranged("told"))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    loaded = kit.load(name) if name else None
    if loaded is None:
        return
    places = loaded.model.config.n_layer + 1
    kit.live(
        state,
        "probes",
        job_of,
        (loaded.name, kind, stories, stories),
        lambda job: _fitted(job, stories),
        start=words.start,
        share=lambda job: min(1.0, len(job.results) / places),
        said=kit.JobWords(going_on=words.going),
    )
    _code(loaded, kind)
    if opened and measured:
        best, lead = (best_of(measured, how) for how in ("accuracy", "lead"))
        kit.seen(words.end, best=best[0], accuracy=best[1], selective=lead[0], selectivity=lead[1])


def bundled(name: str, kind: str, stories: int | None = None) -> tuple[Probe, ...]:
    """Return the bundled measurements of these settings; none where there are none.

    stories: None for as many as they were fitted to.
    """
    try:
        measured = card()
    except ValueError:  # not in this copy: the button measures it
        return ()
    if name != BASE or stories not in (None, measured["probe_stories"]):
        return ()
    return probes_of(measured["probes"][kind])


def probes_of(rows: Sequence[dict[str, Any]]) -> tuple[Probe, ...]:
    """Return probes as they are measured, with their places named."""
    return tuple(Probe(name_of(row["layer"]), row["accuracy"], row["control"]) for row in rows)


def name_of(layer: str) -> str:
    """Return how a place of the model is called.

    >>> name_of("embed"), name_of("blocks.2.residual")
    ('embeddings', 'after layer 2')
    """
    if layer == "embed":
        return words.embeddings
    return words.layer.format(layer=layer.split(".")[1])


def question(measured: Sequence[Probe], classes: int) -> kit.Question | None:
    """Return the question how often tags by lot are read off the embeddings.

    The wrong answers are of somebody to whom nonsense cannot be learned, and of one to whom who
    reads tags reads any tags. None where two are near.
    """
    if not measured:
        return None
    first = measured[0]
    reasons = {
        1 / classes: words.ask_chance,
        first.accuracy: words.ask_any,
        first.control: words.ask_right,
    }
    if len(reasons) < 3 or np.diff(sorted(reasons)).min() < APART:
        return None
    accuracy = kit.whole_percent(first.accuracy)
    return kit.Question.among(
        words.ask, reasons, first.control, kit.whole_percent, classes=classes, accuracy=accuracy
    )


def rows(measured: Sequence[Probe], *, lot: bool) -> list[kit.Case]:
    """Return the places with their accuracy, then with that on tags by lot; lot: all of these."""
    true = [kit.Case(words.true.format(layer=row.layer), row.accuracy) for row in measured]
    drawn = []
    for at, row in enumerate(measured):
        told = lot or not at  # the first is what is asked for
        label, note = words.lot.format(layer=row.layer), "" if told else "?"
        drawn.append(kit.Case(label, row.control if told else 0.0, note=note, role="residual"))
    return [*true, *drawn]


def _rows(measured: Sequence[Probe], guess: kit.Guess, *, opened: bool) -> None:
    cases = rows(measured, lot=opened)
    axis = kit.Axis(0, 1, words.axis)
    look: dict[str, Any] = {"veiled": [len(measured)], "picture": f"{KEY}.rows"}
    guess.cases(cases, axis, **look)


def _fitted(job: kit.Job, stories: int) -> None:
    """Show the probes that were fitted here, as far as they have come."""
    if fitted := probes_of(list(job.results)):
        axis = kit.Axis(0, 1, words.axis)
        kit.case_rows(rows(fitted, lot=True), axis, key=f"{KEY}.fitted")
        kit.prose(read_line(fitted))
    if job.over:
        kit.prose(words.fitted.format(stories=stories))


def read_line(measured: Sequence[Probe]) -> str:
    """Return which places are best, in a sentence; all of them where several are."""
    (best, accuracy), (selective, lead) = (best_of(measured, how) for how in ("accuracy", "lead"))
    line = words.read if len(measured) > 1 else words.read_one
    return line.format(best=best, accuracy=accuracy, selective=selective, lead=lead)


def best_of(measured: Sequence[Probe], how: str) -> tuple[str, str]:
    """All places whose value is the largest as it is written, and that value."""
    leads = [row.accuracy - row.control for row in measured]
    values = leads if how == "lead" else [row.accuracy for row in measured]
    texts = [kit.percent(value).replace("-", "−") for value in values]
    largest = texts[int(np.argmax(values))]
    some = [row.layer for row, text in zip(measured, texts, strict=True) if text == largest]
    return kit.listed(some), largest.replace("%", words.points) if how == "lead" else largest


def _code(loaded: engine.Bundled, kind: str) -> None:
    from llmviz.language.probes import control_labels, probe_layers

    text = words.snippet.format(name=loaded.name, few=FEW, kind=kind)
    kit.show_code([probe_layers, control_labels], text, partial(_printed, loaded, kind))


@kit.cached(16)
def _printed(bundled: engine.Bundled, kind: str) -> str:
    from llmviz.language.probes import probe_layers
    from llmviz.language.tagger import tagged_stories

    stories = tagged_stories(FEW), tagged_stories(FEW, 1)
    first = next(probe_layers(bundled.model, bundled.tokenizer, *stories, kind))
    return f"{first.layer} {first.accuracy:.3f} {first.control:.3f}"
