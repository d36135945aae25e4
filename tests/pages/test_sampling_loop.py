"""The chapter that writes token after token: its rounds are the model's, its counts true."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.components.token_loop.view import STAGES, LoopRound, loop_payload
from llmviz.course.lessons.sampling.loop import ROUNDS, chapter, words
from llmviz.evaluation.cache_costs import CacheCosts
from llmviz.models.costs import cache_per_token
from tests.pages.conftest import load_torch, use
from tests.pages.harness import boxes, fine, open_part, prose_of, sent
from tests.pages.small_model import CONTEXT, LAYERS, WIDTH, ids_of, logits_of, make_checkpoint

TEXT = "Once Anna"


@pytest.mark.parametrize(("reuse", "moment"), [("0", 0), ("1", 59), ("1", 7)])
def test_each_round_is_what_the_model_says_about_the_text_so_far(bundle, reuse, moment):
    app = open_part("sampling", "loop", prompt=TEXT, reuse=reuse, moment=str(moment))
    fine(app)
    board, text = sent(app, "token_loop"), ids_of(bundle, TEXT)
    assert board["step"] == moment
    assert board["layers"] == LAYERS and board["cached"] == (reuse == "1")
    assert len(board["prompt"]) == len(text) and board["rows"].shape == (ROUNDS, WIDTH)
    for one, row in zip(board["rounds"], board["rows"], strict=True):
        with torch.inference_mode():
            logits = bundle.model(torch.tensor([text]))[0][0, -1]
            by_row = bundle.model.head(torch.tensor(row))
        np.testing.assert_allclose(by_row, logits, atol=1e-3)
        best = logits.topk(len(one["scores"]))
        np.testing.assert_allclose(one["scores"], best.values, rtol=1e-4)
        shares = logits.softmax(-1)[best.indices]
        np.testing.assert_allclose(one["probabilities"], shares, rtol=1e-3)
        text.append(int(best.indices[0]))
    np.testing.assert_allclose(
        board["rounds"][0]["scores"][0], logits_of(bundle, TEXT).max(), rtol=1e-5
    )


def test_the_counts_are_those_of_the_passes(bundle):
    """The vectors that layer 0 really gets, with a cache and without, are those that are said."""
    tokens = len(ids_of(bundle, TEXT))
    for cached in (True, False):
        lines = chapter.work_lines(tokens, ROUNDS, cached=cached)
        last = tokens + ROUNDS - 1 if cached else ROUNDS * tokens + ROUNDS * (ROUNDS - 1) // 2
        assert lines[-1].endswith(f"computed {last:,}.")
    app = open_part("sampling", "loop", prompt=TEXT)
    assert f"{tokens + ROUNDS - 1:,} vectors to compute with the cache" in prose_of(app)
    computed = []
    hook = bundle.model.blocks[0].register_forward_pre_hook(
        lambda _, given: computed.append(given[0].shape[1])
    )
    chapter.rounds_of.clear()
    chapter.rounds_of(bundle, tuple(ids_of(bundle, TEXT)))
    hook.remove()
    assert computed == [tokens] + [1] * (ROUNDS - 1)


def test_a_text_as_long_as_the_context_has_one_round_and_says_why(bundle):
    app = open_part("sampling", "loop", prompt="so " * 400, moment="59")
    fine(app)
    board = sent(app, "token_loop")
    assert board["step"] == len(STAGES) - 1  # the last one; the link's is behind it
    assert len(board["prompt"]) == CONTEXT and len(board["rounds"]) == 1
    assert words.end_full in board["rounds"][0]["lines"][-1]
    assert f"reads its last {CONTEXT} tokens" in boxes(app)


def test_a_model_without_layers_is_replaced_and_named():
    app = open_part("sampling", "loop", model="names-gru")
    fine(app)
    assert "names-gru cannot be used here" in boxes(app)


def test_a_model_that_sees_the_future_has_no_cache_and_says_so(tmp_path, monkeypatch):
    make_checkpoint(tmp_path, mask="none")
    use(monkeypatch, tmp_path)
    load_torch()
    app = open_part("sampling", "loop", prompt=TEXT)
    fine(app)
    assert "Nothing is kept here" in boxes(app)
    board = sent(app, "token_loop")
    assert not board["cached"] and "same result" not in board["words"]["again"]
    assert words.cost.title not in " ".join(head.value for head in app.header)


def test_the_measured_times_are_the_same_for_all_visitors(bundle):
    chapter.costs_of.clear()
    seen = [prose_of(open_part("sampling", "loop", prompt=text)) for text in (TEXT, "Mila")]
    ends = r"What you have seen|A model is asked for one token|$"
    lines = [re.search(rf"the next one takes.*?(?={ends})", text, re.S)[0] for text in seen]
    assert lines[0] == lines[1]
    per_token = 4 * cache_per_token(bundle.model.config)
    assert f"{32 * per_token:,} bytes there, {per_token:,} for each token" in lines[0]


@given(some.floats(0.01, 500), some.floats(0.01, 500))
def test_the_sentence_about_time_says_which_one_took_longer(without, with_cache):
    found = CacheCosts((8,), (without,), (with_cache,), (64,), True)
    line = chapter.time_line(found)
    assert ("times as fast" in line) == (without / with_cache > chapter.NEAR)
    assert ("saves no time" in line) == (with_cache / without >= chapter.NEAR)


def test_later_rounds_are_not_sent_before_an_answer(bundle, covers):
    assert len(sent(open_part("sampling", "loop", prompt=TEXT), "token_loop")["rounds"]) == 1
    app = open_part("sampling", "loop", prompt=TEXT, moment="7")  # who comes so far sees them
    assert len(sent(app, "token_loop")["rounds"]) == ROUNDS


def picture(**changes) -> LoopRound:
    fields = dict(row=np.ones(3), names=["a"], scores=[1.0], probabilities=[0.5])
    return LoopRound(**(fields | dict(lines=["x"] * 5, work="w") | changes))


@pytest.mark.parametrize(
    ("given_", "rule"),
    [
        (dict(rounds=[]), "a round"),
        (dict(prompt=[]), "a prompt"),
        (dict(layers=0), "a layer"),
        (dict(rounds=[picture(names=["a", "b"])]), "as many names"),
        (dict(rounds=[picture(lines=["x"])]), "5 lines"),
        (dict(rounds=[picture(row=np.array([np.nan]))]), "finite"),
        (dict(words={}), "words lack"),
    ],
)
def test_a_picture_of_data_that_do_not_fit_is_refused(given_, rule):
    good = dict(prompt=["a"], rounds=[picture()], layers=1, cached=True, words=words.picture)
    assert loop_payload(**good)["rows"].shape == (1, 3)
    with pytest.raises(ValueError, match=rule):
        loop_payload(**good | given_)
