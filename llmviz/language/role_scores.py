"""How well the roles of words are read, measured on held-out stories and kept as a card.

The hidden Markov model beside the bundled tagger, names word by word and whole, and a probe of
every layer. One command measures all of it; pages read the card.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from llmviz.corpus.roles import ENTITIES, TAGS, RoleWord, sentences
from llmviz.files.paths import TUNED
from llmviz.language.hmm import HMM, count_hmm, viterbi
from llmviz.language.names import Score, span_score, spans, token_score
from llmviz.training.files import check_manifest, read_json, write_json, write_manifest

ROLE_SCORES = "role-scores"
DESCRIPTION = "no weights: how well tags and names are read on held-out stories, and probes"
COUNTED = 300  # stories that the hidden Markov model counts: those that the tagger was fitted to
SMOOTHING = 0.01
TEST_STORIES, TEST_SEED = 200, 1
PROBE_STORIES, PROBE_TEST_STORIES = 80, 80
CARD = "card.json"

Story = Sequence[RoleWord]


class TagScores(NamedTuple):
    """How well parts of speech were given: K tags.

    confusion (K, K): how often words of the tag in the row were given that in the column.
    ambiguous, unseen: (right, all) of the words that have several tags in the counted stories, and
    of those that are in none of these.
    """

    confusion: np.ndarray
    ambiguous: tuple[int, int]
    unseen: tuple[int, int]

    @property
    def accuracy(self) -> float:
        """The share of all words that got their tag."""
        return float(np.trace(self.confusion) / self.confusion.sum())


def counted_sentences(stories: int = COUNTED, seed: int = 0) -> list[list[tuple[str, str]]]:
    """Return (word, tag) of each sentence of the stories that are counted."""
    from llmviz.language.tagger import tagged_stories

    kept = [sentence for story in tagged_stories(stories, seed) for sentence in sentences(story)]
    return [[(word.text, word.tag) for word in sentence] for sentence in kept]


def story_hmm(smoothing: float = SMOOTHING) -> HMM:
    """Return the hidden Markov model of the counted stories."""
    return count_hmm(counted_sentences(), TAGS, smoothing)


def tags_by_word(counted: Sequence[Sequence[tuple[str, str]]]) -> dict[str, set[str]]:
    """Return which tags each word has in some sentences."""
    tags_of: dict[str, set[str]] = {}
    for sentence in counted:
        for word, tag in sentence:
            tags_of.setdefault(word, set()).add(tag)
    return tags_of


def hmm_tags(hmm: HMM, story: Story) -> list[str]:
    """Return the tags that Viterbi gives the words of a story, sentence by sentence."""
    return [
        tag
        for sentence in sentences(list(story))
        for tag in viterbi(hmm, [word.text for word in sentence]).tags
    ]


def tag_scores(
    stories: Sequence[Story], given: Sequence[Sequence[str]], known: dict[str, set[str]]
) -> TagScores:
    """Hold given tags against those of the grammar.

    given: a tag for each word of each story. known: the tags of each word in the counted stories.
    Raises ValueError where there is not one tag for each word.
    """
    number = {tag: k for k, tag in enumerate(TAGS)}
    confusion = np.zeros((len(TAGS), len(TAGS)), dtype=np.int64)
    ambiguous, unseen = [0, 0], [0, 0]
    for story, tags in zip(stories, given, strict=True):
        for word, tag in zip(story, tags, strict=True):
            confusion[number[word.tag], number[tag]] += 1
            several = len(known.get(word.text, ())) > 1
            for count, counts_here in ((ambiguous, several), (unseen, word.text not in known)):
                if counts_here:
                    count[0] += word.tag == tag
                    count[1] += 1
    return TagScores(confusion, (ambiguous[0], ambiguous[1]), (unseen[0], unseen[1]))


def only(tags: Sequence[str], kind: str) -> list[str]:
    """Return BIO tags with all names but those of a kind left out.

    >>> only(["B-DAY", "O", "B-PLACE"], "DAY")
    ['B-DAY', 'O', 'O']
    """
    kept = ["O"] * len(tags)
    for span in spans(tags):
        if span.kind == kind:
            kept[span.start : span.end] = tags[span.start : span.end]
    return kept


def _name_scores(truth: list[list[str]], given: list[list[str]]) -> dict[str, Any]:
    def counts(score: Score) -> list[int]:
        return [score.right, score.given, score.there]

    by_kind = {}
    for kind in ENTITIES:
        own = [[only(tags, kind) for tags in part] for part in (truth, given)]
        by_kind[kind] = {"token": counts(token_score(*own)), "span": counts(span_score(*own))}
    return {
        "token": counts(token_score(truth, given)),
        "span": counts(span_score(truth, given)),
        "by_kind": by_kind,
    }


def measure_probes(
    model: str, kind: str, train: int, test: int, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield the probe of each layer of a bundled model or run, as plain data.

    model: its name, as `llmviz.pretrained.load_bundled` takes it. kind: "tag" or "entity". train,
    test: numbers of stories. For a process of its own, which knows no objects of the caller.
    Raises ValueError for an unknown kind, or a model whose layers cannot be read.
    """
    from llmviz.language.probes import probe_layers
    from llmviz.language.tagger import tagged_stories
    from llmviz.pretrained import load_bundled

    net, tokenizer, _ = load_bundled(model)
    parts = tagged_stories(train, seed), tagged_stories(test, seed + 1)
    for probe in probe_layers(net, tokenizer, *parts, kind, seed=seed):
        yield {"layer": probe.layer, "accuracy": probe.accuracy, "control": probe.control}


def measure(target: Path, command: str) -> dict[str, Any]:
    """Measure everything, write the card, return it."""
    from llmviz.language.bundle import BASE, load_tagger
    from llmviz.language.tagger import tagged_stories, text_of
    from llmviz.pretrained import load_bundled
    from llmviz.training.checkpoints import versions

    begun = time.perf_counter()
    counted = counted_sentences()
    hmm, known = count_hmm(counted, TAGS, SMOOTHING), tags_by_word(counted)
    tagged = tagged_stories(TEST_STORIES, TEST_SEED)
    tagger, _ = load_tagger()
    read = tagger.read(*load_bundled(BASE)[:2], [text_of(story) for story in tagged])
    taggers = {
        "hmm": tag_scores(tagged, [hmm_tags(hmm, story) for story in tagged], known),
        "transformer": tag_scores(tagged, [[word[1] for word in own] for own in read], known),
    }
    card = {
        "name": ROLE_SCORES,
        "command": command,
        "base": BASE,
        "parameters": 0,
        "counted_stories": COUNTED,
        "counted_words": sum(map(len, counted)),
        "smoothing": SMOOTHING,
        "test_stories": TEST_STORIES,
        "test_words": sum(map(len, tagged)),
        "tags": list(TAGS),
        "taggers": {
            name: {
                "confusion": scores.confusion.tolist(),
                "ambiguous": list(scores.ambiguous),
                "unseen": list(scores.unseen),
            }
            for name, scores in taggers.items()
        },
        "names": _name_scores(
            [[word.entity for word in story] for story in tagged],
            [[word[2] for word in own] for own in read],
        ),
        "probe_stories": PROBE_STORIES,
        "probe_test_stories": PROBE_TEST_STORIES,
        "probes": {
            kind: list(measure_probes(BASE, kind, PROBE_STORIES, PROBE_TEST_STORIES))
            for kind in ("tag", "entity")
        },
        "seconds": round(time.perf_counter() - begun, 1),
        "environment": versions(),
    }
    target.mkdir(parents=True, exist_ok=True)
    write_json(target / CARD, card)
    write_manifest(target, [CARD])
    return card


def load_scores(folder: Path = TUNED / ROLE_SCORES) -> dict[str, Any]:
    """Return the bundled card; ValueError naming what is absent or damaged."""
    check_manifest(folder)
    return read_json(folder / CARD)


def scores_of(card: dict[str, Any], tagger: str) -> TagScores:
    """Return how well a tagger of a card ("hmm" or "transformer") gave parts of speech."""
    scores = card["taggers"][tagger]
    return TagScores(
        np.array(scores["confusion"], dtype=np.int64),
        tuple(scores["ambiguous"]),
        tuple(scores["unseen"]),
    )
