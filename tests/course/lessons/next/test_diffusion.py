"""The record of diffusion: what the chapter says of it holds, and a part is measured again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments import diffusion as make
from llmviz.corpus import openings
from llmviz.course.lessons.next.diffusion import model
from llmviz.course.lessons.next.diffusion.model import STEPS, TOKENS, bundled, recorded


def test_a_part_of_the_record_is_measured_again():
    found, first = recorded(), recorded().seeds[0]
    assert found.vocabulary == make.vocabulary()
    assert found.entropy == pytest.approx(np.mean(list(openings.nats_by_opening().values())))
    texts, by_opening = openings.sentences(500, make.FIRST_NEW), openings.nats_by_opening()
    new = torch.from_numpy(openings.rows_of(texts, found.vocabulary, TOKENS))
    truth = torch.tensor([by_opening[text.split()[0]] for text in texts])
    again = make.nats_in_orders(bundled(), new, torch.Generator().manual_seed(3)) - truth
    error = float(again.std() / len(again) ** 0.5)
    assert abs(found.entropy + float(again.mean()) - first.bound) < 4 * (error + first.error)
    share = make.broken_share(bundled(), found.vocabulary, 2, "random", 0)
    assert share == pytest.approx(first.broken["random"]["2"], abs=0.02)
    twin, size = bundled(model.FOLLOWS), len(found.vocabulary)
    with torch.inference_mode():
        nats = make.loss_of(twin, model.FOLLOWS, new, None) - truth
    assert found.entropy + float(nats.mean()) == pytest.approx(first.twin, abs=0.05)
    rows, sure = model.write_on(twin, size, make.TEXTS, 0)
    broken = [not openings.is_right([found.vocabulary[i] for i in row]) for row in rows.tolist()]
    assert np.mean(broken) == pytest.approx(first.twin_broken, abs=0.004)
    with torch.inference_mode():
        again = make.loss_of(twin, model.FOLLOWS, rows, None)
    torch.testing.assert_close(-sure.log().sum(1), again, atol=0.5, rtol=0)


def test_no_loss_is_below_the_entropy_and_steps_pay():
    found = recorded()
    for seed in found.seeds:
        assert min(seed.twin, seed.bound - 4 * seed.error) > found.entropy
        shares = [seed.broken["random"][str(steps)] for steps in STEPS]
        assert shares == sorted(shares, reverse=True)
        assert shares[-1] < 0.5 < shares[0]


def test_sentences_come_back_from_their_tokens_and_the_grammar_can_write_them():
    vocabulary = recorded().vocabulary
    texts = openings.sentences(50, 5)
    for text, row in zip(texts, openings.rows_of(texts, vocabulary, TOKENS), strict=True):
        tokens = [vocabulary[at] for at in row]
        assert len(tokens) == TOKENS and openings.joined(tokens) == text
        assert openings.is_right(tokens)
        assert not openings.is_right(tokens[1:]) and not openings.is_right([*tokens[:-5], "the"])
        assert not openings.is_right([openings.EMPTY, *tokens[:-1]])
    assert not openings.is_right([openings.EMPTY] * TOKENS)


def test_sentences_that_begin_alike_are_equally_probable():
    nats = openings.nats_by_opening()
    assert len(nats) == 6
    assert min(nats.values()) > np.log(6)


def test_nats_in_orders_have_the_exact_bound_as_their_mean():
    from llmviz.models.masked_diffusion import exact_bound

    words = list("abcd")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        small = model.new_model("bert", words).eval()
        for weight in small.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    ids = torch.tensor([0, 3, 1, 1])
    bound = exact_bound(lambda rows: small(rows)[0], ids, len(words)).bound
    nats = make.nats_in_orders(small, ids.expand(4000, -1), torch.Generator().manual_seed(0))
    assert abs(float(nats.mean()) - bound) < 4 * float(nats.std()) / 4000**0.5 + 1e-4
