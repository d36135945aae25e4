"""Every graded question of the lesson: one answer is right, and each reason is true for it.

The questions are made from numbers, so they are asked here at their edges: one token, probabilities
near 0, ½ and 1, as many positions as tokens, losses that are alike, weights without a gradient.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.training import charted_runs
from llmviz.course.lessons.training.backprop import chapter as backprop_chapter
from llmviz.course.lessons.training.curves import chapter as curves
from llmviz.course.lessons.training.curves import checkpoint, race
from llmviz.course.lessons.training.descent import chapter as descent
from llmviz.course.lessons.training.loss import chapter as loss_chapter
from llmviz.course.lessons.training.optimizers import surface
from llmviz.course.lessons.training.overfitting import chapter as overfitting
from llmviz.course.lessons.training.overfitting import words as wrong_words
from llmviz.course.lessons.training.runs import chapter as runs_chapter
from llmviz.course.ui.common import percent
from llmviz.evaluation import text_loss
from llmviz.evaluation.nine_models import TIE
from llmviz.training import backprop
from llmviz.training.mistakes import EXPERIMENTS
from llmviz.training.surfaces import SURFACES, name_lengths


def numbers(text: str) -> list[float]:
    """The numbers of a text, in their order."""
    found = re.findall(r"[−-]?[\d,]*\.?\d+(?:e-?\d+)?", text)
    return [float(one.replace("−", "-").replace(",", "")) for one in found]


# ---- the loss


@pytest.mark.parametrize("seed", range(40))
def test_what_a_token_costs_is_its_own_surprise_and_wrong_prices_are_apart(seed):
    rng = np.random.default_rng(seed)
    chances = rng.beta(0.4, 2.0, rng.integers(1, 12))
    nats = (-np.log(np.maximum(chances, 1e-300))).tolist()
    found = loss_chapter.cost(nats, [f"t{n}" for n in range(len(nats))])
    if found is None:
        return
    question, at = found
    values = [value for (value,) in question.values]
    assert values[question.right] == pytest.approx(nats[at]) and len(values) == 3
    assert min(np.diff(sorted(values))) >= loss_chapter.CLEAR
    assert f"t{at}" in as_markdown(question.text)
    said = numbers(question.answers[question.right])[-1]
    assert said == pytest.approx(nats[at], abs=0.006)
    before = float(re.search(r"cost ([\d.]+) nats", question.text)[1])
    more = float(re.search(r"adds ([\d.]+),", question.reasons[question.right])[1])
    assert f"{before + more:.2f}" == f"{said:.2f}"  # as it is read


@pytest.mark.parametrize("nats", [[], [0.0], [1.0, 1.0], [0.0, 800.0], [5.0, 5.1]])
def test_no_cost_is_asked_for_where_answers_would_be_nearly_the_same(nats):
    assert loss_chapter.cost(nats, ["a"] * len(nats)) is None


@pytest.mark.parametrize("vocabulary", [3, 4, 5, 29])
def test_the_last_column_stands_for_the_tokens_that_the_text_does_not_have(vocabulary):
    """Also where the text has every token, or every one but one."""
    targets = (0, 1, 2, 1)
    names = tuple("abcd"[: len(targets)])
    reading = SimpleNamespace(ids=(0, *targets), targets=targets, tokens=("s", *names))
    reading.target_tokens = names
    generator = torch.Generator().manual_seed(vocabulary)
    logits = torch.randn(4, vocabulary, generator=generator, dtype=torch.float64).numpy()
    settings = text_loss.LossSettings()
    steps = text_loss.loss_steps(logits, targets)
    matrices, captions = loss_chapter.build(reading, logits, steps, steps, settings)
    others, caption = vocabulary - 3, captions[0][1]
    assert ("last column" in caption) == (others > 0)
    assert (f"the {others:,} other tokens" in caption) == (others > 1)
    assert ("the one other token" in caption) == (others == 1)
    assert matrices[0].values.shape[1] == 3 + (others > 0)
    softmax = torch.tensor(logits).softmax(-1).numpy()
    assert np.allclose(matrices[1].values[:, :3], softmax[:, [0, 1, 2]])


# ---- descent


def test_where_the_first_step_of_a_long_stride_leads():
    guess = name_lengths()
    place = torch.tensor([descent.START], dtype=torch.float64)
    found = float(place - descent.RATES.high * guess.gradient(place, 0))
    question = descent.question(guess.best)
    assert question.values[question.right][0] == pytest.approx(found, rel=1e-6)
    values = sorted(value for (value,) in question.values)
    assert len(set(question.answers)) == len(values) == 4
    assert min(b - a for a, b in pairwise(values)) > 1  # letters, told apart on the axis


@pytest.mark.parametrize("rate", [0.005, 0.5, 0.857, 1.0, 1.3])
def test_the_end_of_one_weight_is_where_its_walk_ends(rate):
    guess = name_lengths()
    weight = descent.START
    for _ in range(descent.STEPS):
        weight -= rate * 2 * (weight - guess.best)
    said = descent.end(rate, guess.best)
    assert ("never gets to" in said) == (abs(1 - 2 * rate) >= 1)
    assert ("as far away as it began" in said) == (rate == 1)
    assert ("never gets to" in said) or f"the ball gets to {weight:.2f}" in said


def test_what_is_said_of_each_rate_is_what_the_ball_does():
    guess = name_lengths()
    rates = [*descent.descended(41)[1].rates.tolist(), 0.5, 1.0, 0.515, 0.95, 1.0001]
    for rate in rates:
        text, factor = descent.sentence(rate), 1 - 2 * rate
        after = guess.best + factor * (descent.START - guess.best)
        crossed = (after - guess.best) * (descent.START - guess.best) < 0
        rest = abs(factor) ** descent.STEPS
        assert ("diverges" in text) == (abs(factor) > 1)
        assert ("exactly as far away" in text) == (abs(factor) == 1)
        assert ("other side" in text) == (crossed and abs(factor) > descent.EXACT)
        if "without overshooting" in text:
            assert abs(factor) < 1 and not crossed
        left = re.search(r"([\d.]+)\u00a0% of the whole distance", text)
        if left:
            assert float(left.group(1)) == pytest.approx(100 * rest, rel=0.01, abs=0.06)
        assert ("less than 0.01 %" in text) == (rest < 0.0001 and abs(factor) > descent.EXACT)
        assert ("for 20 steps" in text) == (descent.MUCH < rest < 1)
        if "Just right" in text:
            covered = 1 - abs(factor)
            assert abs(factor) < 0.04 and (("all of" in text) == (covered == 1))


@pytest.mark.parametrize("name", list(SURFACES))
def test_the_largest_rate_that_arrives_on_a_surface(name):
    field = SURFACES[name]
    question, known, largest = surface.question(name, field)
    assert question is not None and known == 1 + min(
        int((surface.RATES.values() - float(rate)).abs().argmin()) for rate in question.answers
    )
    assert question.answers[question.right] == f"{float(surface.RATES.values()[largest]):.3g}"
    for rate, reason in zip(question.answers, question.reasons, strict=True):
        assert reason.startswith(f"At {rate}")
    left = []
    for rate in question.answers:  # walked here, at the rate as it stands on the page
        nearest = surface.ways(name, field.start, "sgd", 0.9, 0.99, 0.0).rates
        step = float(nearest[(nearest - float(rate)).abs().argmin()])
        point = torch.tensor(field.start, dtype=torch.float64)
        for _ in range(surface.STEPS):
            point = point - step * field.gradient(point)
        height = float(field.height(point)) - field.floor
        start = float(field.height(torch.tensor(field.start, dtype=torch.float64))) - field.floor
        left.append(height / start if math.isfinite(height) else math.inf)
    arrives = [share <= 0.01 for share in left]
    rates = [float(rate) for rate in question.answers]
    assert max(rate for rate, ok in zip(rates, arrives, strict=True) if ok) == rates[question.right]
    for share, ok, reason in zip(left, arrives, question.reasons, strict=True):
        wrong = reason is not question.reasons[question.right]
        assert ("works as well" in reason) == (ok and wrong)
        said = re.search(r"([\d.]+)\u00a0% of the height", reason)
        if said:
            assert float(said.group(1)) == pytest.approx(100 * share, rel=0.05, abs=0.06)


@pytest.mark.parametrize("name", list(SURFACES))
def test_decay_pulls_away_from_the_bottom_only_where_the_bottom_is_not_at_zero(name):
    field = SURFACES[name]
    zero = torch.zeros(2, dtype=torch.float64)
    at_zero = float(field.height(zero)) - field.floor < 1e-12
    text = surface.decay_note(0.1, field)
    assert ("agree" in text) == at_zero and ("away from the bottom" in text) != at_zero
    way = surface.ways(name, field.start, "momentum", 0.9, 0.99, 0.2)
    stop = way.best()
    rest = float(way.losses[stop, -1]) - field.floor
    assert (rest < 1e-3) == at_zero  # where they come to rest, the bottom or beside it


def test_small_steps_of_sgd_end_in_the_right_valley_as_said():
    way = surface.ways("valleys", SURFACES["valleys"].start, "sgd", 0.9, 0.99, 0.0)
    assert (way.path[:20, -1, 0] > 0).all()
    assert (way.path[:, -1, 0] < 0).any()
    assert "right one" in surface.words.surface_text["valleys"]


# ---- backpropagation


@pytest.mark.parametrize("target", range(backprop.CHOICES))
def test_each_bet_is_blamed_by_as_much_as_it_was_off(target):
    made = backprop.forward(backprop.example(), target)
    gradients = backprop.backward(made)["logits"][0].tolist()
    bets = made["p"][0].tolist()
    rows = backprop_chapter.bet_rows(target, bets, revealed=True)
    for at, (row, gradient) in enumerate(zip(rows, gradients, strict=True)):
        low, high = row.interval
        assert high - low == pytest.approx(abs(gradient)) and (gradient < 0) == (at == target)
        assert ("too low" in row.label) == (gradient < 0)
    asked = backprop_chapter.question(target, bets)
    assert all(gradients) and asked.answers[asked.right].startswith("All five")


# ---- curves, the race, failures


def run(validation: list[float], train: float = 2.0, name: str = "a") -> SimpleNamespace:
    """A run as the questions read it: a validation loss every ten steps."""
    measured = np.array(validation, dtype=float)
    last = measured[~np.isnan(measured)]
    curve = SimpleNamespace(
        validation=measured,
        steps=10 * np.arange(1, len(measured) + 1),
        train=np.array([train]),
        seconds=np.arange(1.0, len(measured) + 1),
        last_validation=float(last[-1]) if last.size else None,
    )
    about = {"data": {"validation_documents": 800}, "parameters": 1, "model": {"config": {}}}
    return SimpleNamespace(
        label=name, title=name, name=name, curve=curve, description=about, counted="token"
    )


@pytest.mark.parametrize("seed", range(60))
def test_how_a_loss_goes_on_is_asked_with_lines_that_are_apart(seed):
    rng = np.random.default_rng(seed)
    steps = np.arange(int(rng.integers(2, 40)))
    losses = 3 * np.exp(-rng.uniform(0, 0.6) * steps) + rng.uniform(0, 0.2) * steps / 9 + 0.5
    main = run((losses + rng.normal(0, 0.02, steps.size)).tolist())
    places, measured, known = curves.measured(main)
    assert places == sorted(set(places)) and places[-1] == main.curve.steps[-1]
    assert len(places) <= known + curves.PLACES
    question = curves.question(main)
    if question is None:
        return
    near = curves.APART * max(measured)
    answers = dict(zip(question.answers, map(np.array, question.values), strict=True))
    truth = np.array(measured[known:])
    right = question.answers[question.right]
    np.testing.assert_array_equal(answers[right], truth)
    ruler = answers[curves.words.ask_answers["ruler"]]
    assert (truth - ruler).mean() >= near and (ruler >= 0).all()
    lowest = min(measured[known - 1 :])
    if right == curves.words.ask_answers["above"]:
        assert truth[-1] > lowest + near
    if right == curves.words.ask_answers["level"]:
        assert np.abs(truth - measured[known - 1]).mean() < near
    if right == curves.words.ask_answers["down"]:
        assert truth.mean() < measured[known - 1] - near + 2 * near * (truth[-1] <= lowest + near)


@pytest.mark.parametrize("losses", [[], [2.0], [2.0, 1.9], [2.0, 1.9, 1.8], [1.0, 2.0, 3.0, 4.0]])
def test_a_run_of_few_losses_or_one_that_climbs_at_once_is_not_asked_about(losses):
    assert curves.question(run(losses)) is None


@pytest.mark.parametrize(
    "config, what", [({"shift": False}, "shift"), ({"mask": "none"}, "mask"),
                     ({"mask": "off_by_one"}, "mask"), ({"mask": "causal"}, None), ({}, None)],
)  # fmt: skip
def test_a_model_that_sees_its_answer_is_not_held_against_the_lines(monkeypatch, config, what):
    main = run([2.6, 2.6, 2.6, 2.6, 1.0])
    main.description["model"]["config"] = config
    known = SimpleNamespace(
        bigram=2.5, uniform=3.3, unigram=2.8, tokens=9, floor=2.0, floor_documents=5
    )
    monkeypatch.setattr(charted_runs, "references_of", lambda one: (known, "x"))
    told = []
    monkeypatch.setattr(curves.kit, "prose", told.append)
    curves._about(main)
    assert curves.copied(main.description) == what
    assert ("farther than one token" in told[0]) == (what is None)
    assert ("no measure for this model" in told[0]) == (what is not None)
    assert ("No model can get below" in told[0]) == (what is None)


@pytest.mark.parametrize("name", ["no-shift", "no-mask", "mask-off-by-one"])
def test_the_bundled_mistakes_are_not_praised_for_a_low_loss(name):
    about = charted_runs.read(f"names-gpt-{name}").description
    assert curves.copied(about) == ("shift" if name == "no-shift" else "mask")


def test_losses_that_were_not_measured_are_passed_over():
    nan = float("nan")
    plain = curves.measured(run([2.6, 2.0, 1.5, 1.4]))
    gaps = curves.measured(run([2.6, nan, 2.0, nan, 1.5, 1.4]))
    assert plain[1] == gaps[1] and gaps[0] == [10, 30, 50, 60]


@pytest.mark.parametrize("below", [0.5, 0.021, 0.02, 0.0, -0.02, -0.021])
def test_being_above_the_line_of_pairs_says_nothing_about_how_far_a_model_looks(below):
    text = curves.against_pairs(below)
    assert ("farther than one token" in text) == (below > 0.02)
    assert ("more than pairs" in text) == (below < -0.02)
    assert ("within 0.02" in text) == (abs(below) <= 0.02)
    assert "is about all" not in text


@pytest.mark.parametrize("seed", range(30))
def test_the_race_asks_where_its_early_leader_ends(seed):
    rng = np.random.default_rng(seed)
    full = [run(list(rng.normal([2.0, 1.7], 0.1)), 1.5, f"m{i}") for i in range(4)]
    for each in full:
        each.curve.steps[:] = [race.EARLY_STEP, 6000]
    early, ends = (np.array([each.curve.validation[k] for each in full]) for k in (0, -1))
    first = int(early.argmin())
    question, lead = race.question(full), np.sort(early)[1] - early[first]
    others = np.delete(ends, first)
    values = sorted([ends[first], early[first], others.min() - lead])
    if question is None:
        assert lead <= TIE or np.diff(values).min() < race.APART + 0.001
        return
    assert question.values[question.right][0] == pytest.approx(ends[first], abs=0.0006)
    assert sorted(at for (at,) in question.values) == pytest.approx(values, abs=0.0011)


def test_models_of_the_race_that_cannot_be_ranked_are_not_ranked():
    near = [run([1.5827], 1.6, "GPT"), run([1.5856], 1.5, "LSTM"), run([1.8], 1.2, "MLP")]
    told = race.report(near, 10)
    assert "LSTM follows within 0.02 nats" in told and "behind it" not in told
    apart = [run([1.5], 1.6, "GPT"), run([1.6], 1.5, "LSTM"), run([1.8], 1.2, "MLP")]
    assert "LSTM is 0.100 nats behind it" in race.report(apart, 10)


def test_the_report_of_the_race_is_silent_on_what_was_not_measured():
    late = [run([float("nan"), 1.0 + i], name=f"m{i}") for i in range(3)]
    text = race.report(late, 10)
    assert "fewer than two" in text and "nan" not in text
    assert "fewer than two" not in race.report(late, 20)


def facts(kind: str) -> dict:
    own = {name: overfitting._bundled(kind, name) for name in EXPERIMENTS[kind].runs}
    return overfitting.facts_of(own)


@pytest.mark.parametrize("loss, floor", [(1.1, 1.0), (1.0, 1.0), (0.97, 1.0)])
def test_a_run_below_the_floor_of_other_texts_is_not_said_to_be_above_it(loss, floor):
    text = curves.beside_floor(loss, floor)
    assert ("above it" in text) == (loss >= floor) and "-3" not in text


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_fork_with_exercises_says_their_share(share):
    for what in checkpoint.words.practised_what.values():
        told = checkpoint.words.practised.format(share=percent(share), what=what)
        assert percent(share) in told and what in told


def test_the_sentences_and_reasons_on_the_failures_hold_for_their_runs():
    rate, heart, warmup, dropout, shift = map(
        facts, ("rate", "heart", "warmup", "dropout", "shift")
    )
    text = wrong_words.run_text["rate"].format(**rate)
    assert f"rises to {rate['rate_large_peak']:.1f} nats" in text
    assert rate["rate_large_peak"] > rate["blind"] > rate["rate_small"]
    assert rate["rate_large_peak"] > max(rate["rate_small_peak"], rate["right_peak"])
    assert heart["heart"] > heart["blind"] + 1 and abs(heart["all"] - heart["all_train"]) < 0.05
    assert heart["best"] < heart["blind"]
    own = overfitting._bundled("heart", "heart")
    names = overfitting.training_names(own)
    floor = math.log(len(names)) / (sum(len(name) + 1 for name in names) / len(names))
    assert float(own.curve.train[-10:].mean()) == pytest.approx(floor, rel=0.05)
    assert warmup["cold_norm"] > 5 * warmup["warm_norm"]
    assert warmup["warm"] < warmup["cold"] - 0.3 and warmup["cold"] < warmup["blind"] - 0.3
    assert dropout["no_dropout"] > max(dropout["best"], dropout["dropout"])
    assert dropout["no_dropout_train"] < dropout["dropout_train"]
    assert shift["no_shift"] < 0.01 < shift["right"] < shift["blind"]


@pytest.mark.parametrize(
    "validation, train, higher", [(2.0, 1.0, True), (1.0, 2.0, False), (1.0, 1.0, False)]
)
def test_the_end_of_the_curves_compares_the_last_losses(validation, train, higher):
    told = curves.end(run([3.0, validation], train))
    assert (", higher" in told) == higher
    assert f"{validation:.3f}" in told and f"{train:.3f}" in told


def test_the_end_compares_no_losses_where_a_part_of_the_training_was_exercises():
    one = run([3.0, 1.2], 0.6)
    one.description["plan"] = {"exercises": 0.5}
    assert "cannot be compared" in curves.end(one) and "higher" not in curves.end(one)
    one.description["plan"] = {"exercises": 0.0}
    assert "cannot be compared" not in curves.end(one)


@pytest.mark.parametrize("vocabulary", [2, 29, 3072])
@pytest.mark.parametrize("share", [0.01, 0.5, 1.0, 1.2, 3.0, 1000.0])
def test_no_model_is_as_uncertain_as_between_more_tokens_than_there_are(vocabulary, share):
    mean = share * math.log(vocabulary)
    for chapter in (loss_chapter, runs_chapter):
        told = as_markdown(chapter.perplexity_told(mean, vocabulary))
        assert ("equally likely tokens" in told) == (share <= 1.0)
        assert (f"more than the {vocabulary:,} tokens" in told) == (share > 1.0)


def test_runs_without_a_number_have_no_end():
    nan = float("nan")
    assert curves.end(run([nan, nan])) == "" == curves.end(run([1.0, 1.0], nan))
    assert runs_chapter.end(run([1.0], nan)) == ""


@pytest.mark.parametrize("kind", list(EXPERIMENTS))
def test_the_line_of_a_failure_is_asked_for_beside_lines_that_are_apart(kind):
    own = {name: overfitting._bundled(kind, name) for name in EXPERIMENTS[kind].runs}
    assert "nan" not in wrong_words.end_told[kind].format(**overfitting.facts_of(own))
    question = overfitting.question(kind, own)
    assert (question is None) == (kind == "rate")
    if question is None:
        return
    assert "nan" not in " ".join([question.text, *question.answers, *question.reasons])
    losses = overfitting.measured(own[EXPERIMENTS[kind].runs[0]])[1]
    right, *wrong = map(np.array, question.values)
    assert question.right == 0 and len(wrong) == 2
    np.testing.assert_array_equal(right, losses[len(losses) - len(right) :])
    apart = [np.abs(line - right).mean() for line in wrong]
    assert min(apart) > 0.05 * overfitting.TOP > 0.05 * max(losses)
    # What the answers say of the right line.
    first, last = losses[0], losses[-1]
    blind = math.log(own[EXPERIMENTS[kind].runs[0]].description["tokenizer"]["vocab_size"])
    climbs = last > min(losses) + 1
    assert climbs == (kind in ("heart", "dropout")) and (last > blind) >= (kind == "heart")
    assert (last < 0.01) == (kind == "shift") and first < blind
