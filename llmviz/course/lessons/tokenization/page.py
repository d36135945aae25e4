"""What stands above the chapters on tokens: the learner's text."""

from llmviz.course.ui import kit


def draw(state: kit.PageState) -> None:
    """Show the box for the text, with what the chapter reads until a learner writes."""
    begins = state["part"] == "compare" and state[kit.LEARNER_TEXT.key] == kit.LEARNER_TEXT.default
    kit.text_box(state, shown=state["words"] if begins else None)
