"""The bundled features: what the record says of them, computed anew in other ways."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from experiments import features as make_features
from llmviz.corpus.next_tokens import true_tokens
from llmviz.corpus.states import LABELS, label, token_labels
from llmviz.course.lessons.discoveries import features_record as record
from llmviz.course.lessons.discoveries.features.model import (
    feature_writes,
    values_on,
)
from llmviz.interpretability.stream_reading import stream_tap
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
