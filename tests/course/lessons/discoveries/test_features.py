"""Features of a model: the record of trained ones, own ones, columns of labels, random tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score

from experiments import _columns_on_labels
from experiments import features as make_features
from experiments.induction import on_random_tokens
from llmviz.corpus.next_tokens import true_tokens
from llmviz.corpus.states import LABELS, label, token_labels
from llmviz.course.lessons.discoveries import features_record as record
from llmviz.course.lessons.discoveries.features import model as own_features
from llmviz.course.lessons.discoveries.features.model import (
    ABSENT,
    feature_writes,
    learn_own,
    values_on,
)
from llmviz.interpretability.stream_reading import losses_with, read_taps, stream_tap
from llmviz.models import GPT, GPTConfig
from llmviz.pretrained import load_bundled
from llmviz.trace import record as recorded
from llmviz.trace import replaced


@pytest.fixture(scope="module")
def story_model():
    return load_bundled(record.MODEL)


@pytest.fixture(scope="module")
def read(story_model):
    """The stream and the labels of some measured stories of seed 0, story by story."""
    gpt, tokenizer, _ = story_model
    found = []
    for text in record.held_out_stories()[record.CHOSEN_ON :][:60]:
        ids = tokenizer.encode_from_start(text)
        with torch.inference_mode(), recorded(stream_tap(record.MAIN)) as trace:
            gpt(torch.tensor([ids]), last_only=True)
        ends = [one.char_end for one in tokenizer.tokens(text)]
        stream = trace[stream_tap(record.MAIN)][0, 1:].numpy()
        found.append((ids, stream, token_labels(label(text), ends)))
    return found


def test_the_record_is_of_these_weights_and_has_every_run():
    scores = record.scores()
    assert scores.weights == record.weights_of()
    assert scores.labels == LABELS
    assert {one.run for one in scores.runs} == set(make_features.RUNS)
    assert {(one.layer, one.seed) for one in scores.layers} == {
        (layer, seed) for layer in record.LAYERS for seed in record.SEEDS
    }


def test_the_floor_is_the_grammars_own_loss_on_the_stories_that_were_read(story_model):
    _, tokenizer, _ = story_model
    texts = record.held_out_stories()[record.CHOSEN_ON :][: make_features.REPLACED_IN]
    came = [one for text in texts for one in true_tokens(text, tokenizer).log_probs[:-1]]
    (floor,) = {score.floor for score in record.scores().layers if score.seed == 0}
    ends = [len(tokenizer.encode_from_start(text)) - 1 for text in texts]
    assert len(came) == sum(ends), "each token of the stories, and not the end"
    assert floor == pytest.approx(-np.mean(came), abs=1e-5)


@pytest.mark.parametrize("size", record.SIZES)
def test_the_f1_of_the_best_features_is_that_of_scikit_learn(read, size):
    """With the best threshold here, F1 is near the recorded one."""
    found = record.bundle(record.MAIN, size)
    score = next(one for one in record.scores().of(record.MAIN, size) if one.seed == 0)
    values = np.concatenate([found.dictionary.read(stream) for _, stream, _ in read])
    wanted = np.concatenate([labels for *_, labels in read])
    apart = []
    for k in np.flatnonzero(wanted.sum(0) > 100):
        own = values[:, score.best[k]]
        borders = np.unique(np.quantile(own, np.linspace(0, 0.999, 60)))
        best = max(f1_score(wanted[:, k], own > border) for border in borders)
        apart.append(best - score.f1[k])
    assert min(apart) > -0.15
    assert abs(np.median(apart)) < 0.04


def test_the_loss_with_features_is_that_of_the_model_whose_stream_they_replace(story_model, read):
    gpt, _, _ = story_model
    found = record.bundle(record.MAIN).dictionary
    score = next(one for one in record.scores().of(record.MAIN) if one.seed == 0)
    plain = next(one for one in record.scores().at(record.MAIN) if one.seed == 0)

    def change(x: torch.Tensor) -> torch.Tensor:
        sparse = torch.from_numpy(found.write(found.read(x.numpy())))
        return torch.cat((x[:, :1], sparse[:, 1:]), 1)

    sums = np.zeros(3)
    for ids, *_ in read:
        idx = torch.tensor([ids])
        with torch.inference_mode():
            whole = gpt(idx[:, :-1])[0]
            with replaced({stream_tap(record.MAIN): change}):
                parts = gpt(idx[:, :-1])[0]
        losses = [
            torch.nn.functional.cross_entropy(one[0], idx[0, 1:], reduction="sum").item()
            for one in (whole, parts)
        ]
        sums += [*losses, len(ids) - 1]
    whole_loss, parts_loss = sums[:2] / sums[2]
    assert whole_loss == pytest.approx(plain.loss, abs=0.03)
    assert parts_loss - whole_loss == pytest.approx(score.loss - plain.loss, abs=0.01)
    assert record.scores().recovered(score) == pytest.approx(
        1 - (parts_loss - whole_loss) / (plain.mean_loss - whole_loss), abs=0.003
    )


@pytest.mark.parametrize(("layer", "size"), [(0, 384), (2, 192), (2, 768), (3, 384)])
def test_the_windows_are_what_the_features_do_there(story_model, layer, size):
    gpt, tokenizer, _ = story_model
    found, stories = record.bundle(layer, size), record.held_out_stories()
    for feature in np.argsort(-found.share)[[0, size // 2, size // 3]]:
        ids = tokenizer.encode_from_start(stories[int(found.stories[feature, 0])])
        values = values_on(gpt, ids, layer, found.dictionary)[:, feature]
        place = int(found.places[feature, 0])
        there = found.windows[feature, 0] >= 0
        offsets = np.arange(-record.BEFORE, record.BEHIND + 1)[there]
        own = found.windows[feature, 0][there]
        # the bundled weights are rounded, so what is hardly on may be off
        assert own == pytest.approx(values[place + offsets], rel=0.02, abs=0.05)
        assert int(values.argmax()) == place
    assert (np.diff(found.windows[:, :, record.BEFORE], axis=1) <= 0).all()


def test_features_have_length_one_and_parents_are_the_nearest():
    for size, smaller in ((384, 192), (768, 384)):
        found, small = record.bundle(record.MAIN, size), record.bundle(record.MAIN, smaller)
        lengths = np.linalg.norm(found.dictionary.directions, axis=1)
        assert lengths == pytest.approx(1, abs=2e-3)
        for feature in (0, 5, size - 1):
            cosines = [
                float(one @ found.dictionary.directions[feature])
                for one in small.dictionary.directions
            ]
            assert max(cosines) - cosines[found.parent[feature]] < 2e-3
    assert not len(record.bundle(record.MAIN, 192).parent)


def test_what_a_feature_writes_is_what_it_adds_to_the_logits(story_model):
    """The last norm is a straight line where its divisor is held, so the sum can be checked."""
    gpt, _, _ = story_model
    direction = record.bundle(record.MAIN).dictionary.directions[3]
    divisor = record.scores().divisor
    found = feature_writes(gpt, direction, divisor, 3072)
    x = torch.randn(192, generator=torch.Generator().manual_seed(0))
    x = (x - x.mean()) / x.std(unbiased=False) * divisor

    def logits(vector: torch.Tensor) -> torch.Tensor:
        own = (vector - vector.mean()) / divisor * gpt.norm_final.weight
        return gpt.head(own + gpt.norm_final.bias)

    with torch.no_grad():
        added = logits(x + torch.from_numpy(direction)) - logits(x)
        known = gpt.head(gpt.norm_final(x))
    assert logits(x).detach().numpy() == pytest.approx(known.numpy(), abs=1e-3)
    assert found.raised == pytest.approx(added[found.more].numpy(), abs=1e-4)
    assert found.lowered[::-1] == pytest.approx(found.raised, abs=1e-6)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(own_features, "TOKENS", 600)
    monkeypatch.setattr(own_features, "STEPS", 20)


def test_features_of_a_bundled_model_are_learned_and_measured_on_other_pieces(quick):
    steps = list(learn_own("names-gpt", "names", 0, 16, 4, 1))
    done = [one.done for one in steps]
    assert done == sorted(done)
    assert done[-1] == 1
    found = steps[-1].found
    assert all(one.found is None for one in steps[:-1])
    gpt, _, _ = load_bundled("names-gpt")
    (streams,) = read_taps(gpt, found.pieces, [stream_tap(0)])
    values = [found.dictionary.read(one) for one in streams]
    assert found.measured == sum(map(len, streams))
    assert found.share == pytest.approx((np.concatenate(values) > 0).mean(0))
    assert found.loss == pytest.approx(losses_with(gpt, found.pieces).mean())
    for feature in range(16):
        best = int(found.best[feature, 0])
        strip = found.strips[feature, 0]
        kept = strip[strip != ABSENT]
        assert kept == pytest.approx(values[best][:, feature], abs=0.01)
        assert max(one[:, feature].max() for one in values) == pytest.approx(kept.max(), abs=0.01)


@pytest.mark.parametrize(
    ("name", "layer", "message"),
    [("names-rnn", 0, "transformer"), ("names-gpt", 99, "layer must be from 0")],
)
def test_what_has_no_such_layer_is_refused(quick, name, layer, message):
    with pytest.raises(ValueError, match=message):
        list(learn_own(name, "names", layer, 8, 2, 0))


def test_a_text_of_one_piece_is_refused(quick, tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("anna", encoding="utf-8")
    with pytest.raises(ValueError, match="two pieces"):
        list(learn_own("names-gpt", str(path), 0, 8, 2, 0))


@given(st.integers(1, 60), st.integers(1, 5), st.integers(0, 999))
def test_f1_is_that_of_scikit_learn(tokens, labels, seed):
    rng = np.random.default_rng(seed)
    on, wanted = rng.random((2, tokens, labels)) < rng.random(labels)
    known = [f1_score(wanted[:, k], on[:, k], zero_division=0.0) for k in range(labels)]
    assert _columns_on_labels.f1_scores(on, wanted) == pytest.approx(known)


def test_the_choice_is_the_best_of_all_columns_and_thresholds_tried():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(400, 300)).astype(np.float32)
    values[:, 7] = np.maximum(0, values[:, 7])
    wanted = np.stack([values[:, 290] > 1.1, values[:, 7] > 0.5, rng.random(400) < 0.3], 1)
    wanted ^= rng.random(wanted.shape) < 0.02
    found = _columns_on_labels.choose(values, wanted)
    ranks = 399 - np.round(_columns_on_labels.SHARES * 400).astype(int)
    tried = np.sort(values, 0)[ranks]  # (thresholds, N)
    for k in range(3):
        best = max(
            f1_score(wanted[:, k], values[:, n] > tried[r, n], zero_division=0.0)
            for n in (7, 290, *range(0, 300, 30))
            for r in range(len(_columns_on_labels.SHARES))
        )
        assert found.f1[k] >= best - 1e-6
    assert found.columns[:2].tolist() == [290, 7]
    again = _columns_on_labels.measured(found, values, wanted)
    assert again == pytest.approx(found.f1)


def test_a_weighted_sum_is_that_of_ridge_regression():
    rng = np.random.default_rng(5)
    some, other = rng.normal(size=(2, 200, 12))
    wanted = some[:, [0, 3]] + 0.2 * rng.normal(size=(200, 2)) > 0.4
    penalty = 1e-6 * ((some - some.mean(0)) ** 2).sum() / 12
    known = Ridge(alpha=penalty, solver="cholesky").fit(some, wanted.astype(float))
    found = _columns_on_labels.readings(some, wanted, other)
    assert found == pytest.approx(known.predict(other) - wanted.mean(0), abs=1e-8)


def test_a_label_that_is_never_on_has_no_f1():
    values = np.random.default_rng(0).normal(size=(50, 4))
    never = np.zeros((50, 1), bool)
    assert _columns_on_labels.measured(
        _columns_on_labels.choose(values, never), values, never
    ) == pytest.approx([0.0])


def test_a_model_that_looks_at_all_alike_scores_what_equal_weights_score():
    torch.manual_seed(3)
    flat = GPT(GPTConfig(vocab_size=9, context_length=16, n_layer=2, n_head=2, n_embd=16))
    with torch.no_grad():
        for block in flat.blocks:
            block.attn.qkv.weight.zero_()
            block.attn.qkv.bias.zero_()
    found = on_random_tokens(flat.eval(), range(9), texts=20, block=7)
    assert found["induction"] == pytest.approx(found["even"], rel=1e-5)
    equal = np.mean([1 / (i + 1) for i in range(2, 14)])
    assert found["previous"] == pytest.approx(equal, rel=1e-5)
    assert found["first"] > 0 < found["again_error"]
