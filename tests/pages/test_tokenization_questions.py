"""Questions, sentences and ends of the lesson on tokens: true at their edges."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus import WindowPlan
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.compare import chapter as compare
from llmviz.course.lessons.tokenization.compare import spelled as utf8
from llmviz.course.lessons.tokenization.cut import chapter as cut
from llmviz.course.lessons.tokenization.cut import words as cut_words
from llmviz.course.lessons.tokenization.learn import chapter as learn
from llmviz.course.lessons.tokenization.merge import chapter as merge
from llmviz.course.lessons.tokenization.merge import wordpiece
from llmviz.course.lessons.tokenization.merge.model import learn_pieces
from llmviz.course.lessons.training.loss import frames
from llmviz.tokenizers import (
    UNKNOWN,
    BPETokenizer,
    CharTokenizer,
    WordTokenizer,
    film,
    get_tokenizer,
)
from llmviz.tokenizers.registry import TOKENIZERS
from llmviz.tokenizers.training import train_steps
from llmviz.tokenizers.wordpiece import WordPieceTokenizer
from tests.pages import harness
from tests.pages.harness import boxes, fine, open_part, prose_of, sent

TEXT = some.text(alphabet=some.characters(exclude_categories=["Cs"]), max_size=60)
LETTERS = some.text(alphabet="aabc ß'1_ŉéÉ", max_size=60)
KINDS = {name: get_tokenizer(name) for name in ("word", "char", "bpe")}


# ---- capitals


@settings(max_examples=80, deadline=None)
@given(TEXT | LETTERS | some.sampled_from(["Straße", "ß", "ﬁx", "STRASSE", "1 2", ""]))
def test_capitals_are_counted_as_they_are_written(text):
    for tokenizer in KINDS.values():
        question = cut.capitals_question(tokenizer, text)
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


@given(some.lists(some.sampled_from(["low", "slow", "newest", "ab", "a"]), min_size=1, max_size=9))
def test_a_piece_is_asked_about_at_the_merge_that_makes_it(texts):
    trained = film(" ".join(texts), "", 300)
    made = learn.piece_made(trained)
    question = learn.piece_question(trained, made)
    pieces = [merge.new_bytes.decode() for merge in trained.steps]
    if not made:
        assert question is None and not any(
            len(piece.strip()) > 2 for piece in pieces if piece[0] != " "
        )
        return
    assert len(pieces[made - 1]) > 2 and pieces[made - 1].isalpha()
    if question is None:
        return
    assert question.values[question.right] == (made,)
    tied = trained.steps[made - 1].n_tied > 1
    assert ("most often" in question.reasons[question.right]) == tied
    assert ("than any others" in question.reasons[question.right]) != tied
    for (at,) in question.values[: question.right]:
        assert abs(at - made) >= learn.APART * len(trained.steps)


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
    question = frames.guesses_question(texts, plan)
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


def test_the_bundled_stories_are_asked_about_the_piece_of_the_title():
    trained = sources.training("tiny-world-sample", None, 1024)
    made = learn.piece_made(trained)
    assert trained.steps[made - 1].new_bytes.decode() == learn.PIECE
    assert learn.piece_question(trained, made) is not None
    halves = learn.halves(trained)
    assert halves["first"] > halves["second"] > 0
    assert sum(halves.values()) == trained.corpus_length - trained.steps[-1].corpus_length_after


SHORT = some.text(alphabet="aab éß🙂.\n", min_size=1, max_size=40)


def told(chapter, values: dict[str, object]) -> str:
    """The end of a chapter with its slots filled."""
    return as_markdown(chapter.words.end.filled(**values)[1])


@settings(max_examples=60, deadline=None)
@given(SHORT)
def test_cut_tells_how_many_numbers_a_text_became_and_those_of_one_word(text):
    for tokenizer in KINDS.values():
        if tokens := tokenizer.tokens(text):
            many = "number" if len(tokens) == 1 else "numbers"
            assert f"{len(tokens)} {many}" in told(cut, cut.end(text, tokens))
            said = cut.caption(text, tokens)
            named = any(str(token.id) in said for token in tokens)
            assert named == (said != cut.words.caption["signs"])


def test_the_end_of_compare_is_true_of_one_tokenizer_and_absent_without_any():
    text = "Once"
    drawn = compare.rows({"bpe": KINDS["bpe"]}, text)
    tokens = len(KINDS["bpe"].encode(text))
    assert f"Your 4 characters are {tokens} token" in told(compare, compare.end(drawn, text))
    app = open_part("tokenization", "compare", rows="")
    fine(app)
    assert "Choose at least one" in prose_of(app) and "Try:" not in prose_of(app)


def test_the_end_of_learn_tells_the_first_merge_and_the_length_after_the_last():
    trained = film("ab ab ab", "", 259)
    end = told(learn, learn.end(trained))
    last = trained.steps[-1].corpus_length_after
    assert f"{trained.corpus_length} bytes were only {last} tokens" in end
    assert "4 bytes were only 1 token" in told(learn, learn.end(film("abab", "", 259)))


def test_the_film_stops_before_the_piece_until_the_guess_and_then_shows_it(covers):
    app = open_part("tokenization", "learn", step="700")
    assert len(sent(app, "bpe_film")["merges"]) == learn.BEGIN
    next(one for one in app.button if one.label == "Show me without an answer").click().run()
    told, (row,) = sent(app, "bpe_film"), sent(app, "case_rows")["rows"]
    assert len(told["merges"]) == told["of"] and told["step"] == row["value"]


def test_the_frames_are_covered_until_their_guesses_were_counted(covers):
    app = open_part("training", "loss")
    assert not harness.unpack_all(app, "windows_view")  # it draws each target
    app.radio[0].set_value(0).run()
    assert harness.unpack_all(app, "windows_view")


@settings(max_examples=60, deadline=None)
@given(some.text(alphabet="theacsiong", min_size=1, max_size=12))
def test_the_end_of_merge_says_whether_the_longest_token_gives_the_same(word):
    bpe = KINDS["bpe"]
    tree = bpe.merge_tree(word)
    end = told(merge, merge.end(bpe, word, tree))
    same = bpe.greedy_left_to_right(word) == tree.ids
    assert ("gives the same tokens" in end) == same and ("gives other tokens" in end) != same


@settings(max_examples=60, deadline=None)
@given(SHORT)
def test_bytes_says_how_its_longest_sign_is_stored_and_read(text):
    tokens = KINDS["bpe"].tokens(text)
    facts = utf8.facts(text, "bpe", tokens)
    most = max(len(character.encode()) for character in text)
    assert facts["size"].split()[0] == str(most)
    at = next(at for at, character in enumerate(text) if len(character.encode()) == most)
    assert facts["read"].split()[0] == str(sum(t.char_start <= at < t.char_end for t in tokens))


TRAINED = [kind.train("the cat sat.\n") for kind in (WordTokenizer, CharTokenizer)]
TRAINED += [BPETokenizer([]), WordPieceTokenizer.train("the cat sat.", 60)]


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
    for tokenizer in TRAINED:
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
    for tokenizer in [*TRAINED, get_tokenizer("bpe")]:
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
            said = sources.words.tokenizers[info.name]
            assert "tokens" not in said and "ids up to" in said
    last = get_tokenizer("bpe").vocab_size - 1
    assert f"from 0 to {last:,}" in prose_of(open_part("tokenization", "cut"))


def test_unknown_words_of_every_kind_are_named_in_the_reason_for_capitals():
    for tokenizer in (TRAINED[0], TRAINED[3]):
        question = cut.capitals_question(tokenizer, "the cat")
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
    said = frames.coverage(WindowPlan(7, 4, 8))
    assert "At the end, 2 tokens are in no frame" in said and "gaps" not in said


@settings(max_examples=200, deadline=None)
@given(some.integers(1, 8), some.integers(1, 20), some.integers(1, 60))
def test_tokens_in_no_window_are_counted_where_they_are(context, stride, more):
    """Between two windows or after the last; each is looked for window by window."""
    plan = WindowPlan(context + more, context, stride)
    covered = {at for start in plan.starts for at in range(start, start + context + 1)}
    left_out = [at for at in range(plan.tokens) if at not in covered]
    between = [at for at in left_out if at < max(covered)]
    told = frames.coverage(plan)
    for where, places in (("so there are gaps:", between), ("At the end,", left_out)):
        number = len(places) - (len(between) if places is left_out else 0)
        word = f"{number} token{' is' if number == 1 else 's are'}"
        assert (f"{where} {word} in no frame" in told) == bool(number)
    assert ("only one frame" in told) == (len(plan.starts) == 1)
    assert ("share" in told) == (stride < context and len(plan.starts) > 1)


def test_a_rest_longer_than_a_window_is_not_called_too_short_for_one():
    """With a long stride the next window would begin behind the end."""
    plan = WindowPlan(20, 4, 32)
    assert len(plan.never_seen) > plan.context + 1
    assert "too few" not in frames.coverage(plan)


# ---- capitals


def test_capitals_are_asked_about_as_special_tokens_are_read():
    text = "<|endoftext|>Once Anna and Samir saw a kitten. Then"
    for special in (False, True):
        question = cut.capitals_question(get_tokenizer("bpe"), text, special=special)
        tokens = len(get_tokenizer("bpe").encode(text, "all" if special else ()))
        assert f"became {tokens} tokens" in as_markdown(question.text)
        assert (tokens,) in question.values


def test_nothing_is_asked_of_a_tokenizer_to_which_capitals_are_the_same():
    class Small(CharTokenizer):
        def encode(self, text, allowed_special=()):
            return super().encode(text.lower(), allowed_special)

    small = Small.train("the cat")
    assert cut.capitals_question(small, "the cat") is None


def test_more_words_than_are_followed_are_counted_in_a_note():
    app = open_part("tokenization", "learn", follow=" ".join("abcdefghij"))
    fine(app)
    assert "holds 10 different words and marks. The first 8 of them are followed" in boxes(app)
    assert "are followed" not in boxes(open_part("tokenization", "learn", follow="a b a b"))


def test_signs_that_are_cut_are_counted_only_where_some_are():
    tokenizer = get_tokenizer("bpe")
    whole, cut_apart = (
        utf8.about_cuts(text, "bpe", tokenizer.tokens(text)) for text in ("abc", "a🙂")
    )
    assert "no sign apart" in whole and "0 signs" not in whole
    assert "1 sign apart" in cut_apart
