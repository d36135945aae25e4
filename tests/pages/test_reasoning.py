"""The lesson "Rewards and reasoning": what its sentences say at any setting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.lessons.reasoning.think import chapter
from llmviz.study import think_first as think
from llmviz.study.think_first import Step, Written
from tests.pages.harness import fine, open_part, prose_of

BIT = st.integers(0, 1)


@settings(deadline=None)
@given(st.lists(st.tuples(BIT, BIT), min_size=1, max_size=think.SLOTS), BIT)
def test_the_sentence_on_a_path_tells_right_answers_and_steps_that_do_not_follow(pairs, answer):
    bits, path = zip(*pairs, strict=True)
    written = Written(bits, tuple(Step(one, 0.5) for one in path), answer, 0.75)
    said, rows = chapter.live_read(written), chapter.live_rows(written)
    assert ("That is the parity" in said) == (answer == sum(bits) % 2)
    follow = [
        now == (before ^ bit) for before, bit, now in zip((0, *path), bits, path, strict=False)
    ]
    assert ("Each step follows" in said) == all(follow)
    assert [not row[-1] for row in rows] == follow
    assert [int(row[2]) for row in rows] == [sum(bits[: at + 1]) % 2 for at in range(len(bits))]


@pytest.mark.parametrize(
    ("typed", "bits"),
    [
        ("101", (1, 0, 1)),
        (" 1 0\t", (1, 0)),
        ("", ()),
        ("  ", ()),
        ("12", ()),
        ("¹", ()),
        ("<b>", ()),
    ],
)
def test_bits_are_read_without_spaces_or_not_at_all(typed, bits):
    assert chapter.bits_of(typed) == bits


@pytest.mark.parametrize(
    ("typed", "step", "note"),
    [("1011", "2", 1), ("1", "0", 0), ("110", "20", 0), ("10x", "1", None), ("1" * 40, "20", 1)],
)
def test_the_live_model_goes_on_from_the_chosen_step(typed, step, note):
    page = open_part("reasoning", "think", show="1", thinkbits=typed, thinkstep=step)
    fine(page)
    said = prose_of(page)
    bits = chapter.bits_of(typed[: think.SLOTS])
    assert (chapter.words.bad_bits in [one.value for one in page.info]) == (note is None)
    if note is not None:
        written = think.write(think.bundled(), bits, int(step) - 1 if note else None)
        assert sum(one.changed for one in written.steps) == note
        assert f"<strong>{written.answer}</strong>" in said
    assert "What you have seen" in said or "three models were right" in said


def test_a_copy_without_the_bundled_trainings_names_the_command(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("reasoning", "think")
    fine(page)
    assert any(think.COMMAND in one.value for one in page.code)
