"""Choices: one derivation for a text, probabilities that add up to one."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from llmviz.corpus import action_productions as actions
from llmviz.corpus import scene_productions as scenes
from llmviz.corpus.story import Person, Story, slot
from llmviz.corpus.words import CATEGORIES, words
from llmviz.corpus.writer import Options, Writer


@dataclass(slots=True)
class Enumerator(Writer):
    """Follows a script of option numbers and notes how many options each choice had."""

    script: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    text: str = ""

    def say(self, text):
        self.text += text
        self.position += len(text)

    def _next(self, size):
        at = len(self.sizes)
        self.sizes.append(size)
        if at == len(self.script):
            self.script.append(0)
        return self.script[at]

    def _index(self, options):
        return self._next(len(options))

    def _index_among(self, options, kept):
        return kept[self._next(len(kept))]


def every_text(tell, off=()):
    """Yield (text, probability) of every derivation of a piece of grammar."""
    script = []
    while True:
        writer = Enumerator(switched_off=frozenset(off), script=list(script))
        tell(writer)
        yield writer.text, math.exp(writer.log_prob)
        script = writer.script
        while script and script[-1] == writer.sizes[len(script) - 1] - 1:
            script.pop()
        if not script:
            return
        script[-1] += 1


def with_people(function):
    def tell(writer):
        people = [Person("Ada", "Oak", True, "mill"), Person("Otto", "Ash", False, "barn")]
        story = Story(writer, people=people, day="Monday")
        function(story, people[0]) if function is not scenes._next_day else function(story)

    return tell


@pytest.mark.parametrize(
    ("function", "off", "expected"),
    [
        (actions._pick, (), 8 * 30 * 8),
        (actions._pick, ("pronouns",), 2 * 8 * 30 * 8),
        (actions._opposite, (), None),
        (actions._feel, (), None),
        (actions._country, (), None),
        (actions._country, ("capitals",), None),
        (scenes._where, (), 1),
        (scenes._where, ("places",), 2),
        (scenes._next_day, ("days",), 7),
    ],
)
def test_every_derivation_has_its_own_text_and_they_add_up_to_one(function, off, expected):
    made = list(every_text(with_people(function), off))
    texts = {text for text, _ in made}
    assert len(texts) == len(made)
    assert math.fsum(p for _, p in made) == pytest.approx(1)
    assert expected is None or len(made) == expected
    ordered = sorted(texts)
    assert not any(b.startswith(a) for a, b in pairwise(ordered))


def test_options_that_begin_one_another_are_refused():
    with pytest.raises(ValueError, match="'ant' is the beginning of option 'antelope'"):
        Options("ab", ("ant", "antelope"))
    assert Options("ab", ("ant", "antelope"), followed_by=(",",)).match("antelope, ", 0) == 1
    with pytest.raises(ValueError, match="beginning"):
        Options("ab", ("same ", "same "))
    with pytest.raises(ValueError, match="as many surfaces"):
        Options("ab", ("one",))


def test_weights_become_probabilities():
    options = Options("abc", ("x", "y", "z"), weights=(1, 2, 5))
    assert [math.exp(p) for p in options.log_probs] == pytest.approx([1 / 8, 2 / 8, 5 / 8])
    assert options.cumulative == pytest.approx([1 / 8, 3 / 8, 1])


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_is_a_choice_without_repeats(category):
    assert len(set(words(category))) == len(words(category)) == len(slot(category))
    with pytest.raises(ValueError, match="no word category"):
        words(category + "?")
