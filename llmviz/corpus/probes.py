"""What a model of tiny-world should know: probe sets, analogies, words by category."""

import random
import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from llmviz.corpus.exercises import holders
from llmviz.corpus.tiny_world import REGULARITIES, generate
from llmviz.corpus.words import CAPITALS, OPPOSITES, PAIRS, SOUNDS, words
from llmviz.corpus.writer import Fact

PROBES = tuple(REGULARITIES)
"""The kinds of probe: one for each regularity."""

_SEED_OFFSET = 1_000_003  # so that probes do not come from the documents of a corpus's seed


class Probe(NamedTuple):
    """A story up to a place where a regularity decides, and two ways to go on.

    A model passes if it gives `right` a higher probability than `wrong` after `prompt`. The
    prompt ends without a space; the continuations begin with one where the text has one.
    """

    kind: str
    prompt: str
    right: str
    wrong: str


def probes(kind: str, count: int = 100, seed: int = 0) -> list[Probe]:
    """Return `count` probes of a kind, from as many different stories.

    Raises ValueError for a kind that is not in PROBES or a negative count.
    """
    return probe_sets((kind,), count, seed)[kind]


def probe_sets(
    kinds: Sequence[str] = PROBES, count: int = 100, seed: int = 0
) -> dict[str, list[Probe]]:
    """Return what `probes` returns for each of some kinds, and tell each story once for all.

    Raises ValueError for a kind that is not in PROBES or a negative count.
    """
    for kind in kinds:
        if kind not in REGULARITIES:
            raise ValueError(f"no probe {kind!r}; there are {', '.join(PROBES)}")
    if count < 0:
        raise ValueError(f"the number of probes cannot be negative; got {count}")
    chances = {kind: random.Random(seed) for kind in kinds}
    by_kind: dict[str, list[Probe]] = {kind: [] for kind in kinds}
    stories = generate(count=10_000 + 1_000 * count, seed=seed + _SEED_OFFSET)
    while wanted := [kind for kind in by_kind if len(by_kind[kind]) < count]:
        document = next(stories)
        for kind in wanted:
            facts = [fact for fact in document.facts if fact.kind == kind]
            if facts:
                by_kind[kind].append(_probe(document.text, facts, chances[kind]))
    return by_kind


def _probe(text: str, facts: list[Fact], chance: random.Random) -> Probe:
    fact = chance.choice(facts)
    before = text[: fact.start]
    prompt = before.rstrip(" ")
    space = before[len(prompt) :]
    return Probe(fact.kind, prompt, space + fact.right, space + chance.choice(fact.wrong))


class Lookup(NamedTuple):
    """Two stories that differ in the thing that is asked for at their end, and so in the answer."""

    things: tuple[str, str]
    prompts: tuple[str, str]
    answers: tuple[str, str]  # with the space before them


def lookups(count: int, seed: int = 0) -> list[Lookup]:
    """Return `count` pairs of questions about who has what, each from a story with two things.

    Raises ValueError for a negative count.
    """
    if count < 0:
        raise ValueError(f"the number of pairs cannot be negative; got {count}")
    pairs: list[Lookup] = []
    stories = generate(count=10_000 + 1_000 * count, seed=seed + _SEED_OFFSET)
    while len(pairs) < count:
        document = next(stories)
        for fact in document.facts:
            prompt = document.text[: fact.start].rstrip(" ")
            holder = holders(prompt) if fact.kind == "possession" else {}
            if len(set(holder.values())) == 2:
                before, thing, after = re.split(r"(\w+)(?= now\? It was$| stayed with$)", prompt)
                (other,) = holder.keys() - {thing}
                prompts = (prompt, before + other + after)
                answers = (f" {holder[thing]}", f" {holder[other]}")
                pairs.append(Lookup((thing, other), prompts, answers))
                break
    return pairs


_RELATIONS = {
    "pairs": PAIRS,
    "capitals": tuple(CAPITALS.items()),
    "sounds": tuple(SOUNDS.items()),
    "opposites": OPPOSITES,
}
RELATIONS = tuple(_RELATIONS)
"""The relations that analogies are made of.

Singular and plural are not among them: in tiny-world no sentence says "dog" and "dogs" together.
"""


def analogies(relation: str = "pairs") -> list[tuple[str, str, str, str]]:
    """Return every (a, b, c, d) with a : b = c : d, as man : woman = king : queen.

    Raises ValueError for a relation that is not in RELATIONS.
    """
    if relation not in _RELATIONS:
        raise ValueError(f"no relation {relation!r}; there are {', '.join(RELATIONS)}")
    pairs = _RELATIONS[relation]
    return [(a, b, c, d) for a, b in pairs for c, d in pairs if (a, b) != (c, d)]


_SHOWN = {
    "animals": "animals",
    "food": "food",
    "fruits": "fruits",
    "countries": "countries",
    "capitals": "capitals",
    "colours": "colours",
    "clothes": "clothes",
    "instruments": "instruments",
    "vehicles": "vehicles",
    "tools": "tools",
    "jobs": "jobs",
    "places": "places",
    "feelings": "feelings",
    "days": "days",
    "months": "months",
    "numbers": "numbers",
    "men and women": "roles",
    "girls' names": "girls",
    "boys' names": "boys",
    "trees": "trees",
    "flowers": "flowers",
    "sounds": "sounds",
}


@cache
def word_categories() -> dict[str, tuple[str, ...]]:
    """Return words by category, for colouring a map of embeddings; no word is in two."""
    taken: set[str] = set()
    by_title = {}
    for title, category in _SHOWN.items():
        by_title[title] = tuple(word for word in words(category) if word not in taken)
        taken.update(by_title[title])
    return by_title
