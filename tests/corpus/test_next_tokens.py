"""The true next token of a story, and how far the grammar can have written a text."""

import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from llmviz.corpus import generate, is_story, parse
from llmviz.corpus.grammar_likelihood import kept_characters
from llmviz.corpus.next_tokens import next_distribution, true_tokens
from llmviz.corpus.words import words
from llmviz.corpus.writer import NotTinyWorldError
from llmviz.tokenizers import BPETokenizer, WordTokenizer, get_tokenizer

STORIES = list(generate(30, seed=41))
TEXTS = [story.text for story in STORIES]
CORPUS = [story.text for story in generate(300, seed=2)]
# Tokens that end within words, so that a word may be whole or go on: " sun" and " sunset".
COARSE = BPETokenizer.train(CORPUS, 400)


def tokenizers():
    return [get_tokenizer("bpe"), COARSE, get_tokenizer("word"), get_tokenizer("char")]


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=["bpe", "coarse", "word", "char"])
def test_the_chain_rule_gives_the_probability_of_the_whole_story(tokenizer):
    for story in STORIES:
        read = true_tokens(story.text, tokenizer)
        assert read.whole
        assert list(read.ids) == [*tokenizer.encode(story.text), tokenizer.end]
        assert math.fsum(read.log_probs) == pytest.approx(story.log_prob, abs=1e-6)
        for following in read.following:
            assert following.probabilities.sum() == pytest.approx(1)
            assert (np.diff(following.ids) > 0).all()


def test_counted_stories_agree_with_the_distributions():
    """Chi-squared over what follows the beginnings that many stories share."""
    counts = defaultdict(Counter)
    for story in generate(4000, seed=8):
        ids = COARSE.encode(story.text[:60])[:-3]  # the cut may change the last ones
        for n in range(len(ids)):
            counts[tuple(ids[:n])][ids[n]] += 1
    often = {begun: seen for begun, seen in counts.items() if seen.total() >= 180}
    assert len(often) > 30
    for begun, seen in often.items():
        truth = next_distribution(COARSE.decode(begun), COARSE)
        assert set(seen) <= set(truth.ids.tolist()), COARSE.decode(begun)
        expected = truth.probabilities * seen.total()
        found = np.array([seen[token] for token in truth.ids.tolist()])
        common = expected >= 5
        parts = [*(found[common] - expected[common]) ** 2 / expected[common]]
        rare, hoped = found[~common].sum(), expected[~common].sum()
        parts += [(rare - hoped) ** 2 / hoped] if hoped >= 5 else []
        degrees = max(1, len(parts) - 1)
        assert sum(parts) < degrees + 6 * math.sqrt(2 * degrees) + 12, COARSE.decode(begun)


def test_entropy_and_divergence_are_the_expected_loss_by_enumeration():
    """All ends of a story, tried one by one: their mean loss is the sum of the parts."""
    fitting = (one.text for one in generate(2000, seed=4) if " and ate " in one.text[-40:])
    story = min(fitting, key=len)
    begins = story[: story.rindex(" and ate ") + len(" and ate")]
    foods = [word for word in words("food") if parse_or_none(f"{begins} {word}.")]
    assert len(foods) > 50
    wrong = random.Random(0)
    guess = {}  # a model that is wrong in its own way after each beginning

    def model(ids):
        if ids not in guess:
            scores = np.array([wrong.gauss(0, 1) for _ in range(COARSE.vocab_size)])
            guess[ids] = np.exp(scores) / np.exp(scores).sum()
        return guess[ids]

    start = len(COARSE.encode(begins))
    loss, parts = 0.0, {}
    for food in foods:
        read = true_tokens(f"{begins} {food}.", COARSE)
        reached = 1 / len(foods)
        for at in range(start, len(read.ids)):
            q = model(read.ids[:at])
            loss -= reached * math.log(q[read.ids[at]])
            parts.setdefault(read.ids[:at], [0.0, read.following[at], q])[0] += reached
    total = 0.0
    for reached, truth, q in parts.values():
        divergence = truth.probabilities @ np.log(truth.probabilities / q[truth.ids])
        total += reached * (truth.entropy + divergence)
    assert loss == pytest.approx(total, abs=1e-6)


def parse_or_none(text):
    try:
        return parse(text)
    except NotTinyWorldError:
        return None


def test_what_comes_later_does_not_change_what_was_to_be_expected():
    tokenizer, text = get_tokenizer("bpe"), STORIES[0].text
    whole = true_tokens(text, tokenizer)
    for n in (0, 1, 17, 60, len(whole.ids) - 2):
        before = tokenizer.decode(whole.ids[:n])
        here = next_distribution(before, tokenizer)
        assert np.array_equal(here.ids, whole.following[n].ids)
        assert here.probabilities == pytest.approx(whole.following[n].probabilities, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("", 0),
        ("Hello", 0),
        ("Once there was a dragon", 5),
        (" Once there was", 0),
        ("Once there was  a", 3),
        ("Once there was\u0000", 3),
        ("Long ago, in 🚀", 4),
    ],
)
def test_a_text_outside_the_grammar_has_a_truth_up_to_there(text, possible):
    tokenizer = get_tokenizer("bpe")
    read = true_tokens(text, tokenizer)
    assert (read.possible, read.whole) == (possible, False)
    assert len(read.following) == possible + 1
    assert list(read.ids) == tokenizer.encode(text)
    if possible < len(read.ids):
        assert read.following[possible].of(read.ids[possible]) == 0
        with pytest.raises(NotTinyWorldError, match=f"token {possible + 1} "):
            next_distribution(text, tokenizer)


def test_a_story_that_goes_on_behind_its_end_is_known_up_to_its_end():
    tokenizer, text = get_tokenizer("bpe"), STORIES[1].text
    read = true_tokens(f"{text} Once there was", tokenizer)
    assert read.possible == len(tokenizer.encode(text))
    assert read.following[-1].of(tokenizer.end) == 1
    assert read.following[-1].entropy == 0


def test_words_that_a_tokenizer_does_not_know_share_the_token_for_them():
    tokenizer = WordTokenizer.train("Once there was a")
    following = next_distribution("Once there was a", tokenizer)
    assert following.ids.tolist() == [tokenizer.special_tokens["<|unk|>"]]
    assert next_distribution("Once there was", tokenizer).of(tokenizer.encode("a")[0]) < 1


def test_a_tokenizer_of_another_kind_is_refused():
    class Other:
        kind = "wordpiece"

    with pytest.raises(ValueError, match="wordpiece"):
        true_tokens("Once", Other())


def test_every_beginning_of_a_story_is_kept_whole():
    chance = random.Random(0)
    for text in TEXTS:
        for end in chance.sample(range(len(text) + 1), 25):
            assert kept_characters(text[:end]) == end


def test_what_stands_behind_the_end_of_a_story_is_not_kept():
    for text in TEXTS[:10]:
        assert kept_characters(text + " And so") == len(text)


def test_a_changed_character_is_found_where_true_tokens_find_it():
    tokenizer, chance = get_tokenizer("char"), random.Random(1)
    for text in TEXTS[:16]:
        at = chance.randrange(20, 200)
        changed = text[:at] + ("Q" if text[at] != "Q" else "X") + text[at + 1 :]
        kept = kept_characters(changed)
        possible = true_tokens(changed, tokenizer).possible
        assert kept <= possible <= at  # the phrase begins before the character that is wrong
        assert not is_story(changed)
        assert kept_characters(changed[:kept]) == kept


@pytest.mark.parametrize("text", ["", "O", "Once there was a"])
def test_short_beginnings_are_kept(text):
    assert kept_characters(text) == len(text)
