"""The lesson on attention: trained models, their heads, and the learner's own runs."""

from __future__ import annotations

import dataclasses
import itertools
import math
import shutil

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.language import translate
from llmviz.course.components import unpack
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.attention import params, words
from llmviz.course.lessons.attention.cross import chapter as cross
from llmviz.course.lessons.attention.cross import chapter as cross_cells
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import opening
from llmviz.course.lessons.attention.inputs import words as opening_words
from llmviz.course.lessons.attention.trained import chapter as trained
from llmviz.course.lessons.attention.trained import words as lookup_words
from llmviz.course.ui import model_on_text, model_picker
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.question import Question, whole_percent
from llmviz.course.ui.translated_sentence import SENTENCE
from llmviz.models.seq2seq import Seq2Seq
from llmviz.nn.attention import heads_off
from llmviz.training import TrainConfig
from llmviz.training.plan import Plan, prepare
from llmviz.training.run_folder import load_trained, run_in_folder
from tests.pages.attention_models import TEXT
from tests.pages.attention_models import models as models
from tests.pages.harness import fine, fine_part, messages, press, prose_of, sent
from tests.pages.harness import unpack_all as sent_all


def found_of(bundled, text: str) -> trained.Seen:
    ids = bundled.tokenizer.encode_from_start(text)
    return trained.seen(model_on_text.read_ids(ids[: bundled.model.context_length], bundled))


@pytest.mark.parametrize("name", ["narrow", "rotary", "wide"])
def test_a_head_that_is_off_gives_the_chances_that_are_drawn(models, name):
    bundled = models[name]
    found = found_of(bundled, TEXT)
    for place in ((0, 1), (1, 3)):
        with torch.inference_mode(), heads_off([place]):
            logits = bundled.model(torch.tensor([list(found.read.ids)]))[0][0, -1]
        np.testing.assert_allclose(
            trained.chances_without(found, place), logits.double().softmax(-1), atol=1e-5
        )
    app = fine_part("attention", "trained", model=name, text=TEXT, layer="1", head="3")
    rows = sent_all(app, "case_rows")[0]["rows"]
    less = trained.chances_without(found, (1, 3))
    best = np.argsort(-np.maximum(found.chances, less), kind="stable")[: trained.BARS]
    np.testing.assert_allclose([row["value"] for row in rows], less[best], atol=1e-6)
    look = sent(app, "look_back")
    np.testing.assert_array_equal(look["cells"][0], found.maps.maps[1, 3])
    assert look["asking"] == len(found.read.ids) - 1


def test_a_model_of_many_heads_is_asked_what_is_left_without_the_one_that_matters_most(
    models, monkeypatch
):
    monkeypatch.setattr(opening, "MOST_HEADS", 1)
    found = found_of(models["narrow"], TEXT)
    assert found.without is None
    (place, kept), *others = found.tried
    assert len(others) == trained.TRIED - 1 and all(other >= kept for _, other in others)
    on_last = found.maps.maps[:, :, -1].astype(int)
    (word,) = {int(on_last[head][1:-1].argmax()) + 1 for head, _ in found.tried} & {
        int(np.unravel_index(on_last[:, :, 1:-1].argmax(), on_last[:, :, 1:-1].shape)[-1]) + 1
    }
    least = min(on_last[head][word] for head, _ in found.tried)
    assert (on_last[:, :, word] > least).sum() < trained.TRIED
    for head, share in found.tried:
        with torch.inference_mode(), heads_off([head]):
            logits = models["narrow"].model(torch.tensor([list(found.read.ids)]))[0][0, -1]
        assert share == pytest.approx(float(logits.double().softmax(-1)[found.best]), abs=1e-6)
    for before, after, count in ((0.8, 0.3, 3), (0.8, 0.75, 2), (0.1, 0.05, 0)):
        chances = np.full_like(found.chances, (1 - before) / found.chances.size)
        chances[found.best] = before
        asked = trained.question(found._replace(chances=chances, tried=((place, after), *others)))
        assert (asked is None and not count) or len(asked.answers) == count
        if asked is not None:
            assert asked.values[asked.right] == (after,)
            shares = sorted(value for (value,) in asked.values)
            assert all(b - a >= trained.APART for a, b in itertools.pairwise(shares))
    app = fine_part("attention", "trained", model="narrow", text=TEXT, show="1")
    rows = sent_all(app, "case_rows")[0]["rows"]
    assert [row["value"] for row in rows][-1] == pytest.approx(kept)
    assert found.watcher == place


@pytest.mark.parametrize("case", range(40))
def test_the_head_that_is_asked_for_changes_the_answer_and_the_others_do_not(models, case):
    chance = np.random.default_rng(case)
    found = found_of(models["narrow"], TEXT)
    shape = found.maps.maps.shape[:2]
    best = int(chance.choice(found.read.ids)) if case % 4 else int(found.read.ids[-1]) + 1
    ids = found.read.ids
    without = np.zeros((*shape, models["narrow"].tokenizer.vocab_size))
    likeliest = np.where(chance.random(shape) < 0.3, ids[0] - 2, best)
    for place in np.ndindex(shape):
        without[place][likeliest[place]] = chance.random()
    watcher = tuple(int(at) for at in (chance.integers(shape[0]), chance.integers(shape[1])))
    found = found._replace(without=without, best=best, watcher=watcher, tried=())
    flips = {trained.name_of(p).capitalize() for p in np.ndindex(shape) if likeliest[p] != best}
    asked = trained.question(found)
    if asked is None:
        watched = trained.name_of(watcher).capitalize()
        assert not flips or watched in flips or best not in ids
        return
    assert [answer in flips for answer in asked.answers] == [True] + [False] * (
        len(asked.answers) - 1
    )
    assert len(asked.answers) == len(set(asked.answers)) >= 2
    for place in np.ndindex(shape):
        answer = trained.answer_of(found, asked.answers, place)
        assert (answer == 0) == (trained.name_of(place).capitalize() in flips)


def test_what_comes_without_a_head_does_not_travel_until_one_is_clicked(covers, monkeypatch):
    asked = Question("Which?", ["a", "b"], 0, ["so", "no"], values=[(0,), (1,)])
    monkeypatch.setattr(trained, "question", lambda _: asked)
    app = fine_part("attention", "trained")
    assert {row["value"] for row in sent_all(app, "case_rows")[0]["rows"]} == {None}
    assert len(sent_all(app, "case_rows")) == 1
    press(app, "Show me without an answer")
    assert None not in {row["value"] for row in sent_all(app, "case_rows")[0]["rows"]}


def test_a_typed_text_is_read_and_the_two_sentences_wait():
    for link, begins in (
        ({}, "One day Anna"),
        ({"asked": "candle"}, "One day Anna"),
        ({"text": "Anna met Samir."}, "Anna met"),
        ({"text": "Anna met Samir.", "asked": "book"}, "One day Anna"),
        ({"asked": "own"}, params.TEXT[:9]),
    ):
        app = fine_part("attention", "trained", **link)
        read = "".join(sent(app, "look_back")["tokens"][1:]).replace("·", " ")
        assert read.startswith(begins)


def test_two_forward_passes_show_all_heads_and_switch_each_off(models, monkeypatch):
    passes, model = [], models["narrow"].model
    forward = type(model).forward
    counted = lambda self, *a, **k: passes.append(1) or forward(self, *a, **k)  # noqa: E731
    monkeypatch.setattr(type(model), "forward", counted)
    link = {"model": "narrow", "text": "the dog and the cat and", "layer": "0", "head": "1"}
    fine_part("attention", "trained", **link)  # the lesson's own sentence is read here, too
    passes.clear()
    fine_part("attention", "trained", **link | {"text": "the cat and the dog and"})
    assert len(passes) == 2


def test_the_head_shown_first_is_the_one_that_moves_most(models):
    for name in ("narrow", "rotary"):
        bundled = models[name]
        end = bundled.tokenizer.special_tokens["<|endoftext|>"]
        ids = torch.tensor([[end, *bundled.tokenizer.encode(params.TEXT)][:24]])
        moved = {}
        with torch.inference_mode():
            full = bundled.model(ids)[0][0, -1].double().softmax(-1)
            for at in ((layer, head) for layer in range(2) for head in range(4)):
                with heads_off([at]):
                    less = bundled.model(ids)[0][0, -1].double().softmax(-1)
                moved[at] = float((full - less).abs().sum() / 2)
        best = max(moved, key=moved.get)
        app = fine_part("attention", "steps", source="model", rung="qkv", model=name)
        line = f"Layer {best[0]}, head {best[1]} is the head shown first"
        assert line in prose_of(app) and f"moves {whole_percent(moved[best])}" in prose_of(app)
    values, line = opening.strength(models["narrow"])
    assert values.shape == (2, 4) and line == opening_words.opening_worth


def test_of_many_heads_the_most_decided_is_shown_first(models, monkeypatch):
    monkeypatch.setattr(opening, "MOST_HEADS", 7)
    app = fine_part("attention", "steps", source="model", rung="qkv", model="narrow")
    values, line = opening.strength(models["narrow"])
    assert line == opening_words.opening_decision
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    assert f"Layer {layer}, head {head} is the head" in prose_of(app)


def test_the_model_shown_first_has_the_lowest_loss(models, monkeypatch):
    sizes = {
        models[name].card["parameters"]: loss for name, loss in (("wide", 0.4), ("narrow", 0.3))
    }
    monkeypatch.setattr(
        model_picker, "loss_of", lambda card: sizes.get(card["parameters"], math.inf)
    )
    assert real.PICKER.names()[:2] == ["narrow", "wide"]
    app = fine_part("attention", "steps", source="model", text="the cat")
    assert "narrow is the model shown first" in prose_of(app) and "0.300" in prose_of(app)
    assert "0.400" in prose_of(app)
    app = fine_part("attention", "steps", source="model", text="the cat", model="wide")
    assert "knows its language" not in prose_of(app)


def test_cross_attention_is_the_trace(models):
    bundled = models["pairs-seq2seq"]
    source = tuple(bundled.tokenizer.encode("the cat and the dog"))
    found = cross_cells.crossed(bundled, source)
    assert len(found.weights) == 2 * 4 and found.weights.shape[2] == len(source)
    np.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-5)
    with torch.inference_mode():
        ids = bundled.model.translate(torch.tensor([source]))[0]
    assert tuple(ids[:31]) == found.written


@pytest.mark.parametrize("bias", [False, True])
def test_the_matrices_of_a_head_across_two_sentences_multiply(models, bias, monkeypatch):
    bundled = models["pairs-seq2seq"]
    if bias:
        torch.manual_seed(1)
        config = dataclasses.replace(bundled.model.config, attention_bias=True)
        model = Seq2Seq(config).eval()
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                torch.nn.init.normal_(parameter)
        bundled = dataclasses.replace(bundled, model=model, version="bias")
        monkeypatch.setitem(models, "pairs-seq2seq", bundled)
    source = tuple(bundled.tokenizer.encode("the cat and the dog"))
    found = cross_cells.crossed(bundled, source)
    asking, asked = [str(i) for i in range(len(found.written) + 1)], list("abcde"[: len(source)])
    for place in ((0, 1), (1, 3)):
        made = cross_cells.cell_matrices(bundled, found, place, asking, asked)
        value = {matrix.name: matrix.values for matrix in made.matrices}
        for letter, side in (("Q", "Y"), ("K", "E"), ("V", "E")):
            product = value[side] @ value[f"W_{letter}"] + value.get(f"b_{letter}", 0)
            np.testing.assert_allclose(product, value[letter], atol=1e-4)
            assert (f"b_{letter}" in value) == bias
        np.testing.assert_allclose(value["Q"] @ value["K"].T, value["scores"], atol=1e-4)
        model_weights = found.weights[place[0] * 4 + place[1]]
        np.testing.assert_allclose(value["weights"], model_weights, atol=1e-5)
        np.testing.assert_allclose(model_weights @ value["V"], value["context"], atol=1e-4)
        weights = made.matrix("weights")
        assert (weights.row_labels, weights.col_labels) == (asking, asked)
        drawn = {name for row in made.layout for name in row if name}
        assert {name for names, _ in made.steps for name in names} >= drawn


def test_a_link_opens_a_cell_of_a_head_across_two_sentences():
    app = fine_part(
        "attention", "trained", look="cross", pair="3", cell="weights.2.1", crossing="4"
    )
    view = sent(app, "matrix_view")
    assert (view["pinned"], view["step"]) == (["weights", 2, 1], 4)
    assert words.head_name.format(layer=0, head=3) in prose_of(app)


def test_the_sentence_offered_is_in_the_grammar():
    assert len(translate(SENTENCE).alignment) >= 6
    fine_part("attention", "trained", look="cross")


def test_what_travels_for_many_heads_is_small():
    from llmviz.course.components import pack
    from llmviz.course.components.heads_grid.view import heads_payload

    for t, limit in ((64, 0.6e6), (256, 5e6)):
        weights = np.tril(np.full((12, 12, t, t), 3, dtype=np.uint8))
        payload = heads_payload(weights, None, None, ["token"] * t, None, None)
        message = pack(payload | {"chosen": None, "lines": True})
        assert len(message) <= limit, t
        assert unpack(message)["shape"] == [12, 12, t, t]


def test_the_alignments_best_head_is_shown_until_another_is_chosen():
    app = fine_part("attention", "trained", look="cross", pair="77")
    assert any("pair = 77 does not exist" in line for line in messages(app))
    app = fine_part("attention", "trained", look="cross", pair="3")
    assert sent(app, "head_view")["chosen"] == 3


@given(shares=some.lists(some.floats(0, 1), min_size=2, max_size=8), words=some.integers(1, 12))
def test_the_best_and_the_worst_head_are_asked_for_where_the_answers_are_apart(shares, words):
    asked = cross.question(np.array(shares), 1 / words)
    if asked is None:
        return
    assert asked.values[asked.right] == (max(shares), min(shares))
    for at, values in enumerate(asked.values):
        far = np.abs(np.subtract(values, asked.values[asked.right])).mean()
        assert at == asked.right or far >= cross.APART


def test_bytes_are_called_so_and_the_question_names_whole_tokens(models):
    tokenizer = models["narrow"].tokenizer
    ids = tokenizer.encode("cat 🙂")
    assert "piece of a character" in model_on_text.spoken(ids[-1], tokenizer)
    assert (
        as_markdown(model_on_text.spoken(ids[0], tokenizer))
        == f"`{model_on_text.names_of(ids[:1], tokenizer)[0]}`"
    )
    app = fine_part("attention", "heads", model="narrow", text="the cat and 🙂")
    assert "a piece of a character" in prose_of(app)


@pytest.fixture
def run(models, tmp_path, monkeypatch):
    """A kept run of the learner's own, with the narrow model's shape."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    settings = TrainConfig(steps=2, warmup_steps=1, snapshot_every=2, eval_batches=1, threads=1)
    options = {"n_layer": 1, "n_head": 2, "n_embd": 8}
    plan = Plan(model="gpt", model_options=options, corpus="names", train=settings)
    list(run_in_folder(tmp_path / "mine", prepare(plan)))
    loaded = real.engine.Bundled("run:mine", *load_run(tmp_path / "mine"), str(tmp_path))
    models["run:mine"] = loaded
    yield tmp_path / "mine"
    del models["run:mine"]


def load_run(folder):
    made = load_trained(folder)
    return made.model.eval(), made.tokenizer, {"model": "gpt", "corpus": "names"}


def test_an_own_run_is_offered_drawn_and_replaced_when_it_is_gone(run):
    app = fine_part("attention", "steps", source="model", model="run:mine", text="anna")
    (menu,) = (box for box in app.selectbox if box.label == furniture.model)
    assert menu.value == "run:mine" and "mine" in menu.options
    assert not any("cannot be used here" in line for line in messages(app))
    shutil.rmtree(run)
    app.text_area[0].set_value("bob").run()
    fine(app)
    assert any("run:mine cannot be used here" in line for line in messages(app))


def test_models_that_cannot_be_asked_have_no_such_part():
    app = fine_part("attention", "trained", model="narrow")
    assert lookup_words.lookup_intro.title not in prose_of(app)
