"""The text and the model that chapters of the lesson read, in the line under their picture."""

from llmviz.course.lessons.transformer.patching import words as patching
from llmviz.course.ui import kit, two_prompts

MODEL = kit.Picker()
# Models with other parts than the bundled ones have: norms behind, RMSNorm, rotary, SwiGLU.
PARTS = [f"since-2017/{name}" for name in ("post-norm", "rms-norm", "rotary", "swiglu")]
WITH_PARTS = kit.Picker(also=PARTS)
READ_IT = {
    "residuals": MODEL,
    "stream": MODEL,
    "units": WITH_PARTS,
    "block": WITH_PARTS,
}


def draw(state: kit.PageState) -> None:
    """Show the box for the text, and the menu of models."""
    if state["part"] in READ_IT:
        kit.text_box(state, height=80)
        READ_IT[state["part"]].menu(state)
    elif state["part"] in ("since", "masked"):
        kit.text_box(state, height=80)
    elif state["part"] == "patching":
        two_prompts.boxes(state, patching)
        MODEL.menu(state)
