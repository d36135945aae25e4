"""Part "How it finds who has what": the bundled model's own look-ups."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
import torch

from llmviz.ui import engine
from llmviz.ui.lessons.attention import lookup, real, words
from llmviz.ui.lessons.common import percent
from tests.pages.harness import fine, open_part, prose_of, run_snippet, snippets


@pytest.fixture(scope="module")
def bundled():
    engine.start()
    assert engine.wait(120)
    return engine.load("tiny-world-gpt")


@pytest.fixture(scope="module")
def stories(bundled):
    return lookup.stories(bundled.name, real.stamp(bundled))


def test_the_bundled_model_looks_most_answers_up(bundled, stories):
    assert len(stories) == lookup.STORIES
    found = [lookup.chances(bundled, story) for story in stories]
    right = [p.argmax(axis=1).tolist() == [0, 1] for p in found]
    assert sum(right) >= 0.75 * len(stories)


def test_chances_are_those_of_a_plain_forward_pass(bundled, stories):
    story = stories[1]
    for row, prompt in zip(lookup.chances(bundled, story), story.prompts, strict=True):
        with torch.inference_mode():
            p = bundled.model(torch.tensor([lookup.read(bundled, prompt)]))[0][0, -1].softmax(-1)
        names = [bundled.tokenizer.encode(answer)[0] for answer in story.answers]
        assert np.allclose(row, p[names].numpy(), atol=1e-5)


def test_swapping_the_heads_that_move_swaps_the_answer(bundled, stories):
    """What is called a look-up is one: put in from the other story, it gives the other answer."""
    flipped = []
    for story in stories:
        first, second, shared = lookup.rows(bundled, story)
        order = np.argsort(-lookup.moved(first, second, shared), axis=None, kind="stable")
        heads = tuple(divmod(int(at), first.shape[1]) for at in order[: lookup.SHOWN])
        swapped = lookup.after_swap(bundled, story, heads)
        flipped.append(swapped[1] > swapped[0])
        ids = lookup.read(bundled, story.prompts[0])
        same = lookup.swapped_logits(bundled.name, real.stamp(bundled), ids, ids, heads)
        plain = real.all_maps(bundled.name, real.stamp(bundled), ids).logits
        assert np.allclose(same, plain, atol=1e-4)
    assert sum(flipped) >= 0.75 * len(stories)


def test_the_part_shows_the_story_its_answers_and_the_heads(bundled, stories):
    app = open_part("attention", "trained", story="3")
    fine(app)
    said = html.unescape(prose_of(app))
    story = stories[3]
    shown = " ".join(block.value for block in app.markdown).replace("\\", "")
    plain = re.sub(r":(?:violet|orange)-background\[(\w+)\]", r"\1", shown)
    assert story.prompts[0] in plain
    for colour, thing, answer in zip(
        ("violet", "orange"), story.things, story.answers, strict=True
    ):
        for one in (thing, answer.strip()):
            assert f":{colour}-background[{one}]" in shown
    for share in lookup.chances(bundled, story).diagonal():
        assert percent(share) in said
    table = app.dataframe[-1].value
    assert len(table) == lookup.SHOWN and words.lookup.HEAD in table
    assert [one for one in table if story.things[1] in one]


def test_another_story_and_the_way_to_the_tiles(stories):
    app = open_part("attention", "trained", story=str(len(stories) - 1))
    button = {one.label: one for one in app.button}
    button[words.lookup.NEXT].click().run()
    assert app.query_params.get("story") in (None, ["0"])
    {one.label: one for one in app.button}[words.lookup.OPEN].click().run()
    fine(app)
    typed = [box.value for box in (*app.text_area, *app.text_input)]
    assert stories[0].prompts[0] in typed


def test_the_code_prints_what_the_part_says():
    app = open_part("attention", "trained", story="2")
    ((snippet, prints),) = [one for one in snippets(app) if "import heads_given" in one[0]]
    assert run_snippet(snippet).strip() == prints.strip()


def test_the_weights_of_a_token_are_added_over_its_places():
    row = np.array([0.3, 0.25, 0.25, 0.2])
    assert lookup.most(row, ["a", "b", "b", "c"]) == "b 50%"
