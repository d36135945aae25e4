"""What a dose does: the texts, the words of the kind, and the damage."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.features import words as feature_words
from llmviz.course.lessons.discoveries.steering import words
from llmviz.course.lessons.discoveries.steering.model import (
    COPIES,
    HEAD,
    KINDS,
    PROMPT,
    SETS,
    STORIES,
    TARGETS,
    Choice,
    Steered,
    recorded,
    steer,
)
from llmviz.course.lessons.discoveries.steering.params import MOST_OF_PROMPT
from llmviz.course.ui import kit
from llmviz.interpretability.steering import HIJACKED, Push

KEY = "discoveries.steering"
job_of = kit.job_of("llmviz.course.lessons.discoveries.steering.model:steer", "choice", "prompt")


def choice_of(state: kit.PageState) -> Choice:
    """Return what the controls ask for."""
    kind = state["steerkind"]
    head = state["steerhead"] if kind == HEAD else 0
    return Choice(kind, state["steertarget"], state["steerlayer"], head)


def label_of(target: str) -> str:
    """Return a label as a sentence names it."""
    return feature_words.label_names[target]


def draw(state: kit.PageState) -> None:
    """Show the controls, and what a dose does."""
    kit.section(words.dose)
    choice, prompt = _controls(state)
    kit.prose(turned(choice))
    if prompt is None:
        return
    known = recorded().by_choice.get(choice)
    if known is not None and prompt == known.prompt:
        _results(known)
        return
    kit.live(
        state,
        "steerrun",
        job_of,
        (choice, prompt),
        lambda job: _of_job(job),
        start=words.start,
        share=lambda job: job.results[-1].done if job.results else 0.0,
    )


def _controls(state: kit.PageState) -> tuple[Choice, str | None]:
    anew = state.setter(steerrun=False)
    kit.choose(state, "steerkind", words.kind, {kind: words.kinds[kind] for kind in KINDS}, anew)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {target: label_of(target) for target in TARGETS}
        st.selectbox(words.target, width=300, **state.named("steertarget", names, anew))
        head = state["steerkind"] == HEAD
        title = words.head_layer if head else words.layer
        st.number_input(title, step=1, width=120, **state.ranged("steerlayer", then=anew))
        if head:
            st.number_input(words.head, step=1, width=110, **state.ranged("steerhead", then=anew))
    kit.text_area(state, "steerprompt", words.prompt, anew, height=80)
    return choice_of(state), kit.readable(state["steerprompt"], MOST_OF_PROMPT, words.empty, "")


def turned(choice: Choice) -> str:
    """Return what is turned up, in a sentence."""
    direction = choice.push.direction
    return words.turned[choice.kind].format(
        layer=choice.layer,
        head=choice.head,
        target=label_of(choice.target),
        length=0.0 if direction is None else float(np.linalg.norm(direction)),
        feature=choice.feature,
    )


def _of_job(job: kit.Job) -> None:
    if job.results and job.results[-1].steered is not None:
        _results(job.results[-1].steered)


def _results(steered: Steered) -> None:
    kit.prose(words.first_texts.format(copies=COPIES))
    for dose, text in zip(steered.doses, steered.texts, strict=True):
        kit.prose(words.text_at, dose=dose_text(dose), text=text.strip() or "–")
    kit.rows_table(rows(steered), words.columns)
    for name, (title, axis) in {
        "share": (words.effect_title, words.effect_axis),
        "damage": (words.damage_title, words.damage_axis),
    }.items():
        st.markdown(f"**{title}**")
        kit.chart(figure(steered, name, axis, kit.theme()), f"{KEY}.{name}", bar=False)
    kit.prose(read_out(steered))
    _code(steered)


def rows(steered: Steered) -> list[tuple[str, ...]]:
    """Return a row for each dose: the means of the three sets."""
    share, kept_share, damage = steered.of("share"), steered.of("kept"), steered.damage
    found = []
    for at, dose in enumerate(steered.doses):
        most, of_all = most_frequent(steered, at)
        found.append(
            (
                dose_text(dose),
                kit.percent(float(share[:, at].mean())),
                kit.percent(float(kept_share[:, at].mean())) if steered.known else "–",
                f"{most} ({kit.percent(of_all)})" if most else "–",
                kit.signed(float(damage[:, at].mean())),
            )
        )
    return found


def dose_text(dose: float) -> str:
    """Return a dose as it is written.

    >>> dose_text(-1.0), dose_text(0.25)
    ('−1', '0.25')
    """
    return f"{dose:g}".replace("-", "−")


def most_frequent(steered: Steered, at: int) -> tuple[str, float]:
    """Return the word that is most frequent in a set at a dose, and its share there."""
    best = max((row[at] for row in steered.written), key=lambda written: written.most_share)
    return best.most, best.most_share


def figure(steered: Steered, name: str, axis: str, mode: kit.Mode) -> go.Figure:
    """Return a line for each set over the doses: a share of `Written`, or the damage."""
    values = steered.damage if name == "damage" else steered.of(name)
    drawn = [
        Line(words.set_name.format(number=number + 1), steered.doses, row, number)
        for number, row in enumerate(values)
    ]
    hover = "%{y:.2f}" if name == "damage" else "%{y:.1%}"
    return lines(drawn, (words.dose_axis, axis), mode, hover=hover, height=260)


def best_dose(steered: Steered) -> int | None:
    """Return the place of the dose with the most words of the kind; None: not in every set more.

    All sets must have more of them than they have without a dose.
    """
    share, zero = steered.of("share"), steered.doses.index(0.0)
    at = int(share.mean(0).argmax())
    return at if (share[:, at] > share[:, zero]).all() else None


def three(values: np.ndarray) -> str:
    """Return the numbers of the three sets for a sentence."""
    return kit.listed([kit.signed(float(value)) for value in values])


def shares(values: np.ndarray) -> str:
    """Return shares of the three sets for a sentence."""
    return kit.listed([kit.percent(float(value)) for value in values])


def read_out(steered: Steered) -> str:
    """Return what the doses did, in sentences."""
    zero, best = steered.doses.index(0.0), best_dose(steered)
    share, kept_share, damage = steered.of("share"), steered.of("kept"), steered.damage
    counted = steered.of("words")
    if not counted.any():
        return words.no_words
    said = [
        words.read.format(
            words=kit.listed([f"{int(count):,}" for count in counted[:, zero]]),
            copies=COPIES,
            none=shares(share[:, zero]),
            target=label_of(steered.choice.target),
        )
    ]
    if best is None:
        said.append(words.grows["tie"])
        last = len(steered.doses) - 1
        said.append(words.damage["tie"].format(stories=SETS * STORIES, rise=three(damage[:, last])))
    else:
        dose = dose_text(steered.doses[best])
        said.append(words.grows["more"].format(share=shares(share[:, best]), dose=dose))
        said.append(
            words.damage["more"].format(stories=SETS * STORIES, rise=three(damage[:, best]))
        )
        if steered.known:
            said.append(
                words.kept.format(
                    kept=shares(kept_share[:, best]), kept_none=shares(kept_share[:, zero])
                )
            )
    if not steered.known:
        said.append(words.unknown)
    taken = hijacked_from(steered)
    if taken is not None:
        most, of_all = most_frequent(steered, taken)
        said.append(
            words.hijacked.format(
                dose=dose_text(steered.doses[taken]),
                limit=kit.percent(HIJACKED),
                word=most,
                share=kit.percent(of_all),
            )
        )
    return " ".join(said)


def hijacked_from(steered: Steered) -> int | None:
    """Return the first dose above 0 at which one word takes a text over in some set; None."""
    for at, dose in enumerate(steered.doses):
        if dose > 0 and any(row[at].hijacked for row in steered.written):
            return at
    return None


def _code(steered: Steered) -> None:
    if steered.prompt != PROMPT:
        return
    choice = steered.choice
    kit.show_code(
        [Push, steer],
        "from llmviz.course.lessons.discoveries.steering.model import Choice, recorded\n\n"
        f"steered = recorded().by_choice[{choice!r}]\n"
        'print(steered.doses, steered.of("share").mean(0).round(3).tolist())',
        f"{steered.doses} {steered.of('share').mean(0).round(3).tolist()}",
    )
