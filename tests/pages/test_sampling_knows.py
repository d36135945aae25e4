"""Chapter "What it knows": two rules, asked where no short cut leads to the right words."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
import torch

from llmviz.corpus import parse
from llmviz.course.lessons.sampling.knows import chapter as knows
from llmviz.course.lessons.sampling.knows import model as facts
from llmviz.course.lessons.sampling.knows import words
from llmviz.course.ui.common import percent
from llmviz.training.evaluate import share_right
from llmviz.training.measures import Share
from tests.pages.harness import fine, open_part, prose_of, run_snippet, snippets, unpack_all


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
    assert share == Share(int(np.sum(found[::2] > found[1::2])), len(asked))


@pytest.mark.parametrize("kind", list(facts.SHORT_CUTS))
@pytest.mark.parametrize(
    ("easy", "hard", "is_there"), [(39, 20, True), (39, 38, False), (28, 16, False)]
)
def test_a_hole_is_named_where_there_is_one(bundle, monkeypatch, kind, easy, hard, is_there):
    shares = [Share(right, facts.STORIES) for right in (easy, hard)]
    monkeypatch.setattr(knows, "_shares_right", lambda bundled, kind: shares)
    app = open_part("sampling", "knows", rule=kind)
    fine(app)
    said = prose_of(app)
    for share in shares:
        low, high = map(percent, share.interval)
        assert f"{percent(share.share)} ({low} to {high})" in said
    hole = words.short_cuts[kind][1] + words.hidden
    assert (hole in said) == is_there
    learnt = words.looked_up.get(kind)
    assert learnt is None or (learnt.strip() in said) == (
        min(share.share for share in shares) > knows.KNOWS
    )


def test_the_share_of_a_rule_stands_with_its_interval_as_in_the_card(bundle, monkeypatch):
    scores = {"sums": Share(985, 1000), "days": Share(1000, 1000), "places": Share(961, 1000)}
    card = {**bundle.card, "probes": {kind: one.to_dict() for kind, one in scores.items()}}
    known = dataclasses.replace(bundle, card=card)
    monkeypatch.setattr(knows.source, "model", lambda state: known)
    app = open_part("sampling", "knows", rule="sums")
    told = re.sub(r"<[^>]+>", "", prose_of(app))
    assert words.hidden not in told  # which is said of the rules with a short cut alone
    assert (
        "weakest at “where somebody is”: there it is right in 96.1\u00a0% (94.7\u00a0% to" in told
    )
    (dots,) = [rows for rows in unpack_all(app, "case_rows") if len(rows["rows"]) == 3]
    for row, kind in zip(dots["rows"], ("places", "sums", "days"), strict=True):
        assert (row["value"], row["interval"]) == (scores[kind].share, [*scores[kind].interval])


@pytest.mark.parametrize("probes", [None, {"sums": 0.98}, {"sums": {"right": 3}}, [1]])
def test_a_card_without_counts_shows_none(bundle, monkeypatch, probes):
    known = dataclasses.replace(bundle, card={**bundle.card, "probes": probes})
    monkeypatch.setattr(knows.source, "model", lambda state: known)
    app = open_part("sampling", "knows", rule="sums")
    fine(app)
    assert "weakest" not in prose_of(app)


@pytest.mark.parametrize("kind", list(facts.SHORT_CUTS))
def test_the_two_shares_come_out_of_the_code_beside_them(bundle, kind):
    app = open_part("sampling", "knows", rule=kind)
    found = {snippet: prints for snippet, prints in snippets(app) if "told_apart" in snippet}
    ((snippet, prints),) = found.items()
    assert run_snippet(snippet).strip() == prints.strip()


@pytest.mark.parametrize("heat", [0.0, 0.05, 1.234, 3.0])
def test_what_stands_beside_a_temperature_is_what_the_model_computes_at_it(bundle, heat):
    """A link may name a temperature between two stops of the slider."""
    app = open_part("sampling", "knows", rule="days", heat=repr(heat))
    fine(app)
    (probe, *_) = facts.examples("days")
    expected = []
    asked = [(probe.prompt, probe.right), (probe.prompt, probe.wrong)]
    for logits, tokens in facts.continuation_logits(bundle.model, bundle.tokenizer, asked):
        scaled = torch.from_numpy(logits) / heat if heat else None
        rows = scaled.softmax(-1) if heat else torch.eye(logits.shape[1])[logits.argmax(-1)]
        expected.append(
            math.prod(float(row[token]) for row, token in zip(rows, tokens, strict=True))
        )
    told = re.sub(r"<[^>]+>", "", prose_of(app))
    assert f"At T = {heat:g} the model writes" in told
    right, wrong = expected
    assert f"with a probability of {percent(right)}. " in told
    assert f" gets {percent(wrong)}, and everything else together" in told
