"""The lesson on attention: trained models, their heads, and the learner's own runs."""

from __future__ import annotations

import numpy as np
import torch

from llmviz.corpus.language import translate
from llmviz.ui.components import unpack
from llmviz.ui.lessons.attention import (
    cross,
    trained,
    words,
)
from llmviz.ui.lessons.attention.real import Read
from tests.pages.attention_models import TEXT
from tests.pages.attention_models import models as models
from tests.pages.harness import fine, open_part


def test_written_tokens_are_the_most_probable_ones_and_are_drawn(models):
    bundled = models["narrow"]
    start = Read((0, *bundled.tokenizer.encode("the cat")), ())
    read, ended = trained.written(bundled, start, 3)
    ids = list(start.ids)
    with torch.inference_mode():
        for _ in range(3):
            ids.append(int(bundled.model(torch.tensor([ids]))[0][0, -1].argmax()))
    assert ended or list(read.ids) == ids
    app = open_part("attention", "trained", model="narrow", text="the cat", new="3")
    fine(app)


def test_the_context_ends_the_writing(models):
    bundled = models["narrow"]
    start = Read((0, *bundled.tokenizer.encode(TEXT * 3))[:23], ())
    read, ended = trained.written(bundled, start, 5)
    assert ended and len(read.ids) <= 24


def test_cross_attention_is_the_trace(models):
    bundled = models["pairs-seq2seq"]
    source = tuple(bundled.tokenizer.encode("the cat and the dog"))
    weights, target = cross.cross_maps("pairs-seq2seq", "test", source)
    assert weights.shape[:2] == (2, 4) and weights.shape[3] == len(source)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    with torch.inference_mode():
        ids = bundled.model.translate(torch.tensor([source]))[0]
    assert bundled.tokenizer.decode(ids[:31]) == target


def test_the_sentence_offered_is_in_the_grammar():
    assert len(translate(words.sources.SENTENCE).alignment) >= 6
    app = open_part("attention", "trained", look="cross")
    fine(app)


def test_what_travels_for_many_heads_is_small():
    from llmviz.ui.components import pack
    from llmviz.ui.components.matrices import heads_payload

    for t, limit in ((64, 0.6e6), (256, 5e6)):
        weights = np.tril(np.full((12, 12, t, t), 3, dtype=np.uint8))
        payload = heads_payload(weights, None, None, ["token"] * t, None, None)
        message = pack(payload | {"chosen": None, "lines": True})
        assert len(message) <= limit, t
        assert unpack(message)["shape"] == [12, 12, t, t]
