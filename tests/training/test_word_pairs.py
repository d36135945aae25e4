"""Word pairs are near each other and inside a document; the common trainer learns from them."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from llmviz.models import SkipGramConfig, build
from llmviz.training import Checkpoint, Stream, TrainData, train
from llmviz.training.config import Plan
from llmviz.training.plan import prepare
from llmviz.training.word_pairs import WordPairs
from tests.training.small_plans import small_training

END, V = 0, 30
DOCUMENTS = [[1, 2, 3, 4, 5, 6], [7], [8, 9, 10, 11], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21]]


def pairs_of(documents=DOCUMENTS, windows="padded", subsample=0.0, seed=0, context=8, **options):
    stream = Stream.join(documents, END)
    text = TrainData(stream, stream, context, V, windows, seed)
    config = SkipGramConfig(**{"vocab_size": V, "n_embd": 4, "window": 3, **options})
    return WordPairs(text, END, config, subsample)


def seen(pairs, steps, rows=4):
    """How often each (center, neighbour) came up."""
    counted = Counter()
    for step in range(1, steps + 1):
        centers, neighbours, _ = pairs.batch(step, rows)
        counted.update(zip(centers.tolist(), neighbours.tolist(), strict=True))
    return counted


def near(documents, window):
    """By the definition: all pairs of one document at most `window` words apart."""
    return {
        (a, b)
        for words in documents
        for i, a in enumerate(words)
        for j, b in enumerate(words)
        if 0 < abs(i - j) <= window
    }


@pytest.mark.parametrize("windows", ["padded", "documents", "random"])
def test_pairs_are_all_near_pairs_of_a_document_and_no_others(windows):
    counted = seen(pairs_of(windows=windows, context=16), steps=60)
    assert set(counted) == near(DOCUMENTS, 3)


def test_with_a_window_of_one_an_epoch_holds_each_pair_once():
    documents = [words for words in DOCUMENTS if len(words) > 1]
    counted = seen(pairs_of(documents, window=1, context=16), steps=1, rows=len(documents))
    assert counted == dict.fromkeys(near(documents, 1), 1)


def test_nearer_words_are_paired_more_often():
    counted = seen(pairs_of(context=16), steps=200)
    by_distance = [sum(counted[a, a + d] for a in range(13, 18)) for d in (1, 2, 3)]
    assert by_distance[0] > by_distance[1] > by_distance[2] > 0


def test_a_batch_follows_from_seed_and_step_alone_and_validation_stays():
    one, other, third = pairs_of(), pairs_of(), pairs_of(seed=1)
    for step in (1, 2, 5):
        ours = one.batch(step, 3)
        assert ours[2].shape == (len(ours[0]), one.config.negatives) and len(ours[1]) == len(
            ours[0]
        )
        if step != 2:  # the other one jumps
            assert all(map(torch.equal, ours, other.batch(step, 3)))
    assert not torch.equal(one.batch(1, 3)[2], third.batch(1, 3)[2])
    once, again = (list(one.validation_batches(2, 2)) for _ in range(2))
    assert len(once) == 2
    assert all(all(map(torch.equal, a, b)) for a, b in zip(once, again, strict=True))


def test_a_batch_has_a_pair_for_each_row_however_much_is_thinned_out():
    thinned = pairs_of(subsample=1e-9)
    for step in range(1, 20):
        batch = thinned.batch(step, 5)
        assert thinned.count(batch) == len(batch[0]) >= 5
        assert set(zip(batch[0].tolist(), batch[1].tolist(), strict=True)) <= near(DOCUMENTS, 3)


def test_random_words_come_by_their_frequency_and_never_the_end():
    documents = [[1] * 81 + [2] * 16 + [3]]
    drawn = pairs_of(documents, "random", context=64, negatives=40).batch(1, 64)[2]
    share = np.bincount(drawn.flatten().numpy(), minlength=V) / drawn.numel()
    expected = np.array([81**0.75, 16**0.75, 1.0])
    assert share[1:4] == pytest.approx(expected / expected.sum(), rel=0.1)
    assert share[END] == 0 and share[4:].sum() == 0


def test_a_text_without_two_words_together_is_refused():
    with pytest.raises(ValueError, match="no document of two words"):
        pairs_of([[1], [2], [3]])


# ---- the common trainer


def config(**changes):
    rates = dict(learning_rate=0.05, min_lr=0.005, warmup_steps=0, weight_decay=0.0)
    return small_training(**dict(steps=8, batch_size=4, eval_every=4) | rates | changes)


def model_of(pairs):
    torch.manual_seed(0)
    return build("word2vec", pairs.config)


def test_untrained_vectors_have_the_loss_of_a_coin_for_each_term():
    pairs = pairs_of(negatives=5)
    (record,) = train(model_of(pairs), pairs, config(steps=1, learning_rate=1e-9, min_lr=0))
    assert record.train_loss == pytest.approx(6 * math.log(2), abs=1e-5)
    assert record.validation_loss == pytest.approx(6 * math.log(2), abs=1e-5)
    assert record.tokens == pairs.count(pairs.batch(1, 4))


def test_parts_of_a_batch_are_weighed_by_their_pairs():
    losses = [
        [r.train_loss for r in train(model_of(pairs_of()), pairs_of(), config(accumulate=n))]
        for n in (1, 3)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_a_resumed_run_is_the_run_that_never_stopped():
    pairs, saved = pairs_of(), []
    whole = model_of(pairs)
    records = list(train(whole, pairs, config()))

    def save(state: Checkpoint, keep: bool) -> None:
        saved.append(state)

    asked = iter([False, False, True])
    cut = model_of(pairs)
    first = list(train(cut, pairs, config(), save=save, stop=lambda: next(asked)))
    assert [record.step for record in first] == [1, 2, 3]
    again = model_of(pairs)
    rest = list(train(again, pairs_of(), config(), resume=saved[-1]))
    assert [r.train_loss for r in records] == [r.train_loss for r in (*first, *rest)]
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])


def test_words_that_stand_among_the_same_words_come_together(tmp_path):
    animals, colours = ["cat", "dog", "cow"], ["red", "blue", "green"]
    random = np.random.default_rng(0)
    lines = [
        " ".join(random.choice(words, 6)) + "." for words in (animals, colours) for _ in range(150)
    ]
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(lines), encoding="utf-8")
    plan = Plan(
        model="word2vec",
        model_options={"n_embd": 8, "window": 2},
        corpus=str(text),
        tokenizer="word",
        context_length=16,
        train=config(steps=150, batch_size=16, eval_every=0),
    )
    run = prepare(plan)
    *_, last = train(run.model, run.data, run.config)
    assert last.validation_loss < 6 * math.log(2)
    ids = {word: i for i, word in enumerate(run.tokenizer.vocabulary)}
    vectors = torch.tensor(run.model.vectors())
    rows = torch.nn.functional.normalize(vectors[[ids[word] for word in animals + colours]])
    cosines = rows @ rows.T
    assert cosines[:3, :3].min() > cosines[:3, 3:].max()
    assert cosines[3:, 3:].min() > cosines[:3, 3:].max()
