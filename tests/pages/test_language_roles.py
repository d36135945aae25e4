"""Tags, probes and names: the lattice is Viterbi's, the scores are counted, changes are kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus.roles import ENTITY_TAGS, TAGS, split_words
from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.probing import chapter as probing
from llmviz.course.lessons.language.probing import words as probe_words
from llmviz.course.lessons.language.tags import chapter as tags
from llmviz.course.lessons.language.tags import names
from llmviz.course.lessons.language.tags import words as tag_words
from llmviz.course.lessons.language.word_roles import hmm_tags
from llmviz.course.ui.common import percent
from llmviz.language.hmm import log_probability
from llmviz.language.names import span_score, spans, token_score
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, open_part, prose_of, sent, unpack_all
from tests.pages.test_language import grids

SENTENCE = "Then Anna saw a saw."


# ---- tags


def test_the_lattice_is_viterbis_cell_by_cell():
    app = open_part("language", "tags", sentence=SENTENCE)
    fine(app)
    shown = sent(app, "lattice")
    scores, steps = shown["scores"].astype(float), shown["transition"].astype(float)
    assert np.allclose(scores[0], shown["start"] + shown["emission"][0], atol=1e-4)
    for t in range(1, len(scores)):
        ways = scores[t - 1][:, None] + steps
        assert np.allclose(scores[t], ways.max(0) + shown["emission"][t], atol=1e-3)
        best = ways[shown["back"][t], range(len(TAGS))]
        assert np.allclose(best, ways.max(0), atol=1e-3)
    path = [int(scores[-1].argmax())]
    for t in range(len(scores) - 1, 0, -1):
        path.insert(0, int(shown["back"][t, path[0]]))
    assert path == shown["path"]
    two = ("Anna", "saw")
    ways = itertools.product(range(len(TAGS)), repeat=2)
    best = max(ways, key=lambda way: log_probability(counted.model("0.01"), two, way))
    assert counted.lattice("0.01", two).path == best


def test_a_word_never_counted_is_marked_and_smoothing_is_said():
    app = open_part("language", "tags", sentence="The zorbel saw Anna.")
    fine(app)
    shown = sent(app, "lattice")
    assert shown["seen"] == [True, False, True, True, True]
    assert np.isfinite(shown["scores"]).all()
    other = open_part("language", "tags", sentence="The blimfy saw Anna.")
    assert np.array_equal(sent(other, "lattice")["emission"], shown["emission"])
    assert "zorbel ?" in grids(app)[tag_words.grid]["columnNames"]
    assert "smoothing" in prose_of(app) and "zorbel" in prose_of(app)
    assert tag_words.caption_unseen in shown["captions"][1]


def test_the_tables_are_those_that_tag():
    for smoothing in tag_words.smoothings:
        hmm = counted.model(smoothing)
        chances = tags.transition_tables(float(smoothing)).chances
        assert np.allclose(chances, np.vstack([hmm.start, hmm.transition]))
        listed = ("saw", "zorbel", "the")
        chances = tags.emission_tables(float(smoothing), listed).chances
        assert np.allclose(chances, np.stack([hmm.column(word) for word in listed], 1))
    app = open_part("language", "tags", table="emission", smooth="1", tcell="chances.0.1")
    fine(app)
    assert sent(app, "matrix_view")["pinned"] == ["chances", 0, 1]


def test_words_without_a_column_are_counted():
    letters = "abcdefghijklm"
    for number in (12, 13):
        text = " ".join(letters[:number])
        told = prose_of(open_part("language", "tags", sentence=text, table="emission"))
        assert ("the first 12 of 13 different words" in told) == (number == 13)


def test_the_chosen_sentence_has_the_lattice():
    text = "Anna sang. The owl was happy! Why?"
    for which, length in enumerate((3, 5, 2), 1):
        app = open_part("language", "tags", sentence=text, which=str(which))
        assert len(sent(app, "lattice")["words"]) == length
    app = open_part("language", "tags", sentence=text, which="40")
    fine(app)
    assert "which = 40 does not exist here; 3 is shown" in boxes(app)
    assert sent(app, "lattice")["words"] == ["Why", "?"]


def test_the_scores_are_the_cards():
    measured, rows = tags.card(), unpack_all(open_part("language", "tags"), "case_rows")[0]["rows"]
    told = iter(row["value"] for row in rows)
    for kind in tag_words.kinds:
        for tagger in tag_words.taggers:
            own = measured["taggers"][tagger]
            confusion = np.array(own["confusion"])
            right, every = (np.trace(confusion), confusion.sum()) if kind == "all" else own[kind]
            assert next(told) == pytest.approx(right / every)


TEXTS = ["Then Anna saw an old saw. She leaves.", "By and by Edwin walked by the river.", "Why?"]


@pytest.mark.parametrize("text", TEXTS)
def test_the_question_names_a_word_that_its_neighbours_change(text):
    counts, texts = counted.tag_counts(), [word for word, _ in split_words(text)]
    given_tags = hmm_tags(counted.model("0.01"), texts)
    found = tags.context(texts, given_tags)
    common = [TAGS[int(counts.of(word).argmax())] for word in texts]
    changed = [
        at
        for at, (a, b) in enumerate(zip(common, given_tags, strict=True))
        if a != b and counts.of(texts[at]).any()
    ]
    assert (found is None) == (not changed)
    if found is not None:
        assert found.at == changed[-1]
        answers = found.question.answers
        assert answers[found.question.right].startswith(given_tags[found.at])
        assert any(answer.startswith(common[found.at]) for answer in answers)


def test_before_the_guess_the_word_has_no_tag_in_either_row(covers):
    app = open_part("language", "tags")
    fine(app)
    ours, theirs, _ = grids(app)[tag_words.grid]["texts"]
    assert ours[5] == theirs[5] == "?" and ours.count("?") == 1
    assert not app.get("lattice")
    app.radio[0].set_value(0).run()
    assert "?" not in grids(app)[tag_words.grid]["texts"][0]


def test_a_word_with_two_most_frequent_tags_is_not_asked_about(monkeypatch):
    tie, clear = np.zeros(len(TAGS)), np.zeros(len(TAGS))
    tie[:2], clear[:2] = 4, (4, 1)
    for own in (tie, clear):
        known = counted.tag_counts()._replace(words={"both": own, "one": own})
        monkeypatch.setattr(counted, "tag_counts", lambda known=known: known)
        asked = tags.context(["both", "one"], [TAGS[1], TAGS[1]])
        assert (asked is None) == (own is tie)
    assert tags.context(["both"], [TAGS[1]]) is None  # it has no neighbour


def test_a_model_of_other_width_is_refused_in_one_line(bundle):
    for part in ("stems", "tags"):
        app = open_part("language", part)
        fine(app)
        assert "the tagger reads" in boxes(app)


# ---- probing


@pytest.mark.parametrize("kind", probe_words.kinds)
def test_the_bundled_probes_are_drawn_and_the_lot_waits_for_the_guess(covers, kind):
    app = open_part("language", "probing", probe=kind)
    fine(app)
    measured = tags.card()["probes"][kind]
    shown = sent(app, "case_rows")["rows"]
    n = len(measured)
    assert [row["value"] for row in shown[:n]] == [row["accuracy"] for row in measured]
    assert "embeddings" in shown[0]["label"][0][0] and "layer 0" in shown[1]["label"][0][0]
    asked = probing.question(probing.probes_of(measured), probing.CLASSES[kind])
    if asked is None:
        return
    assert shown[n]["value"] is None and {row["note"] for row in shown[n + 1 :]} == {"?"}
    (button,) = (one for one in app.button if one.label.startswith("Show me"))
    button.click().run()
    shown = sent(app, "case_rows")["rows"]
    assert [row["value"] for row in shown[n:]] == [row["control"] for row in measured]


def test_probes_that_are_fitted_now_are_drawn_as_far_as_they_are(monkeypatch):
    rows = [
        {"layer": name, "accuracy": 0.8 + 0.02 * i, "control": 0.5 - 0.03 * i}
        for i, name in enumerate(["embed", *(f"blocks.{i}.residual" for i in range(4))])
    ]
    for done in (0, 2, 5):
        job = FakeJob(rows[:done], state="done" if done == 5 else "running")
        monkeypatch.setattr(probing, "job_of", lambda *given, job=job: job)
        app = open_part("language", "probing", told="20", probes="1")
        fine(app)
        assert probe_words.none in boxes(app)
        pictures = [len(one["rows"]) for one in unpack_all(app, "case_rows")]
        assert pictures == [2 * len(rows), *([2 * done] if done else [])]  # measured, then fitted


SHARE = some.floats(0, 1)


@settings(max_examples=60)
@given(some.lists(some.tuples(SHARE, SHARE), min_size=1, max_size=6), some.integers(2, 20))
def test_tags_by_lot_are_asked_for_and_the_best_places_are_told(pairs, classes):
    made = [probing.Probe(f"layer {i}", a, b) for i, (a, b) in enumerate(pairs)]
    asked = probing.question(made, classes)
    values = sorted({1 / classes, *pairs[0]})
    far = len(values) == 3 and np.diff(values).min() >= probing.APART
    assert (asked is not None) == far
    if asked is not None:
        assert asked.values[asked.right] == (pairs[0][1],)
    shown = [percent(one.accuracy) for one in made]
    best = shown[int(np.argmax([one.accuracy for one in made]))]
    line = probing.read_line(made)
    assert all(
        (one.layer in line.split("(")[1].split(")")[0]) == (text == best)
        for one, text in zip(made, shown, strict=True)
        if len(made) > 1
    )


# ---- names


def scored(app) -> list[list[str]]:
    """The numbers of each score: right ÷ given, right ÷ there, 2 right ÷ both; and the share."""
    pictures = {one["axis"]["title"]: one["rows"] for one in unpack_all(app, "case_rows")}
    rows = pictures[names.words.score_axis]
    return [[*row["note"].split(" ÷ "), f"{row['value']:.2f}"] for row in rows]


def test_the_scores_are_those_of_the_tags_that_are_shown():
    app = open_part("language", "tags", story="3")
    fine(app)
    truth, given_tags = grids(app)[names.words.name_grid]["texts"]
    assert truth == list(names.beginnings()[2][1])[: names.DRAWN]
    notes = scored(app)
    both = token_score([truth], [given_tags]), span_score([truth], [given_tags])
    for at, score in enumerate(both):
        precision, recall, f1 = notes[3 * at : 3 * at + 3]
        told = [precision[0], precision[1], recall[1], f1[2]]
        assert told == [str(score.right), str(score.given), str(score.there), f"{score.f1:.2f}"]


def test_a_changed_tag_costs_a_word_here_and_a_name_there():
    number, truth = next(
        (i + 1, own)
        for i, (_, own) in enumerate(names.beginnings())
        if any(one.end - one.start > 1 for one in spans(own))
    )
    name = next(one for one in spans(truth) if one.end - one.start > 1)
    link = {"story": str(number), "changed": f"{name.end - 1}.O", "nword": str(name.end - 1)}
    before, after = (open_part("language", "tags", **one) for one in ({"story": str(number)}, link))
    fine(after)
    cells = [scored(app) for app in (before, after)]
    words_right, names_right = ([int(one[row][0]) for one in cells] for row in (0, 3))
    assert words_right[0] - words_right[1] == 1 and names_right[0] - names_right[1] == 1
    assert grids(after)[names.words.name_grid]["rowNames"][-1] == names.words.name_rows["yours"]
    tags = next(group for group in after.pills if list(group.options) == list(ENTITY_TAGS))
    assert tags.value == "O"
    tags.set_value(truth[name.end - 1]).run()
    fine(after)
    assert after.session_state["language.changed"] == ""


@pytest.mark.parametrize("part", ["tags", "stems"])
def test_another_sentence_keeps_no_tag_that_was_given_to_a_word_of_the_one_before(part):
    link = {"sentence": "Anna saw a dog.", "changed": "1.B-DAY", "nword": "1"}
    app = open_part("language", part, read="text", **link)
    app.text_area[0].set_value("Edwin met Anna.").run()
    fine(app)
    assert app.session_state["language.changed"] == ""
    assert app.session_state["language.nword"] == -1
    of_a_story = open_part("language", "stems", read="story", **link)
    of_a_story.text_area[0].set_value("Edwin met Anna.").run()
    assert of_a_story.session_state["language.changed"] == "1.B-DAY"


def test_own_text_has_no_score_unless_the_grammar_could_have_written_it():
    app = open_part("language", "tags", read="text")
    fine(app)
    assert len(unpack_all(app, "case_rows")) == 4  # two of them are of a story with known names
    assert "there is no score" in prose_of(app)
    odd = open_part("language", "tags", read="text", sentence="Barack flew to Chicago.")
    assert "Barack ?" in grids(odd)[names.words.name_grid]["columnNames"]
    assert "never seen them" in prose_of(odd)


@given(some.lists(some.sampled_from(ENTITY_TAGS), min_size=1, max_size=12))
def test_the_note_of_a_tag_says_whether_it_begins_a_name(tags_there):
    starts = {one.start for one in spans(tags_there)}
    for at, tag in enumerate(tags_there):
        line = names.note(tags_there, at)
        begins = tag[0] == "I" and at in starts
        assert ("begins a" in line) == begins
        assert ("goes on" in line) == (tag[0] == "I" and not begins)


@given(some.lists(some.sampled_from(ENTITY_TAGS), max_size=12), some.integers(1, 12))
def test_a_cut_text_holds_whole_names(truth, most):
    drawn = names.whole_names(truth, most)
    assert drawn <= most
    assert drawn >= len(truth) or not truth[drawn].startswith("I-") or drawn == 1


@given(some.lists(some.tuples(*[some.sampled_from(ENTITY_TAGS)] * 2), min_size=1, max_size=12))
def test_two_scores_are_called_the_same_if_they_look_the_same(pairs):
    truth, given_tags = zip(*pairs, strict=True)
    texts = {f"{one([truth], [given_tags]).f1:.2f}" for one in (token_score, span_score)}
    line = names.f1_line(truth, given_tags)
    assert ("both scores are the same" in line) == (len(texts) == 1)
    assert all(text in line for text in texts)


@given(some.text("0123456789.,OBI-DAYPERSON", max_size=30), some.integers(1, 12))
def test_changes_of_a_link_never_break_and_stay_inside(written, count):
    made = names.read_changes(written, count)
    assert all(0 <= at < count and tag in ENTITY_TAGS for at, tag in made.items())
    assert len(names.applied(written, ["O"] * count)) == count


@given(some.lists(some.sampled_from(ENTITY_TAGS), min_size=1, max_size=12))
def test_the_question_on_names_is_right_for_any_tags(truth):
    asked = names.question([f"w{i}" for i in range(len(truth))], truth)
    long_names = [one for one in spans(truth) if one.end - one.start > 1]
    assert (asked is None) == (not long_names)
    if asked is not None:
        right = span_score([truth], [names.damaged(truth)]).right
        assert asked.values[asked.right] == (right,) and right == len(spans(truth)) - 1
        assert set(asked.values) == {(0,), (right,), (right + 0.5,), (right + 1,)}
