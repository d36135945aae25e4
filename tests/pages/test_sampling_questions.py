"""Graded questions of the lesson on sampling: one option is right, and its reason is true.

Asked for many made-up models and prompts: small and large vocabularies, ties, certainty.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.sampling.beam import chapter as beam
from llmviz.course.lessons.sampling.dice import chapter as dice
from llmviz.course.lessons.sampling.draws import distances, seed_numbers
from llmviz.course.lessons.sampling.knows import chapter as knows
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.lessons.sampling.pipeline import chapter as pipeline
from llmviz.course.lessons.sampling.temperature import chapter as temperature
from llmviz.course.lessons.sampling.writing import chapter as writing
from llmviz.sampling import exhaustive_search, nucleus_size, sampling_steps, softmax
from tests.course.lessons.sampling.test_searches import table


def numbers(text: str) -> list[float]:
    """The numbers of a text in their order, signs and thousands as the app writes them."""
    found = re.findall(r"[−-]?\d[\d,]*\.?\d*", text)
    return [float(n.replace(",", "").replace("−", "-").rstrip(".")) for n in found]


def first_number(text: str) -> float:
    return numbers(text)[0]


def prompt_of(logits, texts=None) -> SimpleNamespace:
    names = texts or [f"t{i}" for i in range(len(logits))]
    return SimpleNamespace(
        logits=np.asarray(logits, dtype=float),
        text="Once",
        token_text=lambda token: names[token],
        vocab_size=len(logits),
        bundled=SimpleNamespace(
            tokenizer=SimpleNamespace(token_bytes=lambda token: f"t{token}".encode())
        ),
    )


LOGITS = [
    np.zeros(1),
    np.zeros(2),
    np.zeros(10),
    np.zeros(1000),
    np.array([1000.0, 0.0, -1000.0]),
    np.array([0.0, -np.inf, -np.inf]),
    np.array([2.0, 2.0, 1.0, 0.0]),
    np.array([2.0, 1.9, 1.95, 0.0]),
    np.log([0.8999, 0.05, 0.02, 0.0101, 0.01, 0.01]),
    *(
        spread * np.random.default_rng(v).standard_normal(v)
        for v in (3, 5, 29, 200, 3000)
        for spread in (0.01, 0.5, 2.0, 8.0)
    ),
]


# ---- beam search


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("stop_bias", [-9.0, 0.0, 2.0])
def test_the_best_text_begins_as_the_question_says(seed, stop_bias):
    model = table(29, seed, stop_bias)
    every = exhaustive_search(model, [0], 3, stop_id=0)
    prompt = prompt_of(model.logits[0].double().numpy())
    prompt.stop_id, prompt.texts = 0, lambda ids: [f"t{token} " for token in ids]
    question = beam.question(prompt, every)
    if question is None:
        return
    best = every.tokens(1)
    name = beam.words.mark if best[0] == 0 else f"t{best[0]}"
    assert question.answers[question.right] == name
    favourite = int(model.logits[0].argmax())
    assert (beam.words.mark if favourite == 0 else f"t{favourite}") in question.answers
    shares = [numbers(reason)[-1] for reason in question.reasons]
    assert max(shares) == shares[question.right]


# ---- the pipeline


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
def test_nucleus_is_the_smallest_set(logits):
    own, p = softmax(logits), pipeline.GUESSED
    question = pipeline.question(own)
    if question is None:
        return
    ordered = np.sort(own)[::-1]
    sizes = [int(n) for (n,) in question.values]
    right = sizes[question.right]
    assert right == nucleus_size(own, p) == sampling_steps(logits, top_p=p).kept.sum()
    assert ordered[:right].sum() >= p - 1e-9 and ordered[: right - 1].sum() < p
    first, bars = (n for n in sizes if n != right)
    assert (first - 1) * ordered[0] < p <= first * ordered[0] + 1e-9
    assert bars == round(p * min(pipeline.SHOWN, own.size)) and max(sizes) <= pipeline.SHOWN
    assert min(np.diff(sorted(sizes))) >= pipeline.APART
    for n, reason in zip(sizes, question.reasons, strict=True):
        assert any(
            share == pytest.approx(100 * ordered[:n].sum(), abs=0.06) for share in numbers(reason)
        )


# ---- dice


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("seed", range(5))
def test_the_first_number_after_a_rewind_is_the_first_of_the_seed(logits, seed):
    steps = sampling_steps(logits)
    us = seed_numbers(seed, 5)
    question = dice.question(steps, us)
    favourite = int(steps.probabilities.argmax())
    start, end = steps.interval(favourite)
    pauses = np.diff([0, *sorted(us), 1])
    if question is None:
        return
    right, best, gap = question.values
    assert right == (us[0],) == (seed_numbers(seed, 1)[0],) and question.right == 0
    assert start < best[0] < end and steps.draw(best[0]) == favourite
    assert min(abs(gap[0] - u) for u in [0, *us, 1]) == pytest.approx(pauses.max() / 2)
    assert min(np.diff(sorted(place for (place,) in question.values))) >= dice.APART


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("seed", range(3))
def test_the_line_on_to_many_draws_is_measured_and_apart_from_the_wrong_ones(logits, seed):
    steps = sampling_steps(logits)
    drawn = steps.draw_many(seed_numbers(seed, dice.MANY))
    draws, far = distances(steps.probabilities, drawn)
    known = sum(n <= dice.FEW for n in draws)
    assert draws[known - 1] == dice.FEW
    question = dice.far_question(draws, far, known)
    if question is None:
        return
    shares = np.bincount(drawn, minlength=logits.size) / drawn.size
    right = question.values[question.right]
    assert right[-1] == pytest.approx(np.abs(shares - steps.probabilities).sum() / 2)
    for at, line in enumerate(question.values):
        assert len(line) == len(draws) - known
        assert at == question.right or np.abs(np.subtract(line, right)).mean() >= dice.FAR_APART


# ---- temperature


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
def test_the_right_share_at_half_the_temperature_is_the_softmax_at_it(logits):
    question = temperature.question(prompt_of(logits))
    shares = [sampling_steps(logits, temperature=t).probabilities.max() for t in (1.0, 0.5)]
    if question is None:  # two of the answers would be nearly the same
        wrong = [2 * shares[0], 2 * shares[0] / (1 + shares[0])]
        answers = sorted([shares[1], *wrong, 2.0])
        assert np.diff(answers).min() < temperature.APART + 1e-9
        return
    said = [first_number(answer) / 100 for answer in question.answers]
    off = np.abs(np.array(said) - shares[1])
    assert int(off.argmin()) == question.right and off.min() < 0.001
    assert np.sort(off)[1] > temperature.APART / 2 and max(said) <= 1


# ---- side by side, writing


@pytest.mark.parametrize("seed", range(30))
def test_least_sure_place_has_the_highest_entropy_and_wrong_ones_are_apart(seed):
    rng = np.random.default_rng(seed)
    entropies = rng.choice([0.0, 1.0, 1.001, 2.0, 3.0], 20)
    texts = [f" {'x' * int(n)}." if n > 5 else f" {'y' * int(n)}" for n in rng.integers(1, 9, 20)]
    prompt = prompt_of(np.zeros(20), texts)
    prompt.bundled.tokenizer.token_bytes = lambda token: texts[token].encode()
    tokens = [SimpleNamespace(id=i, entropy=float(h)) for i, h in enumerate(entropies)]
    question = writing.question(prompt, tokens)
    if question is None:
        return
    among = [value for (value,) in question.values]
    assert among[question.right] == pytest.approx(np.exp(entropies.max()))
    assert unmarked(question.answers[question.right]) == question.write(among[question.right])
    for at, value in enumerate(among):
        assert numbers(question.reasons[at])[-1] == pytest.approx(value, abs=0.06)
        if at != question.right:
            assert np.log(among[question.right] / value) >= writing.APART
        named = unmarked(question.answers[at]).partition(" after ")[0].strip()
        if "a long word" in question.reasons[at]:
            assert len(named) == max(len(text.strip()) for text in texts)
        assert "a new sentence" not in question.reasons[at] or any("." in text for text in texts)


def test_short_texts_are_not_asked_about():
    tokens = [SimpleNamespace(id=i, entropy=float(i)) for i in range(11)]
    assert writing.question(prompt_of(np.zeros(20)), tokens) is None


# ---- what it knows


@pytest.mark.parametrize("seed", range(40))
def test_what_heat_does_to_the_right_words_is_graded_by_its_line(seed):
    rng = np.random.default_rng(seed)
    v = int(rng.choice([2, 29, 3000]))
    logits = rng.standard_normal(v) * rng.choice([0.0, 0.1, 3.0, 6.0])
    order = np.argsort(-logits)
    probe = SimpleNamespace(right=" a", wrong=" b")
    hot = [softmax(logits / t) if t else np.eye(v)[order[0]] for t in probe_chances.TEMPERATURES]
    chances = np.array([[row[token] for row in hot] for token in order[[seed % 2, -1]]])
    question = knows.question(chances, probe)
    if question is None:
        return
    right, level, divided = map(np.array, question.values)
    later = np.array([probe_chances.TEMPERATURES[place] for place in knows.DRAWN[knows.KNOWN :]])
    cold = softmax(logits)[order[seed % 2]]
    assert np.allclose(right, [softmax(logits / t)[order[seed % 2]] for t in later])
    assert np.allclose(level, cold) and np.allclose(divided * later, cold)
    for a, b in ((right, level), (right, divided), (level, divided)):
        assert np.abs(a - b).mean() >= knows.APART
    assert ("takes from the" in question.reasons[0]) == (right[-1] >= cold)


def test_nothing_is_asked_where_the_right_words_are_impossible():
    probe = SimpleNamespace(right=" a", wrong=" b")
    assert knows.question(np.zeros((2, len(probe_chances.TEMPERATURES))), probe) is None
