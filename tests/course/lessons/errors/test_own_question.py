"""A learner's question: where the fact stands, and who is the most probable person."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.words import words
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
