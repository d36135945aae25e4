"""The controls that the chapters on training share, with each other and with other pages."""

from llmviz.course.components.run_film.view import PANES
from llmviz.course.ui import codec
from llmviz.course.ui.state import LEARNER_TEXT

PARAMS = [
    LEARNER_TEXT,
    # Of a run and the film of it; −1 is the newest step.
    codec.integer("at", -1, -1, 1_000_000_000),
    codec.integer("film_head", 0, 0, 999),
    codec.integer("film_asking", 999, 0, 999),  # the last token, where there are fewer
    codec.choice("film_pane", PANES[0], list(PANES)),
    codec.text("film_text", "", 40),
]
