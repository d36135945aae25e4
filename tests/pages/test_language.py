"""Counts, stems and lemmas: what others count and cut, too; bad text loses nothing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus.roles import split_words
from llmviz.course.components import unpack
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.language import counted_stories
from llmviz.course.lessons.language import words as sentence_words
from llmviz.course.lessons.language.counts import chapter as counts
from llmviz.course.lessons.language.counts import counted
from llmviz.course.lessons.language.counts import words as count_words
from llmviz.course.lessons.language.probing import chapter as probing
from llmviz.course.lessons.language.stems import chapter as stems
from llmviz.course.lessons.language.stems import lemmas
from llmviz.course.lessons.language.stems import words as stem_words
from llmviz.course.lessons.language.stems.steps import opened_text
from llmviz.course.lessons.language.word_roles import ReadWord, story_words
from llmviz.course.ui.common import percent
from llmviz.course.ui.furniture import words as furniture
from llmviz.language.lemmas import AMBIGUOUS
from llmviz.language.porter import STEPS, measure, stem, stem_steps
from tests.pages.harness import boxes, fine, open_part, prose_of, sent, unpack_all

TEXT = "The cat sat on the mat. The kitten slept on the mat! Where is the cat? On a mat."
LETTERS = "q" * 500
ODD = {
    "500 letters": f"{LETTERS} was happy.",
    "no letters": "🙂 !? … 👩‍🚀",
    "a long text": "Anna saw a saw. " * 2_000,
    "markup": "<b>saw</b> ![x](http://a) $x$ {0} [[token]]",
}


def grids(app) -> dict[str, dict]:
    """What the grids of a chapter were sent, by their label."""
    parts = [part.proto for part in app.get("bidi_component")]
    sent_to = [unpack(one.bytes) for one in parts if one.component_name == "llmviz_cell_grid"]
    return {one["label"]: one for one in sent_to}


# ---- counts


def test_counts_and_runs_are_those_of_the_text():
    app = open_part("language", "counts", text=TEXT, n="2")
    fine(app)
    words = [word.strip(".!?") for word in TEXT.lower().split()]
    strip = sent(app, "token_strip")["rows"][0]
    assert strip["texts"] == words
    times = Counter(words)
    assert strip["values"].tolist() == [times[word] for word in words]
    assert max(strip["ids"]) < 0  # they are words of a text, not tokens of a vocabulary
    assert strip["details"][0] == [[count_words.card_share, percent(times["the"] / len(words))]]
    pairs = Counter(pairwise(words))
    runs, once = (picture["rows"] for picture in unpack_all(app, "case_rows"))
    first = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[: counts.BARS]
    shown = {row["label"][0][0]: row["value"] for row in runs}
    assert shown == {" ".join(pair): pairs[pair] for pair in first}
    assert once[1]["value"] == sum(n == 1 for n in pairs.values()) / len(pairs)


def test_before_the_guess_the_first_word_alone_is_drawn(covers):
    app = open_part("language", "counts")
    fine(app)
    (line,) = sent(app, "draw_on")["lines"]
    assert len(line["y"]) == 1 and not app.get("token_strip")


def test_a_bundled_text_is_counted_until_the_learner_writes_another():
    shown = sent(open_part("language", "counts"), "draw_on")["lines"]
    most = counted.bundled("tiny-world-sample", True).first[1]
    assert shown[1]["y"][0] == most
    own = sent(open_part("language", "counts", text=TEXT), "draw_on")["lines"]
    assert own[1]["y"][0] == TEXT.lower().split().count("the")


@pytest.mark.parametrize("name", [name for name in count_words.sources if name != "text"])
def test_zipfs_line_goes_through_all_words_and_is_asked_for(name):
    found = counted.bundled(name, True)
    own = sorted(Counter(found.words).values(), reverse=True)
    ranks = counts.ranks_of(found)
    asked = counts.question(found)
    assert ranks[0] == 1 and ranks[-1] == len(own) and ranks == sorted(set(ranks))
    assert list(asked.values[asked.right]) == [own[rank - 1] for rank in ranks[1:]]
    x, y = np.log(np.arange(1, len(own) + 1)), np.log(own)
    slope, intercept = np.polyfit(x, y, 1)
    app = open_part("language", "counts", counted=name)
    assert f"{len(found.words):,} words in all" in prose_of(app)
    fitted, line = sent(app, "draw_on")["lines"]
    np.testing.assert_allclose(fitted["y"], np.exp(intercept + slope * np.log(ranks)), rtol=1e-4)
    np.testing.assert_allclose(line["y"], [own[rank - 1] for rank in ranks])


def test_weights_are_tf_times_idf_and_cells_open_to_them():
    found = counted.count_text(TEXT, fold=True)
    by_name = {one.name: np.asarray(one.values) for one in counts.tables(found)}
    drawn = [found.weights.words[v] for v in counts.drawn_columns(found)]
    tf = [[sentence.count(word) for word in drawn] for sentence in found.sentences]
    df = [sum(word in sentence for sentence in found.sentences) for word in drawn]
    assert np.allclose(by_name["idf"], np.log(len(found.sentences) / np.array([df])))
    assert np.allclose(by_name["weights"], np.array(tf) * by_name["idf"])
    app = open_part("language", "counts", text=TEXT, weighed="weights.1.0")
    assert sent(app, "matrix_view")["pinned"] == ["weights", 1, 0]


@settings(deadline=None, max_examples=60)
@given(some.lists(some.sampled_from(["a", "b", "c", "d", "e", ".", "A"]), max_size=40))
def test_the_question_on_counts_holds_for_any_text(words):
    found = counted.count_text(" ".join(words), fold=True)
    asked = counts.question(found) if found.words else None
    if asked is not None:
        lines = [np.log(values) for values in asked.values]
        for at, line in enumerate(lines):
            assert np.isfinite(line).all()
            assert at == asked.right or np.abs(line - lines[asked.right]).sum() >= counts.APART


@settings(deadline=None, max_examples=60)
@given(some.lists(some.sampled_from(["a", "b", "C", "c", "?"]), min_size=1, max_size=40))
def test_one_word_is_called_the_most_frequent_only_if_it_is(words):
    found = counted.count_text(" ".join(words), fold=True)
    if not found.words:
        return
    times = Counter(found.words)
    ties = sum(n == max(times.values()) for n in times.values())
    line = counts.read_line(found)
    assert ("No single word is the most frequent" in line) == (ties > 1)
    assert (f"{ties} words appear" in line) == (ties > 1)


@pytest.mark.parametrize(("sentences", "rows"), [(8, 8), (9, 8), (1, 1)])
def test_the_tables_of_weights_have_the_first_sentences(sentences, rows):
    found = counted.count_text(" ".join(f"w{i}." for i in range(sentences)), fold=True)
    assert len(counts.tables(found)[0].values) == rows


def test_marks_belong_to_their_letter_and_a_script_without_spaces_is_named():
    app = open_part("language", "counts", text="हिन्दी 한국어 cafe\u0301! 👩‍🚀")
    fine(app)
    assert sent(app, "token_strip")["rows"][0]["texts"] == ["हिन्दी", "한국어", "cafe\u0301"]
    assert "without such spaces" not in boxes(app)
    app = open_part("language", "counts", text="我看见一只老狗。它在叫！")
    fine(app)
    assert "such as “我看见一只老狗”." in boxes(app) and "Only one sentence" not in boxes(app)
    app = open_part("language", "counts", text="one two three four")
    assert "slope of 0.00" in prose_of(app)  # no minus stands before a line through equal counts


# ---- stems


def test_punctuation_and_capitals_make_no_other_words_of_stems():
    app = open_part("language", "stems", forms="Cats, cats (dogs) is naïve!")
    fine(app)
    assert grids(app)[stem_words.grid]["columnNames"] == ["Cats", "dogs", "is", "naïve"]
    text = prose_of(app)
    assert "Every other sign counts as a consonant here: <code>naïve</code>" in text
    assert "leaves such words as they are" in text
    plain = prose_of(open_part("language", "stems", forms="dogs"))
    assert "consonant here" not in plain and "leaves such words" not in plain


@settings(deadline=None, max_examples=150)
@given(some.text("abdeilnosty", min_size=1, max_size=12))
def test_what_is_said_of_a_step_is_what_it_did(word):
    steps = stem_steps(word)
    by_name = {step.name: step for step in steps}
    for name in STEPS:
        line, step = opened_text(word, steps, name), by_name.get(name)
        if step is None:
            assert "lost neither" in line
            continue
        assert ("becomes" in line) == (step.before != step.after)
        assert ("nothing changes" in line) == (step.rule is not None and not step.fired)
        assert ("as it is" in line) == (step.fired and step.before == step.after)
        same = [one for one in STEPS[step.name] if step.rule and one.suffix == step.rule.suffix]
        tried = same[: same.index(step.rule)] if step.rule else []
        assert line.count("comes first here") == len(tried)
    skipped = "1b, after a cut" not in by_name
    cut = by_name["1b"].fired and by_name["1b"].rule.suffix in ("ed", "ing")
    assert skipped == (not cut)


def test_each_step_begins_where_the_one_before_ended_and_the_last_is_the_stem():
    forms = "Relational hopping flies agreed feed sized ponies controlling triplicate adjustment"
    app = open_part("language", "stems", forms=forms)
    fine(app)
    grid = grids(app)[stem_words.grid]
    theirs = snowballstemmer.stemmer("porter")
    for column, word in enumerate(forms.split()):
        lines = [row[column] for row in grid["texts"]]
        assert lines[0] == word.lower()
        assert lines[-2] == theirs.stemWord(word.lower()) == stem(word)
        bold = grid["strong"][:, column].astype(bool)
        changed = [False, *(a != b for a, b in pairwise(lines))]
        assert all(b or not c for b, c in zip(bold, changed, strict=True))


def test_one_word_is_veiled_from_its_first_step_to_its_last_until_it_is_answered(covers):
    app = open_part("language", "stems", rule="1.4")
    fine(app)
    grid = grids(app)[stem_words.grid]
    hidden = [at for at, text in enumerate(grid["texts"][1]) if text == stem_words.hidden]
    assert hidden == [1] and {row[1] for row in grid["texts"][1:]} == {stem_words.hidden}
    assert not grid["values"][:, 1].any() and not grid["strong"][:, 1].any()
    said = prose_of(app)
    assert stem_words.waits in said and "Try:" not in said and "gener" not in said.split()
    app.radio[0].set_value(0).run()
    fine(app)
    shown = grids(app)[stem_words.grid]["texts"]
    assert shown[-2][1] == stem("generalizations") and "Try:" in prose_of(app)


def test_an_open_cell_says_the_rule_the_measure_and_the_condition():
    app = open_part("language", "stems", forms="relational", rule="0.5")
    text = prose_of(app)
    assert "ATIONAL → ATE" in text and f"m = {measure('rel')}" in text
    assert "The condition <code>m &gt; 0</code> holds" in text
    held = open_part("language", "stems", forms="feed", rule="0.2")
    assert "does not hold, so nothing changes" in prose_of(held)
    assert "m = 0" in prose_of(held)
    last = open_part("language", "stems", forms="university", rule="0.10")
    other = snowballstemmer.stemmer("english").stemWord("university")
    assert f"Snowball makes <code>{other}</code>" in prose_of(last)


@settings(deadline=None, max_examples=80)
@given(some.lists(some.text("abdeilnosty", min_size=1, max_size=12), min_size=1, max_size=4))
def test_the_question_on_stems_holds_for_any_words(words):
    asked = stems.question(tuple(dict.fromkeys(words)))
    if asked is not None:
        quiz, at = asked
        word = [*dict.fromkeys(words)][at]
        assert quiz.answers[quiz.right] == stem(word) != word and len(set(quiz.answers)) > 2
    assert stems.question(("university", "news", "dog")) is None  # judged below, or nothing is cut


# ---- lemmas


def test_a_word_with_two_lemmas_gets_that_of_its_tag(covers):
    app = open_part("language", "stems")
    fine(app)
    assert "?" in grids(app)[lemmas.words.lemma_grid]["texts"][4]  # until the question is answered
    app.radio[-1].set_value(0).run()
    fine(app)
    grid = grids(app)[lemmas.words.lemma_grid]
    names = [name.removesuffix(" ?") for name in grid["columnNames"]]
    assert names == [w for w, _ in split_words(sentence_words.sentence_default) if w.isalnum()]
    tags, lemma_row = grid["texts"][0], grid["texts"][4]
    pairs = [(n, t, x) for n, t, x in zip(names, tags, lemma_row, strict=True) if n in AMBIGUOUS]
    assert {(n, t) for n, t, _ in pairs} >= {("saw", "VERB"), ("saw", "NOUN"), ("leaves", "VERB")}
    assert all(AMBIGUOUS[name][tag] == found for name, tag, found in pairs)
    assert grid["texts"][1] == [stem(name) for name in names]
    lower = [[text.lower() for text in row] for row in grid["texts"]]
    same = np.array([[a == n.lower() for a, n in zip(row, names, strict=True)] for row in lower])
    assert (grid["values"][1:4] > 0).tolist() == (~same[1:4]).tolist()  # a colour: it changed


def test_a_word_is_unknown_to_the_tagger_that_is_chosen():
    known = [word for word in sorted(story_words()) if word.isalpha() and word.islower()]
    uncounted = next(word for word in known if not counted_stories.times(word))
    for decides, mark in (("hmm", f"{uncounted} ?"), ("transformer", uncounted)):
        app = open_part("language", "stems", sentence=f"The {uncounted}.", decides=decides)
        assert grids(app)[lemmas.words.lemma_grid]["columnNames"][1] == mark
        assert ("not in the stories that were counted" in prose_of(app)) == (decides == "hmm")


def test_what_is_said_of_a_lemma_fits_words_without_one():
    link = {"sentence": "Anna found it."}
    text = prose_of(open_part("language", "stems", **link, lword="1"))
    assert "By the dictionary its lemma is <strong><code>find</code>" in text
    assert "depends on the tag" not in text and "several lemmas" not in text
    name = prose_of(open_part("language", "stems", **link, lword="0"))
    assert "Names stay as they are" in name


def test_a_form_of_two_verbs_is_called_one():
    link = {"sentence": "They lay the table.", "lword": "1"}
    text = prose_of(open_part("language", "stems", **link))
    assert "also a form of the verb <code>lay</code>" in text
    assert "also a form of" not in prose_of(open_part("language", "stems", sentence="We went."))


@pytest.mark.parametrize("tag", ["NOUN", "VERB", "ADJ", "PRON"])
def test_the_question_on_lemmas_holds_for_every_word_and_tag(tag):
    for word, forms in AMBIGUOUS.items():
        before, own = ReadWord("An", 0, "DET", "O", True), ReadWord(word, 3, tag, "O", True)
        pair = lemmas.question((before, own))
        if tag in forms:
            asked, at = pair
            assert at == 1 and asked.answers[asked.right] == forms[tag] and "word 2" in asked.text
        else:
            assert pair is None


# ---- bad input


@pytest.mark.parametrize("part", ["counts", "stems", "tags"])
def test_odd_text_is_read_or_refused_and_stays_in_its_box_and_none_is_one_line(part):
    app = open_part("language", part, text="", sentence="", forms="", read="text")
    fine(app)
    line = {"counts": furniture.empty_text, "stems": stem_words.empty}.get(
        part, sentence_words.sentence_empty
    )
    assert line in boxes(app) and not grids(app).keys() - {stem_words.fault_grid}
    for text in ODD.values():
        box = app.text_input[0] if part == "stems" else app.text_area[0]
        box.set_value(text).run()
        fine(app)
        box = app.text_input[0] if part == "stems" else app.text_area[0]
        assert box.value == text


def test_texts_without_letters_have_no_lemma_and_long_ones_are_cut_as_the_page_says():
    odd, long = ODD["no letters"], ODD["a long text"]
    assert count_words.no_words in boxes(open_part("language", "counts", text=odd))
    app = open_part("language", "stems", sentence=odd)
    assert lemmas.words.no_letters in boxes(app)
    app.text_area[0].set_value(long).run()
    assert f"{len(long):,}" in boxes(app) and "first 1,500" in boxes(app)
    assert len(grids(app)[lemmas.words.lemma_grid]["columnNames"]) == lemmas.DRAWN


def told(chapter, values: dict[str, object]) -> str:
    """The end of a chapter with its slots filled."""
    return as_markdown(chapter.words.end.filled(**values)[1])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one", "This text has 1 word, and without repeats 1."),
        ("a b", "`a` comes 1 time, and no word comes more often."),
        (
            "b b a",
            "and without repeats 2. The word `b` comes 2 times, and no word comes more often.",
        ),
    ],
)
def test_the_end_of_counts_is_true_of_one_word_and_of_ties(text, line):
    assert line in told(counts, counts.end(counted.of_text(text, True)))


@settings(max_examples=60, deadline=None)
@given(some.lists(some.text(alphabet="aeiounsgdt", min_size=1, max_size=9), min_size=1, max_size=6))
def test_the_end_of_stems_counts_the_words_that_became_another(listed):
    assert stem("connected") == stem("connecting")
    end = told(stems, stems.end(tuple(listed)))
    changed = [word for word in listed if stem(word) != word]
    assert f"{len(changed)} got a stem that is not the word itself" in end


def test_a_chapter_without_a_word_has_no_end():
    for part in ("counts", "stems"):
        assert "Try:" not in prose_of(open_part("language", part, text="...", forms=""))


def test_the_end_of_probing_names_all_places_that_share_the_best():
    made = [probing.Probe("embeddings", 0.9, 0.5), probing.Probe("after layer 1", 0.9, 0.3)]
    assert probing.best_of(made, "accuracy")[0] == "embeddings and after layer 1"
    assert probing.best_of(made, "lead")[0] == "after layer 1"
