"""Questions and sentences of the lesson on sampling: one option is right, and what is said true.

Asked for many made-up models and prompts: small and large vocabularies, ties, certainty.
"""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from llmviz.corpus.probes import probes
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.sampling import texts
from llmviz.course.lessons.sampling.beam import chapter as beam
from llmviz.course.lessons.sampling.beam.model import compare, continuation_count
from llmviz.course.lessons.sampling.dice import chapter as dice
from llmviz.course.lessons.sampling.draws import distances, seed_numbers
from llmviz.course.lessons.sampling.knows import chapter as knows
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.lessons.sampling.knows import words as knows_words
from llmviz.course.lessons.sampling.pipeline import chapter as pipeline
from llmviz.course.lessons.sampling.temperature import chapter as temperature
from llmviz.course.lessons.sampling.writing import chapter as writing
from llmviz.course.lessons.sampling.writing import words as writing_words
from llmviz.course.ui import kit
from llmviz.sampling import beam_search, exhaustive_search, nucleus_size, sampling_steps, softmax
from tests.course.lessons.sampling.test_searches import table
from tests.pages.harness import fine, open_part, prose_of, sent, unpack_all


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
    own = softmax(logits)
    p = pipeline.share_asked(own)
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
    printed = np.cumsum([round(float(share), 3) for share in ordered])  # as the page has them
    assert int((printed < p).sum()) + 1 == right
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
    if question is None:  # nothing would be seen to change
        assert kit.percent(shares[0]) == kit.percent(shares[1])
        return
    if not question.values:  # two of the shares would be nearly the same: which way does it go?
        wrong = [2 * shares[0], 2 * shares[0] / (1 + shares[0])]
        answers = sorted([shares[1], *wrong, 2.0])
        assert np.diff(answers).min() < temperature.APART + 1e-9
        assert question.right == 0 and shares[1] > shares[0]
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
        assert numbers(question.reasons[at])[-1] == pytest.approx(
            value, abs=0.06 if value < 9.95 else 0.5
        )
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


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("settings", [{}, {"top_k": 1}, {"top_p": 0.5}, {"min_p": 0.2}])
def test_what_has_no_bar_and_what_is_cut_are_counted(logits, settings):
    prompt, own = prompt_of(logits), np.sort(softmax(logits))[::-1]
    told, bars = pipeline.hook(prompt), min(pipeline.SHOWN, logits.size)
    assert ("others" in told) == (bars < logits.size) and numbers(told)[0] == bars
    if bars < logits.size:
        assert numbers(told)[1] == logits.size - bars
        assert numbers(told)[2] == pytest.approx(100 * own[bars:].sum(), rel=0.06, abs=0.06)
    steps = sampling_steps(logits, **settings)
    told, kept = pipeline.caption(prompt, steps), int(steps.kept.sum())
    assert ("so chance has nothing" in told) == (kept == 1)
    if kept > 1:
        assert numbers(told)[0] == kept and ("All" in told) == (kept == logits.size)
    if 1 < kept < logits.size:
        assert numbers(told)[1] == pytest.approx(100 * own[kept:].sum(), rel=0.06, abs=0.06)


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("u", [0.0, 0.3, 0.999999])
def test_a_draw_is_told_as_it_was(logits, u):
    steps = sampling_steps(logits)
    token = steps.draw(u)
    told = dice.caption(prompt_of(logits), steps, u, token)
    largest = steps.probabilities.max()
    tied = np.count_nonzero(steps.probabilities == largest)
    if largest > 1 - 1e-12:
        assert "nothing else can be drawn" in told
    elif tied > 1:
        assert f"Here {tied:,} tokens share the first place" in told
    else:
        assert ("miss it" in told) == (token == int(steps.probabilities.argmax()))
        assert f"{100 * (1 - largest):.3g} miss" in told


def test_the_limit_of_versions_is_the_number_that_is_said():
    assert texts.MOST_WAYS == 16
    assert "sixteen versions besides the first" in writing_words.fork_limit


@pytest.mark.parametrize("kind", probe_chances.SHORT_CUTS)
def test_a_short_cut_is_right_in_most_stories_as_is_said(kind):
    asked = probes(kind, 400)
    fails = sum(map(probe_chances.SHORT_CUTS[kind], asked))
    assert 0 < fails < len(asked) / 2
    assert "right in most stories" in knows_words.short_cuts[kind][1]


@pytest.mark.parametrize("shift", [-3.2, -40.0, 0.0, 5.5])
@pytest.mark.parametrize("stop", [0.5, 1.0, 2.5])
def test_the_arithmetic_of_softmax_can_be_worked_out_as_it_stands(shift, stop):
    """A sign never stands behind another one, and each step gives the next."""
    logits = np.array([0.3, -0.4, -1.0, -2.0]) + shift
    ids = np.array([0, 1, 2, 3])
    line = temperature.arithmetic(logits, ids, ["a", "b", "c", "d"], stop)
    inside = line.split(": ", 1)[1].split(". The sum")[0]
    assert not re.search(r"[−+×÷] ?[-−]", inside) and "-" not in inside
    plain = inside.replace("−", "-").replace("÷", "/").replace("^", "**")
    steps = [eval(step, {"e": math.e}) for step in plain.split(" = ")]
    assert steps == pytest.approx([softmax(logits / stop)[1]] * 3, abs=2e-3)


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
def test_the_ends_are_true_of_any_logits(logits):
    prompt = prompt_of(logits)
    steps = sampling_steps(logits)
    drawn = steps.draw_many(np.array([0.1, 0.5, 0.5]))
    said = dice.end(prompt, steps, 0.5, drawn)
    times = int((drawn == drawn[-1]).sum())
    assert numbers(said["times"]) == [times] and said["n"] == "3 draws"
    assert numbers(said["share"])[0] == pytest.approx(100 * times / 3, abs=0.06)
    said = pipeline.end(prompt, steps, 0.5)
    assert numbers(said["kept"]) == [steps.kept.sum()]
    assert said["after"] == pipeline.words.after["same"]


@pytest.mark.parametrize("can_end", [True, False])
@pytest.mark.parametrize("v", [2, 3, 29])
def test_the_end_of_the_search_says_where_greedy_choice_stands(v, can_end):
    model, stop = table(v, 1), 0 if can_end else None
    every = exhaustive_search(model, [0], 3, stop_id=stop)
    compared = compare(every, lambda width: beam_search(model, [0], width, 3, stop_id=stop), (1, 2))
    prompt = SimpleNamespace(text="d", vocab_size=v, stop_id=stop)
    said = beam.end(prompt, compared)
    greedy = every.place(beam_search(model, [0], 1, 3, stop_id=stop).tokens())
    assert ("greedy choice gives the most probable" in said["found"]) == (greedy == 1)
    assert greedy == 1 or f"gives number {greedy:,} of {len(every.ids):,} texts" in said["found"]
    assert numbers(said["many"]) == [continuation_count(v, 10, can_end=can_end)]


def test_the_end_of_a_text_of_one_token_is_true(bundle):
    app = open_part("sampling", "writing", written="1", show="1")
    fine(app)
    assert "it was surest" not in prose_of(app) and "equally likely" in prose_of(app)
    assert "<strong>Try:" not in prose_of(open_part("sampling", "writing", written="0", show="1"))


def test_what_tells_the_number_of_tokens_waits_for_the_answer(covers):
    before = sent(open_part("sampling", "pipeline", p="0.75"), "sampler")
    assert "top_p" not in [control["name"] for control in before["controls"]]
    after = sent(open_part("sampling", "pipeline", p="0.75", show="1"), "sampler")
    assert "top_p" in [control["name"] for control in after["controls"]]


def test_the_entropy_of_each_token_waits_for_the_answer(bundle, covers):
    app = open_part("sampling", "writing", written="30")
    text = unpack_all(app, "writer")[0]  # then, if at all, three lanes that have no question
    asked = "At one place in this text" in prose_of(app)
    assert text["veiled"] == text["asks"] == asked == (text["entropy"] is None)
    assert (text["least"] is None) == asked and text["p"].any() != asked
    assert any(text["alternatives"]) != asked
    assert len(unpack_all(open_part("sampling", "writing", show="1"), "writer")[0]["entropy"]) >= 30


def test_the_end_on_temperature_says_what_its_table_shows(bundle):
    app = open_part("sampling", "temperature", prompt="Mila found a ball", show="1")
    table = sent(app, "softmax_view")
    end = [block.proto.body for block in app.get("html") if "how much it dares" in block.proto.body]
    shown = numbers(re.findall(r"</code> has (.*) at T = 2", end[0])[0])
    logits = np.asarray(table["logits"], dtype=float)
    assert shown[1::2] == [0.5, 1] and len(shown) == 5
    assert shown[::2] == sorted(shown[::2], reverse=True) and logits[0] == logits.max()
