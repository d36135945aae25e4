"""The box for a text that models go on from, as the lesson's chapters read it."""

from llmviz.course.ui import kit
from llmviz.files.text import check_text


def ask(state: kit.PageState, key: str, label: str, empty: str) -> str | None:
    """Show the box of the control `key`; return the end of its text as far as models read it.

    None, after one clear line, for a text that cannot be written as UTF-8, and for none: empty says
    that.
    """
    kit.text_area(state, key, label, height=100)
    text = kit.or_refused(check_text, state[key])
    if text is None:
        return None
    if not text:
        kit.inform(empty, ":material/edit:")
    return text or None
