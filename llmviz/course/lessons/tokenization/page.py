"""What stands above the chapters on tokens: the learner's text."""

from llmviz.course.ui import kit


def draw(state: kit.PageState) -> None:
    kit.text_box(state)
