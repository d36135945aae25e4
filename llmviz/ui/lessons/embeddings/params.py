"""The controls of the lesson on embeddings, as its links write them; torch is not needed here.

A chapter with many controls keeps them in a `PARAMS` of its own module; they are added to the list
here. Keys are shared by the whole page, so no two chapters may use the same one differently.
"""

from __future__ import annotations

from llmviz.ui import codec

DEFAULT_MODEL = "tiny-world-gpt"

PARAMS = [
    codec.text("model", DEFAULT_MODEL),
    codec.text("word", "cat"),
    codec.text("other", "kitten"),
    codec.integer("column", 0, 0, 100_000),  # the first of the columns that are drawn
    codec.text("cell", ""),
    codec.integer("deal", 0, 0, 999_999),  # 0: the ids as they are
]
