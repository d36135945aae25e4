"""Embeddings: from the number of a token to a vector that means something."""

from llmviz.ui import codec
from llmviz.ui.lesson import Chapter, chapters, lesson
from llmviz.ui.lessons.attention.gate import engine_ready
from llmviz.ui.lessons.embeddings import words
from llmviz.ui.lessons.embeddings.params import PARAMS
from llmviz.ui.state import PageState, page_state

TITLES = {
    "lookup": words.LOOKUP,
    "similarity": words.SIMILARITY,
    "word2vec": words.WORD2VEC,
    "maps": words.MAPS,
    "positions": words.POSITIONS,
    "context": words.CONTEXT,
}
CONTROLS = [codec.choice("part", "lookup", list(TITLES)), *PARAMS]


def body(state: PageState) -> None:
    """Draw the chapters; their imports wait until the title is on its way."""
    from llmviz.ui.lessons.embeddings import context, lookup, maps, positions, similarity, word2vec

    draw = {
        "lookup": lookup.draw,
        "similarity": similarity.draw,
        "word2vec": word2vec.draw,
        "maps": maps.draw,
        "positions": positions.draw,
        "context": context.draw,
    }
    chapters([Chapter(key, title, draw[key]) for key, title in TITLES.items()], state)


state = page_state("embeddings", CONTROLS)
lesson(words.TITLE, words.PROMISE, state)
if engine_ready():
    body(state)
