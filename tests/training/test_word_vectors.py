"""Word vectors as a film: its frames are the training's, its folder gives them back."""

import json

import numpy as np
import pytest
import torch

from llmviz.cli import main
from llmviz.corpus import RELATIONS, analogies, word_categories
from llmviz.files.paths import BUNDLED_CHECKPOINTS as BUNDLED
from llmviz.models.word2vec import SkipGram
from llmviz.models.word2vec_training import SkipGramTraining
from llmviz.similarity import pairwise
from llmviz.training import word_vectors
from llmviz.training.errors import CheckpointError
from llmviz.training.reading import read_description
from llmviz.training.recipes import RECIPES, plan_of
from llmviz.training.run_folder import load_trained
from llmviz.training.word_vectors import (
    Beginning,
    End,
    Frame,
    WordVectorPlan,
    film,
    film_of,
    load_film,
    read_text,
    words_shown,
)

NAME = "tiny-world-word2vec"
TEXT = "The dog barked at the cat. The cat meowed at the dog.\n\nA red bird, a blue bird! " * 8
SMALL = WordVectorPlan(
    model_options={"n_embd": 3, "window": 2},
    shown=6,
    train=SkipGramTraining(epochs=3, snapshots=4, subsample=0),
)


def test_frames_are_the_training_and_the_last_one_is_the_model():
    first, *frames, end = film(SMALL, TEXT)
    assert isinstance(first, Beginning) and isinstance(end, End)
    assert all(isinstance(frame, Frame) for frame in frames)
    assert len(frames) == 5
    assert np.isnan(frames[0].loss) and frames[0].read == 0
    assert frames[-1].read == frames[-1].total == 3 * first.counts.sum()
    assert np.array_equal(frames[-1].vectors, end.word[first.rows])
    untrained = word_vectors.new_model(SMALL, first.tokenizer.vocab_size)
    assert np.array_equal(frames[0].vectors, untrained.vectors()[first.rows])
    again = [part for part in film(SMALL, TEXT) if isinstance(part, Frame)]
    assert all(np.array_equal(a.vectors, b.vectors) for a, b in zip(frames, again, strict=True))


def test_torchs_own_seed_is_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    word_vectors.new_model(SMALL, 10)
    assert torch.equal(torch.rand(3), expected)


def test_words_of_categories_come_first_then_the_most_frequent():
    text = read_text(SMALL, TEXT)
    names = text.tokenizer.vocabulary
    shown = [names[i] for i in words_shown(text, 100)]
    known = {word for words in word_categories().values() for word in words}
    inside = [word in known for word in shown]
    assert inside == sorted(inside, reverse=True) and sum(inside) >= 4
    counts = [int(text.counts[names.index(word)]) for word in shown if word not in known]
    assert counts == sorted(counts, reverse=True)
    assert all(word[0].isalnum() for word in shown) and len(set(shown)) == len(shown)
    assert shown[:5] == [names[i] for i in words_shown(text, 5)]
    rare = [names[i] for i in words_shown(text, 5, ("barked", "a", "barked"))]
    assert rare[:2] == ["barked", "a"] and rare[2:] == [w for w in shown if w not in rare[:2]][:3]
    with pytest.raises(ValueError, match="'qzx' is not in the text"):
        words_shown(text, 5, ("qzx",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("one two", "more words than the window of 2"),
        ("?! . . . ; :", "the text has no words"),
    ],
)
def test_texts_without_enough_words_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        list(film(SMALL, text))


def test_a_recipe_makes_a_folder_that_loads(tmp_path, monkeypatch, capsys):
    from llmviz.training import recipes

    small = WordVectorPlan(
        characters=30_000,
        model_options={"n_embd": 4, "window": 3},
        shown=40,
        train=SkipGramTraining(epochs=1, snapshots=3),
    )
    monkeypatch.setitem(recipes.RECIPES, NAME, recipes.Recipe("small", small))
    made = ["checkpoints", "make", NAME, "--to", str(tmp_path), "--json"]
    assert main(made) == 0
    card = json.loads(capsys.readouterr().out)
    assert card == json.loads((tmp_path / NAME / "card.json").read_text("utf-8"))
    trained = load_trained(tmp_path / NAME)
    assert isinstance(trained.model, SkipGram)
    parts = list(film(small))
    assert np.allclose(trained.model.vectors(), parts[-1].word, atol=1e-3)
    kept, fresh = load_film(tmp_path / NAME), film_of(parts[0].rows, parts[1:-1])
    assert np.array_equal(kept.rows, fresh.rows) and kept.total == fresh.total
    assert np.allclose(kept.vectors, fresh.vectors, atol=1e-3)
    assert np.array_equal(kept.loss, fresh.loss, equal_nan=True)
    assert WordVectorPlan.from_dict(trained.description["plan"]) == small
    assert main([*made, "--steps", "3"]) == 2
    assert "by epochs, not steps" in capsys.readouterr().err
    with pytest.raises(CheckpointError, match=r"frames\.safetensors is missing"):
        load_film(tmp_path)


# ---- what is bundled


@pytest.fixture(scope="module")
def bundled():
    return load_trained(BUNDLED / NAME)


def test_the_bundled_vectors_are_what_their_recipe_says(bundled):
    plan = WordVectorPlan.from_dict(read_description(BUNDLED / NAME)["plan"])
    assert plan == RECIPES[NAME].plan == plan_of(NAME)
    assert sum(path.stat().st_size for path in (BUNDLED / NAME).iterdir()) < 1_000_000


def test_the_last_frame_of_the_bundled_film_is_the_model(bundled):
    kept = load_film(BUNDLED / NAME)
    assert np.array_equal(kept.vectors[-1], bundled.model.vectors()[kept.rows])
    assert kept.read[0] == 0 and kept.read[-1] == kept.total
    assert (np.diff(kept.read) > 0).all() and np.isnan(kept.loss[0])
    assert kept.loss[-1] < kept.loss[1]


def test_tiny_worlds_analogies_come_out_right(bundled):
    """By the definition: lengths 1, b − a + c, the largest cosine among all other words."""
    vectors = bundled.model.vectors().astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = {word: i for i, word in enumerate(bundled.tokenizer.vocabulary)}
    card = json.loads((BUNDLED / NAME / "card.json").read_text("utf-8"))
    for relation in RELATIONS:
        asked = np.array([[ids[w] for w in four] for four in analogies(relation)])
        a, b, c, d = asked.T
        scores = pairwise(vectors[b] - vectors[a] + vectors[c], "cosine", vectors)
        for given in (a, b, c):
            scores[np.arange(len(asked)), given] = -np.inf
        right = float((scores.argmax(axis=1) == d).mean())
        assert right >= 0.9, relation
        assert right == pytest.approx(card["analogies"][relation], abs=0.005)
