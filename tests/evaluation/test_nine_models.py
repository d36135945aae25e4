"""Nine models of names: what they give a name, how far each looks back, what they write."""

import math
from functools import partial
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.evaluation import nine_models
from llmviz.evaluation.invented_names import invented_names, names_learned_from
from llmviz.models import GPT, GPTConfig
from llmviz.models.bigram import Bigram
from llmviz.models.ngram import NGrams
from llmviz.pretrained import load_bundled
from llmviz.tokenizers import ENDOFTEXT, train_tokenizer

# As far back as each is built to look; a probe has 15 letters.
BUILT = {
    "counted-pairs": 1,
    "counted-fours": 4,
    "names-bigram": 1,
    "names-mlp": 8,
    "names-wavenet": 8,
    "names-rnn": 15,
    "names-gru": 15,
    "names-lstm": 15,
    "names-gpt": 15,
}


@pytest.fixture(scope="module")
def models():
    return {name: load_bundled(name)[:2] for name in nine_models.TRAINED}


def chances(models, key):
    if key in nine_models.COUNTED:
        return partial(nine_models.chances_by_counts, nine_models.count_names(key))
    return partial(nine_models.chances_by_model, *models[key])


@pytest.mark.parametrize("key", BUILT)
def test_each_looks_as_far_back_as_it_is_built_to(models, key):
    assert nine_models.reach(chances(models, key)) == BUILT[key]


def test_a_name_is_scored_as_by_the_models_own_loss(models):
    for model, tokenizer in models.values():
        end = tokenizer.special_tokens[ENDOFTEXT]
        ids = torch.tensor([[end, *tokenizer.encode("olivia"), end]])
        with torch.inference_mode():
            own = float(model(ids[:, :-1], ids[:, 1:])[1])
        p = nine_models.chances_by_model(model, tokenizer, "olivia")
        assert p.shape == (7,)
        assert -np.log(p).mean() == pytest.approx(own, abs=1e-4)


def test_a_bigram_is_read_off_its_table(models):
    model, tokenizer = models["names-bigram"]
    assert isinstance(model, Bigram)
    table = model.table.weight.detach().double().softmax(-1).numpy()
    end = tokenizer.special_tokens[ENDOFTEXT]
    ids = [end, *tokenizer.encode("ann"), end]
    own = [table[a, b] for a, b in pairwise(ids)]
    np.testing.assert_allclose(
        nine_models.chances_by_model(model, tokenizer, "ann"), own, rtol=1e-5
    )


def test_counts_write_names_that_their_table_allows():
    counts = nine_models.count_names("counted-fours")
    names = nine_models.written_by_counts(counts, 30, seed=3, longest=15)
    assert len(names) == 30 and all(len(name) <= 15 for name in names)
    assert names == nine_models.written_by_counts(counts, 30, seed=3, longest=15)
    # Short names are as frequent as in the list, roughly: no run of the dice goes astray.
    known = np.mean([len(name) for name in names_learned_from()])
    assert abs(np.mean([len(name) for name in names]) - known) < 2


def test_what_was_written_counts_each_letter_and_each_end_that_was_drawn(monkeypatch):
    """A name that is as long as it may be was stopped, so it has no end of its own."""
    drawn = []
    rows = NGrams.rows

    def noted(self, *given):
        drawn.append(given)
        return rows(self, *given)

    monkeypatch.setattr(nine_models, "NINE", tuple(nine_models.COUNTED))
    monkeypatch.setattr(NGrams, "loss", lambda *_: 0.0)
    monkeypatch.setattr(NGrams, "rows", noted)
    for found in nine_models.write_names(40, seed=5, longest=5):
        lengths = {len(name) for name in found.names}
        assert max(lengths) == 5 and min(lengths) < 5
        assert found.tokens == len(drawn)  # a letter or an end from each row
        drawn.clear()


def test_two_trained_models_are_ranked_where_their_difference_is_twice_its_error():
    """The standard error of the difference, from the losses of the 800 held-out names."""
    held_out = list(load_corpus("names").split(0.1, 0)[1])
    letters = np.array([len(name) + 1 for name in held_out])
    nats = {}
    for key in nine_models.TRAINED:
        model, tokenizer, _ = load_bundled(key)
        each = [
            -np.log(nine_models.chances_by_model(model, tokenizer, name)).sum() for name in held_out
        ]
        nats[key] = np.array(each)
    for first, second in combinations(nine_models.TRAINED, 2):
        apart = nats[first] - nats[second]
        gap = apart.sum() / letters.sum()
        error = math.sqrt(len(letters) * (apart - gap * letters).var(ddof=1)) / letters.sum()
        assert (abs(gap) > nine_models.TIE) == (abs(gap) > 2 * error), (first, second, gap, error)


def test_names_are_drawn_from_the_seed():
    tokenizer = train_tokenizer("char", ["abc"])
    torch.manual_seed(0)
    shape = GPTConfig(tokenizer.vocab_size, context_length=8, n_layer=1, n_head=1, n_embd=4)
    model = GPT(shape).eval()
    names = invented_names(model, tokenizer, 3, 5, 6)
    assert len(names) == 5 and all(len(name) <= 6 * len("<|unk|>") for name in names)
    assert names == invented_names(model, tokenizer, 3, 5, 6)
    assert names != invented_names(model, tokenizer, 4, 5, 6)


def test_the_list_that_was_learned_from_leaves_out_the_held_out_names():
    every, learned = load_corpus("names"), names_learned_from()
    held_out = every.split(0.1, 0)[1]
    assert sorted([*learned, *held_out]) == sorted(every.documents)
    assert len(names_learned_from(fraction=0.5)) < len(learned)
