"""A search for an ending with a high reward: the best of some samples, then changes of one word.

Nothing but the reward guides it. What is true of the ending is computed beside it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from llmviz.course.lessons.reasoning.preference.preference_model import LONGEST
from llmviz.course.lessons.reasoning.preference.preference_texts import Judged, judged
from llmviz.files.paths import DATA

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

SAMPLE_TOKENS = 56  # that a sample has at most
TRIED = 32  # changes of a round
MOST_WORDS = 24  # that a changed ending has
FEWEST_USES = 5  # of a word in the bundled stories, so that it may be put in
OWN, SAMPLED, CHANGED, KEPT = "own", "sampled", "changed", "kept"


@dataclass(frozen=True)
class Found:
    """The best ending so far: what was done last, and what is true of it.

    how: OWN for the ending it began with, SAMPLED where the story model wrote it, CHANGED where a
    change of one word raised the reward, KEPT where none of a round did. tried: endings so far.
    """

    step: int
    how: str
    ending: str
    reward: float
    tried: int
    truth: Judged


@cache
def known_words() -> tuple[str, ...]:
    """Return the words that may be put in: those of the bundled stories that are used often."""
    text = (DATA / "tiny-world.txt").read_text(encoding="utf-8")
    used = Counter(re.findall(r"[A-Za-z]+", text))
    return tuple(sorted(word for word, uses in used.items() if uses >= FEWEST_USES))


def changed(ending: str, chance: random.Random) -> str:
    """Return an ending with one word replaced, or one more where there is room.

    What stands around a word, such as a full stop, stays where it is.

    >>> changed("", random.Random(0)).isalpha()
    True
    """
    found, new = list(re.finditer(r"[^\W_]+", ending)), chance.choice(known_words())
    if not found:
        return f"{ending}{new}"
    at = chance.choice(found)
    if len(found) < MOST_WORDS and chance.random() < 1 / 3:
        return f"{ending[: at.start()]}{new} {ending[at.start() :]}"
    return ending[: at.start()] + new + ending[at.end() :]


def samples_of(
    base: GPT, tokenizer: Any, stories: Sequence[str], count: int, seed: int
) -> list[list[str]]:
    """Return so many endings of each story that the story model writes by chance."""
    from llmviz.finetuning.rollouts import sample_groups
    from llmviz.training.data import end_id

    end, room = end_id(tokenizer), base.context_length - SAMPLE_TOKENS
    prompts = [tokenizer.encode_from_start(story)[-room:] or [end] for story in stories]
    groups = sample_groups(base, prompts, count, SAMPLE_TOKENS, end, seed)
    return [
        [tokenizer.decode([token for token in ids if token != end]).strip() for ids in group]
        for group in groups
    ]


def search(
    models: tuple[GPT, GPT, Any],
    story: str,
    ending: str,
    samples: int,
    rounds: int,
    seed: int = 0,
) -> Iterator[Found]:
    """Raise the reward of an ending; yield the best one after each step.

    models: the story model, the reward model, their tokenizer. First the ending that was given,
    then the best of it and `samples` samples, then `rounds` rounds, each of TRIED changes of the
    best ending, of which the one with the highest reward is taken if it is higher.
    """
    from llmviz.finetuning.reward_model import Endings

    base, model, tokenizer = models
    chance, reader = random.Random(seed), Endings(model, tokenizer, story, LONGEST)
    reward, tried = reader.rewards([ending])[0], 1
    yield Found(0, OWN, ending, reward, tried, judged(story, ending))
    step = 0
    while step < rounds + 1:
        step += 1
        if step == 1:
            offered = samples_of(base, tokenizer, [story], samples, seed)[0] if samples else []
        else:
            offered = [changed(ending, chance) for _ in range(TRIED)]
        how, rewards = KEPT, reader.rewards(offered) if offered else []
        tried += len(offered)
        if rewards and max(rewards) > reward:
            reward = max(rewards)
            ending, how = offered[rewards.index(reward)], SAMPLED if step == 1 else CHANGED
        yield Found(step, how, ending, reward, tried, judged(story, ending))


def live_search(story: str, ending: str, samples: int, rounds: int, seed: int) -> Iterator[Found]:
    """The same with the bundled models, for a process of its own."""
    from llmviz.course.lessons.reasoning.preference.preference_model import both_models

    yield from search(both_models(), story, ending, samples, rounds, seed)
