"""What the chapters on tokens end with: true of short texts, of one tokenizer, of no merge."""

from __future__ import annotations

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
from llmviz.course.lessons.tokenization.wordpiece.model import after_merges, learn_pieces
from llmviz.course.lessons.training.windows import chapter as windows
from llmviz.tokenizers import film, get_tokenizer
from tests.pages import harness
from tests.pages.harness import fine, open_part, prose_of, sent

TEXT = some.text(alphabet="aab éß🙂.\n", min_size=1, max_size=40)
KINDS = {name: get_tokenizer(name) for name in ("word", "char", "bpe")}


def told(chapter, values: dict[str, object]) -> str:
    """The end of a chapter with its slots filled."""
    return as_markdown(chapter.words.end.filled(**values)[1])


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_cut_tells_the_first_id_and_the_ratio_of_the_tokens(text):
    for tokenizer in KINDS.values():
        if tokens := tokenizer.tokens(text):
            end = told(cut, cut.end(text, tokens))
            assert f"the first of them is {tokens[0].id:,}." in end
            ratio = f"{len(text) / len(tokens):.2f} characters per token"
            assert ratio in cut.caption(text, tokens)


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
    assert f"the corpus of {trained.corpus_length} bytes {last} tokens long" in end
    assert "counted 3 times" in end
    assert "the corpus of 4 bytes 1 token long" in told(learn, learn.end(film("abab", "", 259)))


def test_the_second_half_of_the_film_does_not_travel_before_the_guess(covers):
    app = open_part("tokenization", "learn", step="700")
    half, whole = sent(app, "draw_on"), sent(app, "bpe_film")
    merges = len(whole["merges"])
    assert half["asked"]["x"] and len(half["lines"][0]["y"]) == learn.HALF + 1
    next(one for one in app.button if one.label == "Show me without an answer").click().run()
    told = sent(app, "bpe_film")
    assert len(told["merges"]) == 2 * merges + 1  # an odd count
    assert sent(app, "draw_on")["asked"]["x"] == []


def test_the_windows_are_covered_until_their_guesses_were_counted(covers):
    app = open_part("training", "windows")
    assert "What the model receives" not in [head.value for head in app.header]
    assert not harness.unpack_all(app, "windows_view")  # it draws each target
    app.radio[0].set_value(0).run()
    assert "What the model receives" in [head.value for head in app.header]
    assert harness.unpack_all(app, "windows_view")


@settings(max_examples=60, deadline=None)
@given(some.text(alphabet="theacsiong", min_size=1, max_size=12))
def test_the_end_of_merge_says_whether_the_longest_token_gives_the_same(word):
    bpe = KINDS["bpe"]
    tree = bpe.merge_tree(word)
    end = told(merge, merge.end(bpe, word, tree))
    same = bpe.greedy_left_to_right(word) == tree.ids
    assert ("gives the same tokens" in end) == same and ("gives other tokens" in end) != same


@settings(max_examples=30, deadline=None)
@given(some.text(alphabet="aabc ", min_size=4, max_size=60), some.integers(1, 8))
def test_the_end_of_wordpiece_counts_the_merges_of_a_rarer_pair(text, joins):
    learned = learn_pieces(text) if text.strip() else None
    if learned is None or not learned.steps:
        return
    done = learned.steps[:joins]
    rarer = [one for one in done if one.best.count < one.most_frequent.count]
    end = wordpiece.end(learned, after_merges(learned, joins), "abc", joins)
    assert end["rarer"] == len(rarer)
    assert str(end["done"]).startswith(f"{len(done)} merge")


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_bytes_says_how_its_longest_sign_is_stored_and_read(text):
    tokens = KINDS["bpe"].tokens(text)
    facts = utf8.facts(text, "bpe", tokens)
    most = max(len(character.encode()) for character in text)
    assert facts["size"].split()[0] == str(most)
    at = next(at for at, character in enumerate(text) if len(character.encode()) == most)
    assert facts["read"].split()[0] == str(sum(t.char_start <= at < t.char_end for t in tokens))
    assert f"{len(text)} sign" in told(utf8, facts) and f"{len(tokens)} token" in told(utf8, facts)


@settings(max_examples=60, deadline=None)
@given(some.integers(1, 12), some.integers(1, 12), some.integers(1, 30))
def test_the_end_of_windows_counts_what_the_plan_predicts(context, stride, more):
    plan = WindowPlan(context + more, context, stride)
    end = told(windows, windows.end([f"t{i}" for i in range(plan.tokens)], plan))
    assert "after `t0`, say `t1`" in end
    assert f"make {len(plan.starts) * context:,} exercise" in end
