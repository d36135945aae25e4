"""Names that each model of the race writes now, from one seed."""

import streamlit as st

from llmviz.course.lessons.training.race import words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.invented_names import invented_names, names_learned_from
from llmviz.training.experiments import copied

ASKED = 8  # names
LONGEST = 20  # letters


def draw(state: kit.PageState, there: list[str]) -> None:
    """Let every model write some names from one seed."""
    if not there:
        return
    kit.section(words.invent, count=ASKED)
    st.number_input(words.invent_seed, width=150, **state.ranged("inventing"))
    if not engine_ready():
        return
    lines = []
    for name in there:
        settings = engine.load(name), state["inventing"]
        written = invented(*settings)
        listed = ", ".join(kit.quote(text) for text in written)
        lines.append(
            words.invented.format(
                name=words.models[name][0], listed=listed, known=_known(*settings)
            )
        )
    kit.prose("\n\n".join(lines))
    _code(there[-1], state["inventing"])


@kit.kept(128)
def invented(bundled: engine.Bundled, seed: int) -> list[str]:
    """Return the names that a model writes from a seed."""
    return invented_names(bundled.model, bundled.tokenizer, seed, ASKED, LONGEST)


@kit.kept(128)
def _known(bundled: engine.Bundled, seed: int) -> int:
    """How many of the names that a model writes stand in the list that it learned from."""
    return len(copied("\n".join(invented(bundled, seed)), _learned_from())[0])


_learned_from = kit.kept(1)(names_learned_from)


def _code(name: str, seed: int) -> None:
    from llmviz.sampling import generate

    kit.show_code(
        [generate],
        words.snippet_names.format(name=name, seed=seed, asked=ASKED, longest=LONGEST),
        "\n".join(invented(engine.load(name), seed)),
        label=words.invent_code,
    )
