"""Waiters with a list or a matrix: against the engine and slow loops, and the record's claims."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as some

from experiments import memory as make
from llmviz.corpus import orders as told_orders
from llmviz.course.lessons.next.memory import model
from llmviz.course.lessons.next.memory.model import (
    CHANGED,
    COUNTS,
    ONCE,
    SIZES,
    bundled,
    recorded,
)
from llmviz.models.waiter import KINDS, LIST, MATRICES, Waiter, multiplications, numbers_kept
from llmviz.nn.attention import MultiHeadAttention, causal_mask
from llmviz.nn.state_memory import delta_rule, linear_attention, read, state_space


def drawn(guests: int, changed: int = 0, texts: int = 3, seed: int = 0) -> told_orders.Orders:
    return told_orders.orders(texts, guests, changed, torch.Generator().manual_seed(seed))


def untrained(kind: str, size: int = 8) -> Waiter:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        waiter = Waiter(kind, size)
        if kind == LIST:
            torch.nn.init.constant_(waiter.later, 0.3)
    return waiter


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_is_measured_again_on_the_bundled_waiters(kind):
    for who in (ONCE, CHANGED):
        again = model.shares_right(bundled(kind), who, make.TEXTS)
        assert again == pytest.approx(recorded().shares(kind, SIZES[0], who)[0], abs=2e-3)


@pytest.mark.slow
def test_a_waiter_is_trained_again():
    trained = make.train("adds", SIZES[0], 0)
    again = model.shares_right(trained, ONCE, make.TEXTS)
    assert again == pytest.approx(recorded().shares("adds", SIZES[0], ONCE)[0], abs=0.05)


@pytest.mark.slow
def test_a_model_of_stories_is_trained_again():
    name, seed = model.CACHES[-1], model.SEEDS[0]
    reader, size = make.train_reader(name, seed)
    assert size == recorded().cache_bytes[name]
    assert make.loss_of(reader) == pytest.approx(recorded().losses[name][0], abs=0.01)


def test_a_waiter_that_practises_is_measured_while_it_learns():
    few = list(itertools.islice(model.practise("replaces", 8, 3), 2))
    assert [each.update for each in few] == [model.EVERY, 2 * model.EVERY]
    assert all(len(each.shares) == len(COUNTS) for each in few)
    assert few[-1].shares[0] > few[-1].shares[-1], "one guest is easier than forty"


# ---- the models


@pytest.mark.parametrize("kind", MATRICES)
def test_a_state_is_that_of_the_engine_token_by_token(kind):
    waiter, told = untrained(kind), drawn(6, 3)
    guest, dish = waiter.guest(told.guests), waiter.dish(told.dishes)
    k, v, q = waiter.key(guest), waiter.value(dish), torch.zeros(3, 9, 8)
    if kind == "adds":
        steps = linear_attention.recurrent(q, k, v, linear_attention.identity)
    elif kind == "replaces":
        steps = delta_rule.recurrent(q, k, v, waiter.gate(guest + dish).sigmoid().squeeze(-1))
    else:
        steps = state_space.recurrent(q, k, v, waiter.gate(guest + dish).sigmoid())
    keys, values = waiter.written(told.guests, told.dishes)
    state = keys.mT @ values
    torch.testing.assert_close(state, steps.states[:, -1], rtol=1e-4, atol=1e-5)
    query = waiter.query(waiter.guest(told.queries))
    answers = torch.stack([read(state, query[:, m]) for m in range(6)], 1)
    torch.testing.assert_close(waiter.answers(*told[:3]), answers, rtol=1e-4, atol=1e-5)


def test_the_list_is_softmax_attention_that_prefers_what_came_later():
    waiter, told = untrained(LIST), drawn(6, 3)
    q = waiter.query(waiter.guest(told.queries))
    keys, values = waiter.written(told.guests, told.dishes)
    bias = (waiter.later * torch.arange(9)).expand(6, 9)
    wanted = F.scaled_dot_product_attention(q, keys, values, attn_mask=bias)
    torch.testing.assert_close(waiter.answers(*told[:3]), wanted)


@given(some.integers(1, len(told_orders.GUESTS)), some.data())
def test_right_is_what_a_guest_ordered_last(guests, data):
    changed = data.draw(some.integers(0, guests))
    told = drawn(guests, changed, texts=2, seed=data.draw(some.integers(0, 99)))
    for row in range(2):
        rows = zip(told.guests[row].tolist(), told.dishes[row].tolist(), strict=True)
        last: dict[int, int] = {}
        twice = set()
        for guest, dish in rows:
            assert last.get(guest) != dish, "who orders again orders another dish"
            if guest in last:
                twice.add(guest)
            last[guest] = dish
        asked = told.queries[row].tolist()
        assert sorted(asked) == sorted(last) and len(twice) == changed
        assert [last[guest] for guest in asked] == told.right[row].tolist()
        assert [guest in twice for guest in asked] == told.again[row].tolist()


@pytest.mark.parametrize(("guests", "changed"), [(0, 0), (41, 0), (3, 4), (3, -1)])
def test_more_guests_than_there_are_and_more_changes_than_guests_are_refused(guests, changed):
    with pytest.raises(ValueError, match="guests must be from 1 to 40"):
        drawn(guests, changed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_far_longer_than_any_trained_one_is_answered(kind):
    chance = torch.Generator().manual_seed(0)
    guests = torch.randint(len(told_orders.GUESTS), (2000,), generator=chance)
    dishes = torch.randint(len(told_orders.DISHES), (2000,), generator=chance)
    answers = bundled(kind)(guests, dishes, guests[:5])
    assert answers.shape == (5, len(told_orders.DISHES)) and answers.isfinite().all()


# ---- what it costs


class Counter:
    """Multiplies numbers and counts how often."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, a: float, b: float) -> float:
        self.count += 1
        return a * b


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("told", [1, 5, 12])
def test_multiplications_and_numbers_are_those_of_slow_loops(kind, told):
    size, times = 4, Counter()
    chance = np.random.default_rng(told)
    k, v, q = chance.normal(size=(told, size)), chance.normal(size=(told, size)), chance.random(4)
    k /= np.linalg.norm(k, axis=1, keepdims=True)
    fade = np.full((told, size), 0.5)
    cells = range(size)
    if kind == LIST:
        scores = [sum(times(q[i], k[t, i]) for i in cells) for t in range(told)]
        weights = np.exp(scores) / np.exp(scores).sum()
        answer = [sum(times(weights[t], v[t, j]) for t in range(told)) for j in cells]
        wanted = torch.tensor(q @ k.T).softmax(-1).numpy() @ v
        kept = k.size + v.size
    else:
        state = np.zeros((size, size))
        for t in range(told):
            times.count = 0  # of the last order alone
            write = v[t].copy()
            if kind == "replaces":
                write -= [sum(times(state[i, j], k[t, i]) for i in cells) for j in cells]
            if kind == "fades":
                state = np.array([[times(fade[t, i], state[i, j]) for j in cells] for i in cells])
            state += [[times(k[t, i], write[j]) for j in cells] for i in cells]
        answer = [sum(times(q[i], state[i, j]) for i in cells) for j in cells]
        given = [torch.tensor(x) for x in (np.tile(q, (told, 1)), k, v)]
        steps = {
            "adds": lambda: linear_attention.recurrent(*given, linear_attention.identity),
            "replaces": lambda: delta_rule.recurrent(*given, torch.ones(told)),
            "fades": lambda: state_space.recurrent(*given, torch.tensor(fade)),
        }[kind]()
        wanted, kept = steps.output[-1].numpy(), state.size
    np.testing.assert_allclose(answer, wanted, atol=1e-9)
    assert times.count == multiplications(kind, size, told)
    assert kept == numbers_kept(kind, size, told)


def test_latent_attention_in_a_block_is_the_whole_one_where_the_vector_is_as_wide_as_a_word():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        whole = MultiHeadAttention(16, 4, bias=False, qkv_bias=False)
        latent, x = make.LatentAttention(16, 4, 16, 2), torch.randn(2, 5, 16)
    q, k, v = whole.qkv.weight.detach().split(16)
    weights = {"q": q.T, "down": torch.eye(16), "up_k": k.T, "up_v": v.T}
    weights["output"] = whole.projection.weight.detach().T
    for name, weight in weights.items():
        latent.matrices[name].data = weight
    torch.testing.assert_close(latent(x), whole(x, causal_mask(5), causal=True))
    with pytest.raises(ValueError, match="no cache"):
        latent(x, positions=torch.zeros(2))


# ---- what the chapter says of the record


def test_the_list_forgets_nothing_and_the_smallest_memory_more_and_more():
    for size in SIZES:
        for who in (ONCE, CHANGED):
            assert recorded().shares(LIST, size, who).min() > 0.98
    shares = recorded().shares("adds", 8, ONCE)
    assert shares[:, : COUNTS.index(4) + 1].min() > 0.97, "hardly a mistake"
    later = shares.mean(0)[COUNTS.index(4) :]
    assert (np.diff(later) < 0).all()
    notepad = [told_orders.notepad(n, 4) for n in COUNTS]
    assert (later[1:] > notepad[COUNTS.index(4) + 1 :]).all(), "no order is lost at once"
    at = COUNTS.index(20)
    by_size = np.array([recorded().shares("adds", size, ONCE)[:, at] for size in SIZES])
    assert (np.diff(by_size, axis=0) > 0).all(), "a larger memory holds out longer"


def test_a_changed_mind_is_a_coin_toss_until_the_old_dish_is_taken_away_or_fades():
    two, eight, many = (model.counts(CHANGED).index(n) for n in (2, 8, 20))
    added = recorded().shares("adds", 8, CHANGED)
    assert np.abs(added[:, two] - 0.5).max() < 0.1
    assert (added[:, many] < added[:, two] - 0.05).all(), "and it gets worse"
    for kind in ("replaces", "fades"):
        assert (recorded().shares(kind, 8, CHANGED)[:, eight] > added[:, eight] + 0.1).all()


def test_where_all_fades_the_other_guests_lose():
    told = drawn(20, 10, texts=1000)
    fades, adds = (
        (bundled(kind)(*told[:3]).argmax(-1) == told.right)[~told.again].float().mean()
        for kind in ("fades", "adds")
    )
    assert float(fades) < float(adds) - 0.05
    waiter = bundled("fades")
    keys, _ = waiter.written(told.guests, told.dishes)
    whole = waiter.key(waiter.guest(told.guests))
    assert (keys.abs() <= whole.abs() + 1e-6).all()


def test_a_memory_to_which_is_only_added_blurs_the_first_guest_no_more_than_the_last():
    told = drawn(16, texts=2000)
    right = (bundled("adds")(*told[:3]).argmax(-1) == told.right).float()
    shares = right.mean(0)  # by place of the order
    assert abs(float(shares[:8].mean() - shares[8:].mean())) < 0.02
    swapped = bundled("adds")(told.guests.flip(1), told.dishes.flip(1), told.queries)
    torch.testing.assert_close(swapped, bundled("adds")(*told[:3]), rtol=1e-3, atol=1e-4)


def test_a_notepad_keeps_what_fits_and_guesses_the_rest():
    chance = np.random.default_rng(0)
    kept = np.arange(12) < 4
    guessed = chance.integers(len(told_orders.DISHES), size=(20_000, 12)) == 0
    assert told_orders.notepad(12, 4) == pytest.approx((kept | guessed).mean(), abs=0.003)


def test_the_bytes_of_the_caches_are_those_of_their_vectors():
    found = recorded()
    assert found.cache_bytes == {
        "heads 4": 2 * 2 * 4 * 16 * 4,  # layers, keys and values, heads, numbers, bytes
        "heads 1": 2 * 2 * 1 * 16 * 4,
        "latent 32": 2 * 32 * 4,
        "latent 16": 2 * 16 * 4,
    }
    assert found.cache_bytes["latent 16"] * 8 == found.cache_bytes["heads 4"]
    sizes = list(found.small_parameters.values())
    assert max(sizes) < 1.06 * min(sizes)
    by_kind = [of.parameters for of in found.waiters if of.size == 8]
    assert max(by_kind) < 1.15 * min(by_kind), "about equally many"


def test_the_guest_who_orders_again_is_torn_until_the_old_dish_is_taken_away():
    from llmviz.course.lessons.next.memory import chapter

    told = chapter.text_of(41, CHANGED)
    guests, dishes = told.guests[0, :7], told.dishes[0, :7]
    old = int(dishes[(guests[:6] == guests[6]).nonzero().item()])
    shares = {
        kind: bundled(kind)(guests, dishes, guests[6:]).softmax(-1)[0]
        for kind in ("adds", "replaces")
    }
    assert min(shares["adds"][old], shares["adds"][dishes[6]]) > 0.4, "half for each"
    assert shares["replaces"][dishes[6]] > 0.7 > 0.25 > shares["replaces"][old]
    keys, _ = bundled("adds").written(guests, dishes)
    assert torch.equal(keys[6], keys[int((guests[:6] == guests[6]).nonzero().item())])
