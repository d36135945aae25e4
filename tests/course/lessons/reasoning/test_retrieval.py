"""Passages that are ranked in three ways, and a small model that answers from them."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from experiments import passages as make_passages
from llmviz.corpus import facts_in_passages as facts
from llmviz.course.lessons.reasoning.retrieval import passage_ranking as ranking
from llmviz.course.lessons.reasoning.retrieval import passage_reader as reader
from llmviz.course.lessons.reasoning.retrieval import passage_record as record
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import (
    BM,
    RANKINGS,
    TFIDF,
    VECTORS,
    Means,
    rank,
)
from llmviz.interpretability.vector_tables import load_table
from llmviz.nn.loss import IGNORED
from llmviz.similarity import cosine, cut, search_words

WORDS = st.lists(st.sampled_from(["cat", "dog", "red", "zyx", "東京"]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def table():
    return load_table("tiny-world-word2vec")


def ranked(text, question, table, sentences=1):
    passages = cut(text, sentences)
    return rank(passages, question, Means.of([one.text for one in passages], table))


@settings(deadline=None, max_examples=25)  # each asks three rankings
@given(st.lists(WORDS.filter(bool), min_size=1, max_size=5), WORDS)
def test_every_ranking_names_each_passage_once_and_equal_ones_keep_their_order(texts, question):
    text = "\n\n".join(texts)
    found = ranked(text, question, load_table("tiny-world-word2vec"))
    for way in RANKINGS:
        order = found.order(way)
        assert sorted(order) == list(range(len(found.passages)))
        for one, after in pairwise(order):
            same = texts[one] == texts[after]
            assert not same or one < after


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=5),
    st.lists(st.sampled_from("abcde"), max_size=5),
)
def test_cosines_of_tf_idf_are_those_of_counts_from_scikit_learn(passages, question):
    found = ranking.tf_idf_cosines(passages, question)
    counter = CountVectorizer(analyzer=lambda words: words)
    counts = counter.fit_transform(passages).toarray()
    idf = np.log(len(passages) / (counts > 0).sum(0))
    asked = counter.transform([question]).toarray()[0] * idf
    for row, value in zip(counts * idf, found, strict=True):
        wanted = cosine(row, asked) if row.any() and asked.any() else 0.0
        assert value == pytest.approx(wanted, abs=1e-9)


def test_the_mean_of_vectors_leaves_out_what_has_none(table):
    found = ranked("The cat saw zyx.\n\nQqq.\n\nThe cat.", "The cat?", table)
    scores = found.scores[VECTORS]
    assert np.isnan(scores[1]) and found.order(VECTORS)[-1] == 1
    assert scores[2] == pytest.approx(1)
    assert set(found.unknown) == {"zyx", "qqq"}
    rows = [table.find(word) for word in ("The", "cat", "saw")]
    assert scores[0] == pytest.approx(
        cosine(table.matrix[rows].mean(0), table.matrix[rows[:2]].mean(0)), abs=1e-6
    )


def test_a_question_without_known_words_leaves_the_order_of_the_text(table):
    found = ranked("One cat.\n\nOne dog.", "zyx", table)
    assert not found.scores[BM].any() and not found.scores[TFIDF].any()
    assert np.isnan(found.scores[VECTORS]).all()
    assert all(found.order(way) == [0, 1] for way in RANKINGS)


def test_one_passage_has_no_word_that_tells_it_apart(table):
    found = ranked("One cat.", "cat", table)
    assert found.scores[TFIDF].tolist() == [0.0]  # ln(1/1) = 0
    assert found.scores[BM][0] > 0


@pytest.mark.parametrize(
    ("text", "question", "best"),
    [
        ("東京は日本。\n\n大阪は古い。", "大阪", 1),
        ("Москва далеко.\n\nКот спит.", "где кот", 1),
        ("बिल्ली सोती है।\n\nकुत्ता दौड़ता है।", "कुत्ता", 1),
    ],
)
def test_words_are_ranked_in_any_script(text, question, best, table):
    found = ranked(text, question, table)
    assert found.order(BM)[0] == found.order(TFIDF)[0] == best


def test_documents_without_a_word_are_refused(table):
    with pytest.raises(ValueError, match="at least one word"):
        ranked("…\n\n!", "cat", table)


def test_the_work_of_a_huge_text_grows_with_its_passages(table):
    """Each passage is read once for its words and once for its vectors, whatever the question."""
    text = "The cat saw a red dog. " * 2_000
    passages = cut(text, 2, 1)
    assert len(passages) == 1_999
    found = rank(passages, "dog " * 60, Means.of([one.text for one in passages], table))
    assert np.ptp(found.scores[BM]) < 1e-9 and found.terms.times.tolist() == [60]
    assert found.order(BM) == list(range(1_999))
    assert len(search_words(text)) == 12_000


TEXT = st.text(max_size=80)
LEVELS = (facts.NAMES, facts.NAMED, facts.ALL)


def sentences_of(passage):
    return [f"{one.strip()}." for one in passage.split(".") if one.strip()]


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(LEVELS))
def test_an_answer_stands_in_the_passage_that_it_names_and_no_held_out_pair_comes(seed, level):
    one = facts.example(random.Random(seed), 6, level)
    assert len({asked.question for asked in one.questions}) == len(one.questions) <= 6
    assert level == facts.ALL or len(one.passages) == facts.MOST_PASSAGES
    said = {}
    for number, passage in enumerate(one.passages, start=1):
        who = None
        for sentence in sentences_of(passage):
            subject, words = sentence.split()[0], facts.split(sentence)
            who = subject if subject in (*facts.names(), *facts.STAND_INS) else who
            begins = [
                (way.partition(" {")[0], kind)
                for kind, (_, ways, _) in facts.KINDS.items()
                for way in ways
            ]
            fitting = [one for one in begins if sentence.startswith(f"{subject} {one[0]} ")]
            if fitting:
                _, kind = max(fitting, key=lambda one: len(one[0]))
                value = words[-2]
                fits = value in (*facts.values(kind), *facts.STAND_INS)
                if fits and who and subject in (who, "She", "He"):
                    said[who, kind] = (value, number)
    for asked in one.questions:
        fact = asked.fact
        if fact is None:
            assert level != facts.NAMES and (asked.who, asked.kind) not in said
            assert asked.answer == f"{asked.who} {facts.DECLINES}"
        else:
            assert said[fact.who, fact.kind] == (fact.value, fact.passage)
            assert (asked.who, asked.kind) == (fact.who, fact.kind)
            assert asked.answer == f"{fact.who} {fact.value} [{fact.passage}]"
            pair = fact.who in facts.names() and fact.value in facts.values(fact.kind)
            assert not (pair and facts.held_out(fact.who, fact.kind, fact.value))


def test_one_pair_in_five_is_held_out_and_each_person_has_two_of_each_kind():
    for name in facts.names():
        for kind in facts.KINDS:
            held = sum(facts.held_out(name, kind, value) for value in facts.values(kind))
            assert held >= 2
    pairs = [
        facts.held_out(name, kind, value)
        for name in facts.names()
        for kind in facts.KINDS
        for value in facts.values(kind)
    ]
    assert np.mean(pairs) == pytest.approx(0.2, abs=0.01)


@settings(deadline=None)
@given(st.integers(0, 1_000))
def test_only_answers_and_who_a_sentence_is_about_are_learned(seed):
    one = facts.example(random.Random(seed), 3)
    ids, learned = make_passages.text_of(one)
    assert all(target in (IGNORED, number) for number, target in zip(ids, learned, strict=True))
    passages = len(reader.passages_ids(one.passages))
    read_as = [reader.tokens()[number] for number in ids[:passages]]
    wanted = [now for before, now in pairwise(read_as) if before in reader.SOURCES]
    for asked in one.questions:
        wanted += [*facts.split(asked.answer), reader.END]
    assert [reader.tokens()[number] for number in learned if number != IGNORED] == wanted


@given(st.lists(TEXT, max_size=3), TEXT)
def test_any_text_is_read_and_nothing_typed_becomes_a_number_of_a_passage(passages, question):
    try:
        asked = reader.read(passages, question)
    except ValueError as error:
        assert "at most" in str(error)
        return
    words = [reader.tokens()[one] for one in asked.ids]
    assert words[-2:] == ["Answer", ":"]
    assert len(asked.ids) + reader.MOST_ANSWER <= reader.CONTEXT
    for number, passage in enumerate(passages, start=1):
        split = facts.split_plain(passage)
        begun = sum(
            before in facts.ENDS and one not in facts.ENDS for before, one in pairwise(split)
        )
        wanted = begun + bool(split)
        assert words.count(reader.SOURCES[number - 1]) == wanted
    for word, token in asked.stand_ins.items():
        assert word not in reader.vocabulary() and asked.word_of(token) == word


def test_an_unknown_word_has_the_same_stand_in_wherever_it_stands():
    asked = reader.read(["Zorro lives in 東京.", "Ada likes Zorro."], "Where does Zorro live?")
    words = [reader.tokens()[one] for one in asked.ids]
    assert words.count(asked.stand_ins["Zorro"]) == 3
    assert words.count(asked.stand_ins["東京"]) == 1
    assert len(set(asked.stand_ins.values())) == len(asked.stand_ins) and not asked.lost


def test_more_unknown_words_than_stand_ins_are_counted():
    many = " ".join(f"w{number}" for number in range(len(facts.STAND_INS) + 7))
    asked = reader.read([many], "w1?")
    assert len(asked.stand_ins) == len(facts.STAND_INS) and asked.lost == 7


@pytest.mark.parametrize(
    ("passages", "rule"), [(["a"] * 4, "at most 3 passages"), (["a " * 200], "words and signs")]
)
def test_what_is_too_much_is_refused(passages, rule):
    with pytest.raises(ValueError, match=rule):
        reader.read(passages, "Where?")


def test_blanks_behind_a_text_change_nothing():
    torch.manual_seed(0)
    model = reader.new_model().eval()
    rows = [make_passages.prompt_ids(["Ada lives in Lorn."], "Where does Ada live?")]
    rows.append(make_passages.prompt_ids([], "Where does Ada live?"))
    alone = [reader.logits_behind(model, [row])[0] for row in rows]
    assert np.allclose(reader.logits_behind(model, rows), alone, atol=1e-5)


@pytest.mark.parametrize(("learned", "done"), [(99, 100), (0, 110)])
def test_harder_texts_come_once_the_first_are_learned_or_their_steps_are_over(
    monkeypatch, learned, done
):
    levels = []
    batch = make_passages.batch
    monkeypatch.setattr(make_passages, "ROWS", dict.fromkeys(LEVELS, 1))
    monkeypatch.setattr(make_passages, "NAMED_STEPS", 2)
    monkeypatch.setattr(make_passages, "LEARNED", learned)
    monkeypatch.setattr(make_passages, "batch", lambda *of: (levels.append(of[1]), batch(*of))[1])
    torch.manual_seed(0)
    model = reader.new_model()
    steps = list(make_passages.train(model, 0, 110, 5))
    assert levels == [facts.NAMES] * done + [facts.NAMED] * 2 + [facts.ALL] * 3
    assert [one.step for one in steps] == list(range(1, done + 6))
    assert not model.training and np.isfinite(steps[-1].loss)


@pytest.mark.parametrize("case", record.CASES)
def test_each_case_asks_what_it_says(case):
    for one in make_passages.tests(case, 40):
        says = [
            number
            for number, passage in enumerate(one.passages, start=1)
            if one.right in facts.split(passage) and one.source
        ]
        if one.source:
            assert one.source in says and one.called[one.right] == record.RIGHT
        ordered = sum("Answer:" in passage for passage in one.passages)
        assert ordered == case.startswith("told")
        make_passages.prompt_ids(one.passages, one.question)  # all words are the model's
        known = {value: name for value, name in one.called.items() if not value.startswith("<")}
        who = next(
            name
            for name in (*facts.names(), *facts.STAND_INS)
            if f" {name} " in one.question.replace("?", " ")
        )
        right = [value for value, name in known.items() if name not in (record.TOLD,)]
        assert all(facts.held_out(who, one.kind, value) for value in right)
        assert len(one.passages) == {"none": 0, "right": 3, "unknown": 3, "wrong": 3}.get(
            case, 3 if case.startswith("three") else 2
        )


def test_the_bundled_record_is_that_of_the_bundled_model():
    best = make_passages.best(record.recorded())
    for case in ("right", "none", "told_alone", "untold_alone"):
        assert make_passages.measure(record.bundled(), case) == pytest.approx(
            best.cases[case], abs=6
        )  # weights are kept in 16 bits


def test_answers_of_the_bundled_model_follow_a_changed_passage():
    model = record.bundled()
    hits = 0
    for one in make_passages.tests("two", 30):
        right, wrong = one.called
        for passage, value in zip(one.passages, (right, wrong), strict=True):
            given = reader.answer(model, reader.read([passage], one.question))
            hits += given.words[1] == value and given.source == 1
    assert hits > 30  # of 60: far more than a guess


def test_the_record_is_whole():
    content = json.loads((record.EXPERIMENT_FOLDER / record.FILE).read_text("utf-8"))
    assert content["tests"] == record.TESTS
    for one in record.recorded():
        assert reader.STEPS < one.steps <= reader.MOST + reader.STEPS
        for counts in one.cases.values():
            kinds = {name: n for name, n in counts.items() if name not in ("sourced", "forced")}
            assert sum(kinds.values()) == record.TESTS
