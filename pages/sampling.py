"""Sampling: from logits to a token, to a text, and what each knob does on the way."""

from llmviz.ui import codec
from llmviz.ui.lesson import Chapter, chapters, lesson
from llmviz.ui.lessons.sampling import (
    beam,
    compare,
    dice,
    exhaustive,
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
    Chapter("pipeline", words.CHAPTERS["pipeline"], pipeline.draw),
    Chapter("dice", words.CHAPTERS["dice"], dice.draw),
    Chapter("writing", words.CHAPTERS["writing"], writing.draw),
    Chapter("compare", words.CHAPTERS["compare"], compare.draw),
    Chapter("temperature", words.CHAPTERS["temperature"], temperature.draw),
    Chapter("beam", words.CHAPTERS["beam"], beam.draw),
    Chapter("knows", words.CHAPTERS["knows"], knows.draw),
]
CONTROLS = [
    codec.choice("part", PARTS[0].key, [part.key for part in PARTS]),
    *params.COMMON,
    *writing.PARAMS,
    *compare.PARAMS,
    *beam.PARAMS,
    *exhaustive.PARAMS,
    *knows.PARAMS,
]

state = page_state("sampling", CONTROLS)
lesson(words.TITLE, words.PROMISE, state)
source.prompt_box(state)
chapters(PARTS, state)
