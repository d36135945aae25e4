"""The lesson "Rewards and reasoning": what its sentences say at any setting."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning import parity_texts as texts
from llmviz.course.lessons.reasoning import think_first as think
from llmviz.course.lessons.reasoning.chain_of_thought import chapter
from llmviz.course.lessons.reasoning.think_first import Measured, Share, Step, Written
from llmviz.course.ui import kit
from tests.pages.harness import fine, open_part, prose_of

BIT = st.integers(0, 1)
HITS = st.lists(st.integers(0, 200), min_size=3, max_size=3)


def flat(short, mixed):
    """Return a record with the same hits at each length and in each way."""
    hits = {texts.SHORT_FIRST: short, texts.MIXED: mixed}
    return {
        (order, way): [
            Measured(
                order, way, seed, 0.0, dict.fromkeys(think.LENGTHS, Share(one, 200)), {}, {}, None
            )
            for seed, one in enumerate(hits[order])
        ]
        for order, way in product(texts.ORDERS, texts.WAYS)
    }


@contextmanager
def measured(record):
    """Let the chapter read this record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chapter, "recorded", lambda: record)
        yield


@settings(deadline=None)
@given(HITS, HITS)
def test_what_the_order_of_texts_does_follows_from_the_models(short, mixed):
    with measured(flat(short, mixed)):
        said = chapter.order_read()
    assert ("they made it easy" in " ".join(said.split())) == (min(short) > max(mixed))
    assert ("that order harms" in said) == (max(short) < min(mixed))
    assert kit.percent(sum(short) / 600) in said and kit.percent(sum(mixed) / 600) in said


def test_bars_go_from_the_lowest_model_to_the_highest():
    with measured(flat([60, 120, 200], [100, 100, 100])):
        chapter.figure.clear()
        short, mixed = (chapter.figure(order, "light") for order in texts.ORDERS[::-1])
        chapter.figure.clear()
    for trace in short.data:
        top = np.array(trace.y) + trace.error_y.array
        bottom = np.array(trace.y) - trace.error_y.arrayminus
        assert np.allclose(trace.y, 380 / 600)
        assert np.allclose(top, 1) and np.allclose(bottom, 0.3)
    assert all(not any(trace.error_y.array) for trace in mixed.data)
    assert short.layout.yaxis.range == mixed.layout.yaxis.range


@settings(deadline=None)
@given(st.lists(st.tuples(BIT, BIT), min_size=1, max_size=texts.SLOTS), BIT)
def test_the_caption_tells_right_answers_and_notes_that_do_not_follow(pairs, answer):
    bits, path = zip(*pairs, strict=True)
    written = Written(bits, tuple(Step(one, 0.5) for one in path), answer, 0.75)
    said = chapter.caption(written)
    assert ("that is right" in said) == (answer == sum(bits) % 2)
    slips = [
        str(at)
        for at, (before, bit, now) in enumerate(zip((0, *path), bits, path, strict=False), 1)
        if now != before ^ bit
    ]
    assert said.endswith(f"before: {', '.join(slips)}.") == bool(slips)


@settings(deadline=None, max_examples=25)
@given(st.lists(BIT, min_size=1, max_size=texts.TRAINED), st.integers(0, texts.TRAINED))
def test_the_last_thing_that_turns_is_asked_for_where_the_answers_are_apart(bits, step):
    bits = tuple(bits)
    if step > len(bits):
        return
    asked = chapter.question(bits, step)
    if asked is None:
        rows = chapter.turned(bits, step) if step else []
        assert not step or step == len(bits) or rows[-1] != len(bits) + 1
        return
    plain, flipped = (think.write(think.bundled(), bits, at) for at in (None, step - 1))
    assert asked.values == [(step,), (step + 1,), (len(bits) + 1,)] and asked.right == 2
    assert plain.answer != flipped.answer


@given(st.integers(0, 20), st.integers(0, 20))
def test_the_notes_that_turned_are_counted_only_where_the_count_says_something(behind, changed):
    if changed <= behind:
        said = chapter.notes_turned(changed, behind)
        assert ("all" in said) == (changed == behind > 1)
        assert (f"{changed} of the {behind}" in said) == (0 < changed < behind)
        assert ("the last one" in said) == (not behind)


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
    page = open_part("reasoning", "chain_of_thought", show="1", thinkbits=typed, thinkstep=step)
    fine(page)
    said = prose_of(page)
    bits = chapter.bits_of(typed[: texts.SLOTS])
    assert (chapter.words.bad_bits in [one.value for one in page.info]) == (note is None)
    if note is not None:
        written = think.write(think.bundled(), bits, int(step) - 1 if note else None)
        assert sum(one.changed for one in written.steps) == note
        at_once = think.write_at_once(think.bundled(think.AT_ONCE), bits)
        plain = think.write(think.bundled(), bits)
        assert f"The model answers <strong>{plain.answer}</strong>" in said
        assert (f"the answer is <strong>{written.answer}</strong>" in said.lower()) == bool(note)
        assert f"without any note, answers <strong>{at_once.answer}</strong>" in said


def test_models_with_notes_only_guess_behind_anything_else():
    for kind in chapter.SHOWN:
        for model in think.recorded()[chapter.WRITES]:
            share = model.shown[kind].value
            assert (share > 0.9) if kind == "own" else abs(share - 0.5) < 0.1
