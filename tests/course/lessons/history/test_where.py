"""The programs of the first chapter: rules, shares, routes, sizes, and networks on pictures."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np
import pytest
import torch

from llmviz.course.lessons.history.where import letter_pictures as pictures
from llmviz.course.lessons.history.where import next_letters
from llmviz.course.lessons.history.where.model_sizes import KNOWN
from llmviz.course.lessons.history.where.routes import shortest, start, walls
from llmviz.models.ngram import NGrams
from llmviz.pretrained import load_bundled
from llmviz.tokenizers import ENDOFTEXT


@pytest.mark.parametrize("name", ["maq", "olivia", "mia", "ann", "ma", "b"])
def test_the_first_rule_that_fits_counts(name):
    letter, rule = next_letters.next_by_rules(name)
    fitting = [(apply(name), text) for text, apply in next_letters.RULES if apply(name) is not None]
    assert fitting[0] == (letter, rule)


def test_a_model_goes_on_from_what_is_there_and_by_its_seed():
    model, tokenizer, _ = load_bundled("names-bigram")
    names = [next_letters.continue_by_dice(model, tokenizer, "ol", seed, 15) for seed in range(20)]
    assert all(name.startswith("ol") and len(name) <= 15 for name in names)
    assert len(set(names)) > 10
    assert names[3] == next_letters.continue_by_dice(model, tokenizer, "ol", 3, 15)
    p = next_letters.chances_after(model, tokenizer, "ol")
    table = model.table.weight.detach().double().softmax(-1)[tokenizer.encode("l")[0]]
    assert p.shape == (27,) and p[1] == pytest.approx(float(table[tokenizer.encode("a")[0]]))


def test_every_rule_is_used():
    used = {next_letters.next_by_rules(name)[1] for name in ("maq", "olivia", "mia", "ann", "b")}
    assert used == {rule for rule, _ in next_letters.RULES}


def test_shares_are_counted_over_letters_and_ends():
    assert next_letters.right_by_rules(["ana"]) == pytest.approx(
        np.mean([next_letters.next_by_rules("ana"[:at])[0] == "ana."[at] for at in range(4)])
    )
    grams = NGrams(["ab", "ab", "b"], 1)
    # After the start comes a, after a comes b, after b the end: of "cb" only the end is right.
    assert next_letters.right_by_counts(grams, ["cb"], 1) == pytest.approx(1 / 3)
    assert next_letters.right_by_counts(grams, ["ab"], 1) == 1


def test_a_models_share_is_that_of_names_one_by_one():
    model, tokenizer, _ = load_bundled("names-mlp")
    end = tokenizer.special_tokens[ENDOFTEXT]
    names, hits, letters = ["anna", "bo", "christina"], 0, 0
    for name in names:
        ids = [end, *tokenizer.encode(name), end]
        best = model(torch.tensor([ids[:-1]]))[0][0].argmax(-1).tolist()
        hits += sum(a == b for a, b in zip(best, ids[1:], strict=True))
        letters += len(best)
    assert next_letters.right_by_model(model, tokenizer, names) == pytest.approx(hits / letters)


def test_routes_are_as_short_as_scipys_whether_guided_or_not():
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import shortest_path

    blocked = walls()
    free = [tuple(map(int, square)) for square in np.argwhere(~blocked)]
    place = {square: at for at, square in enumerate(free)}
    beside = np.zeros((len(free), len(free)))
    for row, column in free:
        for other in ((row + 1, column), (row, column + 1)):
            if other in place:
                beside[place[row, column], place[other]] = 1
    lengths = shortest_path(csr_matrix(beside), directed=False)[place[start()]]
    for goal in free:
        for guided in (True, False):
            way = shortest(blocked, start(), goal, guided=guided)
            assert len(way.squares) - 1 == lengths[place[goal]]
            assert way.squares[0] == start() and way.squares[-1] == goal
            for (r0, c0), (r1, c1) in zip(way.squares, way.squares[1:], strict=False):
                assert abs(r0 - r1) + abs(c0 - c1) == 1
        plain, led = (shortest(blocked, start(), goal, guided=guided) for guided in (False, True))
        assert len(led.looked_at) <= len(plain.looked_at)


def test_a_goal_that_cannot_be_reached_or_is_a_wall():
    blocked = np.array([[False, True, False]])
    assert shortest(blocked, (0, 0), (0, 2), guided=True).squares == ()
    with pytest.raises(ValueError, match="goal must be a square without a wall; got 0, 1"):
        shortest(blocked, (0, 0), (0, 1), guided=True)
    with pytest.raises(ValueError, match="start must be"):
        shortest(blocked, (0, 5), (0, 0), guided=True)


def test_computing_is_what_papers_that_say_it_say():
    compute = {one.name: one.compute for one in KNOWN}
    assert compute["GPT-3"] == pytest.approx(3.14e23, rel=0.01)  # Brown and others 2020, table D.1
    assert compute["Llama 3.1 405B"] == pytest.approx(3.8e25, rel=0.01)
    assert compute["GPT-2"] == 0


@pytest.fixture(scope="module")
def trained():
    return list(pictures.train_networks(steps=40))


def test_26_shapes_differ():
    shapes = {pictures.shape_of(letter).tobytes() for letter in ascii_uppercase}
    assert len(shapes) == 26
    assert {pictures.shape_of(letter).shape for letter in ascii_uppercase} == {(7, 5)}


def test_a_drawing_is_the_same_wherever_it_stands():
    letter = pictures.picture_of("R", 20)
    moved = np.zeros((40, 40), dtype=np.uint8)
    moved[3:23, 15:35] = letter
    np.testing.assert_array_equal(pictures.fitted(letter), pictures.fitted(moved))


def test_nothing_drawn_is_refused():
    with pytest.raises(ValueError, match="no stroke yet"):
        pictures.fitted(np.zeros((20, 20), dtype=np.uint8))


def test_one_dot_is_drawn_large():
    dot = np.zeros((20, 20), dtype=np.uint8)
    dot[4, 5] = 1
    assert pictures.fitted(dot).sum() > 50


def test_the_loss_falls_and_new_pictures_are_named(trained):
    losses = [loss for _, loss, _ in trained]
    networks = trained[-1][2]
    assert losses[-1] < losses[0] / 4
    assert networks.accuracy > 0.8
    upright = [pictures.which_letter(networks, pictures.picture_of(one, 20)) for one in "AHOXZ"]
    assert "".join(ascii_uppercase[p.argmax()] for p in upright) == "AHOXZ"
    assert all(p.sum() == pytest.approx(1, abs=1e-5) for p in upright)


def test_a_pixel_reads_only_earlier_ones(trained):
    networks = trained[-1][2]
    assert (np.tril(networks.across) == 0).all()
    assert (networks.across != 0).any()


def test_a_drawing_follows_from_its_seed_and_the_seed_matters(trained):
    networks = trained[-1][2]
    first, again, other = (pictures.draw_letter(networks, "O", seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert set(np.unique(first)) <= {0.0, 1.0}
