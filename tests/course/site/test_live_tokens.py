"""The tokenizers of the site's pages cut as those of Python do."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.components._shared.transport import unpack
from llmviz.course.site.live import packed_tokenizer
from llmviz.pretrained import load_bundled
from llmviz.tokenizers.vocabulary import WordTokenizer
from tests.course.site.test_learning import pytestmark, run

__all__ = ["pytestmark"]
SIGNS = [
    *"abcdefghijklmnopqrstuvwxyz   AE'’.,-!?0159",
    "\n",
    "\t",
    "é",
    "ß",
    "🙂",
    "中",
    "ι",
    "\u0301",
]
COUNT = 5000


@pytest.mark.parametrize("name", ["tiny-world-gpt", "names-gpt"])
def test_five_thousand_texts_are_cut_alike(name):
    random = np.random.default_rng(0)
    lengths = random.integers(0, 30, COUNT)
    texts = ["".join(random.choice(SIGNS, length)) for length in lengths]
    got = run(
        """
        const tokenizer = tokenizerOf(given.tokenizer);
        return given.texts.map((text) => [tokenizer.encode(text), words(text)]);
        """,
        entry="loaded.js",
        tokenizer=unpack(packed_tokenizer(load_bundled(name)[1]))["tokenizer"],
        texts=texts,
    )
    tokenizer = load_bundled(name)[1]
    for text, (ids, cut) in zip(texts, got, strict=True):
        assert ids == tokenizer.encode(text), text
        assert cut == WordTokenizer.split(text), text
