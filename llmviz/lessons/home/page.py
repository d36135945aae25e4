"""The page of the whole machine: the picture, and what stands below it."""

from llmviz.lessons.home import below, picture, words
from llmviz.ui.shell import text_box
from llmviz.ui.state import PageState


def draw(state: PageState) -> None:
    """Show the machine on the learner's text, the lessons, questions, code and models."""
    text_box(state, label=words.text_label, height=80)
    screen = picture.draw(state)
    below.way_through(state)
    if screen is not None:
        below.questions(screen, picture.changed_reading)
        below.code(screen)
    below.model_list()
