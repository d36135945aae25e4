"""Sampling: from logits to a token, to a text, and what each knob does on the way."""

from llmviz.ui import codec
from llmviz.ui.lesson import Chapter, chapters, lesson
from llmviz.ui.lessons.sampling import (
    beam,
    compare,
    dice,
    knows,
    params,
    pipeline,
    source,
    temperature,
    words,
    writing,
)
from llmviz.ui.state import page_state

PARTS = [
    Chapter("pipeline", words.PIPELINE, pipeline.draw),
    Chapter("dice", words.DICE, dice.draw),
    Chapter("writing", words.WRITING, writing.draw),
    Chapter("compare", words.COMPARE, compare.draw),
    Chapter("temperature", words.TEMPERATURE, temperature.draw),
    Chapter("beam", words.BEAM, beam.draw),
    Chapter("knows", words.KNOWS, knows.draw),
]
CONTROLS = [
    codec.choice("part", PARTS[0].key, [part.key for part in PARTS]),
    *params.COMMON,
    *writing.PARAMS,
    *compare.PARAMS,
    *beam.PARAMS,
    *knows.PARAMS,
]

state = page_state("sampling", CONTROLS)
lesson(words.TITLE, words.PROMISE, state)
source.prompt_box(state)
chapters(PARTS, state)
