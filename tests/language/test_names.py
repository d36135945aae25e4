"""Scores of names equal seqeval's and scikit-learn's."""

import random

import pytest

from llmviz.language.names import span_score, spans, token_score

TAGS = ["O", "B-PERSON", "I-PERSON", "B-DAY", "I-DAY"]


def texts(seed):
    chance = random.Random(seed)
    lengths = [chance.randint(0, 9) for _ in range(8)]
    made = [[[chance.choice(TAGS) for _ in range(n)] for n in lengths] for _ in range(2)]
    for truth, given in zip(*made, strict=True):  # so that they agree now and then
        for i in range(len(truth)):
            given[i] = truth[i] if chance.random() < 0.7 else given[i]
    return made


@pytest.mark.parametrize("seed", range(20))
def test_scores_equal_seqevals(seed):
    from seqeval.metrics import f1_score, precision_score, recall_score
    from seqeval.metrics.sequence_labeling import get_entities
    from sklearn.metrics import f1_score as word_f1

    truth, given = texts(seed)
    score = span_score(truth, given)
    assert score.precision == pytest.approx(precision_score(truth, given, zero_division=0))
    assert score.recall == pytest.approx(recall_score(truth, given, zero_division=0))
    assert score.f1 == pytest.approx(f1_score(truth, given, zero_division=0))
    for tags in truth:
        ours = {(one.kind, one.start, one.end - 1) for one in spans(tags)}
        assert ours == set(get_entities(tags))
    flat = [[tag for tags in some for tag in tags] for some in (truth, given)]
    theirs = word_f1(*flat, labels=TAGS[1:], average="micro", zero_division=0)
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
