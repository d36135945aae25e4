"""The graded questions on tokens, at their edges: one answer is right, and its reason is true."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus import WindowPlan
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.tokenization.bytes import chapter as utf8
from llmviz.course.lessons.tokenization.compare import chapter as compare
from llmviz.course.lessons.tokenization.cut import chapter as cut
from llmviz.course.lessons.tokenization.learn import chapter as learn
from llmviz.course.lessons.tokenization.merge import chapter as merge
from llmviz.course.lessons.tokenization.wordpiece import chapter as wordpiece
from llmviz.course.lessons.tokenization.wordpiece.model import learn_pieces
from llmviz.course.lessons.training.windows import chapter as windows
from llmviz.tokenizers import (
    UNKNOWN,
    BPETokenizer,
    CharTokenizer,
    WordTokenizer,
    film,
    get_tokenizer,
)
from llmviz.tokenizers.training import train_steps

TEXT = some.text(alphabet=some.characters(exclude_categories=["Cs"]), max_size=60)
LETTERS = some.text(alphabet="aabc ß'1_ŉéÉ", max_size=60)
KINDS = {name: get_tokenizer(name) for name in ("word", "char", "bpe")}


# ---- capitals


@settings(max_examples=80, deadline=None)
@given(TEXT | LETTERS | some.sampled_from(["Straße", "ß", "ﬁx", "STRASSE", "1 2", ""]))
def test_capitals_are_counted_as_they_are_written(text):
    for name, tokenizer in KINDS.items():
        question = cut.capitals_question(name, tokenizer, text)
        capitals = text.upper()
        if capitals == text:
            assert question is None
            continue
        before, after = len(tokenizer.encode(text)), len(tokenizer.encode(capitals))
        if question is None:  # both are the same, or the answers are
            counts = sorted({before, after, len(capitals)})
            gaps = [b - a for a, b in itertools.pairwise(counts)]
            same = tokenizer.encode(text) == tokenizer.encode(capitals)
            assert same or not gaps or min(gaps) < cut.APART * counts[-1]
            continue
        assert {value for (value,) in question.values} == {before, after, len(capitals)}
        assert question.values[question.right] == (after,)
        unknown = tokenizer.special_tokens.get(UNKNOWN) in tokenizer.encode(capitals)
        assert (UNKNOWN in question.reasons[question.right]) == unknown


# ---- WordPiece's next merge


@settings(max_examples=60, deadline=None)
@given(some.text(alphabet="aabc ", min_size=1, max_size=60).filter(str.strip), some.integers(0, 30))
def test_wordpiece_joins_the_pair_of_higher_score(text, joins):
    learned = learn_pieces(text)
    question = wordpiece.next_question(learned, joins)
    if question is None:
        if joins < len(learned.steps):
            step = learned.steps[joins]
            assert step.best.score == step.most_frequent.score
        return
    step = learned.steps[joins]
    right, wrong = step.best, step.most_frequent
    assert right.score > wrong.score and wrong.count >= right.count
    assert question.answers[question.right] == " + ".join(right.pair)
    assert "No pair has a higher score" in question.reasons[question.right]


# ---- what a greeting costs


def test_a_greeting_in_another_script_costs_its_bytes_and_the_answers_are_apart():
    bpe, asked = KINDS["bpe"], compare.words.asked
    question = compare.cost_question("hello")
    assert question.values[question.right] == (len(bpe.encode(asked)),)
    assert len(bpe.encode(asked)) == len(asked.encode())  # as the reason says: single bytes
    assert {value for (value,) in question.values} >= {(len(asked)), len(bpe.encode("hello"))}
    counts = sorted(value for (value,) in question.values)
    assert all(b - a >= 2 for a, b in itertools.pairwise(counts)) and len(counts) == 4
    assert question.values[question.right] != (counts[-1],)  # the largest is not the right one
    assert compare.cost_question(f"hello {asked}") is None  # the picture shows it


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_what_has_no_hole_is_given_back_but_for_its_spaces(text):
    for name, tokenizer in KINDS.items():
        lost = compare.holes(tokenizer, text)
        back = tokenizer.decode(tokenizer.encode(text))
        assert bool(lost) == (UNKNOWN in back and UNKNOWN not in text) or UNKNOWN in text
        line = compare.caption({name: tokenizer}, text)
        assert ("No row has a hole" in line) == (not lost)
        assert (" is not on the list" in line) == (len(lost) == 1)


# ---- what later merges save


def film_with(saved: list[int]) -> SimpleNamespace:
    """A film whose merges take away so many tokens each."""
    length = sum(saved) + 1
    steps, left = [], length
    for tokens in saved:
        left -= tokens
        steps.append(SimpleNamespace(corpus_length_after=left))
    return SimpleNamespace(steps=steps, corpus_length=length)


@given(some.integers(10, 40), some.integers(1, 400), some.integers(1, 400), some.booleans())
def test_what_later_merges_save_is_asked_with_lines_that_are_apart(half, first, second, odd):
    saved = [first] * half + [second] * half + [1] * odd
    question = learn.saving_question(film_with(saved))
    if question is None:
        return
    film = film_with(saved)
    right = question.values[question.right]
    assert right == tuple(
        learn.length_after(film, at) for at in learn.stops(film)[learn.HALF + 1 :]
    )
    assert f"saved {half * first:,} tokens" in question.reasons[question.right]
    assert f"the next {half:,} saved {half * second:,}." in question.reasons[question.right]
    for line in question.values[: question.right]:
        gap = sum(abs(a - b) for a, b in zip(line, right, strict=True)) / learn.HALF
        assert gap >= learn.APART * film.corpus_length


def test_few_merges_are_not_asked_about():
    assert learn.saving_question(film_with([])) is None
    assert learn.saving_question(film_with([3] * 19)) is None
    assert learn.saving_question(film_with([30] * 10 + [3] * 10)) is not None


@given(some.text(alphabet="aab ", min_size=1, max_size=80).filter(str.strip))
def test_no_later_merge_joins_a_pair_that_is_counted_more_often(text):
    counts = [step.count for step in train_steps(text, 300)]
    assert counts == sorted(counts, reverse=True)


# ---- the first merge of a word


@settings(max_examples=80, deadline=None)
@given(some.lists(some.sampled_from(["token", "abc123", "it's_so", "banana", "low_er", "aaaa"])))
def test_the_first_merge_is_that_of_lowest_rank_within_one_piece(parts):
    bpe = KINDS["bpe"]
    question = merge.first_merge_question(" ".join(parts), "token", bpe)
    if question is None:
        return
    word = as_markdown(question.text).split("`")[1]
    assert word != "token" and bpe.pretokenize(" " + word) == [" " + word]
    tree = bpe.merge_tree(" " + word)
    node = tree.nodes[len(tree.piece)]
    joined = tree.piece[node.byte_start : node.byte_end].decode().replace(" ", "·")
    assert question.answers[question.right] == joined
    assert f"has rank {node.rank:,}, the lowest" in question.reasons[question.right]
    assert node.byte_start > 0  # who begins at the left is wrong
    for at, reason in enumerate(question.reasons):
        assert ("the lowest among" in reason) == (at == question.right)


def test_a_word_with_a_border_inside_is_not_asked_for():
    bpe = KINDS["bpe"]
    assert bpe.pretokenize(" abcd123") != [" abcd123"]
    assert merge.first_merge_question("abcd123", "", bpe) is None
    assert merge.first_merge_question("", "", bpe) is None


# ---- bytes


def test_a_joined_sign_costs_what_its_bytes_do_and_the_answers_are_apart():
    sign, bpe = utf8.words.joined, KINDS["bpe"]
    question = utf8.cost_question("naïve 🙂")
    assert question.values[question.right] == (len(bpe.encode(sign)),)
    woman, joiner, rocket = sign
    one, seen, right = sorted(value for (value,) in question.values)
    assert one == len(bpe.encode("🙂"))
    assert seen == len(bpe.encode(woman)) + len(bpe.encode(rocket))
    assert right == seen + len(bpe.encode(joiner))
    assert utf8.cost_question(f"a {sign}") is None  # the picture shows it


# ---- windows


@given(some.integers(1, 16), some.integers(1, 32), some.integers(1, 120))
def test_a_window_asks_once_at_each_of_its_tokens(context, stride, more):
    plan = WindowPlan(context + more, context, stride)
    texts = [f"t{at}" for at in range(plan.tokens)]
    question = windows.guesses_question(texts, plan)
    assert (question is None) == (context == 1)
    if question is not None:
        assert question.answers[question.right] == str(plan.predictions // len(plan.starts))
        assert set(question.answers) == {"1", str(context - 1), str(context)}
        assert f"`t{context}`" in as_markdown(question.reasons[question.right])


@given(some.integers(1, 12), some.integers(1, 60))
def test_at_a_stride_of_the_context_no_input_comes_twice_and_the_last_target_is_none(context, more):
    plan = WindowPlan(context + more, context, context)
    assert max(plan.visits) == 1
    last = plan.starts[-1] + context
    assert plan.target_visits[last] == 1 and plan.visits[last] == 0


# ---- sentences


@given(TEXT)
def test_characters_and_words_write_only_what_they_know(text):
    """What the chapter says of the three kinds: bytes write anything, the others what they know."""
    for kind in (CharTokenizer, WordTokenizer):
        tokenizer = kind.train("the cat sat")
        unknown = tokenizer.special_tokens[UNKNOWN]
        known = set(tokenizer.vocabulary)
        parts = kind.split(text)
        assert [i == unknown for i in tokenizer.encode(text)] == [p not in known for p in parts]
    assert BPETokenizer([]).decode(BPETokenizer([]).encode(text)) == text


def test_the_saving_question_fits_a_real_training():
    trained = film("low lower lowest newer newest wider widest slow slower " * 3, "", 300)
    assert learn.saving_question(trained) is not None
