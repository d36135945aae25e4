"""The page of the whole machine: the picture, and what stands below it."""

from llmviz.lessons.home import below, picture, words
from llmviz.ui.shell import text_box
from llmviz.ui.state import PageState


def draw(state: PageState) -> None:
    """Show the machine on the learner's text, the lessons, questions, code and models."""
    text_box(state, label=words.TEXT_LABEL, height=80)
    shown = picture.draw(state)
    below.lesson_cards()
    if shown is not None:
        below.questions(shown, picture.changed_reading)
        below.code(shown)
    below.model_list()
