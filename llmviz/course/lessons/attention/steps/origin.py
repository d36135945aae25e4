"""Where X comes from: of the example with three words, a token's vector plus its position's."""

from llmviz.course import components as lv
from llmviz.course.lessons.attention.inputs import sources
from llmviz.course.lessons.attention.inputs import words as inputs_words
from llmviz.course.lessons.attention.steps import words
from llmviz.course.ui import kit

KEY = "attention.origin"


def draw(state: kit.PageState) -> None:
    """Show the sum of the example with three words; say where X of the others comes from."""
    kit.section(words.origin.title, words.origin_text[state["source"]])
    if state["source"] != "cat":
        return
    lv.matrix_view(matrices(), layout=[["token", "position", "X"]], key=KEY)
    if state["x"]:
        kit.prose(words.origin_edited)


def matrices() -> list[lv.Matrix]:
    """Return the vectors of tokens and of positions, and X, their sum, each (T, C)."""
    tokens = inputs_words.cat.split()
    parts = {"token": sources.CAT_TOKENS, "position": sources.CAT_POSITIONS}
    labels = {"token": tokens, "position": [str(place) for place in range(len(tokens))]}
    summands = [
        lv.Matrix(
            name,
            sources.tensor(written).numpy(),
            words.origin_labels[name],
            row_labels=labels[name],
            role="residual",
        )
        for name, written in parts.items()
    ]
    x = sources.tensor(sources.CAT["x"]).numpy()
    more = {"row_labels": tokens, "role": "residual", "op": lv.add("token", "position")}
    return [*summands, lv.Matrix("X", x, "X", words.origin_formula, **more)]
