"""Trainings that the lesson watches: what they yield at their start and end, on a tiny model."""

import copy
import math

import numpy as np
import pytest
import torch

from llmviz import pretrained
from llmviz.course.lessons.finetuning.lora import lora_race as race
from llmviz.course.lessons.finetuning.preferences.model import SETTINGS, recorded
from llmviz.finetuning import preference_run as preference
from llmviz.finetuning.adapted import adapted_by
from llmviz.finetuning.dpo import Preference, prepare_pairs
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.preference_run import pair_logs
from llmviz.finetuning.preferences import pairs
from llmviz.nn.lora import add_adapter, trained_parameters
from llmviz.nn.lora_config import LoraConfig
from llmviz.tokenizers import get_tokenizer
from tests.finetuning.conftest import small_gpt

RANK = 2


@pytest.fixture(scope="module")
def base():
    tokenizer = get_tokenizer("bpe")
    return small_gpt(tokenizer, n_layer=1), tokenizer


@pytest.fixture
def bundled(base, monkeypatch):
    """`load_bundled` gives a copy of the tiny model."""
    model, tokenizer = base
    monkeypatch.setattr(
        pretrained, "load_bundled", lambda name: (copy.deepcopy(model), tokenizer, {})
    )
    return base


def test_both_ways_are_trained_in_turns_and_what_they_changed_is_handed_over(bundled, monkeypatch):
    monkeypatch.setattr(race, "TESTED", 16)
    monkeypatch.setattr(race, "CHECKED", 8)
    found = list(race.lora_race("mood", steps=3, rank=RANK, alpha=4.0))
    steps = [one for one in found if isinstance(one, race.RaceStep)]
    assert [(one.way, one.step) for one in steps] == [
        (way, step) for step in (1, 2, 3) for way in race.WAYS
    ]
    assert all(math.isfinite(one.loss) and one.seconds > 0 for one in steps)
    assert steps[0].loss == pytest.approx(steps[1].loss, abs=1e-6)  # nothing has changed yet
    lora, every = found[-2:]
    model = bundled[0]
    assert (
        set(lora.values)
        == set(every.values)
        == {path for path, one in model.named_modules() if isinstance(one, torch.nn.Linear)}
        - {"head"}
    )
    for path, values in lora.values.items():
        shape = model.get_submodule(path).weight.shape
        assert values.shape == every.values[path].shape == (min(shape),)
        assert (values > 1e-5 * values[0]).sum() <= RANK < (every.values[path] > 0).sum()
    tuned = copy.deepcopy(model)
    add_adapter(tuned, LoraConfig(RANK))
    head = 2 * (model.config.n_embd + 1)
    assert lora.trained == trained_parameters(tuned) + head
    own = sum(one.numel() for one in model.parameters())
    assert every.trained == own + head
    assert all(0 <= one.accuracy <= 1 for one in (lora, every))


def test_a_run_begins_at_ln_2_and_ends_with_the_adapter_that_was_measured(bundled, monkeypatch):
    monkeypatch.setattr(preference, "HELD_OUT", 4)
    monkeypatch.setattr(preference, "WRITTEN", 4)
    monkeypatch.setattr(preference, "MOST_PAIRS", 8)
    found = list(preference.preference_run("shorter", 6, 0.5, rank=RANK, rate=2e-2))
    *looks, learned = found
    assert [one.step for one in looks] == [0, 4, 6]
    first, last = looks[0], looks[-1]
    assert first.loss == pytest.approx(math.log(2), abs=1e-6)
    assert first.margin == first.preferred == first.divergence == 0
    assert last.divergence > 0 and last.margin != 0
    model, tokenizer = bundled
    trained = adapted_by(model, LoraConfig(RANK, 2.0 * RANK), learned.pairs)
    assert preference.pairs_for(6) == 8
    drawn = pairs("shorter", 12, 0)
    data = prepare_pairs(model, tokenizer, drawn[:8], drawn[8:])
    module = Preference(trained, 0.5)
    (batch,) = data.validation_batches(4, 0)
    with torch.no_grad():
        margins, loss = module(*batch)
    assert last.loss == pytest.approx(float(loss), rel=1e-4)
    assert last.margin == pytest.approx(float(margins.mean()), rel=1e-3, abs=1e-5)
    assert last.preferred == pytest.approx(float((margins > 0).double().mean()))
    # The distance is measured on texts that the trained model writes, by chance, token by token.
    chance, moved = torch.Generator().manual_seed(0), []
    for pair in drawn[8:]:
        ids = tokenizer.encode_from_start(pair.story)
        for _ in range(preference.WRITTEN):
            with torch.no_grad():
                new, old = (one(torch.tensor([ids]))[0][0, -1] for one in (trained, model))
            p = new.softmax(-1)
            moved.append(float((p * (new.log_softmax(-1) - old.log_softmax(-1))).sum()))
            ids.append(int(p.multinomial(1, generator=chance)))
            if ids[-1] == tokenizer.special_tokens["<|endoftext|>"]:
                break
    assert last.divergence == pytest.approx(np.mean(moved), rel=1e-3)
    for one in last.endings:
        assert one.score == -len(one.text.split())


def test_a_model_that_ends_no_text_writes_as_far_as_it_reads(base, monkeypatch):
    _, tokenizer = base
    monkeypatch.setattr(preference, "HELD_OUT", 4)
    drawn = [*pairs("shorter", 8, 0), *preference.shown_pairs("shorter")]
    longest = max(
        len(tokenizer.encode_from_start(f"{pair.story} {text}")) + 1
        for pair in drawn
        for text in (pair.better, pair.worse)
    )
    model = small_gpt(tokenizer, context_length=longest, n_layer=1)
    monkeypatch.setattr(pretrained, "load_bundled", lambda name: (model, tokenizer, {}))
    look = next(preference.preference_run("shorter", 1, 0.5, rank=RANK))
    assert look.divergence == pytest.approx(0, abs=1e-6)


def test_the_recorded_runs_begin_as_the_model_does_and_learn_their_rule():
    model, tokenizer, _ = pretrained.load_bundled(BASE)
    for rule, looks in recorded().items():
        logs = pair_logs(model.eval(), tokenizer, preference.shown_pairs(rule))
        np.testing.assert_allclose(looks[0].logs, logs, atol=1e-3)
        every, steps = preference.looks_every(120), [look.step for look in looks]
        assert steps == list(range(0, SETTINGS["steps"] + 1, every))
        assert looks[0].preferred == 0 and looks[0].divergence == pytest.approx(0, abs=1e-6)
        assert looks[-1].preferred > 0.5 and looks[-1].loss < looks[0].loss
        stories = {pair.story for pair in preference.shown_pairs(rule)}
        assert not stories & {ending.story for look in looks for ending in look.endings}


@pytest.mark.slow  # a training of the default length
def test_the_default_run_shows_better_endings_before_it_breaks_the_text():
    """A held-out story gets an ending that the rule wants, and that is still whole sentences."""
    good = []
    for look in preference.preference_run("place", 40, 0.1):
        near = look.divergence < 0.1
        good += [one for one in look.endings if one.score and near and one.text.endswith(".")]
        assert look.step == 0 or look.preferred > 0.9
        if good or look.step >= 20:
            break
    assert good


def test_the_numbers_of_a_pair_are_those_of_a_pass_token_by_token(base):
    model, tokenizer = base
    drawn = pairs("happier", 2, 3)
    logs = pair_logs(model, tokenizer, drawn)
    end = tokenizer.encode_from_start("")[0]
    for row, pair in zip(range(2), drawn, strict=True):
        for column, ending in enumerate((pair.better, pair.worse)):
            ids = tokenizer.encode_from_start(pair.story)
            total = 0.0
            new = [*tokenizer.encode(f" {ending}"), end]
            with torch.inference_mode():
                log_p = model(torch.tensor([ids + new]))[0][0].double().log_softmax(-1)
            for place, token in enumerate(new, len(ids) - 1):
                total += float(log_p[place, token])
            assert logs[row, column] == pytest.approx(total, rel=1e-5)
    with pytest.raises(ValueError, match="the model reads 8 at most"):
        pair_logs(small_gpt(tokenizer, context_length=8), tokenizer, drawn)
