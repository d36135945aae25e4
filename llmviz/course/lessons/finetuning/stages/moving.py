"""Which numbers a way of training changes: every layer as an area, coloured by its state."""

import streamlit as st

from llmviz.course.figures.finetuning import areas
from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.stages import words
from llmviz.course.lessons.finetuning.stages.model import (
    FROZEN,
    NEW,
    STATES,
    TRAINED,
    Part,
    count_of,
    parts_of,
)
from llmviz.course.ui import engine, kit
from llmviz.finetuning.classifier import classifier
from llmviz.finetuning.plan import BASE
from llmviz.models.settings import GPTConfig


def draw(state: kit.PageState) -> dict[str, str] | None:
    """Show the switch, a question, the picture and the count; return what was seen, once asked."""
    kit.section(words.moves)
    if not kit.models_here(BASE):
        return None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "way", words.way, words.ways)
        st.number_input(words.outputs, width=120, **state.ranged("outputs"))
    way, classes = state["way"], state["outputs"]
    try:
        bundled = tuned_model.base()
        parts = states(bundled, way, classes)
    except ValueError as error:
        kit.refuse(error)
        return None
    question = head_question(bundled.model.config, classes, parts)
    if question is not None and not kit.predict(question, "finetuning.stages.head", covers=True):
        return None
    kit.chart(picture(bundled, way, classes, kit.theme()), "stages.areas")
    may_change, whole = count_of(parts, TRAINED, NEW), count_of(parts)
    kit.prose(
        words.counts,
        what=words.what[way],
        trained=f"{may_change:,}",
        all=f"{whole:,}",
        share=kit.percent(may_change / whole),
        new=f"{count_of(parts, NEW):,}",
        frozen=f"{count_of(parts, FROZEN):,}",
    )
    kit.prose(words.words_apart)
    kit.show_code(
        [classifier, parts_of],
        words.snippet.format(name=BASE, classes=classes, way=way),
        str({state: count_of(parts, state) for state in STATES}),
    )
    return {"way": words.ways[way], "trained": f"{may_change:,}", "all": f"{whole:,}"}


@kit.kept(64)
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


@kit.kept(64)
def picture(bundled: engine.Bundled, way: str, classes: int, mode: kit.Mode) -> kit.Figure:
    """Return the layers as areas."""
    drawn = [
        (group_of(part.path), _short(part.path), part.count, part.state)
        for part in states(bundled, way, classes)
    ]
    return areas(drawn, words.states, words.whole, words.unit, mode)


def _short(path: str) -> str:
    """A layer's name inside its block, and of a change beside a matrix that of the matrix."""
    names = path.split(".")
    return ".".join(names[2:] if names[0] == "blocks" else names)


def head_question(config: GPTConfig, classes: int, parts: tuple[Part, ...]) -> kit.Question | None:
    """Return what training the head alone changes, as a question; None for equal answers."""
    width = config.n_embd
    right = classes * (width + 1)
    wrong = {"no_bias": classes * width, "one": width + 1, "old": config.vocab_size * width}
    if len({right, *wrong.values()}) < 1 + len(wrong):
        return None
    body = sum(part.count for part in parts if not part.path.startswith("head"))
    body -= sum(part.count for part in parts if ".adapters." in part.path)
    known = {"classes": classes, "width": width, "vocab": f"{config.vocab_size:,}"}
    known |= {"right": f"{right:,}", "frozen": f"{body:,}"}
    reasons = {number: words.wrong[key] for key, number in wrong.items()}
    reasons[right] = words.right
    return kit.Question.among(words.question, reasons, right, **known)
