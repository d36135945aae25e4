"""The guard of the text boxes: what has no UTF-8 form is replaced where it is typed."""

from llmviz.course.components._shared.transport import pack, renderer


def text_guard(note: str, *, key: str = "text_guard") -> None:
    """Replace half characters in every text box of the page as they come, and show ``note``.

    Half of a UTF-16 pair (a lone surrogate) can get into a box by pasting. A message that holds
    one is dropped on its way to the server, with all that the learner does from then on.
    """
    renderer("text_guard")(data=pack({"note": note}), key=key)
