"""The bundled models of names, right, wrong and recurrent: what the page says of them is true."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from llmviz.corpus import load_corpus
from llmviz.course.lessons.attention.masks import peeking
from llmviz.course.lessons.attention.masks.model import LetterByLetter
from llmviz.course.ui import engine, guess_given
from llmviz.course.ui.guess import Guess
from llmviz.tokenizers import ENDOFTEXT
from llmviz.trace import record
from tests.pages.harness import fine_part, prose_of, sent, unpack_all

LEAKS = ("names-gpt-no-mask", "names-gpt-mask-off-by-one", "names-gpt-two-softmaxes")


def asked(name: str) -> LetterByLetter:
    return peeking.honest(engine.load(name))


def in_one_pass(name: str) -> float:
    """Nats per letter with all of a name given at once, its end filled up as in training."""
    bundled = engine.load(name)
    end = bundled.tokenizer.special_tokens[ENDOFTEXT]
    names = load_corpus("names").split()[1].documents[: peeking.NAMES]
    total, letters = 0.0, 0
    with torch.inference_mode():
        for one in names:
            ids = [end, *bundled.tokenizer.encode(one), end]
            logits, _ = bundled.model(torch.tensor([ids]))  # the end stands there, as in training
            targets = torch.tensor(ids[1:])
            total += F.cross_entropy(logits[0, :-1], targets, reduction="sum").item()
            letters += len(targets)
    return total / letters


@pytest.mark.parametrize("name", ["names-gpt", "names-gpt-no-scale"])
def test_who_cannot_look_ahead_is_as_good_letter_by_letter(name):
    assert asked(name).loss == pytest.approx(in_one_pass(name), abs=1e-4)
    assert asked(name).ahead == 0


@pytest.mark.parametrize("name", LEAKS)
def test_who_looks_ahead_is_worse_than_blind_when_it_writes(name):
    assert in_one_pass(name) < 1
    assert asked(name).loss > math.log(asked(name).vocabulary)


def test_the_chapter_tells_of_each_of_them():
    told = peeking.numbers()
    for name in LEAKS:
        short = name.removeprefix("names-gpt-").replace("-", "_")
        assert told[f"{short}_use"] == f"{asked(name).loss:.2f}"
        paper = f"{engine.card(name)['validation_loss']:.2f}"
        assert told[f"{short}_paper"] == ("nearly 0" if paper == "0.00" else paper)
    assert told["no_mask_use"] in prose_of(fine_part("attention", "masks"))


@pytest.mark.parametrize("name", ["names-gpt", "names-gpt-mask-off-by-one"])
def test_the_head_that_looks_ahead_most_is_drawn_with_both_losses(name):
    app = fine_part("attention", "masks", twin=name, letters="anna")
    bundled = engine.load(name)
    end = bundled.tokenizer.special_tokens[ENDOFTEXT]
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        bundled.model(torch.tensor([[end, *bundled.tokenizer.encode("anna")]]))
    weights = torch.cat(list(trace.values())).flatten(0, 1)  # (heads, T, T)
    later = weights.triu(1)
    drawn = unpack_all(app, "matrix_view")[0]["matrices"][0]["values"]
    if name == "names-gpt":
        assert peeking.words.caption["tight"] in prose_of(app)
        assert not np.triu(drawn, 1).any()
    else:
        best = later.sum((1, 2)).argmax()
        assert f"{100 * later[best].max():.1f}" in prose_of(app)
        np.testing.assert_allclose(drawn, weights[best], atol=6e-3)
    rows = sent(app, "case_rows")["rows"]
    assert [row["value"] for row in rows] == pytest.approx([peeking.paper(name), asked(name).loss])


@pytest.mark.parametrize("name", ["al", "amina", "maximilian"])
def test_the_first_cell_that_must_go_is_that_of_the_letter_to_be_guessed(monkeypatch, name):
    monkeypatch.setattr(guess_given, "st", SimpleNamespace(session_state={}))
    letters = ["start", *name]
    quiz, row = peeking.question(letters), peeking.row_asked(len(letters))
    for column in range(len(letters)):
        guess_given.st.session_state.clear()
        made = Guess("key", quiz)
        made.settle([column])
        assert made.graded == (column == row + 1)
    assert peeking.question(letters[:2]) is None
