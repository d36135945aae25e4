"""Chapter "Where language models stand": six fields inside each other, each with a program."""

from collections.abc import Callable

import streamlit as st

from llmviz.course.components.rings.view import rings
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.params import NAME
from llmviz.course.lessons.history.where import drawing, programs, route, sizes, vowels, words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready

KEY = "history.where"
EXAMPLES: dict[str, Callable[[kit.PageState, str], None]] = {
    "ai": route.draw,
    "ml": vowels.draw,
    "dl": drawing.classify,
    "generative": drawing.generate,
    "lm": sizes.small,
    "llm": sizes.draw,
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    names = list(words.rings)

    rings(
        [title for title, _ in words.rings.values()],
        [note for _, note in words.rings.values()],
        key=f"{KEY}.rings",
        label=words.picture,
        chosen=names.index(state["ring"]),
        on_change=kit.bound(state, f"{KEY}.rings", chosen=("ring", kit.one_of(names))),
    )
    needed = [model for model in (programs.MLP, programs.GPT) if model not in engine.names()]
    if needed:
        st.info(as_markdown(programs.missing(needed)), icon=":material/download:")
        return
    if not engine_ready():
        return
    ring = state["ring"]
    kit.prose(programs.about(ring))
    name = typed_name.ask(state) if ring != "llm" else ""
    question = programs.question() if ring == "ai" else None
    shown = question is None or kit.predict(question, f"{KEY}.right", covers=True)
    if name:
        kit.section(words.program)
        programs.draw(state, ring, name)
    if ring not in ("lm", "llm"):
        kit.section(words.example)
    EXAMPLES[ring](state, name)
    if shown:
        kit.seen(words.end, **programs.end(typed_name.read(state[NAME.key]).letters))
