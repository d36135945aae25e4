"""What the grammar knows at each place, against the story's own text."""

import re

import numpy as np
import pytest

from llmviz.corpus.exercises import holders
from llmviz.corpus.plot import MIN_EVENTS
from llmviz.corpus.states import LABELS, RULES, WORD_CLASSES, label, token_labels
from llmviz.corpus.tiny_world import generate, parse
from llmviz.corpus.words import words
from llmviz.corpus.writer import NotTinyWorldError

STORIES = [document.text for document in generate(60, 77)]
PIECES = re.compile(r" ?\w+(?:-\w+)*| ?[^\w\s]+")


def tokens_of(text: str) -> tuple[list[str], np.ndarray]:
    """Pieces of a story and their labels."""
    found = list(PIECES.finditer(text))
    return [one.group() for one in found], token_labels(label(text), [one.end() for one in found])


def column(on: np.ndarray, name: str) -> np.ndarray:
    return on[:, LABELS.index(name)]


@pytest.mark.parametrize("name", ["girls", "boys", "surnames"])
def test_names_are_those_of_the_lists(name):
    known = set(words(name))
    for text in STORIES:
        pieces, on = tokens_of(text)
        said = [piece.strip() in known for piece in pieces]
        assert column(on, f"word {name}").tolist() == said


def test_each_class_and_each_rule_comes_in_some_stories():
    every = sum(tokens_of(text)[1].sum(0) for text in STORIES)
    named = [f"word {one}" for one in WORD_CLASSES] + [f"rule {one}" for one in RULES]
    for name in named:
        assert every[LABELS.index(name)] > 0, name


def test_a_rule_is_on_before_the_word_that_it_decides():
    for text in STORIES:
        found = list(PIECES.finditer(text))
        on = token_labels(label(text), [one.end() for one in found])
        for fact in parse(text).facts:
            at = next(k for k, one in enumerate(found) if one.end() > fact.start)
            assert on[at - 1, LABELS.index(f"rule {fact.kind}")]
            assert found[at].group().strip().startswith(fact.right.split()[0].split(",")[0].strip())
        kinds = sum(column(on, f"rule {kind}").sum() for kind in RULES)
        assert kinds <= len(parse(text).facts)


def test_who_holds_a_thing_agrees_with_another_reading_of_the_text():
    seen = 0
    for text in STORIES:
        pieces, on = tokens_of(text)
        first = [one for one in pieces if one.strip() in set(words("names"))]
        people = list(dict.fromkeys(one.strip() for one in first))
        for at in np.flatnonzero(column(on, "rule possession")):
            prompt = "".join(pieces[: at + 1])
            holder = next(
                who
                for thing, who in holders(prompt).items()
                if re.search(rf"\b{thing}\b", prompt[-60:])
            )
            answer = pieces[at + 1].strip()
            assert column(on, "state holder")[at + 1]
            for place, name in enumerate(("first holds", "second holds")):
                assert column(on, f"state {name}")[at] == (people.index(answer) == place)
            seen += holder == answer
    assert seen > 10


def test_brackets_quotations_and_questions_are_those_of_the_text():
    for text in STORIES:
        marks = label(text)
        inside = {name: set() for name in ("quotation", "bracket", "question")}
        for start, end, name in marks.spans:
            if (kind := name.removeprefix("state ")) in inside:
                inside[kind] |= set(range(start, end))
        open_bracket = open_quote = False
        for at, sign in enumerate(text):
            open_bracket = sign == "(" or (open_bracket and sign != ")")
            assert (at in inside["bracket"]) == open_bracket
            open_quote = not open_quote if sign == '"' else open_quote
            assert (at in inside["quotation"]) == open_quote
        for at in (m.start() for m in re.finditer(r"\?", text)):
            assert at in inside["question"]


def test_what_is_settled_grows_with_the_story():
    for text in STORIES:
        _, on = tokens_of(text)
        for name in ("a thing", "two things", "may end"):
            assert (np.diff(column(on, f"state {name}").astype(int)) >= 0).all()
        assert (np.diff(column(on, "state before events").astype(int)) <= 0).all()
        assert not (column(on, "state she") & column(on, "state he")).any()
        assert column(on, "state before events")[0]
        assert column(on, "state may end")[-1]
    assert MIN_EVENTS > 0


def test_a_text_of_no_story_is_refused():
    with pytest.raises(NotTinyWorldError):
        label("This is no story.")
