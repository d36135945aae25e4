"""Attention: built up step by step, broken on purpose, and watched in trained models."""

from llmviz.ui import codec
from llmviz.ui.lesson import Chapter, chapters, lesson
from llmviz.ui.lessons.attention import words
from llmviz.ui.lessons.attention.gate import engine_ready
from llmviz.ui.lessons.attention.params import PARAMS
from llmviz.ui.shell import text_box
from llmviz.ui.state import PageState, page_state

TITLES = {
    "why": words.WHY,
    "steps": words.LADDER,
    "masks": words.MASKING,
    "scale": words.SCALE,
    "heads": words.HEADS,
    "trained": words.TRAINED,
}
CONTROLS = [codec.choice("part", "why", list(TITLES)), *PARAMS]


def body(state: PageState) -> None:
    """Draw the chapters; their imports wait until the title is on its way."""
    from llmviz.ui.lessons.attention import heads, ladder, masking, scaling, trained, why

    draw = {
        "why": why.draw,
        "steps": ladder.draw,
        "masks": masking.draw,
        "scale": scaling.draw,
        "heads": heads.draw,
        "trained": trained.draw,
    }
    chapters([Chapter(key, title, draw[key]) for key, title in TITLES.items()], state)


state = page_state("attention", CONTROLS)
lesson(words.TITLE, words.PROMISE, state)
text_box(state, height=80)
if engine_ready():
    body(state)
