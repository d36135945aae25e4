"""The page of the whole machine: the picture, and what stands below it."""

from llmviz.course.lessons.home import below, picture, words
from llmviz.course.ui import kit


def draw(state: kit.PageState) -> None:
    """Show the machine on the learner's text, the lessons, questions, code and models."""
    picture.lock_text(state)
    screen = picture.draw(state)
    kit.text_box(state, label=words.text_label, height=80)
    below.way_through(state)
    if screen is not None:
        below.questions(screen, picture.changed_reading)
        below.code(screen)
    below.models()
