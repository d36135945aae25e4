"""How answers about a story move when the question, or what stands before it, is put otherwise.

Makes what `llmviz.course.lessons.errors.moved_answers` reads.

N stories, W ways to ask, K people of a story.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from llmviz.corpus.story_productions import ADVERBIALS
from llmviz.corpus.words import words
from llmviz.course.lessons.errors.moved_answers import (
    COMMAND,
    FILE,
    FILLERS,
    MODEL,
    PLAIN,
    STORIES,
    WAYS,
    Moved,
    Place,
    TwoOwners,
    Way,
    answers,
    asked_stories,
    first_tokens,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

PLACES = (0, 3, 6, 9, 12)  # how many of them stand before the fact


def count_ways(chances: dict[str, np.ndarray]) -> dict[str, Way]:
    """Return each way's counts; chances (N,) of the right person for each, and best (N,) > others.

    chances: by way, (N, 2): the right person's probability, and the highest of the others.
    """
    plain = chances[PLAIN][:, 0] > chances[PLAIN][:, 1]
    ways = {}
    for name, values in chances.items():
        right = values[:, 0] > values[:, 1]
        ways[name] = Way(
            len(right),
            int(right.sum()),
            int((plain & ~right).sum()),
            int((~plain & right).sum()),
            float(values[:, 0].mean()),
        )
    return ways


def long_text(chance: random.Random, place: int) -> TwoOwners:
    """Return a long text: two people find a thing each after `place` of FILLERS other sentences.

    The same state of `chance` gives the same sentences, whatever the place.
    Raises ValueError for a place that is not from 0 to FILLERS.
    """
    if not 0 <= place <= FILLERS:
        raise ValueError(f"place must be from 0 to {FILLERS}; got {place}")
    names, things = chance.sample(words("names"), 2), chance.sample(words("things"), 2)
    last, jobs = chance.sample(words("surnames"), 2), chance.sample(words("jobs"), 2)
    opening = (
        f"One spring morning, {names[0]} {last[0]} the {jobs[0]} woke up happy. "
        f"Next door lived {names[1]} {last[1]}, a kind {jobs[1]}. "
        f"They met at the {chance.choice(words('places'))}."
    )
    finds = [
        f"{name} found a big {chance.choice(words('colours'))} {thing} under the "
        f"{chance.choice(words('furniture'))}."
        for name, thing in zip(names, things, strict=True)
    ]
    fillers = [_filler(chance, names[number % 2]) for number in range(FILLERS)]
    at = chance.randrange(2)
    sentences = [opening, *fillers[:place], *finds, *fillers[place:]]
    return TwoOwners(" ".join(sentences), things[at], names[at], (names[1 - at],))


def _filler(chance: random.Random, name: str) -> str:
    """A sentence in which nobody finds anything, as the grammar writes it."""
    lead = chance.choice(ADVERBIALS)
    flower, tree, month = (chance.choice(words(kind)) for kind in ("flowers", "trees", "months"))
    food, other = chance.sample(words("food"), 2)
    feeling, sky = chance.choice(words("feelings")), chance.choice(words("skies"))
    instrument, adverb = chance.choice(words("instruments")), chance.choice(words("adverbs"))
    deed = chance.choice(
        (
            f"planted {flower} under the {tree} in {month}.",
            f"ate {food} with {other}.",
            f"felt {feeling} at the sight of the {sky}.",
            f"played the {instrument} {adverb}.",
        )
    )
    return f"{lead}{name} {deed}"


def measure_ways(count: int = STORIES) -> Iterator[int | dict[str, Way]]:
    """Yield how many stories are asked, and at the end the counts of all ways."""
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(MODEL)
    chances: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    for number, story in enumerate(asked_stories(tokenizer, count)):
        found = answers(model, tokenizer, story, [way(story) for way in WAYS.values()])
        for name, row in zip(WAYS, found, strict=True):
            chances[name].append((float(row[0]), float(row[1:].max())))
        yield number + 1
    yield count_ways({name: np.array(rows) for name, rows in chances.items()})


def measure_places(count: int = STORIES) -> list[Place]:
    """Return how answers depend on where in a long text the fact stands."""
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(MODEL)
    found: list[np.ndarray] = []
    seed = 0
    while len(found) < count:
        texts = [long_text(random.Random(seed), place) for place in PLACES]
        seed += 1
        if len(set(first_tokens(tokenizer, texts[0]))) == 2:
            prompts = [WAYS[PLAIN](text) for text in texts]
            found.append(answers(model, tokenizer, texts[0], prompts)[:, 0])
    chances = np.array(found)  # (N, places)
    return [
        Place(place, count, int((column > 0.5).sum()), float(column.mean()))
        for place, column in zip(PLACES, chances.T, strict=True)
    ]


def main() -> None:
    """Measure everything and write the file."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description="Measure how answers move again.")
    parser.add_argument("--stories", type=int, default=STORIES)
    count = parser.parse_args().stories
    *_, ways = tqdm(measure_ways(count), total=count + 1)
    measured = Moved(ways, measure_places(count))
    write_json(EXPERIMENT_FOLDER / FILE, {"command": COMMAND, "model": MODEL, **asdict(measured)})


if __name__ == "__main__":
    main()
