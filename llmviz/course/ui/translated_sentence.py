"""The English sentence that translators read: its box, and its translation by the rules."""

from __future__ import annotations

from typing import NamedTuple

from llmviz.corpus.language import Translation, translate
from llmviz.course.ui import engine
from llmviz.course.ui.notices import refuse
from llmviz.course.ui.state import PageState
from llmviz.course.ui.text_field import text_input

SENTENCE = "quietly the old fox counts two hens in the garden"
LABEL = "English sentence"
REFUSED = "This grammar does not know the sentence: {rule}. Try: {example}"
LONG = "The sentence has {count} tokens, but the model reads at most {limit}."


class Sentence(NamedTuple):
    """A sentence whose right translation is known, and its ids for a translator."""

    known: Translation
    ids: tuple[int, ...]


def read_sentence(
    state: PageState, bundled: engine.Bundled, example: str = SENTENCE
) -> Sentence | None:
    """Show the box of the control "sentence" and return what is in it.

    None, after one clear line, where the grammar does not know the sentence or the model's context
    is too short for it. example: a sentence that the line names.
    """
    text_input(state, "sentence", LABEL, width=520)
    try:
        known = translate(state["sentence"].strip())
    except ValueError as rule:
        refuse(ValueError(REFUSED.format(rule=rule, example=example)))
        return None
    ids = tuple(bundled.tokenizer.encode(known.source))
    if len(ids) > bundled.model.context_length:
        refuse(ValueError(LONG.format(count=len(ids), limit=bundled.model.context_length)))
        return None
    return Sentence(known, ids)
