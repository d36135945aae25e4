"""Merging one piece: against the plainest algorithm, and what a merge tree must be."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.tokenizers import NEVER, BPETokenizer
from llmviz.tokenizers.merging import Merges, merge, merge_passes, merge_tree
from tests.tokenizers.samples import CORPUS


def merge_plainly(ids: list[int], pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Merge the leftmost place of the lowest-ranked pair, again and again; return every state."""
    rank_of = {pair: rank for rank, pair in enumerate(pairs)}
    states = [ids]
    while True:
        ids = states[-1]
        known = [(rank_of[p], i) for i, p in enumerate(pairwise(ids)) if p in rank_of]
        if not known:
            return states
        rank, i = min(known)
        states.append([*ids[:i], 256 + rank, *ids[i + 2 :]])


@st.composite
def merges_and_word(draw):
    """Draw a list of merges that could have been trained, over few letters, and a word."""
    pairs: list[tuple[int, int]] = []
    for rank in range(draw(st.integers(0, 12))):
        known = [97, 98, 99, *range(256, 256 + rank)]
        pair = (draw(st.sampled_from(known)), draw(st.sampled_from(known)))
        if pair not in pairs:
            pairs.append(pair)
        else:
            pairs.append((97 + rank, 120))
    return pairs, draw(st.text("abc", max_size=40))


@given(merges_and_word())
def test_merging_equals_the_plain_algorithm_at_every_step(case):
    pairs, word = case
    states = merge_plainly(list(map(ord, word)), pairs)
    tree = merge_tree(word, Merges(pairs))
    assert [[node.id for node in tree.at(k)] for k in range(tree.n_steps + 1)] == states
    assert list(map(ord, merge(word, Merges(pairs)))) == states[-1] == tree.ids


@given(merges_and_word())
def test_a_merge_tree_holds_together(case):
    pairs, word = case
    tree = merge_tree(word, Merges(pairs))
    assert tree.piece == word.encode()
    for node in tree.nodes:
        assert tree.nodes[node.index] is node
        assert node.born < node.died
        if node.parent >= 0:
            assert tree.nodes[node.parent].born == node.died
        else:
            assert node.died == NEVER
        if node.left >= 0:
            left, right = tree.nodes[node.left], tree.nodes[node.right]
            assert (left.byte_end, left.parent, right.parent) == (
                right.byte_start,
                node.index,
                node.index,
            )
            assert (node.byte_start, node.byte_end) == (left.byte_start, right.byte_end)
            assert pairs[node.rank] == (left.id, right.id)
            assert tree.at(node.born)[node.position] is node
    for step in range(tree.n_steps + 1):
        row = tree.at(step)
        assert [n.byte_end for n in row[:-1]] == [n.byte_start for n in row[1:]]
        assert not row or (row[0].byte_start, row[-1].byte_end) == (0, len(word))


@pytest.mark.parametrize("letters", ["a", "ab", "abcdefgh"])
def test_a_long_piece_is_merged_like_a_short_one(letters):
    rng = random.Random(1)
    word = "".join(rng.choices(letters, k=600))
    tokenizer = BPETokenizer.train([word, word[:100]], 300)
    assert merge_plainly(list(map(ord, word)), tokenizer.merges)[-1] == tokenizer.encode(word)


def test_a_run_of_one_letter_takes_few_passes():
    merges = Merges([(97, 97), (256, 256), (257, 257), (258, 258)])
    passes = list(merge_passes("a" * 100_001, merges))
    assert [new for new, _ in passes] == [chr(256 + i) for i in range(4)]
    assert merge("a" * 100_001, merges) == chr(259) * 6250 + "a"


def test_greedy_matching_differs_from_merging_and_spells_the_same():
    # "bc" has the lowest rank, so "abc" is [a, bc], though the token "abc" exists and is longer.
    tokenizer = BPETokenizer([(98, 99), (97, 98), (257, 99)])
    assert tokenizer.encode("abc") == [97, 256]
    assert tokenizer.greedy_left_to_right("abc") == [258]
    text = CORPUS.read_text(encoding="utf-8")[:20_000]
    trained = BPETokenizer.train(text, 600)
    words = sorted(set(trained.pretokenize(text)))
    greedy = {word: trained.greedy_left_to_right(word) for word in words}
    assert all(trained.decode(ids) == word for word, ids in greedy.items())
    assert any(ids != trained.merge_tree(word).ids for word, ids in greedy.items())


@pytest.mark.parametrize("word", ["", "x"])
def test_the_smallest_words_have_no_step(word):
    tree = merge_tree(word, Merges([(97, 97)]))
    assert (tree.n_steps, len(tree.nodes), tree.ids) == (0, len(word), list(map(ord, word)))
