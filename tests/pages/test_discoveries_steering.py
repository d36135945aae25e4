"""The chapter "Steering": what its sentences say at any setting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import steering as make_steering
from llmviz.corpus.grammar_likelihood import kept_characters
from llmviz.corpus.states import RULES
from llmviz.course.lessons.discoveries.steering import chapter
from llmviz.course.lessons.discoveries.steering import model as record
from llmviz.course.ui.common import percent
from llmviz.interpretability.steering import Written
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, prose_of, sent


def test_the_line_is_guessed_and_what_tells_it_does_not_travel(covers):
    steered, asked = record.recorded().by_choice[record.Choice()], chapter.question()
    kept = steered.of("kept").mean(0)
    assert asked.values[asked.right] == pytest.approx(kept[chapter.KNOWN :])
    assert asked.values[0] == pytest.approx([kept[1]] * 3), "a direction only adds its idea"
    assert asked.values[1][-1] == 0 and len(set(asked.answers)) == 3
    page = fine_part("discoveries", "steering")
    assert len(sent(page, "token_strip")["rows"]) == chapter.KNOWN
    (line,) = sent(page, "draw_on")["lines"]
    assert line["y"] == pytest.approx(kept[: chapter.KNOWN])


def test_what_the_chapter_says_of_surnames_animals_and_what_is_taken_out_holds():
    steered = record.recorded().by_choice[record.Choice()]
    share, kept = (steered.of(name) for name in ("share", "kept"))
    many = share.mean(0) > 0.1
    assert kept.mean(0)[many].max() < 0.3, "where many surnames come, there is hardly a story"
    assert kept[:, chapter.KNOWN].min() > 0.8
    animals = record.recorded().by_choice[record.Choice(record.MEANS, "word animals")]
    assert chapter.best_dose(animals) is None
    names = steered.texts[-1].split()
    assert len(set(names)) > 10, "a list of many names"
    found, row = record.recorded().removals, RULES.index(chapter.TARGET)
    assert found.rises.mean(0)[row].argmax() == row
    assert found.rises[:, row, row].min() > 1
    assert np.abs(found.rises[:, row, -1]).max() < 0.05


@pytest.mark.parametrize("choice", make_steering.CHOICES)
def test_each_bundled_choice_is_read_out(choice):
    link = {
        "steerkind": choice.kind,
        "steertarget": choice.target,
        "steerlayer": str(choice.layer),
        "steerhead": str(choice.head),
    }
    page = fine_part("discoveries", "steering", show="1", **link)
    said, steered = prose_of(page), record.recorded().by_choice[choice]
    assert chapter.kind_of(choice.target) in said
    assert ("No dose has more" in said) == (chapter.best_dose(steered) is None)
    assert len(sent(page, "token_strip")["rows"]) == len(steered.doses)
    assert not [one for one in page.button if "Write and measure" in one.label]


def test_each_target_and_each_rule_has_a_name_for_sentences():
    assert {*chapter.words.said_kinds} == {*record.TARGETS, *(f"rule {rule}" for rule in RULES)}


@st.composite
def measured(draw) -> record.Steered:
    """What any measurement may give."""
    count = len(record.DOSES)

    def one() -> Written:
        words = draw(st.integers(0, 50))
        share = draw(st.floats(0, 1)) if words else 0.0
        most = draw(st.floats(0.02, 1)) if words else 0.0
        return Written(words, share, draw(st.floats(0, 1)), 0.0, "the" if words else "", most)

    rows = tuple(tuple(one() for _ in range(count)) for _ in range(record.SETS))
    losses = tuple(
        tuple(draw(st.lists(st.floats(0, 9), min_size=count, max_size=count)))
        for _ in range(record.SETS)
    )
    texts = tuple([""] * count)
    known = draw(st.booleans())
    return record.Steered(record.Choice(), "x", record.DOSES, rows, losses, texts, known)


@given(measured())
def test_what_is_said_of_any_measurement_holds(steered):
    said = chapter.read_out(steered)
    if not steered.of("words").any():
        assert "wrote no word" in said
        return
    share, best = steered.of("share"), chapter.best_dose(steered)
    assert ("No dose has more" in said) == (best is None)
    if best is not None:
        assert (share[:, best] > share[:, 1]).all()
        assert f"At dose {chapter.dose_text(record.DOSES[best])} it is" in said
    assert ("cannot have written this beginning" in said) == (not steered.known)
    most, often = chapter.most_frequent(steered, len(record.DOSES) - 1 if best is None else best)
    assert f"“{most}”, up to {percent(often)}" in said


@pytest.mark.parametrize("at", [0, 1, 5])
def test_words_of_the_kind_are_lit_and_what_stands_behind_a_mistake_is_tinted(at):
    steered = record.recorded().by_choice[record.Choice()]
    row, text = chapter.row_of(steered, at), steered.texts[at].strip()
    kept = kept_characters(f"{steered.prompt} {text}") - len(steered.prompt)
    for token, value in zip(row.tokens, row.values, strict=True):
        if value == 0:
            assert token.char_end <= kept
        elif value == chapter.BROKEN:
            assert token.char_end > kept
    lit = "".join(
        token.data.decode() for token, x in zip(row.tokens, row.values, strict=True) if x == 1
    )
    assert set(lit.split()) == set(text.split()) & record.words_of("rule names")


@pytest.mark.parametrize("state", ["running", "done"])
def test_a_choice_of_the_learners_is_measured_behind_the_page(monkeypatch, state):
    known = record.recorded().by_choice[record.Choice()]
    choice = record.Choice(record.MEANS, "word food", 1)
    own = replace(known, choice=choice)
    going = [record.Going(0.0), record.Going(0.5)]
    steps = going if state == "running" else [*going, record.Going(1.0, own)]
    monkeypatch.setattr(chapter, "job_of", lambda *_: FakeJob(steps, state))
    link = {"steertarget": "word food", "steerlayer": "1", "steerrun": "1", "show": "1"}
    page = fine_part("discoveries", "steering", **link)
    assert ("of the words are food" in prose_of(page)) == (state == "done")


def test_a_beginning_that_is_empty_is_told():
    page = fine_part("discoveries", "steering", steerprompt="", show="1")
    assert "There is no beginning yet" in boxes(page)


@pytest.mark.parametrize("cell", ["", "0.3", "13.14", "14.2", "99.0", "x", "3"])
@pytest.mark.parametrize("how", ["means", "feature"])
def test_any_cell_of_the_grid_is_read_out(cell, how):
    page = fine_part("discoveries", "steering", steercell=cell, steerout=how, show="1")
    found = record.recorded().removals
    row, column = chapter.cell_of(cell)
    grid = sent(page, "cell_grid")
    assert np.shape(grid["values"]) == (len(RULES) + 1,) * 2
    taken = found.rises if how == "means" else found.by_feature
    own = taken[:, row, column] if row < len(RULES) else found.random.mean(1)[:, column]
    largest = (taken.mean(0).argmax(1) == np.arange(len(RULES))).sum()
    assert (f"For {largest} of 14 rules" in prose_of(page)) == (largest < 14)
    assert np.asarray(grid["values"])[row, column] == pytest.approx(own.mean(), abs=1e-5)
    assert f"changes by {chapter.changed(own.mean())} nats" in prose_of(page)
