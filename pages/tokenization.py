"""Text to tokens: one text, cut, compared, learned from, spelled in bytes, and windowed."""

from llmviz.ui import codec
from llmviz.ui.lesson import Chapter, chapters, lesson
from llmviz.ui.lessons.tokenization import (
    compare,
    cut,
    learn,
    merge,
    sources,
    utf8,
    windows,
    words,
)
from llmviz.ui.shell import text_box
from llmviz.ui.state import page_state

PARTS = [
    Chapter("cut", words.CUT, cut.draw),
    Chapter("compare", words.COMPARE, compare.draw),
    Chapter("learn", words.LEARN, learn.draw),
    Chapter("merge", words.MERGE, merge.draw),
    Chapter("bytes", words.BYTES, utf8.draw),
    Chapter("windows", words.WINDOWS, windows.draw),
]
CONTROLS = [
    codec.choice("part", PARTS[0].key, [part.key for part in PARTS]),
    sources.TOKENIZER,
    *cut.PARAMS,
    *compare.PARAMS,
    *learn.PARAMS,
    *merge.PARAMS,
    *utf8.PARAMS,
    *windows.PARAMS,
]

state = page_state("tokenization", CONTROLS)
lesson(words.TITLE, words.PROMISE, state)
text_box(state)
chapters(PARTS, state)
