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
from llmviz.course.lessons.reasoning.chain_of_thought import chapter, lengths, tasks
from llmviz.course.lessons.reasoning.chain_of_thought import model as think_tasks
from llmviz.course.lessons.reasoning.think_first import Measured, Share, Step, Written
from llmviz.course.ui import kit
from tests.pages.harness import fine, open_part, prose_of

BIT = st.integers(0, 1)
KINDS = list(product(texts.ORDERS, texts.WAYS))
EDGES = st.sampled_from([0, 1, 78, 79, 99, 100, 101, 121, 122, 199, 200])  # of 200: a guess is 100
HITS = st.lists(st.one_of(EDGES, st.integers(0, 200)), min_size=3, max_size=3)


def records(hits):
    """Return a record in which each model of a kind has so many right answers, at each length."""
    return {
        (order, way): [
            Measured(
                order, way, seed, 0.0, {n: Share(one(n), 200) for n in think.LENGTHS}, {}, {}, None
            )
            for seed, one in enumerate(hits[order, way])
        ]
        for order, way in KINDS
    }


def flat(short, mixed):
    """Return a record with the same hits at each length and in each way."""
    given = {texts.SHORT_FIRST: short, texts.MIXED: mixed}
    return records({kind: [lambda _, hits=one: hits for one in given[kind[0]]] for kind in KINDS})


@contextmanager
def measured(record):
    """Let the chapter read this record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths, "recorded", lambda: record)
        yield


@settings(deadline=None)
@given(HITS, HITS)
def test_what_the_order_of_texts_does_follows_from_the_models(short, mixed):
    with measured(flat(short, mixed)):
        said, question = lengths.order_read(), lengths.order_question()
    assert ("is right more often than each" in said) == (min(short) > max(mixed))
    assert ("is right less often than each" in said) == (max(short) < min(mixed))
    clear = [max(hits) / 200 > 0.5 + 3 * (0.25 / 200) ** 0.5 for hits in (short, mixed)]
    assert ("stays open" in said) == (not any(clear))
    assert ("did not find it" in said) == (clear == [True, False])
    assert ("can hold more than a guess" in said) == clear[1]
    assert kit.percent(sum(short) / 600) == question.answers[question.right]
    assert len(set(question.answers)) == 3
    each = ", ".join(kit.percent(one / 200) for one in short)
    assert all(each in reason for reason in question.reasons)
    assert kit.percent(sum(mixed) / 600) in question.text


@settings(deadline=None)
@given(st.sampled_from(texts.ORDERS), st.data())
def test_what_becomes_of_longer_texts_is_said_way_by_way(order, data):
    inside = data.draw(st.sampled_from([100, 200]))
    outside = {way: {n: data.draw(EDGES) for n in (17, 18, 20)} for way in texts.WAYS}
    hits = {
        (kind, way): [lambda n, way=way: outside[way].get(n, inside)] * 3 for kind, way in KINDS
    }
    with measured(records(hits)):
        paragraphs = lengths.beyond(order).split("\n\n")
    for way, said in zip(texts.WAYS, paragraphs, strict=True):
        assert said.startswith(chapter.words.beyond_ways[way])
        own = outside[way]
        whole = inside == 200 and set(own.values()) == {200}
        assert ("in all texts" in said) == whole
        under = [n for n, one in own.items() if one / 200 < 0.5 - 3 * (0.25 / 600) ** 0.5]
        assert ("less than a guess" in said) == bool(under)
        if under:
            assert f"At {kit.listed([*map(str, under)])} bits" in said
        if not whole:
            assert ", ".join(kit.percent(one / 200) for one in own.values()) in said


def test_bars_go_from_the_lowest_model_to_the_highest():
    with measured(flat([60, 120, 200], [100, 100, 100])):
        lengths.figure.clear()
        short, mixed = (lengths.figure(order, "light") for order in texts.ORDERS[::-1])
        lengths.figure.clear()
    for trace in short.data:
        top = np.array(trace.y) + trace.error_y.array
        bottom = np.array(trace.y) - trace.error_y.arrayminus
        assert np.allclose(trace.y, 380 / 600)
        assert np.allclose(top, 1) and np.allclose(bottom, 0.3)
    assert all(not any(trace.error_y.array) for trace in mixed.data)
    assert short.layout.yaxis.range == mixed.layout.yaxis.range


@settings(deadline=None)
@given(st.lists(st.tuples(BIT, BIT), min_size=1, max_size=texts.SLOTS), BIT)
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


@settings(deadline=None)
@given(st.lists(BIT, min_size=1, max_size=texts.SLOTS), BIT)
def test_the_sentence_on_an_answer_at_once_tells_whether_it_is_right(bits, answer):
    said = chapter.at_once_read(Written(tuple(bits), (), answer, 0.75))
    assert ("That is right" in said) == (answer == sum(bits) % 2)
    assert ("That is wrong" in said) == (answer != sum(bits) % 2)


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
        assert f"The model answers <strong>{written.answer}</strong>" in said
        assert f"short texts first, answers <strong>{at_once.answer}</strong>" in said
    assert "With short texts first it was" in said


TASK = st.sampled_from([*think_tasks.TASKS])


@settings(deadline=None)
@given(TASK, HITS, HITS, st.integers(0, 200))
def test_what_steps_add_to_a_task_follows_from_its_models(task, once, steps, beyond):
    def models(hits):
        right = [
            {n: Share(beyond if n > think_tasks.TRAINED else one, 200) for n in think_tasks.LENGTHS}
            for one in hits
        ]
        return [think_tasks.Measured(task, "", 0, 0.0, one, {}) for one in right]

    record = {(task, way): models(once) for way in texts.WAYS} | {(task, texts.PATH): models(steps)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "recorded", lambda: record)
        said, question = tasks.read(task), tasks.question(task)
    assert ("is right more often than each" in said) == (min(steps) > max(once))
    assert ("is right less often than each" in said) == (max(steps) < min(once))
    assert said.endswith(f"{', '.join([kit.percent(beyond / 200)] * 2)}.")
    assert question.answers[question.right] == kit.percent(sum(once) / 600)
    assert len(set(question.answers)) == 3


@pytest.mark.parametrize("task", think_tasks.TASKS)
def test_an_example_of_a_task_ends_with_the_state_that_it_leads_to(task):
    rows = tasks.examples(task)
    assert len({row[1] for row in rows}) == 1
    path = rows[texts.WAYS.index(texts.PATH)][2]
    assert path.split()[-1] == path.split(" : ")[0].split()[-1] == rows[0][2].split()[-1]


def test_a_copy_without_the_bundled_trainings_names_the_command(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("reasoning", "chain_of_thought")
    fine(page)
    assert any(think.COMMAND in one.value for one in page.code)
