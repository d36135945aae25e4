"""The guard of the text boxes: what has no UTF-8 form is replaced where it is typed, and what was
typed is sent before the page writes into a box.
"""

from llmviz.course.components._shared.transport import nothing, pack, renderer

KEY = "text_guard"


def text_guard(note: str, *, lock: str = "", key: str = KEY) -> None:
    """Replace half characters in every text box of the page as they come, and show ``note``.

    lock: names a time for which the page's box is locked. The browser says this name as `locked`
    once nobody can type there any more and all that was typed has been sent.

    Half of a UTF-16 pair (a lone surrogate) can get into a box by pasting. A message that holds
    one is dropped on its way to the server, with all that the learner does from then on.
    """
    data = {"note": note} | ({"lock": lock} if lock else {})
    renderer("text_guard")(data=pack(data), key=key, on_locked_change=nothing)
