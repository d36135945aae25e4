"""What the lesson on tokens says at its edges: unknown parts, parts of characters, ties."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus import WindowPlan
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.tokenization.cut import chapter as cut
from llmviz.course.lessons.tokenization.cut import words as cut_words
from llmviz.course.lessons.tokenization.wordpiece import chapter as wordpiece
from llmviz.course.lessons.tokenization.wordpiece.model import learn_pieces
from llmviz.course.lessons.training.windows import chapter as windows
from llmviz.tokenizers import (
    UNKNOWN,
    BPETokenizer,
    CharTokenizer,
    WordTokenizer,
    get_tokenizer,
)
from llmviz.tokenizers.registry import TOKENIZERS
from llmviz.tokenizers.wordpiece import WordPieceTokenizer
from tests.pages.harness import boxes, fine, open_part, prose_of

TEXT = some.text(alphabet=some.characters(exclude_categories=["Cs"]), max_size=40)
KINDS = [kind.train("the cat sat.\n") for kind in (WordTokenizer, CharTokenizer)]
KINDS += [BPETokenizer([]), WordPieceTokenizer.train("the cat sat.", 60)]


# ---- cut


def test_two_unknown_words_are_not_called_the_same_token():
    tokens = get_tokenizer("word").tokens("zyxq qxyz the")
    assert tokens[0].id == tokens[1].id
    text = as_markdown(cut.chosen_token(tokens, 0))
    assert "`zyxq`" in text and "This id occurs 2 times" in text


def test_a_token_that_is_no_whole_character_covers_a_part_of_it():
    tokens = BPETokenizer([]).tokens("é")
    assert "It covers a part of 1 character," in cut.chosen_token(tokens, 0)
    assert "It covers 1 character," in cut.chosen_token(BPETokenizer([]).tokens("e"), 0)


@settings(max_examples=80, deadline=None)
@given(TEXT | some.sampled_from(["the  cat", "the cat", "zebra", "the\ncat sat.", " "]))
def test_what_decoding_loses_is_what_the_page_says(text):
    for tokenizer in KINDS:
        ids = tokenizer.encode(text)
        line = cut.way_back(tokenizer, text, ids)
        assert (line == cut_words.back_exact) == (tokenizer.decode(ids) == text)
        if line == cut_words.back_spacing:
            back = tokenizer.decode(ids)
            assert "".join(back.split()) == "".join(text.split())
        elif line != cut_words.back_exact:
            unknown = next(t for t in (UNKNOWN, "[UNK]") if t in tokenizer.special_tokens)
            assert tokenizer.special_tokens[unknown] in ids and unknown in line


def test_only_the_special_tokens_that_there_are_are_explained():
    for tokenizer in [*KINDS, get_tokenizer("bpe")]:
        text = as_markdown(cut.special_text(tokenizer))
        assert "ordinary text never" not in text  # <|unk|> stands for parts of ordinary text
        for name, meaning in cut_words.special_meanings.items():
            assert (f"`{name}` (id " in text) == (name in tokenizer.special_tokens)
            if meaning in text:
                known = map(cut_words.special_meanings.get, tokenizer.special_tokens)
                assert meaning in known


def test_the_largest_id_is_said_and_not_a_number_of_tokens():
    """cl100k_base and o200k_base leave some ids unused, so that they have fewer tokens than ids."""
    for info in TOKENIZERS.values():
        if info.kind == "tiktoken" and info.name != "gpt2":
            assert "tokens" not in info.description and "ids up to" in info.description
    last = get_tokenizer("bpe").vocab_size - 1
    assert f"from 0 to {last:,}" in prose_of(open_part("tokenization", "cut"))


def test_unknown_words_of_every_kind_are_named_in_the_reason_for_capitals():
    for tokenizer in (KINDS[0], KINDS[3]):
        question = cut.capitals_question("one", tokenizer, "the cat")
        unknown = next(t for t in (UNKNOWN, "[UNK]") if t in tokenizer.special_tokens)
        assert f"`{unknown}`" in as_markdown(question.reasons[question.right])


# ---- learn


def test_a_vocabulary_of_257_has_no_room_for_a_merge_and_the_corpus_is_not_blamed():
    app = open_part("tokenization", "learn", corpus="own", own="low lower lowest", size="257")
    fine(app)
    assert "room for the bytes" in boxes(app) and "no two neighbours" not in boxes(app)


def test_nothing_is_said_of_frequent_words_before_the_first_merge():
    assert "have become one token" not in prose_of(open_part("tokenization", "learn", step="0"))


# ---- merge


def test_all_pieces_of_a_long_text_are_counted():
    text = "it's 42 " * 20
    pieces = get_tokenizer("bpe").pretokenize(" " + text)
    assert len(pieces) > 30
    app = open_part("tokenization", "merge", word=text)
    assert f"cut into {len(pieces)} pieces" in prose_of(app)
    assert "The first 30 are listed." in prose_of(app)


def test_the_bytes_that_are_drawn_are_counted():
    word = "a" + "é" * 30  # the limit of 48 bytes falls inside of a character
    app = open_part("tokenization", "merge", word=word, space="0")
    assert "the first 47 bytes of 61" in boxes(app)


# ---- WordPiece


def test_a_tie_in_counts_is_not_called_bpe_s_choice():
    asked = 0
    for text in ("ab ac abb acc b", "aab aba bb ca", "cab ba bc ac", "abc abd cd ab"):
        learned = learn_pieces(text)
        for joins in range(len(learned.steps)):
            step = learned.steps[joins]
            question = wordpiece.next_question(learned, joins)
            if question is None or step.best.count != step.most_frequent.count:
                continue
            asked += 1
            wrong = question.reasons[1 - question.right]
            assert "would take" not in wrong and "No pair occurs more often" in wrong
    assert asked


# ---- windows


def test_gaps_are_said_only_where_a_token_is_in_no_window():
    link = {"text": "abcdefg", "tokenizer": "char", "context": "4", "stride": "8"}
    text = prose_of(open_part("training", "windows", **link))
    assert "At the end, 2 tokens are in no window" in text and "gaps" not in text


@settings(max_examples=200, deadline=None)
@given(some.integers(1, 8), some.integers(1, 20), some.integers(1, 60))
def test_tokens_in_no_window_are_counted_where_they_are(context, stride, more):
    """Between two windows or after the last; each is looked for window by window."""
    plan = WindowPlan(context + more, context, stride)
    covered = {at for start in plan.starts for at in range(start, start + context + 1)}
    left_out = [at for at in range(plan.tokens) if at not in covered]
    between = [at for at in left_out if at < max(covered)]
    told = windows.coverage(plan)
    for where, places in (("so there are gaps:", between), ("At the end,", left_out)):
        number = len(places) - (len(between) if places is left_out else 0)
        word = f"{number} token{' is' if number == 1 else 's are'}"
        assert (f"{where} {word} in no window" in told) == bool(number)
    assert ("only one window" in told) == (len(plan.starts) == 1)
    assert ("Neighbours share" in told) == (stride < context and len(plan.starts) > 1)


def test_a_rest_longer_than_a_window_is_not_called_too_short_for_one():
    """With a long stride the next window would begin behind the end."""
    plan = WindowPlan(20, 4, 32)
    assert len(plan.never_seen) > plan.context + 1
    assert "too few" not in windows.coverage(plan)


# ---- capitals


def test_capitals_are_asked_about_as_special_tokens_are_read():
    text = "<|endoftext|>Once Anna and Samir saw a kitten. Then"
    for special in (False, True):
        question = cut.capitals_question("bpe", get_tokenizer("bpe"), text, special=special)
        tokens = len(get_tokenizer("bpe").encode(text, "all" if special else ()))
        assert f"into {tokens} tokens" in as_markdown(question.text)
        assert (tokens,) in question.values


def test_nothing_is_asked_of_a_tokenizer_to_which_capitals_are_the_same():
    class Small(CharTokenizer):
        def encode(self, text, allowed_special=()):
            return super().encode(text.lower(), allowed_special)

    small = Small.train("the cat")
    assert cut.capitals_question("small", small, "the cat") is None


def test_more_words_than_are_followed_are_counted_in_a_note():
    app = open_part("tokenization", "learn", follow=" ".join("abcdefghij"))
    fine(app)
    assert "holds 10 different words and marks. The first 8 of them are followed" in boxes(app)
    assert "are followed" not in boxes(open_part("tokenization", "learn", follow="a b a b"))
