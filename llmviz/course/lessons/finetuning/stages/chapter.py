"""Chapter "The stages": what each training of a model cost, did to a prompt, and moved."""

from typing import Any

import streamlit as st

from llmviz.course.figures.finetuning import areas
from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.stages import words
from llmviz.course.lessons.finetuning.stages.model import (
    NEW,
    STATES,
    TRAINED,
    Part,
    count_of,
    parts_of,
)
from llmviz.course.ui import engine, kit
from llmviz.files.paths import TUNED
from llmviz.files.text import check_text
from llmviz.finetuning.classifier import classifier
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.training.files import read_json
from llmviz.training.reading import CONFIG, METRICS, read_metrics

KEY = "finetuning.stages"
GUESS = f"{KEY}.tokens"
TUNING = "instructions"
TOKENS = 24  # that each model writes
APART = 4  # how many times an answer of the question is the next one
MODELS = {
    "random": tuned_model.random_one,
    "base": tuned_model.base,
    "tuned": lambda: tuned_model.tuned(TUNING),
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show one prompt in three models and what each had read, then what a training moves."""
    kit.prose(words.hook)
    if not kit.models_here(BASE):
        return
    numbers = kit.or_refused(read_and_taught)
    guess = kit.Guess(
        GUESS, question(*numbers, tuned_model.base().card["parameters"]) if numbers else None
    )
    opened = guess.open
    with kit.stage("stages"):
        cases = kit.or_refused(rows, state["prompt"], *(numbers or (0, 0)))
        if cases:
            axis = kit.Axis(0, max(1, *(case.value or 0 for case in cases)), words.axis)
            look: dict[str, Any] = {"veiled": [2], "picture": f"{KEY}.rows", "form": "count"}
            guess.cases(cases, axis, **look)
        _prompt(state)
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    if opened and numbers:
        said = facts(tuned_model.base(), *numbers)
        kit.section(words.intro, **said)
        kit.measured(words.how_taught, **said)
    moved = _moves(state)
    if opened and numbers and moved:
        kit.seen(words.end, times=f"{numbers[0] / numbers[1]:,.0f}")


def read_and_taught() -> tuple[int, int]:
    """Return how many tokens both trainings were scored on; ValueError where it is not known."""
    tuned_card(TUNING)  # says so where there is none
    read = tuned_model.base().card.get("tokens", 0)
    known = (TUNED / TUNING / METRICS).is_file()
    taught = read_metrics(TUNED / TUNING)[-1].tokens if known else 0
    if not read or not taught:
        raise ValueError(words.not_known)
    return read, taught


def question(read: int, taught: int, parameters: int) -> kit.Question | None:
    """Return the question how many tokens the fine-tuning was scored on.

    The wrong answers are of somebody to whom a new skill takes as long as the first, and to whom
    each number of the model needs a token to change. None where two are near.
    """
    reasons = {read: words.ask_same, parameters: words.ask_each, taught: words.ask_right}
    low, middle, high = sorted([read, parameters, taught])
    if min(middle / max(1, low), high / max(1, middle)) < APART:
        return None
    return kit.Question.among(words.ask, reasons, taught, kit.as_set("{:,.0f}".format, reasons))


def rows(prompt: str, read: int, taught: int) -> list[kit.Case]:
    """Return the models with what they write after a prompt; 0: it is not known what they read.

    Raises ValueError for a prompt that cannot be read, and where an adapter does not fit.
    """
    check_text(prompt)
    scored = {"random": 0, "base": read, "tuned": taught}
    cases = []
    for name, model in MODELS.items():
        reply = tuned_model.written(model(), prompt, TOKENS)
        text = reply.text.strip() or words.nothing
        label = [(words.models[name], False), (text, True), ("" if reply.ended else " …", False)]
        cases.append(kit.Case(label, scored[name], role="value" if name == "tuned" else "query"))
    return cases


def _prompt(state: kit.PageState) -> None:
    def take(name: str) -> None:
        state["prompt"] = words.prompts[name]

    key = f"_{KEY}.examples"
    kit.suggest(words.examples, list(words.prompts), take, key=key, label_visibility="collapsed")
    with st.expander(words.prompt, icon=":material/edit_note:"):
        kit.text_area(state, "prompt", words.prompt, height=150, label_visibility="collapsed")


@kit.cached(4)
def facts(bundled: engine.Bundled, read: int, taught: int) -> dict[str, str]:
    """Return what the cards of the bundled models say of each stage."""
    card, tuned = bundled.card, tuned_card(TUNING)
    data = read_json(engine.folder_of(bundled.name) / CONFIG).get("data", {})
    return {
        "documents": f"{data.get('documents', 0):,}",
        "read": f"{read:,}",
        "taught": f"{taught:,}",
        "read_time": in_words(card.get("seconds", 0)),
        "time": in_words(tuned["seconds"]),
        "right": kit.percent(tuned["right"]),
        "trained": f"{tuned['trained_parameters']:,}",
    }


def in_words(seconds: float) -> str:
    """Return a time in hours and minutes, or in minutes, or in seconds.

    >>> in_words(11209.7), in_words(475), in_words(4)
    ('3 h 7 min', '8 min', '4 s')
    """
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def _moves(state: kit.PageState) -> bool:
    """Show the layers of a model as areas, coloured by what a training does to their numbers."""
    kit.section(words.moves)
    way, classes = state["way"], state["outputs"]
    parts = kit.or_refused(lambda: states(tuned_model.base(), way, classes))
    if parts is not None:
        kit.chart(picture(tuned_model.base(), way, classes, kit.theme()), "stages.areas")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "way", words.way, words.ways)
        st.number_input(words.outputs, width=120, **state.ranged("outputs"))
    if parts is None:
        return False
    may_change, whole = count_of(parts, TRAINED, NEW), count_of(parts)
    numbers = {"trained": f"{may_change:,}", "all": f"{whole:,}"}
    kit.prose(words.counts, what=words.what[way], **numbers)
    kit.show_code(
        [classifier, parts_of],
        words.snippet.format(name=BASE, classes=classes, way=way),
        str({state: count_of(parts, state) for state in STATES}),
    )
    return True


@kit.cached(64)
def states(bundled: engine.Bundled, way: str, classes: int) -> tuple[Part, ...]:
    """Return the layers of a classifier with their counts and states."""
    return parts_of(bundled.model, classes, way)


def group_of(path: str) -> str:
    """Return the part of the picture that a layer belongs to.

    >>> group_of("blocks.0.attn.qkv"), group_of("token"), group_of("norm_final")
    ('block 0', 'embeddings', 'last norm')
    """
    first, _, rest = path.partition(".")
    if first == "blocks":
        return words.block.format(number=rest.partition(".")[0])
    return words.groups.get(first, words.norm)


@kit.cached(64)
def picture(bundled: engine.Bundled, way: str, classes: int, mode: kit.Mode) -> kit.Figure:
    """Return the layers as areas."""
    drawn = []
    for part in states(bundled, way, classes):
        names = part.path.split(".")
        short = ".".join(names[2:] if names[0] == "blocks" else names)
        drawn.append((group_of(part.path), short, part.count, part.state))
    return areas(drawn, words.states, words.whole, words.unit, mode)
