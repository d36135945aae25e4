"""tiny-world: each text has one derivation and its probability; probes, analogies, spelling."""

import math
import random
import re
from collections import Counter

import pytest

from llmviz.corpus import (
    PROBES,
    REGULARITIES,
    RELATIONS,
    NotTinyWorldError,
    WorldOptions,
    analogies,
    generate,
    is_story,
    parse,
    probes,
    word_categories,
)
from llmviz.corpus.words import CATEGORIES, article, plural, words


@pytest.fixture(scope="module")
def world():
    """Documents for all that only reads them."""
    return list(generate(4000, seed=2))


@pytest.fixture(scope="module")
def world_words(world):
    return set(re.findall(r"[\w-]+", " ".join(document.text for document in world)))


@pytest.mark.parametrize("seed", [0, 1, 77])
def test_the_derivation_is_found_again_in_the_text_alone(seed):
    for document in generate(300, seed=seed):
        assert parse(document.text) == document


def test_every_regularity_off_still_has_one_derivation():
    for off in [*({kind} for kind in REGULARITIES), set(REGULARITIES)]:
        options = WorldOptions(frozenset(off))
        for document in generate(30, seed=5, options=options):
            assert parse(document.text, options) == document


def test_log_probability_is_the_sum_of_the_choices(world):
    for document in world[:200]:
        assert document.log_prob == pytest.approx(math.fsum(p for _, p in document.choices))
        starts = [start for start, _ in document.choices]
        assert starts == sorted(set(starts))
        assert all(p < 0 for _, p in document.choices)


def test_probability_of_the_opening_by_hand(world):
    """An independent reading of one kind of opening, with the probabilities counted by hand."""
    pattern = re.compile(
        r"One (\w+) morning, (\w+) (\w+) the (\w+) woke up (\w+)\. Next door lived "
    )
    sizes = {name: len(words(name)) for name in ("seasons", "surnames", "jobs", "feelings")}
    names = len(words("girls")) + len(words("boys"))
    seen = 0
    for document in world[:1000]:
        if match := pattern.match(document.text):
            seen += 1
            expected = 1 / 6 / 4  # one of 6 openings, one of 4 ways to bring in the second person
            expected /= names * math.prod(sizes.values())
            inside = [p for start, p in document.choices if start < match.end()]
            assert math.fsum(inside[:-1] if len(inside) > 7 else inside) == pytest.approx(
                math.log(expected)
            )
    assert seen > 20


def test_openings_come_as_often_as_their_probability_says(world):
    openings = Counter()
    for document in world[:3000]:
        assert document.choices[0][1] == pytest.approx(math.log(1 / 6))
        openings[document.text.split()[0]] += 1
    chi_square = sum((seen - 500) ** 2 / 500 for seen in openings.values())
    assert len(openings) == 6
    assert chi_square < 20.5  # 5 degrees of freedom, one in a thousand


def test_two_beginnings_of_equal_probability_come_equally_often(world):
    by_weight = Counter()
    trials = 0
    for document in world[:2000]:
        for start, log_p in document.choices:
            if document.text.startswith(("Soon ", "Later "), start):
                trials += 1
                by_weight[document.text[start : start + 4], round(math.exp(log_p), 9)] += 1
    for weight in {weight for _, weight in by_weight}:
        soon, later = by_weight["Soon", weight], by_weight["Late", weight]
        assert abs(soon - later) < 4.5 * math.sqrt(soon + later)  # equally likely at each place
    assert trials > 500


def test_a_changed_document_is_refused_or_worth_something_else():
    chance = random.Random(0)
    refused = 0
    for document in generate(500, seed=21):
        at = chance.randrange(len(document.text))
        letter = chance.choice([c for c in "abcdeXYZ ,.!" if c != document.text[at]])
        changed = document.text[:at] + letter + document.text[at + 1 :]
        refused += not is_story(changed)
    assert refused >= 490  # a few letters make another word, such as bat from cat


@pytest.mark.parametrize("kind", REGULARITIES)
def test_a_broken_regularity_is_refused(kind):
    broken = 0
    for document in generate(300, seed=31):
        for fact in document.facts:
            if fact.kind == kind:
                end = fact.start + len(fact.right)
                text = document.text[: fact.start] + fact.wrong[0] + document.text[end:]
                assert document.text[fact.start : end] == fact.right
                assert not is_story(text)
                broken += 1
    assert broken > 20


@pytest.mark.parametrize("text", ["", "Once", "Once upon a time.", "\n", "Once there was a"])
def test_what_is_no_story_is_refused_saying_where(text):
    with pytest.raises(NotTinyWorldError, match="at character"):
        parse(text)


def test_a_story_that_goes_on_or_stops_early_is_refused():
    text = next(generate(1, seed=1)).text
    for changed in (text + " ", text + " The end.", text[:-1], text[: len(text) // 2]):
        with pytest.raises(NotTinyWorldError):
            parse(changed)


def test_a_longer_run_begins_with_the_shorter_one():
    few, many = list(generate(5, seed=8)), list(generate(20, seed=8))
    assert many[:5] == few
    assert list(generate(5, seed=9)) != few
    sized = list(generate(characters=10_000, seed=8))
    total = sum(len(document.text) for document in sized)
    assert total >= 10_000 > total - len(sized[-1].text)


def test_sizes_and_names_are_checked():
    with pytest.raises(ValueError, match="either"):
        generate()
    with pytest.raises(ValueError, match="negative"):
        generate(-1)
    with pytest.raises(ValueError, match="no regularity 'rhyme'"):
        WorldOptions(frozenset({"rhyme"}))
    with pytest.raises(ValueError, match="no probe"):
        probes("rhyme")


@pytest.mark.parametrize("kind", PROBES)
def test_probes_are_stories_so_far_and_wrong_is_impossible(kind):
    made = probes(kind, 40, seed=2)
    assert len({probe.prompt for probe in made}) == 40
    assert made == probes(kind, 40, seed=2)
    for probe in made:
        assert probe.right != probe.wrong
        assert not probe.prompt.endswith(" ")


def test_a_probe_continues_its_own_story_and_the_wrong_word_breaks_it():
    for kind in PROBES:
        for document in generate(60, seed=44):
            for fact in document.facts:
                if fact.kind == kind:
                    head = document.text[: fact.start]
                    assert document.text.startswith(head + fact.right)
                    with pytest.raises(NotTinyWorldError) as refusal:
                        parse(head + fact.wrong[0])
                    assert f"at character {fact.start}" in str(refusal.value) or kind == "pronouns"


def test_the_world_is_rich_enough(world_words):
    assert len(world_words) >= 2000
    assert {w for c in CATEGORIES for w in words(c)} <= world_words


def test_stories_are_short(world):
    lengths = [len(document.text.split()) for document in world]
    assert min(lengths) >= 40 and max(lengths) <= 200
    assert 80 <= sum(lengths) / len(lengths) <= 120


@pytest.mark.parametrize("relation", RELATIONS)
def test_analogies_are_made_of_words_that_occur(relation, world_words):
    quadruples = analogies(relation)
    pairs = {quadruple[:2] for quadruple in quadruples}
    assert len(quadruples) == len(pairs) * (len(pairs) - 1)
    assert all(quadruple[2:] in pairs for quadruple in quadruples)
    assert {word for pair in pairs for word in pair} <= world_words


def test_the_best_known_analogy():
    assert ("man", "woman", "king", "queen") in analogies("pairs")
    with pytest.raises(ValueError, match="no relation 'rhymes'"):
        analogies("rhymes")


def test_no_word_is_in_two_categories(world_words):
    categories = word_categories()
    every = [word for category in categories.values() for word in category]
    assert len(set(every)) == len(every) and set(every) <= world_words
    assert all(len(category) >= 4 for category in categories.values())


@pytest.mark.parametrize(
    ("word", "many", "a"),
    [
        ("fox", "foxes", "a fox"),
        ("butterfly", "butterflies", "a butterfly"),
        ("donkey", "donkeys", "a donkey"),
        ("mouse", "mice", "a mouse"),
        ("owl", "owls", "an owl"),
        ("heir", "heirs", "an heir"),
        ("unicorn", "unicorns", "a unicorn"),
        ("uncle", "uncles", "an uncle"),
    ],
)
def test_plurals_and_articles_are_spelled(word, many, a):
    assert plural(word) == many
    assert f"{article(word)} {word}" == a
