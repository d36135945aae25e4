"""Chapter "What it knows": two rules, asked where no short cut leads to the right words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from llmviz.corpus import parse, probes
from llmviz.lessons.sampling.knows import chapter as knows
from llmviz.lessons.sampling.knows import words as knows_words
from llmviz.study import probe_chances as facts
from llmviz.training.evaluate import share_right
from llmviz.ui.common import percent
from tests.pages.harness import fine, open_part, prose_of, run_snippet, snippets


def test_stories_hold_as_many_things_as_they_say():
    for things, asked in enumerate(facts.told_apart("possession"), start=1):
        assert len(asked) == len({one.prompt for one in asked}) == facts.STORIES
        for one in asked:
            assert len(set(re.findall(r"found an? \w+ \w+ (\w+)", one.prompt))) == things
            assert one.prompt.endswith(("now? It was", "stayed with"))


def test_the_wrong_place_is_named_where_the_lesson_says_so():
    for named, asked in enumerate(facts.told_apart("places")):
        assert len(asked) == len({one.prompt for one in asked}) == facts.STORIES
        for one in asked:
            words_told = re.findall(r"\w+", one.prompt)
            assert one.right.strip() in words_told
            assert (one.wrong.strip() in words_told) == bool(named)


@pytest.mark.parametrize("kind", list(facts.SHORT_CUTS))
def test_the_short_cut_is_right_in_most_stories(kind):
    asked = probes(kind, 400)
    assert sum(map(facts.SHORT_CUTS[kind], asked)) < len(asked) / 2


def test_the_story_with_the_right_name_is_one_that_the_grammar_writes():
    _, hard = facts.told_apart("possession")
    ends = [one for one in hard if one.prompt.endswith("stayed with")]
    assert ends
    for one in ends:
        parse(f"{one.prompt}{one.right} for ever.")
        with pytest.raises(ValueError):
            parse(f"{one.prompt}{one.wrong} for ever.")


def test_the_share_is_that_of_the_chances_at_temperature_one(bundle):
    asked = facts.told_apart("possession")[1][:12]
    pairs = [(one.prompt, said) for one in asked for said in (one.right, one.wrong)]
    found = facts.chances(bundle.model, bundle.tokenizer, pairs, [1.0])[:, 0]
    share = share_right(bundle.model, bundle.tokenizer, asked)
    assert share == pytest.approx(np.mean(found[::2] > found[1::2]))


@pytest.mark.parametrize("kind", list(facts.SHORT_CUTS))
@pytest.mark.parametrize(
    ("easy", "hard", "is_there"), [(0.98, 0.5, True), (0.98, 0.96, False), (0.7, 0.4, False)]
)
def test_a_hole_is_named_where_there_is_one(bundle, monkeypatch, kind, easy, hard, is_there):
    monkeypatch.setattr(knows, "_shares_right", lambda name, version, kind: [easy, hard])
    app = open_part("sampling", "knows", rule=kind)
    fine(app)
    said = prose_of(app)
    assert percent(easy) in said and percent(hard) in said
    hole = knows_words.SHORT_CUTS[kind][1] + knows_words.HIDDEN
    assert (hole in said) == is_there
    learnt = knows_words.LOOKED_UP.get(kind)
    assert learnt is None or (learnt.strip() in said) == (min(easy, hard) > knows.KNOWS)


def test_other_rules_are_not_told_apart(bundle):
    assert knows_words.HIDDEN not in prose_of(open_part("sampling", "knows", rule="sums"))


@pytest.mark.parametrize("kind", list(facts.SHORT_CUTS))
def test_the_two_shares_come_out_of_the_code_beside_them(kind):
    app = open_part("sampling", "knows", rule=kind)
    found = {snippet: prints for snippet, prints in snippets(app) if "told_apart" in snippet}
    ((snippet, prints),) = found.items()
    assert run_snippet(snippet).strip() == prints.strip()
