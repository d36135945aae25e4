"""Chapter "What it knows": who has a thing, asked of stories with one thing and with two."""

from __future__ import annotations

import re

import numpy as np
import pytest

from llmviz.corpus import parse
from llmviz.training.evaluate import share_right
from llmviz.ui.lessons.common import percent
from llmviz.ui.lessons.sampling import facts, knows, words
from tests.pages.harness import fine, open_part, prose_of, run_snippet, snippets


@pytest.mark.parametrize("things", [1, 2])
def test_stories_hold_as_many_things_as_they_say(things):
    asked = facts.who_has_it(things)
    assert len(asked) == len({one.prompt for one in asked}) == facts.STORIES
    for one in asked:
        assert len(set(re.findall(r"found an? \w+ \w+ (\w+)", one.prompt))) == things
        assert one.prompt.endswith(("now? It was", "stayed with"))


def test_the_story_with_the_right_name_is_one_that_the_grammar_writes():
    ends = [one for one in facts.who_has_it(2) if one.prompt.endswith("stayed with")]
    assert ends
    for one in ends:
        parse(f"{one.prompt}{one.right} for ever.")
        with pytest.raises(ValueError):
            parse(f"{one.prompt}{one.wrong} for ever.")


def test_the_share_is_that_of_the_chances_at_temperature_one(bundle):
    asked = facts.who_has_it(2)[:12]
    pairs = [(one.prompt, said) for one in asked for said in (one.right, one.wrong)]
    found = facts.chances(bundle.model, bundle.tokenizer, pairs, [1.0])[:, 0]
    share = share_right(bundle.model, bundle.tokenizer, asked)
    assert share == pytest.approx(np.mean(found[::2] > found[1::2]))


@pytest.mark.parametrize(
    ("one", "two", "hole"), [(0.98, 0.5, True), (0.98, 0.96, False), (0.7, 0.4, False)]
)
def test_a_hole_is_named_where_there_is_one(bundle, monkeypatch, one, two, hole):
    shares = {1: one, 2: two}
    monkeypatch.setattr(knows, "_share_right", lambda name, version, things: shares[things])
    app = open_part("sampling", "knows", rule="possession")
    fine(app)
    said = prose_of(app)
    assert percent(one) in said and percent(two) in said
    assert (words.knows.NOT_WHICH in said) == hole
    assert words.knows.NOT_WHICH not in prose_of(open_part("sampling", "knows", rule="sums"))


def test_the_two_shares_come_out_of_the_code_beside_them():
    app = open_part("sampling", "knows", rule="possession")
    found = {snippet: prints for snippet, prints in snippets(app) if "who_has_it" in snippet}
    ((snippet, prints),) = found.items()
    assert run_snippet(snippet).strip() == prints.strip()
