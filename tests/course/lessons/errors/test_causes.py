"""Cases of wrong answers: their cause, what stands in the text, the head they depend on."""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments.answering_heads import answering_head, spelled_cases, worded_cases
from llmviz.corpus.leaning import MEN, WOMEN, leaning_text
from llmviz.corpus.planted import field
from llmviz.course.lessons.errors import read_facts
from llmviz.course.lessons.errors.causes import case_evidence, wrong_answers
from llmviz.course.lessons.errors.causes.answering_heads import SPELLED, WORDED, recorded
from llmviz.course.lessons.errors.moved_answers import MODEL
from llmviz.pretrained import load_bundled
from llmviz.trace import record, replaced


def test_every_cause_has_cases_and_there_are_many():
    known = wrong_answers.cases()
    assert set(known) == set(wrong_answers.CAUSES)
    assert all(known.values())
    assert sum(map(len, known.values())) > 300


@given(st.integers(1, 9_999))
def test_ten_cases_are_different_and_have_every_cause(seed):
    file = wrong_answers.ten_cases(seed)
    assert len(set(file)) == len(file) == wrong_answers.TEN
    assert sorted(case.cause for case in file) == sorted(wrong_answers.CAUSES), (
        "each for another reason"
    )
    assert file == wrong_answers.ten_cases(seed)
    for case in file:
        causes = wrong_answers.offered(case, seed)
        assert case.cause in causes
        assert len(set(causes)) == len(causes) == wrong_answers.OFFERED + 1


def test_files_differ():
    assert len({tuple(wrong_answers.ten_cases(seed)) for seed in range(200)}) == 200


@pytest.mark.parametrize("cause", wrong_answers.CAUSES)
def test_a_case_is_what_its_cause_says(cause):
    for case in wrong_answers.cases()[cause]:
        named = case.named
        if cause in ("never", "rare"):
            assert named["said"] not in (named["town"], "nobody")
            assert (named["times"] == 0) == (cause == "never")
        elif cause == "heart":
            assert named["loss"] < named["unread"] / 4
        elif cause in ("greedy", "dice"):
            assert (named["share"] > 0.5) == (named["said"] == "she") == (named["women"] > 0.5)
            assert named["said"] != named["other"]
        elif cause == "unsaid":
            assert (named["women"] > 0.5) != (named["said"] == "she")
        elif cause == "tested":
            assert named["read"] > named["other"]
        elif cause == "declines":
            assert named["said"] == named["town"] and named["times"] > 0
        else:
            assert named["said"] != named["right"] and named["confidence"] > 0


@pytest.mark.parametrize("cause", wrong_answers.CAUSES)
def test_each_line_stands_in_the_text_as_often_as_it_says(cause):
    for case in wrong_answers.cases()[cause][:: 1 + len(wrong_answers.cases()[cause]) // 12]:
        lines, more = case_evidence.lines_of(case)
        named = case.named
        assert (
            (not lines) == (cause in case_evidence.HEADS)
            and len(lines) <= case_evidence.MOST
            and more >= 0
        )
        found = case_evidence.head_of(case)
        assert (found is not None) == (cause in case_evidence.HEADS)
        if found is not None:
            assert (found.kind, found.right, found.said) == (cause, named["right"], named["said"])
            continue
        assert more == 0 or len(lines) == case_evidence.MOST
        if cause in case_evidence.FACTS:
            seed, unknown = map(int, case.source)
            text = read_facts.world_of(read_facts.Reading(seed, unknown)).documents()
            first, last = str(named["name"]).split()
            assert lines[0].times == named["times"] and str(named["town"]) in lines[0].text
            about = {one for one in text if {first, last} & set(re.findall(r"\w+", one))}
            assert len(about - {lines[0].text}) == len(lines) - 1 + more
            for line in lines:
                assert line.times == text.count(line.text)
                assert {first, last} & set(re.findall(r"\w+", line.text))
        elif cause in case_evidence.PRONOUNS:
            seed, lean = case.source
            text = leaning_text(lean, int(seed)).documents
            for pronoun, line in zip(("she", "he"), lines, strict=False):
                begins = f"The {named['job']} said that {pronoun} "
                assert line.times == sum(one.startswith(begins) for one in text)
            for names, line in zip((WOMEN, MEN), lines[2:], strict=True):
                assert line.times == sum(
                    f"{name} {line.text}" == one for name in names for one in text
                )
        elif cause == wrong_answers.HEART:
            (line,) = lines
            seed = int(case.source[0])
            assert field(seed).documents().count(line.text) == line.times == named["times"]
            plain = re.sub(r"\W", "", f"{named['given']}{named['written']}")
            assert re.sub(r"\W", "", line.text) == plain
        else:
            assert cause == wrong_answers.TESTED and len(lines) + more == named["questions"]
            assert all(line.times > named["copies"] for line in lines)


def test_the_given_answers_are_the_most_probable_ones():
    for cause in case_evidence.FACTS:
        case = wrong_answers.cases()[cause][0]
        given = case_evidence.answers_given(case)
        chances = [chance for _, chance in given]
        assert chances == sorted(chances, reverse=True) and sum(chances) <= 1 + 1e-3
        assert chances[0] == pytest.approx(case.named["confidence"])
        assert given[0][0] == ("nobody" if cause == wrong_answers.DECLINES else case.named["said"])
    assert case_evidence.answers_given(wrong_answers.cases()[wrong_answers.HEART][0]) == []


def test_no_two_files_have_the_same_ten():
    met = set()
    for number in range(1, 10_000):
        file = wrong_answers.ten_cases(number)
        assert len(set(file)) == wrong_answers.TEN and {case.cause for case in file} == set(
            wrong_answers.CAUSES
        )
        met.add(frozenset(file))
    assert len(met) == 9_999


@pytest.fixture(scope="module")
def story_model():
    return load_bundled(MODEL)[:2]


def test_the_head_is_the_one_whose_output_from_the_other_pass_brings_most_back():
    model, tokenizer, _ = load_bundled("drafts/tiny-world")
    prompts = [
        tokenizer.encode_from_start(text)
        for text in ("Anna met Hugo. It was", "Anna met Hugo at noon. Now it was")
    ]
    answers = [tokenizer.encode(f" {name}")[0] for name in ("Anna", "Hugo")]
    found = answering_head(model, tokenizer, tuple(prompts), answers)
    size, each = model.config.head_size, {}
    for layer in range(model.config.n_layer):
        name = f"blocks.{layer}.attn.concat"
        with torch.inference_mode(), record([name]) as trace:
            model(torch.tensor([prompts[0]]))
        given = trace[name][0, -1]
        for head in range(model.config.n_head):
            part = slice(head * size, (head + 1) * size)

            def put(x, part=part, given=given):
                x = x.clone()
                x[:, -1, part] = given[part]
                return x

            with torch.inference_mode(), replaced({name: put}):
                logits = model(torch.tensor([prompts[1]]))[0][0, -1]
            each[layer, head] = float(logits[answers].double().softmax(-1)[0])
    assert (found.layer, found.head) == max(each, key=each.__getitem__)
    assert found.moved == pytest.approx(max(each.values()), abs=1e-4)
    for ids, look in zip(prompts, found.looks, strict=True):
        weights = f"blocks.{found.layer}.attn.weights"
        with torch.inference_mode(), record([weights]) as trace:
            model(torch.tensor([ids]))
        row = trace[weights][0, found.head, -1]
        assert look.weight == pytest.approx(float(row.max()), abs=1e-4)
        assert look.token == tokenizer.decode([ids[int(row.argmax())]]).strip()


def test_recorded_cases_come_again(story_model):
    every = recorded()
    for cases in (spelled_cases(*story_model), worded_cases(*story_model, count=12)):
        for _ in range(2):
            case = next(cases)
            (known,) = (
                one
                for one in every
                if (one.kind, one.way, one.about, one.right, one.endings)
                == (case.kind, case.way, case.about, case.right, case.endings)
            )
            assert (known.layer, known.head, known.said) == (case.layer, case.head, case.said)
            for name in ("confidence", "plain", "here", "moved"):
                assert getattr(known, name) == pytest.approx(getattr(case, name), abs=2e-3)


def test_each_case_is_right_as_stories_ask_and_wrong_here():
    for one in recorded():
        assert one.said != one.right and one.here <= one.confidence < 1.001
        assert one.plain > one.here and one.plain > 0.33
        if one.kind == SPELLED:
            whole, tokens = one.tokens
            assert "".join(whole).strip() == "".join(tokens).strip() == one.about
            assert whole != tokens and one.endings[0] == one.endings[1]
        else:
            assert one.kind == WORDED and one.endings[0] != one.endings[1]
