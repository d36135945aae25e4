"""The text and the model that chapters of the lesson read, in the line under their picture."""

from llmviz.course.lessons.transformer.patching import words as patching
from llmviz.course.ui import kit, two_prompts

MODEL = kit.Picker()
READ_IT = ("residuals", "stream", "units")


def draw(state: kit.PageState) -> None:
    """Show the box for the text, and the menu of models."""
    if state["part"] in READ_IT:
        kit.text_box(state, height=80)
        MODEL.menu(state)
    elif state["part"] in ("since", "masked"):
        kit.text_box(state, height=80)
    elif state["part"] == "patching":
        two_prompts.boxes(state, patching)
        MODEL.menu(state)
