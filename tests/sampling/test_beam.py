"""Beam search and every continuation against a plain enumeration; a tree of all branches."""

import itertools

import numpy as np
import pytest
import torch

from llmviz.models import build
from llmviz.sampling import BeamSearch, beam_search, exhaustive_search, generate
from llmviz.sampling.generation import NextLogits
from tests.random_weights import with_random_weights

V = 4


def gpt(seed=0, vocab_size=V):
    torch.manual_seed(seed)
    config = dict(vocab_size=vocab_size, context_length=8, n_layer=1, n_head=1, n_embd=8)
    model = build("gpt", config).eval()
    return with_random_weights(model, 0.7)


def exhaustive(model, prompt, length, length_penalty, stop_id):
    """Score every continuation: those of full length without a stop, and those that stop."""
    scores = {}
    for n in range(1, length + 1):
        for ids in itertools.product(range(V), repeat=n):
            stops = stop_id is not None and ids[-1] == stop_id
            if stop_id in ids[:-1] or (n < length and not stops):
                continue
            with torch.no_grad():
                rows = model(torch.tensor([prompt + list(ids)]))[0][0].double()
            logs = torch.log_softmax(rows[len(prompt) - 1 : -1], -1)
            total = logs[range(n), list(ids)].sum().item()
            scores[ids] = total / n**length_penalty
    return scores


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0, -0.5, 2.0])
@pytest.mark.parametrize("stop_id", [None, 2])
def test_a_beam_as_wide_as_the_tree_is_exhaustive(seed, length_penalty, stop_id):
    model, prompt, length = gpt(seed), [1, 3], 4
    scores = exhaustive(model, prompt, length, length_penalty, stop_id)
    tree = beam_search(model, prompt, V**length, length, length_penalty, stop_id)
    best = max(scores, key=scores.get)
    assert tuple(tree.tokens()) == best
    assert tree.best.score == pytest.approx(scores[best], abs=1e-4)
    found = {tuple(tree.tokens(i)): tree.nodes[i].score for i in tree.finals}
    assert found.keys() == scores.keys()
    for ids, score in found.items():
        assert score == pytest.approx(scores[ids], abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_width_one_is_greedy_and_more_width_never_ends_worse_than_the_whole_tree(seed):
    model = gpt(seed)
    greedy = [t.id for t in generate(model, [0], 5, temperature=0)]
    assert beam_search(model, [0], 1, 5).tokens() == greedy
    exact = max(exhaustive(model, [0], 4, 0.0, None).values())
    for width in (1, 2, 3, 64):
        assert beam_search(model, [0], width, 4).best.score <= exact + 1e-4


@pytest.mark.parametrize("width", [1, 2, 4])
def test_two_continuations_more_than_there_are_beams_are_shown_of_each(width):
    search = BeamSearch(width, max_new_tokens=3)
    search.step(np.log(np.full((1, 20), 1 / 20)))
    assert [node.parent for node in search.tree.nodes] == [None] + [0] * (width + 2)
    assert search.tree.hidden[0][0] == 20 - (width + 2)


def test_the_tree_accounts_for_every_branch():
    model = gpt(vocab_size=11)
    tree = beam_search(model, [1], beam_width=3, max_new_tokens=4, length_penalty=1.0, shown=4)
    root, *rest = tree.nodes
    assert root.parent is None
    for node in rest:
        parent = tree.nodes[node.parent]
        assert node.depth == parent.depth + 1
        assert node.total == pytest.approx(parent.total + node.log_probability)
        assert node.score == pytest.approx(node.total / node.depth)
    for parent, (count, mass) in tree.hidden.items():
        children = [n for n in rest if n.parent == parent]
        assert len(children) + count == 11
        shown_mass = sum(np.exp(n.log_probability) for n in children)
        assert shown_mass + mass == pytest.approx(1)
    for depth in range(1, 5):
        level = [n for n in rest if n.depth == depth]
        taken = [n for n in level if n.status != "pruned"]
        assert len(taken) == 3
        pruned = [n.total for n in level if n.status == "pruned"]
        assert min(n.total for n in taken) >= max(pruned)
    ends = {n.index for n in rest if n.depth == 4 and n.status == "kept"}
    assert set(tree.finals) == ends
    alive = {n.index for i in tree.finals for n in tree.path(i)}
    assert alive == {n.index for n in rest if n.status == "kept"}
    scores = [tree.nodes[i].score for i in tree.finals]
    assert scores == sorted(scores, reverse=True)


def test_stop_ends_a_beam_and_early_stopping_loses_nothing():
    model = gpt(4)
    for stop_id, alpha in itertools.product(range(V), (0.0, 1.0)):
        tree = beam_search(model, [1], 2, 7, alpha, stop_id)
        for i in tree.finals:
            ids = tree.tokens(i)
            assert stop_id not in ids[:-1]
            assert (tree.nodes[i].status == "finished") == (ids[-1] == stop_id)


def test_the_window_slides_and_the_mode_is_left_alone():
    model = gpt()
    model.train()
    tree = beam_search(model, [1] * 20, 2, 3)
    assert len(tree.tokens()) == 3
    assert model.training
    assert tree.tokens() == beam_search(model, [1] * 8, 2, 3).tokens()


@pytest.mark.parametrize("start", [1, 5])  # within the context, and over its end
def test_a_cache_changes_nothing_but_the_work(start):
    class Uncached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.own = gpt(vocab_size=11)
            self.context_length, self.config = self.own.context_length, self.own.config

        def forward(self, idx):
            return self.own(idx)

    def read(model, done):
        hook = model.register_forward_pre_hook(lambda _, given: done.append(given[0].numel()))
        tree = beam_search(model, [1] * start, 3, 6, 1.0, 2)
        hook.remove()
        return tree

    cached, plain = [], []
    one, two = read(gpt(vocab_size=11), cached), read(Uncached(), plain)
    assert [(n.parent, n.token, n.status) for n in one.nodes] == [
        (n.parent, n.token, n.status) for n in two.nodes
    ]
    assert [n.total for n in one.nodes] == pytest.approx([n.total for n in two.nodes], abs=1e-5)
    assert one.finals == two.finals
    steps = sum(start + depth <= 8 for depth in range(6))
    assert cached[0] == start and max(cached[1:steps]) <= 3
    assert sum(cached) < sum(plain)


def test_a_prompt_that_was_read_is_not_read_again():
    model, prompt, done = gpt(vocab_size=11), [1, 5, 3], []
    reader = NextLogits(model)
    last = reader(list(prompt))
    cache = reader.read_before()
    held = [keys[:, :, : cache.length].clone() for keys in cache.keys]
    assert cache.length == 2
    expected = beam_search(model, prompt, 3, 5)
    hook = model.register_forward_pre_hook(lambda _, given: done.append(given[0].numel()))
    tree = beam_search(model, prompt, 3, 5, cache=cache)
    written = list(generate(model, prompt, 4, temperature=0, cache=cache))
    hook.remove()
    assert max(done) <= 3 and done[0] == 1
    assert [node.token for node in tree.nodes] == [node.token for node in expected.nodes]
    assert [token.id for token in written] == [
        token.id for token in generate(model, prompt, 4, temperature=0)
    ]
    assert written[0].id == int(last.argmax())
    assert cache.length == 2  # nobody wrote into it
    assert all(torch.equal(keys[:, :, :2], own) for keys, own in zip(cache.keys, held, strict=True))
    for search in (beam_search, lambda *given, **more: generate(*given, 4, **more)):
        with pytest.raises(ValueError, match="less than the prompt; it holds 2 tokens of 2"):
            search(model, prompt[:2], cache=cache)


@pytest.mark.parametrize(
    ("search", "arguments", "message"),
    [
        (beam_search, dict(beam_width=0), "beam_width must be 1 or more; got 0"),
        (exhaustive_search, dict(max_new_tokens=20), "4 tokens to the power of 20 are more contin"),
        *(
            (search, *case)
            for search in (beam_search, exhaustive_search)
            for case in (
                (dict(max_new_tokens=0), "max_new_tokens must be 1 or more; got 0"),
                (dict(length_penalty=float("nan")), "finite"),
                (dict(length_penalty=float("inf")), "finite"),
                (dict(idx=[]), "prompt is empty"),
                (dict(idx=[V]), "from 0 to 3"),
            )
        ),
    ],
)
def test_bad_input_is_named(search, arguments, message):
    with pytest.raises(ValueError, match=message):
        search(gpt(), **{"idx": [0]} | arguments)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("stop_id", [None, 2])
def test_every_continuation_has_the_score_of_a_plain_enumeration(seed, length_penalty, stop_id):
    model, prompt, length = gpt(seed), [1, 3], 3
    expected = exhaustive(model, prompt, length, length_penalty, stop_id)
    found = exhaustive_search(model, prompt, length, length_penalty, stop_id)
    everything = {tuple(found.tokens(n)): found.scores[n - 1] for n in range(1, len(found.ids) + 1)}
    assert everything.keys() == expected.keys()
    for ids, score in everything.items():
        assert score == pytest.approx(expected[ids], abs=1e-4)
        assert found.tokens(found.place(ids)) == list(ids)
    assert (np.diff(found.scores) <= 0).all()
    assert np.exp(found.totals).sum() == pytest.approx(1)


@pytest.mark.parametrize("stop_id", [None, 5])
def test_a_wider_beam_comes_to_the_best_of_all(stop_id):
    missed = 0
    for seed in range(8):
        model = gpt(seed, vocab_size=12)
        best = exhaustive_search(model, [0], 3, stop_id=stop_id)
        places = [
            best.place(beam_search(model, [0], width, 3, stop_id=stop_id).tokens())
            for width in (1, 2, 4, 12**2)
        ]
        missed += places[0] > 1
        assert places[-1] == 1, "a beam as wide as the tree misses nothing"
    assert missed, "some greedy text is not the best, or the test shows nothing"


def test_the_window_of_every_continuation_slides_and_the_mode_is_left_alone():
    model = gpt().train()
    long, short = (exhaustive_search(model, [1] * n, 2) for n in (20, 8))
    assert np.allclose(long.totals, short.totals, atol=1e-5)
    assert model.training


def test_what_is_no_continuation_has_no_place():
    found = exhaustive_search(gpt(), [0], 2, stop_id=3)
    assert found.place([3]) >= 1
    for tokens in ([0], [3, 0], [0, 0, 0]):
        with pytest.raises(ValueError, match="not among"):
            found.place(tokens)
