"""Rules that are shown by examples only: words of a group get one answer, `cat red, pear blue`.

A rule picks a few groups of tiny-world's words and gives each an answer of its own. Groups and
answers are drawn anew for each text, so nothing about a rule can be learned by heart: a model that
continues a text correctly has read the rule out of the examples before. Some groups never stand
together in a training text; rules with such a pair are the held-out ones.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from llmviz.corpus.words import words

GROUPS = (
    *("clothes", "countries", "flowers", "food", "fruits", "furniture", "instruments", "jobs"),
    *("materials", "places", "skies", "things", "tools", "toys", "trees", "wild"),
)
WORDS_IN_A_GROUP = 24
ANSWERS = words("colours")
FEWEST, MOST = 2, 4  # groups of a rule
EXAMPLES = 16  # of a training text
_EVERY_NTH_PAIR = 5  # of groups is held out


@dataclass(frozen=True)
class Rule:
    """The answer of each group that the rule knows."""

    answers: Mapping[str, str]

    def __post_init__(self) -> None:
        for group in self.answers:
            if group not in GROUPS:
                raise ValueError(f"group must be one of {', '.join(GROUPS)}; got {group!r}")

    def answer(self, word: str) -> str:
        """Return the answer of a word's group; ValueError for a word of no group of the rule."""
        for group, answer in self.answers.items():
            if word in group_words(group):
                return answer
        raise ValueError(f"{word!r} is in none of the rule's groups: {', '.join(self.answers)}")


@dataclass(frozen=True)
class Question:
    """Examples of a rule, and a word whose answer is asked for.

    examples: (word, answer) in order. `prompt` is the text that a model continues.
    """

    rule: Rule
    examples: tuple[tuple[str, str], ...]
    word: str

    @property
    def prompt(self) -> str:
        """Return `cat red, pear blue, dog`."""
        return "".join(f"{word} {answer}, " for word, answer in self.examples) + self.word

    @property
    def answer(self) -> str:
        """Return what the rule says of the word."""
        return self.rule.answer(self.word)


def group_words(group: str) -> tuple[str, ...]:
    """Return the words of a group, the same number for each."""
    return words(group)[:WORDS_IN_A_GROUP]


def is_held_out(group: str, other: str) -> bool:
    """Say whether two groups never stand together in a training text."""
    return (GROUPS.index(group) + GROUPS.index(other)) % _EVERY_NTH_PAIR == 0


def draw_rule(chance: random.Random, groups: int, *, held_out: bool = False) -> Rule:
    """Return a rule of so many groups, drawn from those for training or from those held out.

    Raises ValueError for a number of groups that no rule has.
    """
    if not FEWEST <= groups <= MOST:
        raise ValueError(f"a rule has {FEWEST} to {MOST} groups; got {groups}")
    while True:
        chosen = chance.sample(GROUPS, groups)
        if any(is_held_out(*pair) for pair in combinations(chosen, 2)) == held_out:
            return Rule(dict(zip(chosen, chance.sample(ANSWERS, groups), strict=True)))


def draw_question(
    chance: random.Random, examples: int, groups: int = 2, wrong: int = 0, *, held_out: bool = True
) -> Question:
    """Return a question whose word stands in none of its examples.

    examples: how many; their groups come in turn, in random order, so that each group is shown as
      often as the others, or once more. wrong: how many of them show the answer of another group.
    Raises ValueError for a number below 0, or more wrong examples than there are.
    """
    if examples < 0 or not 0 <= wrong <= examples:
        raise ValueError(
            f"wrong examples must be from 0 to the number of examples; got {wrong} of {examples}"
        )
    rule = draw_rule(chance, groups, held_out=held_out)
    order = list(rule.answers)
    chance.shuffle(order)
    asked_groups = [order[i % groups] for i in range(examples)]
    chance.shuffle(asked_groups)
    wanted = chance.choice(order)
    left = {group: chance.sample(group_words(group), WORDS_IN_A_GROUP) for group in order}
    word = left[wanted].pop()
    pairs = [(chance.choice(left[group]), rule.answers[group]) for group in asked_groups]
    for i in chance.sample(range(examples), wrong):
        others = [answer for answer in rule.answers.values() if answer != pairs[i][1]]
        pairs[i] = (pairs[i][0], chance.choice(others))
    return Question(rule, tuple(pairs), word)


def questions(
    count: int, examples: int, groups: int = 2, wrong: int = 0, seed: int = 0
) -> list[Question]:
    """Return questions about held-out rules; the same ones for the same arguments."""
    chance = random.Random(seed)
    return [draw_question(chance, examples, groups, wrong=wrong) for _ in range(count)]


def shown_rules(
    count: int, seed: int = 0, *, held_out: bool = False
) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield `count` rules as EXAMPLES pairs (word, answer) each, to train on or, held out, to test.

    In some of them few words come again and again, in others hardly any does: to look the same
    word up is the easier skill, and leads to the other.
    Raises ValueError for a negative count.
    """
    if count < 0:
        raise ValueError(f"the number of rules cannot be negative; got {count}")
    chance = random.Random(f"{seed} {held_out}")
    for _ in range(count):
        rule = draw_rule(chance, chance.randint(FEWEST, MOST), held_out=held_out)
        known = chance.choice((1, 3, WORDS_IN_A_GROUP))
        left = {group: chance.sample(group_words(group), known) for group in rule.answers}
        groups = [chance.choice(list(left)) for _ in range(EXAMPLES)]
        yield tuple((chance.choice(left[group]), rule.answers[group]) for group in groups)
