"""Documents cut into passages: nothing is lost, and long or odd texts take little time."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llmviz.similarity import cut, search_words
from llmviz.similarity.passages import MOST_OF_A_SENTENCE

TEXTS = st.text(alphabet=st.sampled_from("ab .!?…\"'\n。」字३।"), max_size=60)


@given(TEXTS | st.text(max_size=200))
@example("0\x1f")  # a space to `strip`, and none to every engine of expressions
def test_every_character_but_spaces_is_in_one_passage_where_nothing_overlaps(text):
    passages = cut(text, 1)
    inside = "".join(one.text for one in passages)
    assert "".join(inside.split()) == "".join(text.split())
    assert all(text[one.start : one.end] == one.text for one in passages)
    assert all(one.text == one.text.strip() and one.text for one in passages)


@given(TEXTS, st.integers(1, 4), st.data())
def test_passages_share_their_overlap_and_stay_in_their_document(text, sentences, data):
    overlap = data.draw(st.integers(0, sentences - 1))
    single, several = cut(text, 1), cut(text, sentences, overlap)
    starts = [one.start for one in single]
    assert {one.document for one in single} == {one.document for one in several}
    for first, second in pairwise(several):
        of = [[s.start for s in single if p.start <= s.start < p.end] for p in (first, second)]
        assert 1 <= len(of[1]) <= sentences
        assert "\n\n" not in second.text
        if first.document == second.document:
            assert starts.index(of[1][0]) - starts.index(of[0][0]) == sentences - overlap
            assert of[1][-1] > of[0][-1]  # each passage has a sentence of its own


@pytest.mark.parametrize(("sentences", "overlap"), [(0, 0), (2, 2), (2, 3), (2, -1)])
def test_an_overlap_that_is_not_below_the_sentences_is_refused(sentences, overlap):
    with pytest.raises(ValueError, match="overlap is below"):
        cut("One. Two.", sentences, overlap)


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\t \n \n"])
def test_a_text_without_a_letter_has_no_passage(text):
    assert cut(text) == []


@pytest.mark.parametrize("unit", ["a", "字", "a ", ".", '?"', "a?!", "\n", "\n \n", " a. b.\n\n"])
def test_the_work_grows_with_the_length_of_a_huge_text(unit):
    calls = [sum(one.end - one.start for one in cut(unit * n, 1)) for n in (50_000, 100_000)]
    assert calls[1] <= 2 * calls[0] + len(unit)
    assert all(one.end - one.start <= MOST_OF_A_SENTENCE for one in cut(unit * 50_000, 1))


def test_a_number_does_not_end_a_sentence_and_a_quotation_goes_with_it():
    assert [one.text for one in cut('It is 3.5. "Go!" he said… Yes', 1)] == [
        "It is 3.5.",
        '"Go!"',
        "he said…",
        "Yes",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Don't SHOUT, Ünïcode-42!", ["don", "t", "shout", "ünïcode", "42"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("東京 都", ["東京", "都"]),
        ("東京都", ["東京", "京都"]),
        ("東京都内", ["東京", "京都", "都内"]),
        ("привет мир", ["привет", "мир"]),
        ("🙂 … \x00", []),
    ],
)
def test_words_are_found_in_any_script(text, found):
    assert search_words(text) == found
