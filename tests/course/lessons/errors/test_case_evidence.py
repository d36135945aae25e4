"""What stands in the training text about a wrong answer: counted again in the text itself."""

from __future__ import annotations

import re

import pytest

from llmviz.corpus.leaning import MEN, WOMEN, leaning_text
from llmviz.corpus.planted import field
from llmviz.course.lessons.errors import read_facts
from llmviz.course.lessons.errors.causes import case_evidence, wrong_answers


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
