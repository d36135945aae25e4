"""What stands above the chapters on sampling: the prompt."""

from llmviz.course.lessons.sampling.source import prompt_box
from llmviz.course.ui import kit


def draw(state: kit.PageState) -> None:
    """Show the box for the prompt and the choice of the model."""
    prompt_box(state)
