"""What the grammar knows of a story: each word's part of speech and name, each place's state."""

import re
from itertools import chain

import numpy as np
import pytest

from llmviz.corpus import NotTinyWorldError, generate
from llmviz.corpus.exercises import holders
from llmviz.corpus.roles import ENTITIES, TAGS, roles, sentences, split_words
from llmviz.corpus.states import LABELS, RULES, WORD_CLASSES, label, token_labels
from llmviz.corpus.story_productions import MIN_EVENTS
from llmviz.corpus.tiny_world import parse
from llmviz.corpus.words import words

MANY = [document.text for document in generate(600, seed=77)]
STORIES = MANY[:60]
PIECES = re.compile(r" ?\w+(?:-\w+)*| ?[^\w\s]+")


@pytest.fixture(scope="module")
def words_of_stories():
    """The words of each story with their roles."""
    return [roles(story) for story in MANY]


def test_every_word_of_every_story_has_a_role_at_its_place(words_of_stories):
    for story, told in zip(MANY, words_of_stories, strict=True):
        assert [(word.text, word.start) for word in told] == split_words(story)
        assert "".join(story.split()) == "".join(word.text for word in told)
        assert {word.tag for word in told} <= {*TAGS}
        kinds = {word.entity.partition("-")[2] for word in told} - {""}
        assert kinds <= {*ENTITIES}


@pytest.mark.parametrize(
    ("word", "tags"),
    [
        ("saw", {"VERB", "NOUN"}),
        ("felt", {"VERB", "ADJ"}),
        ("little", {"ADJ", "ADV"}),
        ("one", {"NUM", "NOUN"}),
        ("was", {"AUX"}),
        (".", {"PUNCT"}),
    ],
)
def test_some_words_have_two_roles_and_most_have_one(word, tags, words_of_stories):
    every = chain.from_iterable(words_of_stories)
    assert {one.tag for one in every if one.text.lower() == word} == tags


def test_a_words_role_is_why_it_was_written(words_of_stories):
    """Told once more by patterns of the text, for roles that patterns can tell."""
    for story, told in zip(MANY, words_of_stories, strict=True):
        at = {word.start: word for word in told}
        for match in re.finditer(r"mended the \w+ with an? \w+ (saw)\b", story):
            assert at[match.start(1)].tag == "NOUN"
        for match in re.finditer(r"(saw) an? ", story):
            assert at[match.start(1)].tag == "VERB"
        for match in re.finditer(r"(found) an? (\w+) (\w+) (\w+) ", story):
            own = [at[match.start(k)] for k in (1, 2, 3, 4)]
            assert [word.tag for word in own] == ["VERB", "ADJ", "ADJ", "NOUN"]
            assert [word.entity for word in own] == ["O", "B-THING", "I-THING", "I-THING"]
        for match in re.finditer(r"\b([A-Z]\w+) ([A-Z]\w+)\b", story):
            if match[1] in words("names") and match[2] in words("surnames"):
                own = [at[match.start(k)] for k in (1, 2)]
                assert [word.entity for word in own] == ["B-PERSON", "I-PERSON"]
        for match in re.finditer(r"dreamed of (\w+)\.", story):
            assert (at[match.start(1)].tag, at[match.start(1)].entity) == ("PROPN", "B-PLACE")
        for match in re.finditer(r"(?:It was|it was) (\w+day)\b", story):
            assert at[match.start(1)].entity == "B-DAY"


def test_inside_follows_what_it_goes_on_with(words_of_stories):
    for told in words_of_stories:
        for before, word in zip(["O", *(one.entity for one in told)], told, strict=False):
            if word.entity.startswith("I-"):
                assert before[2:] == word.entity[2:]


def test_sentences_are_the_storys_words_in_order(words_of_stories):
    for told in words_of_stories[:50]:
        cut = sentences(told)
        assert [word for one in cut for word in one] == told
        assert all(word.text not in ".?" for one in cut for word in one[:-1])


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


@pytest.mark.parametrize("read", [roles, label])
def test_a_text_of_no_story_is_refused(read):
    with pytest.raises(NotTinyWorldError):
        read("The cat sat on the mat.")
