"""The name that the learner types in one chapter and sees again in another: what it may be."""

from llmviz.course.ui import kit

LETTERS = "Only the letters a to z can be used; {letter!r} is not one of them."
LENGTH = "A name has 2 to 15 letters here; this one has {count}."


def typed_name(state: kit.PageState) -> str | None:
    """Return the name; None, after one clear line, for what the models cannot read."""
    name = state["letters"].strip().lower()
    try:
        check_name(name)
    except ValueError as error:
        kit.refuse(error)
        return None
    return name


def check_name(name: str) -> None:
    """Raise ValueError unless a name is of 2 to 15 letters a to z, which the models can read."""
    for letter in name:
        if not "a" <= letter <= "z":
            raise ValueError(LETTERS.format(letter=letter))
    if not 2 <= len(name) <= 15:
        raise ValueError(LENGTH.format(count=len(name)))
