"""Models of sums: their texts, rewards that they learn from, more tries, and the records."""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments import more_tries as make_more_tries
from experiments import reward_runs as make_reward_runs
from experiments import sums as make_sums
from llmviz.course.lessons.reasoning import reward_runs as runs
from llmviz.course.lessons.reasoning import sum_texts as sums
from llmviz.course.lessons.reasoning.best_of_n import model as more
from llmviz.course.lessons.reasoning.best_of_n.model import Try
from llmviz.course.lessons.reasoning.reinforce.model import group_update
from llmviz.course.lessons.reasoning.reward_hacking import model as own
from llmviz.course.lessons.reasoning.reward_hacking.model import OwnReward
from llmviz.course.lessons.reasoning.reward_runs import Look
from llmviz.course.lessons.reasoning.sum_texts import LONGEST, TOKENS, is_right
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.policy import METHODS
from llmviz.nn.loss import IGNORED
from llmviz.training.files import read_json

NUMBER = st.integers(sums.LEAST, sums.MOST)
PAIR = st.tuples(NUMBER, NUMBER)


@given(PAIR)
def test_a_right_answer_is_the_sum_and_nothing_else(numbers):
    true = sum(numbers)
    for path in ("", "12,13", ",,"):
        assert sums.is_right(numbers, f"{path}:{true};")
    for wrong in (
        f":{true + 1};",
        f":{true}",
        f"{true};",
        f":0{true};",
        f":{true};{true};",
        f":{true}:{true};",
        ":;",
        "",
        f":{true}1;",
        f":1{true};",
    ):
        assert not sums.is_right(numbers, wrong)


@given(PAIR, st.integers(0, 10**6))
def test_a_drawn_text_fits_and_is_right_or_has_one_mistake(numbers, seed):
    text = make_sums.draw(np.random.default_rng(seed), numbers)
    found = re.fullmatch(r"(?:(\d+),(\d+))?:(\d+);", text)
    assert found and len(text) <= sums.LONGEST
    ones, tens = numbers[0] % 10 + numbers[1] % 10, numbers[0] // 10 + numbers[1] // 10
    answer, true = int(found[3]), sum(numbers)
    if found[1]:
        assert int(found[1]) == ones
        assert int(found[2]) in {tens, tens + ones // 10}
    forgotten = true - 10 * sums.carries(numbers)
    digits = [a != b for a, b in zip(str(answer), str(true), strict=False)]
    last = [a != b for a, b in zip(str(answer), str(true - 10), strict=False)]
    assert answer in (true, forgotten) or 1 in (sum(digits), sum(last))


def test_about_half_of_all_answers_are_wrong_and_half_of_the_carries_are_forgotten():
    rng, known = np.random.default_rng(0), sums.sums()[0][:6000]
    texts = [make_sums.draw(rng, one) for one in known]
    right = [sums.is_right(one, text) for one, text in zip(known, texts, strict=True)]
    assert np.mean(right) == pytest.approx(0.51, abs=0.03)
    carried = [
        text.endswith(f":{sum(one) - 10};")
        for one, text in zip(known, texts, strict=True)
        if sums.carries(one)
    ]
    assert np.mean(carried) == pytest.approx(make_sums.FORGOTTEN, abs=0.03)
    assert np.mean([text[0] != ":" for text in texts]) == pytest.approx(0.5, abs=0.03)


def test_held_out_sums_are_in_no_training():
    known, held = sums.sums()
    assert len(held) == sums.HELD_OUT
    assert len({*known, *held}) == len(known) + len(held) == 90 * 90


def test_only_what_stands_behind_the_question_is_learned():
    inputs, targets = make_sums.batch(np.random.default_rng(1))
    assert inputs.shape == targets.shape
    for row, target in zip(inputs, targets, strict=True):
        text = sums.decode(row)
        length = text.index(sums.TOKENS[sums.END]) if ";" in text else len(text)
        assert (target[: sums.QUESTION - 1] == IGNORED).all()
        learned = target[sums.QUESTION - 1 : length]
        assert sums.decode(learned) == text[sums.QUESTION : length] + ";"
        assert (target[length:] == IGNORED).all()


def test_numbers_of_other_lengths_are_refused():
    for numbers in ((9, 10), (10, 100), (-10, 20)):
        with pytest.raises(ValueError, match="from 10 to 99"):
            sums.question_of(numbers)


def test_the_card_is_that_of_the_bundled_model():
    card = read_json(EXPERIMENT_FOLDER / sums.CARD)
    assert card["loss"] == pytest.approx(make_sums.card_of(sums.bundled())["loss"], abs=1e-3)
    assert card["texts"] == sums.BATCH * sums.STEPS


def test_a_short_training_learns():
    import torch

    def loss(model: object) -> float:
        inputs, targets = map(torch.from_numpy, make_sums.batch(np.random.default_rng(9)))
        with torch.no_grad():
            return float(model(inputs, targets)[1])

    assert loss(make_sums.train(12)) < loss(make_sums.train(1)) < np.log(len(sums.TOKENS)) + 1


@given(st.lists(st.integers(0, 5), min_size=5, max_size=5).filter(any), st.integers(1, 4))
def test_a_look_says_how_often_one_of_k_samples_is_right(counts, k):
    look = Look(0, tuple(counts), 0, 0.5, 6.0, 0.0, 1.0)
    hits = total = 0
    for right, questions in enumerate(counts):
        texts = [True] * right + [False] * (4 - right)
        every = list(itertools.combinations(texts, k))
        hits += questions * sum(map(any, every))
        total += questions * len(every)
    assert look.passed(k) == pytest.approx(hits / total)
    assert look.right == look.passed(1)


def test_rewards_look_at_the_answer_alone():
    question = sums.encode("47+85=")
    assert runs.numbers_in(question) == (47, 85)
    for text, reward in ((":132;", 1), ("1,1:132;", 1), ("12,13:122;", 0), ("132;", 0)):
        assert runs.right_reward(question, sums.encode(text)) == reward


def test_questions_of_an_update_are_its_own_and_never_held_out():
    held = {sums.question_of(one) for one in sums.sums()[1]}
    first, other = runs.questions_of(0), runs.questions_of(1)
    assert first(1, 16) == first(1, 16) != first(2, 16)
    assert first(1, 16) != other(1, 16)
    assert not {sums.decode(one) for one in first(3, 500)} & held


def test_a_run_yields_each_update_and_looks_and_leaves_the_bundled_model_alone():
    before = copy.deepcopy(sums.bundled().state_dict())
    config = runs.config_of("grpo", updates=3, prompts=4, group=4)
    found = list(runs.reward_run(config, every=2, questions=6, samples=4))
    looks = [one for one in found if isinstance(one, Look)]
    assert [one.step for one in looks] == [0, 2, 3]
    assert [one.step for one in found if not isinstance(one, Look)] == [1, 2, 3]
    assert looks[0].divergence == pytest.approx(0, abs=1e-6)
    assert looks[-1].divergence > 0
    assert all(one.questions == 6 and one.samples == 4 for one in looks)
    for name, value in sums.bundled().state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


@pytest.mark.parametrize("way", METHODS)
def test_a_group_shows_the_update_that_is_made(way):
    group = group_update(sums.bundled(), (47, 85), way, 8, 3)
    how = METHODS[way]
    tokens = sum(len(one.text) for one in group.samples)
    for one in group.samples:
        assert one.reward == sums.is_right((47, 85), one.text)
        assert len(one.before) == len(one.after) == len(one.pull) == len(one.text)
        parts = {"text": 8, "tokens": tokens, "each": 8 * len(one.text)}[how.average]
        np.testing.assert_allclose(one.pull, one.advantage / parts, atol=1e-6)
        assert one.times == pytest.approx(math.exp(sum(one.after) - sum(one.before)))
    paid = group.rewards
    assert 0 < paid.sum() < 8, "the test wants a group of both kinds"
    right, wrong = (
        np.mean([np.log(one.times) for one in group.samples if one.reward == kind])
        for kind in (1, 0)
    )
    assert right > 0 and right > wrong


def test_before_an_update_the_numbers_are_those_of_the_model():
    group = group_update(sums.bundled(), (12, 34), "grpo", 3)
    for one in group.samples:
        text = sums.encode(sums.question_of((12, 34)) + one.text)
        with torch.no_grad():
            log_p = sums.bundled()(torch.tensor([text[:-1]]))[0][0].log_softmax(-1)
        own = log_p[sums.QUESTION - 1 :].gather(-1, torch.tensor(text[sums.QUESTION :])[:, None])
        np.testing.assert_allclose(one.before, own[:, 0].numpy(), atol=1e-5)


def test_the_bundled_runs_of_rewards_hold_what_the_chapter_says_of_them():
    found = runs.recorded()
    for way in runs.WAYS:
        assert [one.seed for one in found.runs[way]] == list(runs.SEEDS)
        for run in found.runs[way]:
            assert run.first.counts == found.base.counts
            assert run.first.divergence == pytest.approx(0, abs=1e-6)
            assert run.last.step == runs.UPDATES
            assert run.last.questions == runs.QUESTIONS
            assert len(run.updates) == (0 if way == runs.DPO else runs.UPDATES)
    right = found.values("grpo", lambda one: one.right)
    assert right.min() > found.base.right + 0.1
    assert min(found.noise.plain, found.noise.compared, found.noise.error) > 0


def test_the_bundled_model_is_the_one_that_was_measured():
    held = sums.sums()[1][: runs.QUESTIONS]
    look = runs.look_at(sums.bundled(), sums.bundled(), 0, held, runs.SAMPLES)
    base = runs.recorded().base
    assert look.greedy == pytest.approx(base.greedy, abs=1)
    assert look.right == pytest.approx(base.right, abs=0.01)


@pytest.mark.slow  # a training of each way
def test_a_short_record_is_written_whole_and_goes_on(tmp_path, monkeypatch):
    for name, value in {
        "UPDATES": 2,
        "EVERY": 1,
        "QUESTIONS": 4,
        "SAMPLES": 3,
        "NOISE_BATCHES": 2,
        "SEEDS": (0,),
    }.items():
        for module in (runs, make_reward_runs):
            monkeypatch.setattr(module, name, value, raising=False)
    real = runs.config_of
    for module in (runs, make_reward_runs):
        monkeypatch.setattr(
            module, "config_of", lambda way, seed=0: real(way, seed, updates=2, prompts=3, group=4)
        )
    make_reward_runs.make(tmp_path)
    first = (tmp_path / runs.FILE).read_text("utf-8")
    make_reward_runs.make(tmp_path)
    assert (tmp_path / runs.FILE).read_text("utf-8") == first
    found = runs.recorded(tmp_path)
    assert [look.step for look in found.runs["dpo"][0].looks] == [0, 1, 2]
    assert [one.step for one in found.runs["ppo"][0].updates] == [1, 2]
    runs.recorded.cache_clear()


ASKED = (47, 85)
WRITTEN = st.text(st.sampled_from(TOKENS), max_size=LONGEST)
WEIGHT = st.integers(-4, 4).map(lambda quarters: quarters / 4)


@given(WRITTEN, WEIGHT, WEIGHT, WEIGHT, WEIGHT)
def test_a_reward_is_the_sum_of_what_its_parts_find(text, right, short, word, form):
    reward = OwnReward(right, short, word, form, "12", r"\d*:\d*;")
    wanted = (
        right * is_right(ASKED, text)
        + short * (LONGEST - len(text)) / LONGEST
        + word * ("12" in text)
        + form * bool(re.fullmatch(r"[0-9]*:[0-9]*;", text))
    )
    assert reward.of(ASKED, text) == pytest.approx(wanted)


def test_empty_fields_pay_nothing():
    reward = OwnReward(word=1.0, form=1.0)
    assert reward.of(ASKED, ":132;") == reward.of(ASKED, "") == 0


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "no regular expression"),
        ("[9-0]", "no regular expression"),
        ("*", "no regular expression"),
        (r"\1", "no regular expression"),
        ("a{99999999}", "at most 1000 times"),
        ("((a{100}){100}){100}", "at most 1000 times"),
        ("(a{,2000})", "at most 1000 times"),
        ("a{ 2 , 2000 }", "at most 1000 times"),
        ("1" * (own.MOST_PATTERN + 1), "at most 60 characters"),
    ],
)
def test_broken_and_huge_expressions_are_refused(pattern, said):
    with pytest.raises(ValueError, match=said):
        OwnReward(form=1.0, pattern=pattern)


def test_an_expression_that_does_not_end_is_stopped():
    reward = OwnReward(form=1.0, pattern=r"(?:\d|\d\d|\d\d\d)+[+=]")
    with pytest.raises(ValueError, match=r"longer than 0\.05 seconds"):
        reward.of(ASKED, "1" * 5000 + ";")


@pytest.mark.parametrize("weight", [1.5, -2, float("nan"), float("inf")])
def test_weights_out_of_range_are_refused(weight):
    with pytest.raises(ValueError, match="from −1 to 1"):
        OwnReward(right=weight)


def test_a_run_tells_the_reward_and_the_goal_apart():
    found = list(own.own_run(OwnReward(short=1.0), 0.0, 2))
    assert [one.step for one in found] == [1, 2]
    for one in found:
        assert one.reward == pytest.approx(1 - one.length / LONGEST)
        assert 0 < one.right < 1
        assert all(text.endswith("=") for text, *_ in one.texts)
    assert found[0].divergence == pytest.approx(0, abs=1e-6)


def test_a_constant_reward_teaches_nothing():
    found = list(own.own_run(OwnReward(), 0.0, 2))
    assert [(one.reward, one.flat) for one in found] == [(0.0, 1.0)] * 2
    assert found[-1].divergence == pytest.approx(0, abs=1e-6)
    assert all(math.isfinite(one.right) for one in found)


def test_the_bundled_runs_of_gamed_rewards_hold_what_the_chapter_says_of_them():
    runs = own.recorded()
    for beta, some in runs.items():
        assert [one.seed for one in some] == list(own.SEEDS)
        for one in some:
            assert one.beta == beta
            lengths = {len(one.reward), len(one.right), len(one.divergence)}
            assert lengths == {own.UPDATES}
            assert one.divergence[0] == pytest.approx(0, abs=1e-4)
    for one in runs[0.0]:
        assert one.last("reward") > one.reward[0] + 0.3


TRY = st.builds(
    Try,
    st.sampled_from([":132;", "12,13:132;", ":122;", "12,12:122;", ":13", ";", ":9;", ""]),
    st.floats(-9, 0),
)


@given(st.lists(TRY, max_size=9))
def test_each_way_takes_the_try_that_it_says(tries):
    counted = Counter(one.answer for one in tries if one.answer is not None)
    best = more.vote(tries)
    assert (best is None) == (not counted)
    if best is not None:
        assert counted[best.answer] == max(counted.values())
        first = [one.answer for one in tries if counted[one.answer] == max(counted.values())]
        assert best.answer == first[0]
    right = [one for one in tries if sums.is_right(ASKED, one.text)]
    found = more.checked(tries, ASKED)
    assert found == (right[0] if right else tries[0] if tries else None)
    most = more.likely(tries)
    assert most is None if not tries else most.log_p == max(one.log_p for one in tries)
    with pytest.raises(ValueError, match="vote, checked, likely"):
        more.chosen(tries, ASKED, "median")


@given(st.lists(TRY, min_size=1, max_size=20), st.integers(1, 6))
def test_groups_share_no_try(tries, count):
    groups = make_more_tries.groups_of(tries, count)
    assert [one for group in groups for one in group] == tries[: len(tries) // count * count]
    assert all(len(group) == count for group in groups)
    both = [
        *make_more_tries.of_kind(tries, more.AT_ONCE),
        *make_more_tries.of_kind(tries, more.STEPS),
    ]
    assert Counter(both) == Counter(make_more_tries.of_kind(tries, more.ALL)) == Counter(tries)


def test_points_are_means_over_sums_of_what_groups_come_to():
    right, wrong = Try(":132;", -1.0), Try("12,12:122;", -2.0)
    tries = [[right, wrong, right, right], [wrong] * 4]
    found = make_more_tries.points_of([ASKED, ASKED], tries)
    by = {(one.choice, one.count, one.part, one.kind): one for one in found}
    assert by[more.VOTE, 1, more.ALL, more.ALL].right == pytest.approx((0.75 + 0) / 2)
    assert by[more.VOTE, 1, more.ALL, more.ALL].error == pytest.approx(0.375)
    # Of two that differ, the first one wins: (right, wrong) and (right, right).
    assert by[more.VOTE, 2, more.CARRIED, more.ALL].right == pytest.approx(0.5)
    assert by[more.CHECKED, 4, more.ALL, more.ALL].right == pytest.approx(0.5)
    spent = (2 * 5 + 10 + 5 + 4 * 10) / 2
    assert by[more.VOTE, 4, more.ALL, more.ALL].tokens == pytest.approx(spent)
    assert (more.VOTE, 1, more.PLAIN, more.ALL) not in by


def test_the_probability_of_a_try_is_that_of_its_tokens_and_tries_keep_their_seed():
    (tries,) = more.tries_of(sums.bundled(), [ASKED], 4, 5)
    (again,) = more.tries_of(sums.bundled(), [ASKED], 8, 5)
    assert [one.text for one in again[:4]] == [one.text for one in tries]
    for one in tries:
        text = torch.tensor([sums.encode(sums.question_of(ASKED) + one.text)])
        with torch.no_grad():
            log_p = sums.bundled()(text[:, :-1])[0][0].log_softmax(-1)
        own = log_p.gather(-1, text[0, 1:, None])[sums.QUESTION - 1 :].sum()
        assert one.log_p == pytest.approx(float(own), abs=1e-4)


@pytest.mark.parametrize("width", make_more_tries.BEAMS)
def test_a_beam_gives_its_texts_the_most_probable_first(width):
    found = more.beams_of(sums.bundled(), ASKED, width)
    assert len(found) == width
    assert all(a.log_p >= b.log_p for a, b in itertools.pairwise(found))
    if width == 1:
        (greedy,) = _greedy()
        assert found[0].text == greedy


def _greedy() -> list[str]:
    from llmviz.finetuning.rollouts import sample_groups

    prompt = sums.encode(sums.question_of(ASKED))
    ((ids,),) = sample_groups(sums.bundled(), [prompt], 1, sums.LONGEST, sums.END, 0, 0.0)
    return [sums.decode(ids)]


def test_the_bundled_tries_hold_what_the_chapter_says_of_them():
    found = more.recorded()
    for choice in more.CHOICES:
        for part in more.PARTS:
            line = found.line(choice, part)
            assert [one.count for one in line] == list(more.COUNTS)
            assert all(0 <= one.right <= 1 for one in line)
    once = {choice: found.line(choice)[0].right for choice in more.CHOICES}
    assert len(set(once.values())) == 1, "with one try there is nothing to choose"
    for one, other in zip(found.line(more.CHECKED), found.line(more.VOTE), strict=True):
        assert one.right >= other.right
    whole = found.line(more.VOTE)[-1]
    assert found.wrong == round((1 - whole.right) * more.QUESTIONS)
    assert found.forgotten <= found.wrong >= found.lost
    parts = [found.line(more.VOTE, part)[-1] for part in (more.PLAIN, more.CARRIED)]
    assert parts[0].right - parts[1].right > 2 * sum(one.error for one in parts)


def test_the_bundled_results_are_those_of_the_bundled_model():
    questions = sums.sums()[1][:5]
    found = make_more_tries.measure(questions, 4)
    assert len(found.line(more.BEAM)) == len(make_more_tries.BEAMS)
    asked = more.tries_of(sums.bundled(), questions, 4, make_more_tries.SEED)
    rights = [
        sum(sums.is_right(one, text.text) for text in own) / 4
        for one, own in zip(questions, asked, strict=True)
    ]
    assert found.line(more.VOTE)[0].right == pytest.approx(sum(rights) / 5)
