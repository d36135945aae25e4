"""The chapter "MLP": its window is the model's, its batch norm torch's, its film a training."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as some

from experiments.letter_map import make, save_film
from llmviz.course.lessons.history.mlp import film as film_part
from llmviz.course.lessons.history.mlp import window, words
from llmviz.course.lessons.history.mlp.letter_film import film_of, read_film
from llmviz.course.lessons.history.mlp.letter_map import (
    MapSettings,
    activity,
    before_activation,
    film,
)
from llmviz.course.lessons.history.mlp.sliding_window import read_windows
from llmviz.course.ui import engine
from tests.pages.conftest import load_torch
from tests.pages.harness import boxes, fine, open_part, prose_of, run_snippet, sent, snippets

NAME = "olivia"


@pytest.fixture(scope="module", autouse=True)
def bundled():
    load_torch()
    return engine.load(window.MODEL)


@pytest.fixture(scope="module")
def short():
    """What a training of a few steps yields: the start, the first weights, and a frame a step."""
    return list(film(MapSettings(steps=3, hidden=16, scale=6.0)))


def test_the_opened_window_is_what_torch_computes(bundled):
    app = open_part("history", "mlp", name="Olivia", slideat="3")
    fine(app)
    drawn = {one["name"]: one["values"] for one in sent(app, "matrix_view")["matrices"]}
    model, ids = bundled.model, bundled.tokenizer.encode_from_start(NAME)
    config, layer = model.config, model.layers[0]
    padded = [config.vocab_size] * (config.window - 1) + ids
    with torch.no_grad():
        x = model.token.weight[torch.tensor(padded[3 : 3 + config.window])].flatten()[None]
        linear = F.linear(x, layer.linear.weight, layer.linear.bias)
        norm = layer.norm
        mean, variance = norm.running_mean, norm.running_variance
        normed = F.batch_norm(linear, mean, variance, norm.weight, norm.bias)
        p = model.head(normed.tanh()).softmax(-1)
    assert np.allclose(drawn["window"], x)
    assert np.allclose(drawn["linear"], linear, atol=1e-4)
    assert np.allclose(drawn["normed"], normed, atol=1e-4)
    assert np.allclose(drawn["gained"] + drawn["shift"], drawn["normed"], atol=1e-4)
    assert np.allclose(drawn["p"], p, atol=1e-5)


def test_the_grid_slides_and_says_what_each_place_adds(bundled):
    app = open_part("history", "mlp", name=NAME)
    grid = sent(app, "cell_grid")
    assert grid["texts"][-1] == ["·", "·", *NAME]
    assert [row[-1] for row in grid["texts"]] == ["·", *NAME]
    for above, below in zip(grid["texts"], grid["texts"][1:], strict=False):
        assert above[1:] == below[:-1]
    model, ids = bundled.model, bundled.tokenizer.encode_from_start(NAME)
    found = read_windows(model, ids)
    assert np.allclose(grid["values"], found.added)
    weight = model.layers[0].linear.weight
    width = model.config.n_embd
    for slot in range(model.config.window):
        alone = torch.zeros_like(found.slots[4].flatten())
        alone[slot * width : (slot + 1) * width] = found.slots[4, slot]
        assert float((weight @ alone).norm()) == pytest.approx(
            float(found.added[4, slot]), rel=1e-4
        )


@pytest.mark.parametrize("name", ["", "x", "a" * 200, "Zoë-Ann", "<b>"])
def test_odd_names(name):
    app = open_part("history", "mlp", name=name, slideat="15")
    fine(app)
    if name == "":
        assert "no letter" in boxes(app)


@pytest.mark.parametrize("look", words.looks)
def test_every_part_prints_what_its_snippet_prints(look):
    app = open_part("history", "mlp", mlp=look)
    fine(app)
    found = snippets(app)
    assert found
    for snippet, prints in found:
        assert run_snippet(snippet).strip() == prints.strip()


def test_another_model_is_refused():
    with pytest.raises(ValueError, match="an MLP of one hidden layer"):
        read_windows(engine.load("names-rnn").model, [1])


@given(added=some.lists(some.floats(0, 99, allow_nan=False), min_size=1, max_size=8))
def test_the_question_has_one_right_answer(added):
    asked = window.question(added, [f"place {i}" for i in range(len(added))], "x")
    if asked is not None:
        at = int(asked.answers[asked.right].split()[1])
        assert (
            added[at] == max(added) and sum(f"{x:.2f}" == f"{max(added):.2f}" for x in added) == 1
        )


# ---- the film


def test_both_models_start_alike_and_learn(short):
    start, first, *later = short
    assert start.letters == tuple("abcdefghijklmnopqrstuvwxyz")
    assert np.array_equal(first.vectors[True], first.vectors[False])
    assert math.isnan(first.losses[True])
    assert [one.step for one in later] == [1, 2, 3]
    for on in (True, False):
        assert not np.array_equal(later[-1].vectors[on], first.vectors[on])
        assert math.isfinite(later[-1].losses[on])
        assert first.activity[on].counts.sum() == later[0].activity[on].counts.sum() > 0


def test_large_first_weights_saturate_without_batch_norm_and_not_with_it(short):
    first = short[1].activity
    assert first[False].saturated > 2 * first[True].saturated
    assert first[True].deviation == pytest.approx(1, abs=0.2)
    assert abs(first[True].mean) < 0.2  # ends of names are in the batch, and not counted


def test_activity_is_counted_as_defined():
    x = torch.tensor([[3.0, -4.0, 0.1], [5.0, -9.0, 3.0]])
    tanh, relu = activity(x, "tanh"), activity(x, "relu")
    assert (tanh.saturated, tanh.dead, tanh.units) == (pytest.approx(5 / 6), 2, 3)
    assert (relu.saturated, relu.dead) == (pytest.approx(2 / 6), 1)
    assert tanh.counts.sum() == 6 and tanh.counts[0] == 1  # −9 lies in the outermost bar
    assert tanh.mean == pytest.approx(float(x.mean()))


def test_what_reaches_the_tanh_is_batch_norm_as_in_torch_and_looking_changes_nothing():
    from llmviz.training.plan import prepare

    run = prepare(MapSettings(steps=1, hidden=8).plan(batch_norm=True))
    ids, targets = next(iter(run.data.validation_batches(20, 1)))
    layer, there = run.model.layers[0], targets >= 0
    kept = {name: value.clone() for name, value in run.model.state_dict().items()}
    seen = before_activation(run.model, ids, there)
    assert all(torch.equal(kept[name], value) for name, value in run.model.state_dict().items())
    with torch.no_grad():
        pad = run.model.config.vocab_size
        x = run.model.token(F.pad(ids, (2, 0), value=pad)).unfold(1, 3, 1).transpose(2, 3)
        linear = F.linear(x.flatten(2), layer.linear.weight)
        normed = F.batch_norm(linear.flatten(0, 1), None, None, training=True)
    assert torch.allclose(seen, normed.view_as(linear)[there], atol=1e-4)


def test_a_film_is_written_and_read_again(short, tmp_path):
    start, *frames = short
    made = film_of(start, frames)
    save_film(tmp_path, made, {"settings": {"steps": 3}})
    again = read_film(tmp_path)
    assert again.letters == made.letters and again.whole and again.frames == 4
    for on in (True, False):
        assert np.allclose(again.vectors[on], made.vectors[on])
        assert np.array_equal(again.counts[on], made.counts[on])
    (tmp_path / "card.json").write_text('{"settings": {"steps": 3}, "letters": ["a"], "units": 1}')
    with pytest.raises(ValueError, match="damaged"):
        read_film(tmp_path)
    with pytest.raises(ValueError, match="missing"):
        read_film(tmp_path / "nowhere")


def test_the_bundled_film_was_made_by_its_command(tmp_path):
    made, first = read_film(), next(iter(_first(MapSettings())))
    assert made.whole and made.total == MapSettings().steps and made.steps[0] == 0
    assert np.allclose(made.vectors[True][0], first.vectors[True], atol=1e-5)
    assert make.__module__ == "experiments.letter_map"


def _first(settings):
    frames = film(settings)
    next(frames)
    yield next(frames)


@pytest.mark.parametrize("frame", ["-1", "0", "7"])
def test_the_page_shows_the_numbers_of_its_frame(frame):
    app = open_part("history", "mlp", mlp="map", mapframe=frame, map="off")
    fine(app)
    made = film_part.bundled()
    at = int(frame) if frame != "-1" else made.frames - 1
    shown = sent(app, "scatter_film")
    assert np.allclose(shown["points"], made.vectors[False])
    assert shown["step"] == int(frame)
    table = next(one.value for one in app.dataframe if words.stats[0] in one.value.columns)
    assert table[words.stats[4]].tolist() == [
        f"{made.dead[on][at]} of {made.units}" for on in (True, False)
    ]
    vowels, across = film_part.distances(made.vectors[False][at], made.letters)
    assert f"{vowels:.2f}" in film_part.map_report(made, on=False, at=at)
    assert f"{across:.2f}" in film_part.map_report(made, on=False, at=at)


@pytest.mark.parametrize("on", [True, False])
def test_the_map_of_letters_says_whether_vowels_are_a_group(on):
    made = film_part.bundled()
    for at in range(made.frames):
        vowels, across = film_part.distances(made.vectors[on][at], made.letters)
        told = film_part.map_report(made, on=on, at=at)
        assert ("are no group on this map" in told) == (at > 0 and vowels >= 0.8 * across)
        assert ("nearer to each other" in told) == (at > 0 and vowels < 0.8 * across)


@pytest.mark.parametrize("learned", [True, False])
def test_a_group_of_vowels_that_chance_made_is_not_called_learned(learned):
    """The first vectors are random: in one training of ten, vowels are a group before it begins."""
    letters = tuple("abcde")
    far, near = (np.array([[0, 0], [9, 0], [0, 9], [9, 9], [d, 0]], float) for d in (9, 1))
    made = SimpleNamespace(letters=letters, steps=[0, 1], vectors={True: [near, near]})
    if learned:
        made.vectors[True][0] = far
    within, across = film_part.distances(near, letters)
    assert within < film_part.NEARER * across
    told = film_part.map_report(made, on=True, at=1)
    assert ("It learned it" in told) == learned and ("by chance" in told) != learned


def test_larger_first_weights_flatten_a_tanh_only_without_batch_norm():
    """What the chapter says of batch norm; a bend of ReLU does not depend on their size."""
    usual, large = (next(iter(_first(MapSettings(scale=one)))) for one in (1.0, 6.0))
    flat = {on: [one.activity[on].saturated for one in (usual, large)] for on in (True, False)}
    assert flat[False][1] > 3 * flat[False][0] and abs(flat[True][1] - flat[True][0]) < 0.02
    assert "larger first weights" in words.norm_why["tanh"]
    assert "larger first weights" not in words.norm_why["relu"]
    assert "made for deep networks" in prose_of(open_part("history", "mlp", mlp="map"))


def test_other_settings_show_the_bundled_film_and_say_so():
    app = open_part("history", "mlp", mlp="map", bend="relu", firsts="6")
    fine(app)
    assert any(one.value == words.bundled for one in app.caption)


def test_a_training_grows_on_the_page(short, monkeypatch):
    class Done:
        results, state, problem, over, expected = short, "done", "", True, True

        def stop(self):
            pass

    app = open_part("history", "mlp", mlp="map", bend="relu")
    settings = MapSettings(activation="relu")
    app.session_state[film_part.RUN] = film_part.OwnRun(settings, Done())
    app.run()
    fine(app)
    assert sent(app, "scatter_film")["points"].shape == (4, 26, 2)


def test_distances_are_means_over_pairs():
    vectors = np.array([[0.0, 0.0], [0.0, 3.0], [4.0, 0.0]])
    assert film_part.distances(vectors, ("a", "e", "b")) == (3.0, pytest.approx((4 + 5) / 2))


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_hidden_activation_is_a_setting_of_the_model(activation):
    from llmviz.models import MLP, MLPConfig

    model = MLP(MLPConfig(vocab_size=5, window=2, hidden_activation=activation)).eval()
    ids = torch.tensor([[0, 1, 2]])
    found = read_windows(model, ids[0].tolist())
    assert torch.equal(found.hidden, getattr(torch, activation)(found.normed))
    with pytest.raises(ValueError, match="hidden_activation must be one of tanh, relu"):
        MLPConfig(hidden_activation="gelu")
