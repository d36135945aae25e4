"""Viterbi against every sequence of tags; tables against counts by hand."""

import itertools
import random

import numpy as np
import pytest

from llmviz.corpus import generate
from llmviz.corpus.roles import TAGS, roles, sentences
from llmviz.language.hmm import HMM, count_hmm, log_probability, viterbi


def world(count, seed):
    told = [roles(document.text) for document in generate(count, seed)]
    return [[(w.text, w.tag) for w in one] for story in told for one in sentences(story)]


def by_chance(seed, tags=4, words=6):
    generator = np.random.default_rng(seed)
    shapes = ((tags,), (tags, tags), (tags, words + 1))
    tables = [generator.dirichlet(np.ones(shape[-1]), shape[:-1]) for shape in shapes]
    return HMM(tuple("ABCD"[:tags]), {f"w{i}": i for i in range(words)}, *tables)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_tags_are_the_best_of_all_there_are(seed):
    hmm, chance = by_chance(seed), random.Random(seed)
    words = [f"w{chance.randrange(8)}" for _ in range(chance.randint(1, 6))]  # w6, w7: never seen
    found = viterbi(hmm, words)
    scored = {
        tags: log_probability(hmm, words, tags)
        for tags in itertools.product(range(4), repeat=len(words))
    }
    best = max(scored, key=scored.get)
    assert found.path == best
    assert found.log_prob == pytest.approx(scored[best])
    assert found.seen == tuple(word in hmm.words for word in words)


def test_every_cell_opens_to_its_arithmetic():
    hmm = by_chance(1)
    found = viterbi(hmm, ["w1", "w2", "w0"])
    for t in range(3):
        for k in range(4):
            cell = found.cell(t, k)
            assert cell.score == pytest.approx(found.scores[t, k])
            assert cell.best == found.back[t, k]
            assert cell.score == pytest.approx(cell.sums.max() + cell.emission)


def test_tables_are_counts_with_smoothing():
    text = [[("the", "DET"), ("saw", "NOUN")], [("saw", "VERB"), ("the", "DET")]]
    hmm = count_hmm(text, ("DET", "NOUN", "VERB"), smoothing=0.5)
    assert hmm.start.tolist() == pytest.approx([1.5 / 3.5, 0.5 / 3.5, 1.5 / 3.5])
    assert hmm.transition[0].tolist() == pytest.approx([0.5 / 2.5, 1.5 / 2.5, 0.5 / 2.5])
    assert hmm.emission[0].tolist() == pytest.approx([0.5 / 3.5, 2.5 / 3.5, 0.5 / 3.5])
    for table in (hmm.start, hmm.transition, hmm.emission):
        assert table.sum(-1) == pytest.approx(1) and (table > 0).all()


def test_the_sentence_decides_over_a_word_with_two_tags():
    hmm = count_hmm(world(400, 21), TAGS)
    tool = viterbi(hmm, ["Anna", "mended", "the", "roof", "with", "a", "useful", "saw", "."])
    verb = viterbi(hmm, ["Anna", "saw", "a", "useful", "owl", "."])
    assert tool.tags[7] == "NOUN" and verb.tags[1] == "VERB"


def test_it_tags_stories_that_it_has_not_counted_and_words_it_never_saw():
    hmm = count_hmm(world(400, 21), TAGS)
    pairs = [pair for one in world(60, 22) for pair in [one]]
    right = total = 0
    for sentence in pairs:
        found = viterbi(hmm, [word for word, _ in sentence])
        right += sum(a == tag for a, (_, tag) in zip(found.tags, sentence, strict=True))
        total += len(sentence)
    assert right / total > 0.97
    strange = viterbi(hmm, ["The", "x" * 500, "was", "happy", "."])
    assert not strange.seen[1] and strange.tags[1] == "NOUN" and np.isfinite(strange.log_prob)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([], TAGS), "at least one word"),
        (([[("a", "X")]], TAGS), "tag must be one of ADJ"),
        (([[("a", "DET")]], TAGS, 0), "smoothing must be a number above 0"),
    ],
)
def test_wrong_counts_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        count_hmm(*given)
    with pytest.raises(ValueError, match="at least one word"):
        viterbi(by_chance(0), [])
