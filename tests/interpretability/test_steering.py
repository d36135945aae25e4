"""The stream read and replaced, and steering: what is added is what later layers read."""

import numpy as np
import pytest
import torch

from experiments import steering as make_steering
from llmviz.corpus.states import RULES
from llmviz.corpus.words import words
from llmviz.course.lessons.discoveries.features_record import MODEL, weights_of
from llmviz.course.lessons.discoveries.steering import model as record
from llmviz.interpretability.steering import Push, measure, removed, texts_of, write
from llmviz.interpretability.stream_reading import losses_with, read_taps, stream_tap
from llmviz.models.gpt import GPT
from llmviz.pretrained import load_bundled
from llmviz.sampling.generation import generate
from llmviz.trace import record as recording
from llmviz.trace import replaced
from tests.random_weights import random_gpt


@pytest.fixture(scope="module")
def gpt() -> GPT:
    return random_gpt(0.5, vocab_size=29, context_length=32, n_layer=3, n_head=2, n_embd=8)


PROMPT = [0, 5, 3, 8, 8]
TEXTS = [[0, *np.random.default_rng(k).integers(1, 29, 12).tolist()] for k in range(5)]
DIRECTION = np.random.default_rng(3).normal(size=8).astype(np.float32)
PUSHES = [Push(1, DIRECTION), Push(2, head=1), Push(0, head=0)]


@pytest.mark.parametrize("push", PUSHES)
def test_a_dose_of_zero_changes_nothing_to_the_bit(gpt, push):
    change = push.change(0.0, 2)
    assert np.array_equal(losses_with(gpt, TEXTS, push.tap, change), losses_with(gpt, TEXTS))
    idx = torch.tensor(TEXTS)
    with torch.inference_mode():
        plain = gpt(idx)[0]
        with replaced({push.tap: change}):
            assert torch.equal(gpt(idx)[0], plain)


def test_greedy_texts_without_a_dose_are_those_of_the_generator(gpt):
    rows = write(gpt, PROMPT, PUSHES[0], [0.0, 3.0], 20, 2, temperature=0.0)
    known = [one.id for one in generate(gpt, PROMPT, 20, temperature=0.0)]
    assert rows[0, 0].tolist() == rows[0, 1].tolist() == known
    assert rows[1, 0].tolist() != known


@pytest.mark.parametrize("push", PUSHES)
def test_rows_of_a_batch_are_what_each_dose_writes_alone(gpt, push):
    doses = [-1.0, 0.0, 0.5, 2.0]
    every = write(gpt, PROMPT, push, doses, 15, 3, seed=4)
    for at, dose in enumerate(doses):
        alone = write(gpt, PROMPT, push, [dose], 15, 3, seed=4)
        assert np.array_equal(every[at], alone[0])


@pytest.mark.parametrize("push", PUSHES[::2])  # behind the last layer no token looks at another
def test_what_is_written_comes_from_streams_of_which_the_first_token_is_as_it_was(gpt, push):
    """Token after token from the whole text, without a cache."""

    def last_scores(ids: list[int], first: int) -> torch.Tensor:
        change = push.change(-1.0, 2)
        changed = {push.tap: lambda x: torch.cat((x[:, :first], change(x[:, first:])), 1)}
        with torch.inference_mode(), replaced(changed):
            return gpt(torch.tensor([ids]))[0][0, -1]

    told_apart = 0
    for prompt in (text[:5] for text in TEXTS):
        ids = list(prompt)
        for _ in range(20):
            scores, with_start = (last_scores(ids, first).argmax() for first in (1, 0))
            told_apart += int(scores != with_start)
            ids.append(int(scores))
        found = write(gpt, prompt, push, [-1.0], 20, temperature=0.0)
        assert found[0, 0].tolist() == ids[5:]
    assert told_apart


def test_texts_are_drawn_by_the_probabilities(gpt):
    rows = write(gpt, PROMPT, PUSHES[0], [0.0], 1, 4000, seed=1)[0, :, 0]
    with torch.inference_mode():
        p = gpt(torch.tensor([PROMPT]), last_only=True)[0][0, -1].double().softmax(-1).numpy()
    found = np.bincount(rows, minlength=29) / 4000
    assert np.abs(found - p).max() < 4 * (0.25 / 4000) ** 0.5


def test_a_direction_added_after_the_last_layer_is_read_by_the_last_norm(gpt):
    push = Push(2, DIRECTION)
    (streams,) = read_taps(gpt, TEXTS, [stream_tap(2)])
    found = losses_with(gpt, TEXTS, push.tap, push.change(1.5, 2)).reshape(len(TEXTS), -1)
    plain = losses_with(gpt, TEXTS).reshape(len(TEXTS), -1)
    assert np.allclose(found[:, 0], plain[:, 0], atol=1e-5)  # the start token's stream stays
    for text, stream, losses in zip(TEXTS, streams, found, strict=True):
        moved = torch.from_numpy(stream + 1.5 * DIRECTION)
        log_p = gpt.head(gpt.norm_final(moved)).log_softmax(-1).detach()
        known = -log_p[:-1].gather(1, torch.tensor(text[2:])[:, None])[:, 0]
        assert losses[1:] == pytest.approx(known.numpy(), abs=1e-4)


def test_a_head_at_minus_one_is_a_head_whose_columns_are_zero(gpt):
    push = Push(1, head=1)
    found = losses_with(gpt, TEXTS, push.tap, push.change(-1.0, 2))

    def zero(x: torch.Tensor) -> torch.Tensor:
        return torch.cat((x[..., :4], torch.zeros_like(x[..., 4:])), -1)

    known = losses_with(gpt, TEXTS, "blocks.1.attn.concat", zero)
    assert np.array_equal(found, known)


def test_what_is_removed_is_gone_and_the_rest_stays():
    x = torch.randn(4, 7, 8, generator=torch.Generator().manual_seed(0))
    mean = np.arange(8.0)
    unit = torch.from_numpy(DIRECTION / np.linalg.norm(DIRECTION))
    found = removed(DIRECTION, mean)(x)
    level = torch.tensor(mean, dtype=torch.float32) @ unit
    assert torch.allclose(found @ unit, level.expand(4, 7), atol=1e-4)
    apart = x - found
    assert torch.allclose(apart, (apart @ unit)[..., None] * unit, atol=1e-4)
    assert torch.allclose(removed(DIRECTION, mean)(found), found, atol=1e-4)
    with pytest.raises(ValueError, match="length 0"):
        removed(np.zeros(8), mean)


@pytest.mark.parametrize(
    ("push", "words", "message"),
    [
        (Push(3, DIRECTION), 3, "layer must be from 0 to 2"),
        (Push(0, DIRECTION[:5]), 3, "direction must have 8 numbers"),
        (Push(0, head=2), 3, "head must be from 0 to 1"),
        (PUSHES[0], 29, "context is 32"),
    ],
)
def test_what_the_model_does_not_have_is_refused(gpt, push, words, message):
    with pytest.raises(ValueError, match=message):
        write(gpt, PROMPT, push, [1.0], words)


def test_texts_are_measured_by_their_words_and_their_mistakes():
    prompt = "Once there was an odd baker called Nora Copperdale."
    good, bad = " The best friend she had was", " she she she she she"
    found = measure(prompt, [good, bad], frozenset({"she"}))
    assert found.words == 11
    assert found.share == pytest.approx(6 / 11)
    assert (found.most, found.most_share) == ("she", pytest.approx(6 / 11))
    assert found.stories == 0.5
    assert found.kept == pytest.approx((1 + 1 / len(bad)) / 2)


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "wish"}, {"target": "word dragons"}, {"target": "state may end"}, {"layer": 4}],
)
def test_choices_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        record.Choice(**wrong)


def test_each_target_has_words_that_stand_in_stories():
    for target in record.TARGETS:
        assert record.words_of(target)
    assert record.words_of("rule names") == frozenset(words("surnames"))


@pytest.fixture(scope="module")
def story_model():
    return load_bundled(MODEL)


def test_the_record_is_of_these_weights_and_its_zero_is_the_plain_loss(story_model):
    gpt, tokenizer, _ = story_model
    found = record.recorded()
    assert found.weights == weights_of()
    assert [one.choice for one in found.steered] == list(make_steering.CHOICES)
    first = [
        tokenizer.encode_from_start(one)
        for one in record.stories(record.STORIES, record.OTHER_SEED)
    ]
    plain = losses_with(gpt, first).mean()
    for one in found.steered:
        assert one.known
        assert one.losses[0][one.doses.index(0.0)] == pytest.approx(plain, abs=1e-4)
        assert one.damage[:, one.doses.index(0.0)].tolist() == [0.0] * record.SETS


def test_the_first_choice_at_its_highest_dose_is_measured_again(story_model):
    gpt, tokenizer, _ = story_model
    found = record.recorded().by_choice[record.Choice()]
    push, ids = found.choice.push, tokenizer.encode_from_start(found.prompt)
    rows = write(gpt, ids, push, [0.0, found.doses[-1]], record.TOKENS, record.COPIES, seed=0)
    texts = texts_of(rows, tokenizer)
    surnames = record.words_of("rule names")
    for at, text in zip((found.doses.index(0.0), len(found.doses) - 1), texts, strict=True):
        again = measure(found.prompt, text, surnames)
        assert again.share == pytest.approx(found.written[0][at].share, abs=0.05)
    assert found.of("share")[:, -1].min() > 0.5 > found.of("kept")[:, -1].max()


def test_directions_are_differences_of_means(story_model):
    """The mean of all is the weighted mean of both, so the difference fits the share of a label."""
    gpt, tokenizer, _ = story_model
    ids = [tokenizer.encode_from_start(one) for one in record.stories(60, make_steering.MEANT_SEED)]
    (streams,) = read_taps(gpt, ids, [stream_tap(2)])
    stream = np.concatenate(streams)
    from llmviz.corpus.states import label, token_labels

    texts = record.stories(60, make_steering.MEANT_SEED)
    on = np.concatenate(
        [token_labels(label(text), [t.char_end for t in tokenizer.tokens(text)]) for text in texts]
    )
    for target in ("rule pronouns", "word girls"):
        column = on[:, record.LABELS.index(target)]
        known = stream[column].mean(0) - stream[~column].mean(0)
        found = record.difference(2, target)
        assert known @ found / np.linalg.norm(known) / np.linalg.norm(found) > 0.95


def test_a_removed_rule_costs_most_where_the_rule_decides():
    found = record.recorded().removals
    assert found.rises.shape == (record.SETS, len(RULES), len(RULES) + 1)
    assert found.random.shape == (record.SETS, record.RANDOM, len(RULES) + 1)
    assert found.by_feature.shape == found.rises.shape
    row = RULES.index("names")
    mean = found.rises.mean(0)
    assert mean[row].argmax() == row
    assert found.rises[:, row, row].min() > np.abs(found.random.mean(1)).max()


def test_a_record_that_is_missing_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is not in this copy"):
        record.recorded(tmp_path)
    (tmp_path / record.FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="steering"):
        record.recorded(tmp_path)


def test_a_beginning_that_leaves_no_room_is_refused_before_anything_is_written():
    going = record.steer(record.Choice(), "xq " * 130)
    assert next(going).done == 0
    with pytest.raises(ValueError, match="context is 256"):
        list(going)


UNEVEN = [
    np.random.default_rng(k).integers(1, 29, n).tolist() for k, n in enumerate([5, 24, 2, 9, 9])
]


@pytest.mark.parametrize("layer", [0, 1])
def test_texts_of_any_length_are_read_as_each_by_itself(gpt, layer):
    (found,) = read_taps(gpt, UNEVEN, [stream_tap(layer)])
    for text, part in zip(UNEVEN, found, strict=True):
        with torch.inference_mode(), recording(stream_tap(layer)) as trace:
            gpt(torch.tensor([text]))
        assert part == pytest.approx(trace[stream_tap(layer)][0, 1:].numpy(), abs=1e-5)


def test_the_losses_are_those_of_the_model(gpt):
    found = losses_with(gpt, UNEVEN)
    known = []
    for text in UNEVEN:
        logits, _ = gpt(torch.tensor([text[:-1]]))
        known += torch.nn.functional.cross_entropy(
            logits[0], torch.tensor(text[1:]), reduction="none"
        ).tolist()
    assert found == pytest.approx(np.array(known), abs=1e-5)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_stream_replaced_by_itself_changes_nothing(gpt, layer):
    assert np.array_equal(
        losses_with(gpt, UNEVEN, stream_tap(layer), lambda x: x), losses_with(gpt, UNEVEN)
    )


def test_a_replaced_stream_is_what_the_later_layers_read(gpt):
    """At the last layer all that is left is the last norm and the head."""
    vector = torch.randn(8)
    found = losses_with(gpt, UNEVEN, stream_tap(2), lambda x: vector.expand_as(x))
    log_p = gpt.head(gpt.norm_final(vector)).log_softmax(-1).detach().numpy()
    at = 0
    for text in UNEVEN:
        own = found[at : at + len(text) - 1]
        assert own[1:] == pytest.approx([-log_p[token] for token in text[2:]], abs=1e-5)
        at += len(text) - 1
