"""Hidden states of words, linear layers on them, probes with a control task, the bundled tagger."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from llmviz.corpus.roles import TAGS
from llmviz.corpus.words import words
from llmviz.language import bundle, probes, tagger
from llmviz.pretrained import load_bundled
from llmviz.trace import record


@pytest.fixture(scope="module")
def base():
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    return model, tokenizer


@pytest.fixture(scope="module")
def stories():
    return tagger.tagged_stories(6, seed=3)


def test_a_story_comes_back_from_its_words(stories):
    for story in stories:
        assert tagger.split_words(tagger.text_of(story)) == [(w.text, w.start) for w in story]
        assert "  " not in tagger.text_of(story)


def test_sentences_alone_begin_at_their_first_word(stories):
    for one in tagger.single_sentences(stories):
        text = tagger.text_of(one)
        assert one[0].start == 0 and text == text.strip()
        assert tagger.split_words(text) == [(word.text, word.start) for word in one]


def test_a_words_state_is_that_of_its_last_token(base):
    model, tokenizer = base
    text = "Ramona Fennelcombe walked to the lighthouse."
    words, states = tagger.word_states(model, tokenizer, [text, "Anna."], ["blocks.1.residual"])
    assert words == [
        ["Ramona", "Fennelcombe", "walked", "to", "the", "lighthouse", "."],
        ["Anna", "."],
    ]
    ids = [tokenizer.special_tokens["<|endoftext|>"], *tokenizer.encode(text)]
    with record("blocks.1.residual") as trace:
        model(torch.tensor([ids]))
    assert len(ids) > 9  # some words are of several tokens
    for k, word in enumerate(words[0]):
        upto = text[: text.index(word) + len(word)] if word != "." else text
        at = len(tokenizer.encode(upto))
        expected = F.layer_norm(trace["blocks.1.residual"][0, at], (192,))
        assert torch.allclose(states["blocks.1.residual"][k], expected, atol=1e-4), word


def test_texts_beyond_the_context_are_read_in_pieces(base):
    model, tokenizer = base
    long = " ".join(["Anna found a lamp."] * 120)
    words, states = tagger.word_states(model, tokenizer, [long], ["embed"])
    assert len(words[0]) == 600 == len(states["embed"])
    giant = "The " + "x" * 500 + " was happy."
    assert len(tagger.word_states(model, tokenizer, [giant], ["embed"])[0][0]) == 5
    first = "x" * 500 + " was happy."
    words, states = tagger.word_states(model, tokenizer, [first, "x" * 500], ["embed"])
    assert [len(own) for own in words] == [4, 1] and len(states["embed"]) == 5


@pytest.mark.parametrize(
    ("texts", "message"),
    [([], "at least one text"), (["Anna.", " "], "at least one word; got ' '")],
)
def test_texts_without_words_are_refused(base, texts, message):
    with pytest.raises(ValueError, match=message):
        tagger.word_states(*base, texts, ["embed"])


def test_a_fit_is_scikit_learns():
    from sklearn.linear_model import LogisticRegression

    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 4, (300,), generator=generator)
    x = torch.randn(300, 6, generator=generator, dtype=torch.float64)
    x[:, 0] += labels
    theirs = LogisticRegression(C=1 / 0.7, tol=1e-10, max_iter=10_000).fit(
        x.numpy(), labels.numpy()
    )
    *_, ours = tagger.fit_steps(x, labels, 4, 0.7, tolerance=1e-13)
    p = (x @ ours.weight.T + ours.bias).softmax(-1)
    assert np.abs(p.numpy() - theirs.predict_proba(x.numpy())).max() < 1e-4
    assert np.abs(ours.weight.numpy() - theirs.coef_).max() < 1e-3
    losses = [step.loss for step in tagger.fit_steps(x, labels, 4, 0.7)]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0, 1], "one number a word"), ([0, 1, 3], "labels must be from 0 to 2; got 3")],
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        tagger.fit(torch.zeros(3, 2), torch.tensor(labels), 3)


def test_control_tags_depend_on_the_word_alone_and_come_as_often_as_the_true_ones():
    words = [f"w{i % 500}" for i in range(5000)]
    truth = torch.tensor([0] * 4000 + [1] * 1000)
    labels = probes.control_labels(words, truth)
    by_word = {}
    for word, label in zip(words, labels.tolist(), strict=True):
        assert by_word.setdefault(word, label) == label
    assert 0.1 < sum(by_word.values()) / 500 < 0.3
    again = probes.control_labels(["w7", "new"], truth)
    assert again[0] == by_word["w7"]
    assert not torch.equal(labels, probes.control_labels(words, truth, seed=1))


def test_a_probe_of_each_layer(base, stories):
    found = list(probes.probe_layers(*base, stories[:4], stories[4:]))
    assert [one.layer for one in found] == list(tagger.layers(base[0]))
    assert all(one.accuracy > one.control for one in found)
    with pytest.raises(ValueError, match="kind must be one of tag, entity; got 'x'"):
        next(probes.probe_layers(*base, stories, stories, "x"))


@pytest.fixture(scope="module")
def bundled():
    return bundle.load_tagger()


def test_the_bundled_tagger_reaches_its_aims_and_its_card_is_true(base, bundled):
    own, card = bundled
    assert card["accuracy"] >= 0.99 and card["span_f1"] >= 0.98
    alone = card["sentences_alone"]  # without the story before them it is harder
    assert alone["accuracy"] >= 0.97 and alone["span_f1"] >= 0.94
    found = bundle.scores(own, *base, stories=30)
    assert found["accuracy"] == pytest.approx(card["accuracy"], abs=0.01)
    assert found["span_f1"] == pytest.approx(card["span_f1"], abs=0.02)


def test_it_reads_names_and_verbs_of_a_sentence_by_itself(base, bundled):
    names = words("names")
    first = bundled[0].read(*base, [f"{name} saw a funny owl." for name in names])
    right = [
        read[0] == (name, "PROPN", "B-PERSON") for name, read in zip(names, first, strict=True)
    ]
    assert sum(right) >= 0.8 * len(names)  # nothing stands before it
    assert sum(read[1][1] == "VERB" for read in first) >= 0.95 * len(names)
    later = bundled[0].read(*base, [f"Then {name} saw a funny owl." for name in names])
    right = [
        read[1] == (name, "PROPN", "B-PERSON") for name, read in zip(names, later, strict=True)
    ]
    assert sum(right) >= 0.98 * len(names)


def test_in_a_story_the_tool_and_the_verb_are_told_apart(base, bundled):
    told = [
        story
        for story in tagger.tagged_stories(500, seed=7)
        if any((word.text, word.tag) == ("saw", "NOUN") for word in story)
    ]
    read = bundled[0].read(*base, [tagger.text_of(story) for story in told])
    pairs = [
        (word.tag, tag)
        for story, own in zip(told, read, strict=True)
        for word, (text, tag, _) in zip(story, own, strict=True)
        if text == "saw"
    ]
    assert len(pairs) >= 5 and sum(a == b for a, b in pairs) / len(pairs) >= 0.9


def test_taggers_come_back_and_others_are_refused(tmp_path, bundled):
    bundled[0].save(tmp_path / "a.safetensors")
    again = tagger.Tagger.load(tmp_path / "a.safetensors")
    assert torch.equal(again.heads["tag"][0], bundled[0].heads["tag"][0])
    weight, bias = bundled[0].heads["tag"]
    fewer = tagger.Tagger(
        ("embed",), {"tag": (weight[1:], bias[1:]), "entity": bundled[0].heads["entity"]}
    )
    fewer.save(tmp_path / "b.safetensors")
    with pytest.raises(ValueError, match="other classes"):
        tagger.Tagger.load(tmp_path / "b.safetensors")
    tagger.Tagger(("embed",), {"tag": (weight, bias)}).save(tmp_path / "c.safetensors")
    with pytest.raises(ValueError, match="it lacks"):
        tagger.Tagger.load(tmp_path / "c.safetensors")
    with pytest.raises(ValueError, match="is missing"):
        tagger.Tagger.load(tmp_path / "none")
    assert len(TAGS) == len(bias)
