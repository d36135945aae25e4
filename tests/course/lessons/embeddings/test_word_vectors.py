"""Tables, maps, films and positions as the lesson computes them, against loops and formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from llmviz.course.lessons.embeddings import word_maps as maps
from llmviz.course.lessons.embeddings.ways import model as study
from llmviz.course.lessons.embeddings.word2vec import model as films
from llmviz.evaluation.longer_texts import longer_copy, loss_beyond
from llmviz.interpretability import vector_tables as tables
from llmviz.models import GPT, GPTConfig
from llmviz.nn.positions import turned
from llmviz.similarity import VectorTable
from llmviz.tokenizers import CharTokenizer, WordTokenizer

TEXT = "the cat and a dog saw the red king . a blue queen had six books"


@pytest.fixture
def table():
    tokenizer = WordTokenizer.train(TEXT)
    matrix = np.random.default_rng(0).normal(size=(tokenizer.vocab_size, 6)).astype(np.float32)
    return VectorTable("t", matrix, tokenizer)


def test_an_untrained_table_is_that_of_a_fresh_model_and_leaves_chance_alone():
    tokenizer = WordTokenizer.train(TEXT)
    options = {"context_length": 4, "n_layer": 1, "n_head": 1, "n_embd": 4}
    config = GPTConfig(vocab_size=tokenizer.vocab_size, **options)
    trained = GPT(config).eval().requires_grad_(False)
    state = torch.random.get_rng_state()
    before = tables.untrained_table("m", trained, tokenizer, 7)
    assert torch.equal(state, torch.random.get_rng_state())
    torch.manual_seed(7)
    np.testing.assert_array_equal(before.matrix, GPT(config).token.weight.detach().numpy())
    now = tables.table_of("m", trained, tokenizer)
    np.testing.assert_array_equal(now.matrix, trained.token.weight.numpy())
    assert tables.table_of("m", trained, tokenizer) is now


def test_a_model_without_a_table_is_refused(table):
    with pytest.raises(ValueError, match="has no table of vectors"):
        tables.table_of("m", torch.nn.Linear(2, 2), table.tokenizer)


def test_neighbours_of_the_own_kind_are_counted(table):
    here = maps.mapped(table, 16, "cosine")
    share, chance = maps.of_own_kind(here, 3)
    hits, by_chance = [], []
    for i in range(here.size):
        if here.kinds[i] < 0:
            continue
        hits += [here.kinds[j] == here.kinds[i] for j in here.near[i, :3]]
        same = sum(here.kinds[j] == here.kinds[i] for j in range(here.size) if j != i)
        by_chance.append(same / (here.size - 1))
    assert share == pytest.approx(np.mean(hits)) and chance == pytest.approx(np.mean(by_chance))


def test_a_map_of_the_vectors_themselves_keeps_every_neighbour(table):
    here = maps.mapped(table, 16, "euclidean")
    judged = maps.judge(here, here.vectors, 4)
    assert (judged.kept == 4).all() and judged.trust == pytest.approx(1)
    assert maps.judge(here, here.vectors, 100).k == (here.size - 1) // 2


def test_what_a_pair_costs_is_the_logistic_loss():
    draw = np.random.default_rng(0)
    word, seconds = draw.normal(size=(1, 5)), draw.normal(size=(4, 5))
    cost = films.pair_cost(word, seconds)
    for k, second in enumerate(seconds):
        score = (1 if k == 0 else -1) * float(word[0] @ second)
        assert cost.costs[k, 0] == pytest.approx(math.log(1 + math.exp(-score)))
        assert cost.probability[k, 0] == pytest.approx(math.exp(-cost.costs[k, 0]))


def test_a_tie_has_no_companion():
    def text(written: str):
        tokenizer = WordTokenizer.train(written)
        documents = [tokenizer.encode(written)]
        return type("Text", (), {"tokenizer": tokenizer, "documents": documents})()

    assert films.companion(text("cat dog cat dog bird"), "cat") == "dog"
    assert films.companion(text("cat dog bird cat"), "dog") is None  # cat and bird, once each
    assert films.companion(text("cat dog"), "king") is None


@pytest.mark.parametrize("base", [10, 10_000])
def test_a_wave_is_a_cell_of_the_table(base):
    table = study.computed_positions("sinusoidal", 9, 6, base).table
    for p in range(9):
        for j in range(6):
            wave = math.cos if j % 2 else math.sin
            assert table[p, j] == pytest.approx(wave(p / base ** (2 * (j // 2) / 6)), abs=1e-6)


def test_steps_of_a_rotation_are_the_model_s():
    x = np.random.default_rng(0).normal(size=(1, 8))
    for position in (0, 1, 17):
        steps = study.rotation(x, position, 100)
        theirs = turned(torch.from_numpy(x), torch.tensor([float(position)]).double(), 100)
        np.testing.assert_allclose(steps.turned, theirs.numpy(), atol=1e-12)
        np.testing.assert_array_equal(steps.swapped[0, :4], -x[0, 4:])
        np.testing.assert_array_equal(steps.swapped[0, 4:], x[0, :4])
    y = x[:, ::-1].copy()
    near, far = (study.rotary_score(x, y, 5 + by, 2 + by, 100) for by in (0, 40))
    assert near == pytest.approx(far)


def test_similarity_differs_with_distance_alone_where_a_formula_gives_it():
    assert study.computed_positions("sinusoidal", 32, 16, 10_000).spread < 1e-5
    assert study.computed_positions("rotary", 32, 16, 10_000).spread < 1e-6


def small(kind: str, t: int = 8) -> tuple[GPT, CharTokenizer]:
    tokenizer = CharTokenizer.train("".join(map(chr, range(32, 127))) + "\n’")
    torch.manual_seed(1)
    options = {"n_layer": 2, "n_head": 2, "n_embd": 8, "context_length": t}
    model = GPT(GPTConfig(vocab_size=tokenizer.vocab_size, positions=kind, **options))
    return model.eval().requires_grad_(False), tokenizer


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rotary", "none"])
def test_a_longer_copy_says_the_same_inside_the_context(kind):
    model, _ = small(kind)
    longer = longer_copy(model, 3)
    assert longer.context_length == 24
    ids = torch.arange(24)[None]
    with torch.inference_mode():
        torch.testing.assert_close(longer(ids)[0][:, :8], model(ids[:, :8])[0])
    if kind == "learned":
        torch.testing.assert_close(longer.position.weight[:8], model.position.weight)
        assert longer.position.weight[8:].abs().sum() > 0
    state = torch.random.get_rng_state()
    longer_copy(model, 2)
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize("kind", ["learned", "rotary"])
def test_losses_beyond_the_context_are_means_over_their_places(kind):
    model, tokenizer = small(kind)
    loss = loss_beyond(model, tokenizer)
    # An untrained model is about as good everywhere: near the loss of a uniform guess.
    for value in (loss.inside, loss.beyond, loss.far, loss.from_last):
        assert value == pytest.approx(math.log(tokenizer.vocab_size), abs=0.1)
    assert loss.context == 8


def test_the_input_is_token_plus_position():
    model, tokenizer = small("learned")
    tables = study.input_tables(model, tokenizer, "the cat", 5)
    np.testing.assert_allclose(tables.total, tables.token + tables.position, atol=1e-7)
    assert len(tables.ids) == 5 == len(tables.total)
    assert study.input_tables(model, tokenizer, "", 5) is None
