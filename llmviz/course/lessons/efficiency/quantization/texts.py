"""What the model writes after the learner's text, and what it writes on the grid."""

from itertools import takewhile

import streamlit as st

from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.layers import small_of
from llmviz.course.lessons.efficiency.quantization.setting import model
from llmviz.course.ui import engine, kit
from llmviz.finetuning.continuations import continuation
from llmviz.quantization.scheme import Scheme

TOKENS = 60  # that are written


@kit.kept(64)
def plain_text(bundled: engine.Bundled, text: str) -> str:
    """Return what the model itself writes."""
    return continuation(bundled.model, bundled.tokenizer, text, TOKENS).text.strip()


@kit.kept(64)
def small_text(bundled: engine.Bundled, scheme: Scheme, method: str, text: str) -> str:
    """Return what it writes on the grid."""
    small = small_of(bundled, scheme, method).model
    return continuation(small, bundled.tokenizer, text, TOKENS).text.strip()


def draw(state: kit.PageState, scheme: Scheme, text: str) -> None:
    """Show both texts."""
    kit.section(words.texts, tokens=TOKENS)
    bundled = model()
    both = plain_text(bundled, text), small_text(bundled, scheme, state["qmethod"], text)
    for column, label, written in zip(st.columns(2), words.models, both, strict=True):
        with column:
            st.markdown(f"**{label}**")
            st.code(written or words.nothing, language=None, wrap_lines=True)
    kit.prose(compared(*both))


def compared(text: str, other: str) -> str:
    """Return how far two texts are the same.

    >>> compared("A cat", "A cow")
    'The first 3 characters are the same.'
    """
    if text == other:
        return words.same
    same = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(text, other, strict=False)))
    kind = "some" if same > 1 else ("none", "one")[same]
    return words.different[kind].format(count=same)
