"""Questions in other words and a learner's own: the right answer stays, a loop counts the same."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments.moved_answers import PLACES, count_ways, long_text
from llmviz.corpus.exercises import holders
from llmviz.corpus.words import words
from llmviz.course.lessons.errors import moved_answers
from llmviz.course.lessons.errors.asked.own_question import (
    BEGINNING,
    END,
    MIDDLE,
    own_answers,
    own_prompts,
    people_in,
)
from llmviz.course.lessons.errors.moved_answers import SENTENCE
from llmviz.pretrained import load_bundled


@pytest.fixture(scope="module")
def draft():
    return load_bundled("drafts/tiny-world")[:2]


def test_each_question_has_one_right_answer_whatever_its_words(draft):
    for asked in moved_answers.asked_stories(draft[1], 6):
        found = holders(asked.story)
        assert len(set(found.values())) == 2
        assert found[asked.thing] == asked.right
        assert asked.right not in asked.others
        assert len(set(moved_answers.first_tokens(draft[1], asked))) == 1 + len(asked.others)
        for way in moved_answers.WAYS.values():
            prompt = way(asked)
            assert prompt.startswith(asked.story) and asked.thing in prompt[len(asked.story) :]
            assert holders(prompt)[asked.thing] == asked.right, "nothing changes hands"


def test_a_fact_stands_where_it_should_and_all_else_is_the_same():
    texts = [long_text(random.Random(5), place) for place in PLACES]
    all_sentences = [one.story.removesuffix(".").split(". ") for one in texts]
    for one, place, sentences in zip(texts, PLACES, all_sentences, strict=True):
        assert len(sentences) == 3 + 2 + moved_answers.FILLERS
        found = [i for i, sentence in enumerate(sentences) if " found a big " in sentence]
        assert found == [3 + place, 4 + place]
        assert sorted(sentences) == sorted(all_sentences[0])
        assert holders(one.story)[one.thing] == one.right
    with pytest.raises(ValueError, match="from 0 to 12"):
        long_text(random.Random(0), 13)


def test_answers_are_the_models_own_whatever_stands_beside_them(draft):
    """Prompts of several lengths in one batch, against each by itself."""
    model, tokenizer = draft
    asked = moved_answers.asked_stories(tokenizer, 1)[0]
    prompts = [way(asked) for way in moved_answers.WAYS.values()]
    found = moved_answers.answers(model, tokenizer, asked, prompts)
    assert found.sum(-1) == pytest.approx(np.ones(len(prompts)))
    for row, prompt in zip(found, prompts, strict=True):
        ids = torch.tensor([tokenizer.encode_from_start(prompt)])
        with torch.inference_mode():
            p = model(ids)[0][0, -1].double().softmax(-1).numpy()
        people = p[[tokenizer.encode(f" {n}")[0] for n in (asked.right, *asked.others)]]
        assert row == pytest.approx(people / people.sum(), abs=1e-5)


def test_ways_are_counted_story_by_story():
    plain = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    other = np.array([[0.3, 0.7], [0.9, 0.1], [0.7, 0.3], [0.6, 0.4]])
    ways = count_ways({moved_answers.PLAIN: plain, "other": other})
    assert (ways[moved_answers.PLAIN].right, ways[moved_answers.PLAIN].moved) == (2, 0)
    assert (ways["other"].right, ways["other"].broken, ways["other"].mended) == (3, 1, 2)
    assert ways["other"].mean == pytest.approx(0.625)


def test_what_is_recorded_adds_up():
    known = moved_answers.recorded()
    plain = known.ways[moved_answers.PLAIN].right
    for way in known.ways.values():
        assert way.stories == moved_answers.STORIES
        assert way.right == plain - way.broken + way.mended
    assert [one.before for one in known.places] == list(PLACES)


SENTENCES = st.lists(
    st.sampled_from(["Anna met Hugo.", "Was it late?", "Hens hid!", "Nobody came."]), max_size=6
)


@given(
    SENTENCES,
    st.sampled_from(["", "Hugo found a fan.", "no full stop"]),
    st.sampled_from(["Who? It was", "It was"]),
    st.sampled_from(["", "By the way."]),
    st.sampled_from(["", "Tell me who! It was"]),
)
def test_every_prompt_has_the_same_story_in_the_same_order(
    sentences, fact, question, before, reworded
):
    prompts = own_prompts(" ".join(sentences), fact, question, before, reworded)
    one, other = "Anna", "Hugo"
    if sentences.count("Anna met Hugo.") == 0:
        one = other = ""  # at most one person
    endings = {
        "alone": question,
        "learners": f"{before} {question}" if before else "",
        "hens": f"{SENTENCE} {question}",
        "reworded": reworded,
        "options": f"Who, {one} or {other}? It was" if one and "?" in question else "",
        "turned": f"Who, {other} or {one}? It was" if one and "?" in question else "",
    }
    assert {way for _, way in prompts} == {way for way, end in endings.items() if end}
    assert len(prompts) == 3 * sum(map(bool, endings.values()))
    for (place, way), prompt in prompts.items():
        at = {"beginning": 0, "middle": (len(sentences) + 1) // 2, "end": len(sentences)}[place]
        told = [*sentences[:at], *([fact] if fact else []), *sentences[at:], endings[way]]
        assert prompt == " ".join(told)


def test_people_are_the_first_names_of_the_grammar():
    names = words("names")
    assert people_in(f"{names[3]} and {names[5]}, {names[3]}s, nobody") == [names[3], names[5]]
    assert people_in("") == []


def test_the_answer_is_the_most_probable_person_of_the_text():
    model, tokenizer, _ = load_bundled("drafts/tiny-world")
    prompts = own_prompts(
        "Anna met Hugo.", "Hugo found a fan.", "But who had the fan now? It was", "It was late."
    )
    found = own_answers(model, tokenizer, prompts)
    assert {place for place, _ in found} == {BEGINNING, MIDDLE, END}
    for key, one in found.items():
        ids = torch.tensor([tokenizer.encode_from_start(prompts[key])])
        with torch.inference_mode():
            p = model(ids)[0][0, -1].double().softmax(-1)
        each = {name: float(p[tokenizer.encode(f" {name}")[0]]) for name in ("Anna", "Hugo")}
        assert one.person == max(each, key=each.__getitem__)
        assert one.person_p == pytest.approx(max(each.values()), abs=1e-5)
        assert one.people_p == pytest.approx(sum(each.values()), abs=1e-5)
        assert one.token == int(p.argmax()) and one.token_p >= one.person_p


def test_a_text_without_a_known_name_is_refused():
    model, tokenizer, _ = load_bundled("drafts/tiny-world")
    with pytest.raises(ValueError, match="must name somebody that tiny-world knows"):
        own_answers(model, tokenizer, own_prompts("Somebody came.", "", "Who? It was"))
