"""The watermark's record: what the chapter says of it holds, and a part of it is measured again."""

from __future__ import annotations

import random
from itertools import islice, pairwise

import numpy as np
import pytest

from experiments import watermark as make
from llmviz.corpus.tiny_world import generate, is_story
from llmviz.course.lessons.next.watermark import model
from llmviz.course.lessons.next.watermark.model import ALARM, LONGEST, PUSH, recorded
from llmviz.pretrained import load_bundled
from llmviz.sampling.watermark import Watermark, detect, evidence


def test_a_part_of_the_record_is_measured_again():
    bundled, tokenizer, _ = load_bundled(model.MODEL)
    for heat, push in ((1.0, PUSH), (0.02, PUSH)):
        again = list(islice(make.write_texts(bundled, tokenizer, heat, push, 0), 3))
        rings = [evidence(ids, mark).rings(ALARM) or LONGEST + 1 for mark, ids in again]
        assert rings == recorded().cell(heat, push).rings[0][:3]


def test_false_alarms_come_as_often_as_the_coins_allow():
    found = recorded()
    for alarms in found.alarms:
        expected = alarms.exact * found.honest
        assert abs(alarms.at_end - expected) < 4 * np.sqrt(expected)
        assert alarms.exact <= alarms.promised
        assert alarms.at_end / found.honest <= alarms.promised, "read once, it is as promised"
        assert alarms.on_the_way > 2 * alarms.at_end, "who looks often accuses often"


def test_little_choice_needs_more_tokens_and_a_strong_push_fewer_at_a_price():
    found = recorded()
    cells = [found.cell(float(heat), PUSH) for heat in model.HEATS]
    assert all(a.entropy < b.entropy for a, b in pairwise(cells))
    assert min(cells[0].medians) > LONGEST > max(cells[-1].medians)
    by_push = found.by_push
    assert [cell.push for cell in by_push] == sorted(make.PUSHES)
    strong, weak = by_push[-1], found.cell(1.0, 2.0)
    assert max(strong.medians) < min(weak.medians)
    losses = [np.mean(cell.loss) for cell in by_push if cell.push >= 2]
    assert losses == sorted(losses)
    assert min(strong.loss) > max(by_push[0].loss) + 1
    assert max(strong.kept) < min(by_push[0].kept)
    assert min(by_push[0].medians) > LONGEST


def test_swapped_words_take_the_mark_away_and_without_a_key_a_detector_is_near_a_coin():
    rows = recorded().changed
    assert rows[0].tokens == 0
    assert all(a.tokens < b.tokens for a, b in pairwise(rows))
    assert max(rows[-1].found) < min(rows[0].found)
    errors = recorded().errors
    assert min(errors["likelihood"]) > 0.35
    assert max(errors["watermark"]) < min(errors["grammar"]) < min(errors["likelihood"])
    free, forced = (recorded().real[name] for name in (model.FREE, model.FORCED))
    assert free.rings is not None and forced.rings is None
    assert forced.entropy < 0.3 < free.entropy


@pytest.mark.parametrize("seed", range(3))
def test_a_story_with_swapped_words_is_still_one_of_the_grammar(seed):
    (story,) = generate(1, seed)
    assert make.exchanged(story.text, 0.0, random.Random(0)) == story.text
    other = make.exchanged(story.text, 1.0, random.Random(0))
    assert other != story.text and is_story(other)


def test_temperature_acts_on_the_model_and_not_on_the_push():
    bundled, tokenizer, _ = load_bundled(model.MODEL)
    mark = Watermark(7, 0.25, 1000.0)
    text = model.text_of(bundled, tokenizer, tokenizer.start, mark, 1.0, 0, 30)
    assert evidence(text.ids, mark).green.all(), "so strong a push leaves nothing else"
    cold = model.text_of(bundled, tokenizer, tokenizer.start, mark, 0.1, 0, 30)
    assert evidence(cold.ids, mark).green.all(), "which no temperature makes weaker"
    assert len(text.ids) == len(text.pieces) + 1 == len(text.entropies) + 1 == 31


def test_other_keys_find_as_many_green_ones_as_chance_has_it():
    ids, mark = list(range(200)), Watermark(7, 0.25)
    counts = model.greens_under_other_keys(ids, mark, 500)
    assert abs(counts.mean() - 0.25 * 199) < 4 * np.sqrt(199 * 0.25 * 0.75 / 500)
    assert counts[1] == detect(ids, Watermark(9, 0.25)).count
