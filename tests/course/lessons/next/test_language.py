"""Language: the record comes again where it can, and what is said of it holds in it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from llmviz.corpus.second_script import respelled
from llmviz.course.lessons.next.language import words
from llmviz.course.lessons.next.language.model import (
    MIXTURES,
    SEEDS,
    SHARES,
    TOKENIZERS,
    recorded,
    sentences,
    spelling_other,
    tokenizer_of,
)
from llmviz.obtainable.catalogue import path_of
from llmviz.tokenizers import TokenizerUnavailable
from llmviz.training.held_out_texts import SEED, stories
from llmviz.training.measures import against


def test_the_counts_come_again():
    from experiments.language import LEARNED_FROM, STORIES, mixture, tokens_of
    from llmviz.tokenizers import BPETokenizer

    found, texts, held = recorded(), stories(STORIES, LEARNED_FROM), stories(100, SEED)
    for share in SHARES:
        mixed = mixture(texts, share, SEEDS[0])
        assert sum(a != b for a, b in zip(mixed, texts, strict=True)) == share * STORIES
        tokenizer = BPETokenizer.train(mixed, found.vocabulary)
        assert tokenizer.merges == tokenizer_of(share).merges
        cut = found.cut[share]
        assert tokens_of(tokenizer, held) == cut.first[0]
        assert tokens_of(tokenizer, list(map(respelled, held))) == cut.second[0]


@pytest.mark.slow
def test_a_model_of_two_scripts_is_trained_again():
    from experiments.language import HELD_OUT, LEARNED_FROM, STORIES, lost, mixture, train_one

    share, held = SHARES[-1], stories(HELD_OUT, SEED)
    tokenizer = tokenizer_of(share)
    mixed = mixture(stories(STORIES, LEARNED_FROM), share, SEEDS[0])
    model = train_one(tokenizer, mixed, SEEDS[0])
    found = recorded().learned[share][share]
    for texts, of, nats in (
        (held, 1 - share, found.first[0]),
        (list(map(respelled, held)), share, found.second[0]),
    ):
        again = lost(model, tokenizer, texts, recorded().grammar, of)
        assert again == pytest.approx(nats, abs=2)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_the_sentences_are_cut_as_recorded(name):
    from experiments.language import pieces

    if name == "smollm2" and path_of(name) is None:
        pytest.skip("SmolLM2 is not here: python -m llmviz get smollm2")
    try:
        assert pieces([name])[name] == recorded().pieces[name]
    except TokenizerUnavailable as away:
        pytest.skip(str(away))


def test_thirteen_languages_are_named_and_their_tokens_are_the_sentence():
    assert len(sentences()) == 13 and {*sentences()} == {*words.speeches}
    for name in TOKENIZERS:
        assert recorded().counts(name)["English"] == 13
        for language, text in sentences().items():
            tokens = recorded().tokens(name, language)
            assert b"".join(tokens).decode() == text and all(tokens)
            assert len(tokens) == recorded().counts(name)[language]


def test_what_is_said_of_the_four_tokenizers_holds():
    found = recorded()
    old, gpt4, many, smol = (found.counts(name) for name in TOKENIZERS)
    assert max(old, key=old.__getitem__) == "Hindi"
    assert sum(gpt4[name] < old[name] for name in old) > len(old) / 2  # most rows shrink
    assert sorted(gpt4, key=gpt4.__getitem__)[-2:] == ["Greek", "Hindi"]  # and these stay dear
    assert many["Hindi"] < gpt4["Hindi"] / 2
    common = {f" {word}".encode() for word in ("और", "के", "में", "है")}
    assert common <= {*found.tokens(TOKENIZERS[2], "Hindi")}
    assert min(smol["Turkish"], smol["Finnish"]) > smol["Chinese"]  # though they are Latin


def test_the_price_of_other_letters_falls_as_they_are_read():
    found = recorded()
    ratios = [found.times(share) for share in SHARES]
    assert all((a > b).all() for a, b in pairwise(ratios))
    assert (ratios[-1] > 1).all() and ratios[-1].max() < 1.03
    latin = [np.array(found.cut[share].first) for share in SHARES]
    assert (latin[0] < latin[1]).all() and (latin[1] < latin[2]).all()  # who shares pays
    holding = [spelling_other(share) for share in SHARES]
    assert 0 < holding[0] < holding[1] < holding[2] < found.vocabulary / 2


def test_what_is_said_of_the_models_holds_in_every_training():
    learned = recorded().learned
    for cut, share in MIXTURES:
        row = learned[cut][share]
        assert min(*row.first, *row.second) > 0  # no model is below the grammar itself
    rare, some, half = (learned[share][share] for share in SHARES)
    assert min(rare.second) > 2 * max(rare.first)
    assert min(rare.second) > max(some.second) and min(some.second) > max(half.second)
    assert max(rare.first) < min(some.first) and max(some.first) < min(half.first)
    fair = learned[0.5][0.01].second
    unfair = learned[0.01][0.5].second
    for crossed in (fair, unfair):  # each helps, and far less than both
        assert max(crossed) < min(rare.second)
        assert min(crossed) > (np.mean(rare.second) + np.mean(half.second)) / 2
    assert against(np.array(fair), np.array(unfair)) == "same"
