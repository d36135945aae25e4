"""Attention alone on letters that repeat: texts and their floor, scores, heads as products."""

import math
from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.discoveries.induction import induction_record as record
from llmviz.interpretability import induction as study
from llmviz.interpretability.induction import (
    LETTERS,
    LONGEST,
    SHORTEST,
    Copier,
    Learned,
    T,
    V,
    diagonal,
    draw_texts,
    floor,
    ids_of,
    learn,
    losses,
    model_of,
    moment_of,
    next_chances,
    pair_of,
    repeats,
    scores,
)
from llmviz.nn.layers import NoFeedForward
from llmviz.trace import record as recorded


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"layers": 0}, "layers must be 1 to 3"),
        ({"heads": 5}, "heads must divide"),
        ({"heads": 0}, "heads must divide"),
        ({"steps": 0}, "steps must be at least 1"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Copier(**wrong)


def test_texts_repeat_a_block_of_different_letters():
    texts, periods = draw_texts(1000, np.random.default_rng(0))
    assert set(periods.tolist()) == set(range(SHORTEST, LONGEST + 1))
    assert set(texts.ravel().tolist()) == set(range(V))
    for text, period, again in zip(texts.tolist(), periods, repeats(periods), strict=True):
        assert len(set(text[:period])) == period
        assert all(text[i] == text[i - period] for i in range(period, T))
        known = [text[i - 1] in text[: i - 1] for i in range(1, T)]
        assert again.tolist() == known


def test_the_floor_is_what_counting_all_texts_gives(monkeypatch):
    for name, value in {"V": 4, "T": 6, "SHORTEST": 2, "LONGEST": 3}.items():
        monkeypatch.setattr(study, name, value)
    least = floor.__wrapped__()
    chance = defaultdict(float)  # of each beginning of a text
    for period in (2, 3):
        blocks = list(permutations(range(4), period))
        for block in blocks:
            text = (block * 6)[:6]
            for n in range(1, 7):
                chance[text[:n]] += 1 / 2 / len(blocks)
    for n in range(1, 6):
        entropy = -sum(
            p * math.log(p / chance[text[:-1]]) for text, p in chance.items() if len(text) == n + 1
        )
        assert least[n - 1] == pytest.approx(entropy, abs=1e-12)


def by_definition(weights: np.ndarray, text: list[int]) -> tuple[float, float]:
    """The two scores of a head's weights (T, T) on one text, written out."""
    before = [weights[i, i - 1] for i in range(2, len(text))]
    followed = []
    for i, letter in enumerate(text):
        places = [j for j in range(i) if text[j] == letter]
        if places:
            followed.append(sum(weights[i, j + 1] for j in places if j + 1 != i))
    return float(np.mean(before)), float(np.mean(followed))


def test_scores_are_their_definition_on_a_thousand_random_texts():
    model = model_of(Copier(seed=3))
    texts, _ = draw_texts(1000, np.random.default_rng(7))
    with torch.no_grad(), recorded("blocks.*.attn.weights") as trace:
        model(torch.from_numpy(texts))
    previous, induction = scores(model, texts)
    for layer, weights in enumerate(trace.values()):
        for head in range(2):
            every = [
                by_definition(one, text)
                for one, text in zip(weights[:, head].numpy(), texts.tolist(), strict=True)
            ]
            expected = np.mean(every, 0)
            assert previous[layer, head] == pytest.approx(expected[0], rel=1e-4)
            assert induction[layer, head] == pytest.approx(expected[1], rel=1e-4)


def test_a_model_is_attention_alone():
    copier = Copier(layers=2, seed=1)
    model = model_of(copier)
    c = copier.width
    assert sum(one.numel() for one in model.parameters()) == 2 * 4 * c * c + 2 * V * c + T * c
    x = torch.randn(2, 3, c)
    assert torch.equal(NoFeedForward()(x), torch.zeros(2, 3, c))
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    parts = dict(model.state_dict())
    x = parts["token.weight"][ids] + parts["position.weight"][:5]
    for layer in range(2):
        q, k, v = (x @ parts[f"blocks.{layer}.attn.qkv.weight"].T).split(c, -1)
        heads = []
        for h in range(2):
            own = slice(h * c // 2, (h + 1) * c // 2)
            scored = q[..., own] @ k[..., own].transpose(1, 2) / math.sqrt(c / 2)
            seen = scored.masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf)
            heads.append(seen.softmax(-1) @ v[..., own])
        x = x + torch.cat(heads, -1) @ parts[f"blocks.{layer}.attn.projection.weight"].T
    with torch.no_grad():
        assert torch.allclose(model(ids)[0], x @ parts["head.weight"].T, atol=1e-5)


def test_two_heads_are_what_the_second_scores_of_what_the_first_wrote():
    model = model_of(Copier(seed=2))
    pair = pair_of(model, 1, 0)
    size, c = 16, 32
    table = model.token.weight.detach()
    first, second = model.blocks[0].attn, model.blocks[1].attn
    for seen in range(0, V, 5):
        value = (first.qkv(table[seen])[2 * c :])[size : 2 * size]  # of head 1
        alone = torch.zeros(c)
        alone[size : 2 * size] = value
        written = first.projection(alone)
        key = second.qkv(written)[c : c + size]
        scored = (second.qkv(table)[:, :size] @ key / math.sqrt(size)).detach().numpy()
        assert pair.match[:, seen] == pytest.approx(scored, abs=1e-5)
        value = second.qkv(table[seen])[2 * c : 2 * c + size]
        alone = torch.zeros(c)
        alone[:size] = value
        logits = model.head(second.projection(alone)).detach().numpy()
        assert pair.copies[seen] == pytest.approx(logits, abs=1e-5)


def test_a_head_that_is_off_writes_nothing():
    model = model_of(Copier(seed=4))
    whole = moment_of(model, 5)
    with torch.no_grad():
        model.blocks[1].attn.projection.weight[:, 16:] = 0
    assert moment_of(model, 5).repeat_loss == pytest.approx(float(whole.off[1, 1]))


def test_a_training_yields_its_moments_and_is_the_same_again():
    copier = Copier(layers=1, steps=40)
    moments = list(learn(copier))
    assert (moments[0].step, moments[-1].step) == (0, 40)
    assert moments[-1].repeat_loss < moments[0].repeat_loss
    assert moments[-1].previous.shape == moments[-1].off.shape == (1, 2)
    assert list(learn(copier))[-1].repeat_loss == moments[-1].repeat_loss


@given(st.text(max_size=T + 4))
def test_letters_of_a_learner_are_read_or_refused(written):
    kept = "".join(written.lower().split())
    if 2 <= len(kept) <= T and set(kept) <= set(LETTERS):
        assert "".join(LETTERS[one] for one in ids_of(written)) == kept
    else:
        with pytest.raises(ValueError, match="letters"):
            ids_of(written)


@pytest.mark.parametrize("copier", record.copiers(), ids=record.name_of)
def test_two_layers_learn_to_copy_suddenly_and_one_cannot(copier):
    learned = record.learned(copier)
    loss = learned.curve("repeat_loss")
    least = floor()
    _, periods = draw_texts(study.HELD_OUT, np.random.default_rng(study.HELD_OUT_SEED))
    again = repeats(periods)
    assert learned.last.by_place.mean() == pytest.approx(
        (learned.last.new_loss * (~again).sum() + learned.last.repeat_loss * again.sum())
        / again.size,
        abs=1e-4,
    )
    assert learned.last.by_place.mean() > least.mean()
    if copier.layers == 2:
        assert loss[-1] < 0.3
        assert learned.last.induction[1].max() > 0.7 > 0.3 > learned.moments[0].induction.max()
        place = learned.steepest
        assert learned.steps[place] < learned.steps[-1] / 2
        half = (loss[0] + loss[-1]) / 2
        crossed = int(np.argmax(loss < half))
        assert loss[crossed - 4] > 0.8 * loss[0]
        assert loss[crossed + 4] < 0.3 * loss[0]
    else:
        assert loss.min() > 1.5


def test_bundled_weights_do_what_their_moments_say():
    for frame in (0, 10, -1):
        model = record.model_at(frame=frame)
        place = 2 * frame if frame >= 0 else len(record.learned().moments) - 1
        texts, periods = draw_texts(study.HELD_OUT, np.random.default_rng(study.HELD_OUT_SEED))
        with torch.no_grad():
            each = losses(model, torch.from_numpy(texts)).numpy()
        assert each[repeats(periods)].mean() == pytest.approx(
            record.learned().moments[place].repeat_loss, abs=0.02
        )
    one = record.model_at(record.ONE)
    assert next_chances(one, ids_of("abcabc")).sum() == pytest.approx(1)


def test_the_pair_that_copies_has_its_diagonals():
    last = record.learned().last
    first = int(last.off[0].argmax())
    before, after = (
        [pair_of(record.model_at(frame=frame), first, second) for second in (0, 1)]
        for frame in (0, -1)
    )
    assert [diagonal(one.match) for one in after] == [V, V]
    assert max(diagonal(one.match) for one in before) < 6
    assert diagonal(after[0].copies + after[1].copies) > 20
    assert diagonal(before[0].copies + before[1].copies) < 6


def test_the_steepest_moment_is_where_the_loss_falls_most_by_the_logarithm_of_the_step():
    bare = record.learned().moments[0]
    step = [study.Moment(s, bare.by_place, 3.0, loss, *[bare.off] * 3)
            for s, loss in ((0, 3.0), (9, 2.9), (99, 2.0), (199, 1.0), (999, 0.5))]  # fmt: skip
    assert Learned(Copier(), step).steepest == 3
    assert Learned(Copier(), step[:1]).steepest == 0
    # From 0 to 1 and from 1 to 3 the number of steps, with the first one, doubles each time.
    step = [study.Moment(s, bare.by_place, 3.0, loss, *[bare.off] * 3)
            for s, loss in ((0, 3.0), (1, 2.0), (3, 0.9))]  # fmt: skip
    assert Learned(Copier(), step).steepest == 2


def test_a_record_that_is_missing_is_refused(tmp_path):
    with pytest.raises(ValueError, match=record.COMMAND):
        record.learned(folder=tmp_path)
