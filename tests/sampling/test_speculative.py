"""Guess and check: the text has the target's distribution, whatever guesses."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as some

from llmviz.models import build
from llmviz.models.decoder import optimize_for_inference
from llmviz.sampling import SamplingSettings, generate, sampling_steps
from llmviz.sampling.drafts import Chances, CopyDraft, CountDraft, ModelDraft
from llmviz.sampling.reader import Reader
from llmviz.sampling.speculative import (
    acceptance,
    expected_speed_up,
    expected_tokens,
    overlap,
    residual,
    speculate,
)
from llmviz.trace import record
from tests.random_weights import with_random_weights

V, CONTEXT = 5, 12
SMALL = {"vocab_size": V, "context_length": CONTEXT}


def gpt(seed=0, spread=0.5, **options):
    torch.manual_seed(seed)
    shape = {"n_layer": 2, "n_head": 2, "n_embd": 8}
    model = build("gpt", SMALL | shape | options).eval()
    return with_random_weights(model, spread)


class Fixed:
    """A draft that always gives the same distribution."""

    vocab_size = V

    def __init__(self, *p):
        self.q = Chances(np.array(p, float) / sum(p))

    def chances(self, ids, settings):
        return self.q


class Silent:
    """A draft without a guess."""

    vocab_size = V

    def chances(self, ids, settings):
        return None


DRAFTS = {
    "another model": lambda: ModelDraft(gpt(seed=1)),
    "the model itself": lambda: ModelDraft(gpt()),
    "counts": lambda: CountDraft([0, 1, 2, 3, 4, 0, 1, 3, 2, 2], V),
    "copy": lambda: CopyDraft(V),
    "one token": lambda: Fixed(0, 0, 1, 0, 0),
    "even": lambda: Fixed(1, 1, 1, 1, 1),
    "silent": Silent,
}


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def written(model, draft, ids, tokens, k=4, seed=0, **options):
    rounds = list(speculate(model, draft, ids, tokens, k, generator=seeded(seed), **options))
    return [token for one in rounds for token in one.tokens]


# ---- the rule

some_row = some.lists(
    some.sampled_from([0.0, 0.0, 1e-9, 0.1, 0.5, 1.0, 3.0]), min_size=4, max_size=4
)


def distribution(row):
    row = np.array(row)
    return row / row.sum() if row.sum() else np.eye(4)[0]


@settings(max_examples=150)
@given(some_row, some_row)
def test_accepted_and_residual_mass_together_are_the_targets_distribution(row_p, row_q):
    p, q = distribution(row_p), distribution(row_q)
    accepted = np.array([qx * acceptance(px, qx) for px, qx in zip(p, q, strict=True)])
    rejected = 1 - accepted.sum()
    assert overlap(p, q) == pytest.approx(accepted.sum(), abs=1e-12)
    np.testing.assert_allclose(accepted + rejected * residual(p, q), p, atol=1e-12)
    assert residual(p, q).sum() == pytest.approx(1)


def test_equal_and_disjoint_distributions():
    p, q = np.array([0.5, 0.5, 0, 0]), np.array([0, 0, 0.25, 0.75])
    assert overlap(p, p) == 1 and overlap(p, q) == 0
    np.testing.assert_array_equal(residual(p, q), p)
    np.testing.assert_array_equal(residual(p, p), p)
    assert acceptance(0.0, 0.5) == 0 and acceptance(0.5, 0.5) == 1 and acceptance(0.5, 0.0) == 1


# ---- the distribution of the text


def chances_of_texts(model, ids, length, **options):
    """The target's own probability of each text of a length, by its forward pass."""
    found = {}
    for text in itertools.product(range(V), repeat=length):
        p, so_far = 1.0, list(ids)
        for token in text:
            with torch.inference_mode():
                logits = model(torch.tensor([so_far]))[0][0, -1]
            p *= sampling_steps(logits, **options).probabilities[token]
            so_far.append(token)
        found[text] = p
    return found


def bigram():
    torch.manual_seed(0)
    return with_random_weights(build("bigram", SMALL).eval(), 1.0)


@pytest.mark.parametrize(
    ("target", "draft", "k", "options", "runs"),
    [
        (gpt, "another model", 2, {"temperature": 0.8, "top_k": 4}, 500),
        (bigram, "counts", 1, {}, 1500),
        (bigram, "counts", 3, {"temperature": 1.5}, 1500),
        (bigram, "one token", 2, {}, 1500),
        (bigram, "copy", 4, {"top_p": 0.9}, 1500),
        (bigram, "even", 3, {}, 1500),
    ],
)
def test_texts_are_as_frequent_as_the_target_makes_them(target, draft, k, options, runs):
    from scipy import stats

    model, ids, length = target(), [1, 2, 1], 2 if target is gpt else 3
    expected = chances_of_texts(model, ids, length, **options)
    guesser, luck, drawn = DRAFTS[draft](), seeded(7), dict.fromkeys(expected, 0)
    chosen = SamplingSettings(**options)
    for _ in range(runs):
        rounds = speculate(model, guesser, ids, length, k, chosen, luck)
        drawn[tuple(token for one in rounds for token in one.tokens)] += 1
    assert all(expected[text] > 0 for text, times in drawn.items() if times)
    common = [text for text, p in expected.items() if p * runs >= 5]
    rare = [text for text, p in expected.items() if 0 < p * runs < 5]
    groups = [[text] for text in common] + [rare] * bool(rare)
    seen = [sum(drawn[text] for text in group) for group in groups]
    wanted = [runs * sum(expected[text] for text in group) for group in groups]
    assert stats.chisquare(seen, wanted).pvalue > 0.001


@pytest.mark.parametrize("name", DRAFTS)
@pytest.mark.parametrize("k", [0, 1, 5])
def test_greedy_is_plain_greedy_token_for_token_past_the_context(name, k):
    model = gpt()
    plain = [one.id for one in generate(model, [1, 2], 25, temperature=0)]
    found = written(model, DRAFTS[name](), [1, 2], 25, k, settings=SamplingSettings(0.0))
    assert found == plain


@pytest.mark.parametrize("name", ["the model itself", "even"])
def test_each_token_is_checked_after_the_guesses_before_it(name):
    """A penalty looks at the accepted guesses of the same round, too."""
    model, options = gpt(), {"repetition_penalty": 3.0}
    settings, text, checked = SamplingSettings(**options), [1], 0
    for one in speculate(model, DRAFTS[name](), text, 11, 4, settings, seeded()):
        so_far = text + [guess.token for guess in one.guesses]
        for place, guess in enumerate(one.guesses[: one.checked], len(text)):
            logits = model(torch.tensor([so_far[:place]]))[0][0, -1]
            expected = sampling_steps(logits, previous=so_far[:place], **options).probabilities
            np.testing.assert_allclose(guess.p, expected, atol=1e-5)
            checked += place > len(text)
        text += one.tokens
    assert checked


@pytest.mark.parametrize("kind", ["bigram", "mlp", "rnn"])
def test_models_without_a_cache_are_targets_and_drafts_too(kind):
    torch.manual_seed(0)
    model = build(kind, SMALL).eval()
    plain = [one.id for one in generate(model, [1, 2], 20, temperature=0)]
    assert written(model, ModelDraft(gpt()), [1, 2], 20, settings=SamplingSettings(0.0)) == plain
    assert len(written(gpt(), ModelDraft(model), [1, 2], 20)) == 20


def test_a_penalty_looks_at_the_guesses_before():
    model = gpt()
    chosen = {"temperature": 0.0, "repetition_penalty": 1.7}
    plain = [one.id for one in generate(model, [1, 2], 9, **chosen)]
    assert written(model, DRAFTS["even"](), [1, 2], 9, settings=SamplingSettings(**chosen)) == plain


# ---- rounds


@pytest.mark.parametrize("name", DRAFTS)
def test_every_round_keeps_its_own_rules(name):
    model, k = gpt(), 3
    ids = [1, 2]
    rounds = list(speculate(model, DRAFTS[name](), ids, 9, k, generator=seeded(3)))
    for one in rounds:
        assert one.before == len(ids) and len(one.guesses) <= k
        taken = [guess.token for guess in one.guesses[: one.accepted]]
        assert one.tokens == (*taken, one.drawn) and len(one.tokens) <= k + 1
        assert one.checked == min(len(one.guesses), one.accepted + 1)
        for n, guess in enumerate(one.guesses[: one.checked]):
            with torch.inference_mode():
                logits = model(torch.tensor([[*ids, *(g.token for g in one.guesses[:n])]]))[0][
                    0, -1
                ]
            np.testing.assert_allclose(guess.p, logits.double().softmax(-1), atol=1e-6)
            p, q = guess.p[guess.token], guess.q.of(guess.token)
            assert guess.accepted == (guess.u < min(1, p / q)) == (n < one.accepted)
        for guess in one.guesses[one.checked :]:
            assert guess.p is None and guess.u is None and not guess.accepted
        if one.accepted < len(one.guesses):
            rejected = one.guesses[one.accepted]
            left = residual(rejected.p, rejected.q.full(V))
            np.testing.assert_array_equal(one.drawn_from, left)
        assert one.drawn_from[one.drawn] > 0
        ids += one.tokens
    assert len(ids) == 2 + 9


def test_the_model_guessing_for_itself_is_always_accepted():
    model = gpt()
    rounds = list(speculate(model, ModelDraft(model), [1], 10, 4, generator=seeded()))
    assert [len(one.tokens) for one in rounds] == [5, 5]
    assert all(one.accepted == 4 for one in rounds)


@pytest.mark.parametrize("wanted", [0, 1, 2, 7])
@pytest.mark.parametrize("k", [0, 1, 6, 64])
def test_exactly_as_many_tokens_come_as_were_asked_for(wanted, k):
    assert len(written(gpt(), DRAFTS["even"](), [3], wanted, k)) == wanted


def test_it_stops_behind_the_stop_token_wherever_that_stands():
    model = gpt()
    text = written(model, ModelDraft(model), [1], 20, 4)
    stop = text[2]
    rounds = list(speculate(model, ModelDraft(model), [1], 20, 4, generator=seeded(), stop_id=stop))
    found = [token for one in rounds for token in one.tokens]
    assert found == text[: text.index(stop) + 1]


def test_a_full_context_leaves_one_token_a_round():
    rounds = list(speculate(gpt(), DRAFTS["even"](), [1] * CONTEXT, 5, 4, generator=seeded()))
    assert [len(one.guesses) for one in rounds] == [0] * 5
    near = next(iter(speculate(gpt(), DRAFTS["even"](), [1] * (CONTEXT - 2), 9, 4)))
    assert len(near.guesses) == 2  # they and the text fill the context


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"idx": []}, "the prompt is empty"),
        ({"idx": [V]}, "prompt ids"),
        ({"max_new_tokens": -1}, "0 or more; got -1"),
        ({"guesses": -1}, "from 0 to 64; got -1"),
        ({"guesses": 65}, "from 0 to 64; got 65"),
        ({"draft": CopyDraft(V + 1)}, "same vocabulary; got 6 and 5"),
        ({"settings": SamplingSettings(top_k=V + 1)}, "top_k"),
        ({"model": gpt(mask="none")}, 'mask="causal"'),
    ],
)
def test_bad_input_is_refused_at_the_call(given, match):
    usual = {"model": gpt(), "draft": CopyDraft(V), "idx": [1], "max_new_tokens": 3}
    with pytest.raises(ValueError, match=match):
        speculate(**usual | given)


# ---- the reader and its cache


@settings(max_examples=25)
@given(some.data())
def test_a_cache_that_is_cut_back_gives_what_a_fresh_reading_gives(data):
    model = gpt()
    reader = Reader(model)
    text = [1]
    for _ in range(data.draw(some.integers(1, 6))):
        kept = data.draw(some.integers(0, len(text)))
        more = data.draw(some.lists(some.integers(0, V - 1), min_size=1, max_size=5))
        text = (text[:kept] + more)[: CONTEXT + 2]
        count = 1 if len(text) > CONTEXT else data.draw(some.integers(1, len(text)))
        with torch.inference_mode():
            expected = model(torch.tensor([text[-CONTEXT:]]))[0][0, -count:]
        torch.testing.assert_close(reader.rows(text, count), expected, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_several_tokens_at_once_are_read_as_one_at_a_time(packed, count):
    shape = {"vocab_size": 900, "context_length": 16, "n_layer": 1, "n_head": 4, "n_embd": 256}
    torch.manual_seed(0)
    model = build("gpt", shape).eval()
    text = torch.randint(0, 900, (16,), generator=seeded(1)).tolist()
    target = optimize_for_inference(model) if packed else model
    at_once, alone = Reader(target), Reader(model)
    at_once.rows(text[:4], 1)
    found = at_once.rows(text[: 4 + count], count)
    expected = torch.cat([alone.rows(text[: 5 + n], 1) for n in range(count)])
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=2e-5)


def test_a_reader_says_which_rows_it_cannot_give():
    reader = Reader(gpt())
    for count in (0, 4):
        with pytest.raises(ValueError, match="rows must be from 1 to 3"):
            reader.rows([1, 2, 3], count)
    with pytest.raises(ValueError, match="one row at a time; got 2"):
        reader.rows([1] * (CONTEXT + 1), 2)


def test_under_a_trace_the_modules_read_and_dropout_stays_off():
    model = gpt(dropout=0.5)
    expected = Reader(model).rows([1, 2, 3], 2)
    with record("blocks.0.attn.weights") as trace:
        found = Reader(model).rows([1, 2, 3], 2)
    assert "blocks.0.attn.weights" in trace
    torch.testing.assert_close(found, expected)
    model.train()
    with record("blocks.0.attn.weights"):
        torch.testing.assert_close(Reader(model).rows([1, 2, 3], 2), expected)
    assert model.training


# ---- drafts


@settings(max_examples=60)
@given(some.lists(some.integers(0, 3), min_size=1, max_size=40), some.integers(0, 3))
def test_counts_are_those_of_the_longest_context_that_was_seen(text, longest):
    draft = CountDraft(text, 4, longest)
    for end in range(len(text)):
        ids = text[: end + 1]
        for n in range(min(longest, len(ids)), -1, -1):
            tail = ids[len(ids) - n :]
            after = [text[i + n] for i in range(len(text) - n) if text[i : i + n] == tail]
            if after:
                break
        tokens, counts = draft.after(ids)
        assert dict(zip(tokens.tolist(), counts.tolist(), strict=True)) == {
            token: after.count(token) for token in set(after)
        }
        q = draft.chances(ids, SamplingSettings())
        np.testing.assert_allclose(q.full(4), np.bincount(after, minlength=4) / len(after))


def test_counts_follow_the_temperature_and_refuse_what_cannot_be_counted():
    draft = CountDraft([0, 1, 0, 1, 0, 2], 3, 1)
    assert draft.chances([0], SamplingSettings(0.0)).full(3).tolist() == [0, 1, 0]
    hot = draft.chances([0], SamplingSettings(2.0)).full(3)
    np.testing.assert_allclose(hot[1] / hot[2], 2**0.5)
    with pytest.raises(ValueError, match="at least one token"):
        CountDraft([], 3)
    with pytest.raises(ValueError, match="from 0 to 2"):
        CountDraft([3], 3)
    with pytest.raises(ValueError, match="contexts of 9 tokens"):
        CountDraft([1], 50_000, 9)


def test_copying_takes_the_longest_and_latest_match():
    draft = CopyDraft(9)
    find = lambda ids: draft.chances(ids, SamplingSettings())  # noqa: E731
    assert find([1, 2, 3, 1, 2]).of(3) == 1
    assert find([1, 2, 3, 5, 2, 4, 1, 2]).of(3) == 1  # two tokens match, not only the last one
    assert find([2, 3, 2, 4, 2]).of(4) == 1
    assert find([1, 2, 3]) is None and find([1]) is None


@example("aa")  # the latest place of all
@example("aba")  # the first
@given(some.text("abc", min_size=1, max_size=12))
def test_copying_finds_what_a_search_for_the_end_of_a_text_finds(text):
    for longest in (1, 2, 4):
        found = CopyDraft(128, longest).chances([ord(sign) for sign in text], SamplingSettings())
        ends = [text[-n:] for n in range(min(longest, len(text) - 1), 0, -1)]
        places = [text.rfind(end, 0, len(text) - 1) + len(end) for end in ends if end in text[:-1]]
        assert (found is None) == (not places)
        assert not places or found.of(ord(text[places[0]])) == 1


def test_a_few_chances_are_drawn_and_looked_up_by_id():
    few = Chances(np.array([0.25, 0.75]), np.array([3, 7]))
    assert few.full(9).tolist() == [0, 0, 0, 0.25, 0, 0, 0, 0.75, 0]
    assert [few.of(token) for token in (0, 3, 5, 7, 8)] == [0, 0.25, 0, 0.75, 0]
    assert few.draw(np.nextafter(1.0, 0)) == 7


# ---- the formula


@settings(max_examples=50)
@given(a=some.floats(0, 0.999), k=some.integers(0, 8))
def test_the_expected_number_is_the_closed_form_and_that_of_a_simulation(a, k):
    assert expected_tokens(a, k) == pytest.approx((1 - a ** (k + 1)) / (1 - a))
    each = sum(n * a ** (n - 1) * (1 - a) for n in range(1, k + 1)) + (k + 1) * a**k
    assert expected_tokens(a, k) == pytest.approx(each)


def test_the_formulas_edges_and_what_they_refuse():
    assert expected_tokens(1.0, 4) == 5 and expected_tokens(0.3, 0) == 1
    assert expected_speed_up(1.0, 4, 0.0) == 5 and expected_speed_up(0.5, 0, 0.3, 2.0) == 0.5
    for wrong in ((-0.1, 2), (1.1, 2), (0.5, -1)):
        with pytest.raises(ValueError, match="a must be from 0 to 1"):
            expected_tokens(*wrong)
    with pytest.raises(ValueError, match="cost must be 0 or more"):
        expected_speed_up(0.5, 2, -1.0)
