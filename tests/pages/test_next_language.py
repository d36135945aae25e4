"""The chapter "Language": its guess, and what its sentences say in each state."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmviz.corpus.second_script import respelled
from llmviz.course.document import marks
from llmviz.course.lessons.next.language import PARAMS, chapter, model, words
from llmviz.course.lessons.next.language.model import SEEDS, SHARES, TOKENIZERS, recorded
from llmviz.course.ui.guess_given import HERE, Given, slot_of
from tests.pages.harness import boxes, fine_part, open_part, prose_of, put, sent, unpack_all


def page_of(**link: str):
    return fine_part("next", "language", **link)


def test_the_bar_of_hindi_is_guessed_and_its_number_does_not_travel(covers):
    page = page_of()
    rows = {row["label"][0][0]: row for row in sent(page, "case_rows")["rows"]}
    assert rows["Hindi"]["value"] is None
    counts = recorded().counts("gpt2")
    assert rows.keys() == chapter.FIRST, "all are drawn once it is told"
    assert all(row["value"] == counts[name] for name, row in rows.items() if name != "Hindi")
    assert str(counts["Hindi"]) not in prose_of(page)
    told, *_ = unpack_all(page_of(show="1"), "case_rows")
    assert [row["value"] for row in told["rows"]] == [*counts.values()]


def test_the_wrong_answers_go_by_meaning_signs_and_bytes():
    asked, text = chapter.question(recorded()), model.sentences()["Hindi"]
    answers = {costs[0] for costs in asked.values}
    assert asked.values[asked.right] == (recorded().counts("gpt2")["Hindi"],)
    assert answers == {*asked.values[asked.right], 13, len(text), len(text.encode())}
    assert len({*asked.answers}) == len({*asked.reasons}) == 4


@pytest.mark.parametrize("cutter", TOKENIZERS)
@pytest.mark.parametrize("bycost", ["0", "1"])
def test_each_tokenizer_draws_its_counts(cutter, bycost):
    page, counts = page_of(show="1", cutter=cutter, bycost=bycost), recorded().counts(cutter)
    drawn = [row["value"] for row in unpack_all(page, "case_rows")[0]["rows"]]
    values = [*counts.values()]
    assert drawn == (sorted(values, reverse=True) if bycost == "1" else values)
    assert f"{counts['Hindi']} tokens and the English one into 13" in prose_of(page)
    strips = unpack_all(page, "token_strip")
    assert strips[0]["rows"][0]["total"] == counts["Hindi"]


@given(some.lists(some.sampled_from([b"a", "क".encode(), b"\xe0", b"\xa4"]), min_size=1))
def test_what_is_said_of_pieces_counts_those_that_are_no_letters(pieces):
    said, broken = chapter.pieces_read(pieces), sum(piece in (b"\xe0", b"\xa4") for piece in pieces)
    case = "none" if broken == 0 else "all" if broken == len(pieces) else "some"
    assert said == words.pieces_read[case].format(broken=broken, tokens=len(pieces))


@given(some.integers(1, 500), some.integers(1, 500))
def test_a_ratio_is_never_said_to_be_one_where_it_is_not(first, second):
    said = chapter.own_read(first, second)
    assert ("in either script" in said and "times" not in said) == (first == second)
    assert ("cheaper" in said) == (second < first)
    if second > first:
        ratio = float(said.split(": ")[1].split(" ")[0])
        assert abs(ratio - second / first) <= 0.05 + 1e-9 and ratio >= 1


@pytest.mark.parametrize("share", ["0.01", "0.1", "0.5"])
def test_your_sentence_is_cut_in_both_letters(share):
    page = page_of(show="1", mixed=share, respelt="A lazy baker sang.")
    tokenizer = model.tokenizer_of(float(share))
    texts = ["A lazy baker sang.", respelled("A lazy baker sang.")]
    _, own = unpack_all(page, "token_strip")
    assert [row["total"] for row in own["rows"]] == [len(tokenizer.encode(text)) for text in texts]


def test_a_third_script_is_counted_as_it_is():
    page = page_of(show="1", respelt="Γειά σου 12!")
    _, own = unpack_all(page, "token_strip")
    one, two = own["rows"]
    assert one["total"] == two["total"]
    said = re.sub("<[^>]+>", "", prose_of(page))
    assert "These stay as they are: Γ ε ι ά σ ο …" in said
    assert "in either script" in said


@pytest.mark.parametrize("text", ["", "   "])
def test_no_sentence_is_asked_for(text):
    page = open_part("next", "language", show="1", respelt=text)
    assert not page.exception and len(unpack_all(page, "token_strip")) == 1
    assert "There is no sentence yet" in boxes(page)


def test_a_long_sentence_stays_in_its_field():
    page = page_of(show="1", respelt="so " * 100)
    assert "so " * 100 in [field.value for field in page.text_input]


def test_each_look_changes_the_picture():
    names = {param.key: param for param in PARAMS}
    for line in [*words.looks, *words.letter_looks]:
        for link in (look for _, look in marks.looks(line) if look):
            pairs = dict(parse_qsl(link))
            assert {*pairs} <= {*names}
            assert any(names[key].read(value) != names[key].default for key, value in pairs.items())


def test_every_bar_below_is_the_mean_of_its_trainings():
    _, times, lost = unpack_all(page_of(show="1"), "case_rows")
    assert len(times["rows"]) == len(SHARES) and len(lost["rows"]) == 2 * len(SHARES) + 2
    for row in [*times["rows"], *lost["rows"]]:
        assert len(row["dots"]) == len(SEEDS)
        assert row["value"] == pytest.approx(sum(row["dots"]) / len(SEEDS))


def test_the_wrong_answers_stand_beside_the_tokenizer_alone_that_was_asked_about(covers):
    app = page_of()
    guess = Given.to(chapter.question(recorded()), 1, [40])
    app.session_state[slot_of(app.session_state[HERE], f"{chapter.KEY}.hindi")] = guess

    def marked():
        rows = unpack_all(app.run(), "case_rows")[0]["rows"]
        return [row["value"] for row in rows if row["ghosts"] or row["guess"] is not None]

    assert marked() == [recorded().counts("gpt2")["Hindi"]]
    put(app, next__cutter="o200k_base")
    assert marked() == []
