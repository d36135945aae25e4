"""What the chapters on words end with: true of one word, of ties, and of words nobody knows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.language.counts import chapter as counts
from llmviz.course.lessons.language.counts import counted
from llmviz.course.lessons.language.lemmas import chapter as lemmas
from llmviz.course.lessons.language.names import chapter as names
from llmviz.course.lessons.language.probing import chapter as probing
from llmviz.course.lessons.language.stems import chapter as stems
from llmviz.course.lessons.language.word_roles import ReadWord
from llmviz.language.porter import stem
from tests.pages.harness import open_part, prose_of


def told(chapter, values: dict[str, object]) -> str:
    """The end of a chapter with its slots filled."""
    return as_markdown(chapter.words.end.filled(**values)[1])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one", "You counted 1 word, and without repeats 1."),
        ("a b", "`a` comes 1 time, and no word comes more often."),
        ("b b a", "and without repeats 2. `b` comes 2 times, and no word comes more often."),
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


def test_the_end_of_lemmas_counts_what_decided_each():
    found = [lemmas.lemma_of(*one) for one in (("went", "VERB"), ("saw", "NOUN"), ("xq", "NOUN"))]
    end = told(lemmas, lemmas.end(found))
    assert "Of the 3 words in the grid, 1 got another form" in end
    assert "For 1, the tag of the word decides" in end


def test_the_end_of_names_counts_names_and_unknown_words():
    read = [ReadWord("Zed", 0, "PROPN", "B-PERSON", False)]
    assert "In the 1 word here, the tags mark 1 name." in told(names, names.end(read, ["B-PERSON"]))
    assert "the tags mark 0 names." in told(names, names.end(read, ["O"]))


def test_a_chapter_without_a_word_has_no_end():
    for part in ("counts", "stems"):
        assert "Try:" not in prose_of(open_part("language", part, text="...", forms=""))


def test_the_end_of_probing_names_all_places_that_share_the_best():
    made = [probing.Probe("embeddings", 0.9, 0.5), probing.Probe("after layer 1", 0.9, 0.3)]
    assert probing.best_of(made, "accuracy")[0] == "embeddings and after layer 1"
    assert probing.best_of(made, "lead")[0] == "after layer 1"
