"""Scores of tags and of names against scikit-learn's and seqeval's; what is bundled, again."""

import random

import numpy as np
import pytest

from llmviz.corpus.roles import TAGS, RoleWord
from llmviz.files.paths import CHECKPOINTS
from llmviz.language import role_scores as scores
from llmviz.language.hmm import count_hmm
from llmviz.language.names import Score, span_score, spans, token_score
from llmviz.language.tagger import tagged_stories
from llmviz.training.files import read_json


@pytest.fixture(scope="module")
def card():
    return scores.load_scores()


def test_confusion_is_scikit_learns_and_the_parts_are_counted():
    from sklearn.metrics import confusion_matrix

    chance = random.Random(0)
    truth = [[RoleWord(chance.choice("abcd"), 0, chance.choice(TAGS), "O") for _ in range(40)]]
    given = [[chance.choice(TAGS) for _ in range(40)]]
    known = {"a": {"NOUN"}, "b": {"NOUN", "VERB"}, "c": {"DET", "NUM"}}
    found = scores.tag_scores(truth, given, known)
    true = [word.tag for word in truth[0]]
    assert np.array_equal(found.confusion, confusion_matrix(true, given[0], labels=TAGS))
    right = [a == b for a, b in zip(true, given[0], strict=True)]
    assert found.accuracy == pytest.approx(np.mean(right))
    for letters, (hits, every) in (("bc", found.ambiguous), ("d", found.unseen)):
        own = [ok for ok, word in zip(right, truth[0], strict=True) if word.text in letters]
        assert (hits, every) == (sum(own), len(own))


def test_names_of_one_kind_alone():
    tags = ["B-DAY", "I-DAY", "O", "I-THING", "B-DAY", "B-PLACE", "I-DAY"]
    for kind in ("DAY", "THING", "PLACE", "PERSON"):
        alone = scores.only(tags, kind)
        assert spans(alone) == [one for one in spans(tags) if one.kind == kind]


def test_the_bundled_counts_are_those_of_the_held_out_stories(card):
    """The part of the command that takes a second, again: the numbers must be the same."""
    counted = scores.counted_sentences()
    assert card["counted_words"] == sum(map(len, counted))
    hmm = count_hmm(counted, TAGS, card["smoothing"])
    told = tagged_stories(card["test_stories"], scores.TEST_SEED)
    given = [scores.hmm_tags(hmm, story) for story in told]
    again = scores.tag_scores(told, given, scores.tags_by_word(counted))
    stored = scores.scores_of(card, "hmm")
    assert np.array_equal(again.confusion, stored.confusion)
    assert (again.ambiguous, again.unseen) == (stored.ambiguous, stored.unseen)
    entities = [word.entity for story in told for word in story]
    assert Score(*card["names"]["token"]).there == sum(tag != "O" for tag in entities)


def test_the_bundled_measurements_fit_together(card):
    for name in ("hmm", "transformer"):
        confusion = scores.scores_of(card, name).confusion
        assert confusion.sum() == card["test_words"]
    rows = [scores.scores_of(card, name).confusion.sum(1) for name in ("hmm", "transformer")]
    assert np.array_equal(*rows)
    assert scores.scores_of(card, "transformer").accuracy >= 0.99
    assert Score(*card["names"]["span"]).f1 >= 0.98
    for part in ("token", "span"):
        kinds = [Score(*one[part]) for one in card["names"]["by_kind"].values()]
        assert sum(one.there for one in kinds) == Score(*card["names"][part]).there
    layers = read_json(CHECKPOINTS / card["base"] / "config.json")["model"]["config"]["n_layer"]
    for kind in ("tag", "entity"):
        places = [one["layer"] for one in card["probes"][kind]]
        assert places == ["embed", *(f"blocks.{i}.residual" for i in range(layers))]
        assert all(0 <= one["control"] <= one["accuracy"] <= 1 for one in card["probes"][kind])


def test_probes_are_measured_by_the_name_of_a_model():
    first = next(scores.measure_probes("tiny-world-gpt", "tag", 3, 3))
    assert first["layer"] == "embed" and 0.3 < first["accuracy"] <= 1
    with pytest.raises(ValueError, match="kind must be one of tag, entity; got 'x'"):
        next(scores.measure_probes("tiny-world-gpt", "x", 2, 2))


MARKS = ["O", "B-PERSON", "I-PERSON", "B-DAY", "I-DAY"]


def tags_of_texts(seed):
    chance = random.Random(seed)
    lengths = [chance.randint(0, 9) for _ in range(8)]
    made = [[[chance.choice(MARKS) for _ in range(n)] for n in lengths] for _ in range(2)]
    for truth, given in zip(*made, strict=True):  # so that they agree now and then
        for i in range(len(truth)):
            given[i] = truth[i] if chance.random() < 0.7 else given[i]
    return made


@pytest.mark.parametrize("seed", range(20))
def test_scores_equal_seqevals(seed):
    from seqeval.metrics import f1_score, precision_score, recall_score
    from seqeval.metrics.sequence_labeling import get_entities
    from sklearn.metrics import f1_score as word_f1

    truth, given = tags_of_texts(seed)
    score = span_score(truth, given)
    assert score.precision == pytest.approx(precision_score(truth, given, zero_division=0))
    assert score.recall == pytest.approx(recall_score(truth, given, zero_division=0))
    assert score.f1 == pytest.approx(f1_score(truth, given, zero_division=0))
    for tags in truth:
        ours = {(one.kind, one.start, one.end - 1) for one in spans(tags)}
        assert ours == set(get_entities(tags))
    flat = [[tag for tags in some for tag in tags] for some in (truth, given)]
    theirs = word_f1(*flat, labels=MARKS[1:], average="micro", zero_division=0)
    assert token_score(truth, given).f1 == pytest.approx(theirs)


def test_a_name_with_one_word_missed_is_no_name_but_some_words():
    truth, given = [["B-PERSON", "I-PERSON", "O"]], [["B-PERSON", "O", "O"]]
    assert span_score(truth, given).f1 == 0
    assert token_score(truth, given).recall == 0.5


def test_no_names_at_all_score_nothing():
    assert span_score([["O"]], [["O"]]).f1 == 0 and span_score([], []).precision == 0


def test_wrong_tags_and_lengths_are_refused():
    for tag in ("X-DAY", "B", "B-", ""):
        with pytest.raises(ValueError, match="a tag must be O"):
            spans([tag])
    with pytest.raises(ValueError, match="as many tags as it has words"):
        span_score([["O"]], [["O", "O"]])
