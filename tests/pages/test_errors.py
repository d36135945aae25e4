"""The lesson on errors: what it says of stories, of texts that are none, and of every model."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from llmviz.corpus import generate, is_story
from llmviz.corpus.letter_questions import SPELLINGS, TASKS
from llmviz.course.lessons.errors import LESSON, measured, model_errors
from llmviz.course.lessons.errors import words as lesson_words
from llmviz.course.lessons.errors.asked import chapter as asked
from llmviz.course.lessons.errors.asked import own
from llmviz.course.lessons.errors.asked import words as asked_words
from llmviz.course.lessons.errors.asked.own_question import OwnAnswer
from llmviz.course.lessons.errors.calibration import chapter as sure
from llmviz.course.lessons.errors.calibration.model import SMOOTHING
from llmviz.course.lessons.errors.calibration.model import recorded as smoothed_recorded
from llmviz.course.lessons.errors.chance import chapter as chance
from llmviz.course.lessons.errors.letters import chapter as letters
from llmviz.course.lessons.errors.letters import words as letters_words
from llmviz.course.lessons.errors.letters.model import recorded as letter_scores
from llmviz.course.lessons.errors.model_errors import CAME, TRUE, recorded
from llmviz.course.lessons.errors.moved_answers import Place
from llmviz.course.lessons.errors.moved_answers import recorded as moved_answers
from llmviz.course.lessons.errors.story import ALSO, OTHERS
from llmviz.course.ui import engine
from llmviz.course.ui.common import percent
from llmviz.course.ui.question import APART
from llmviz.evaluation.calibration import TEMPERATURES
from llmviz.evaluation.exact_loss import divide_loss
from llmviz.pretrained import load_bundled
from tests.pages.asked import unmarkdown
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine_part, press, prose_of, put

TEXTS = [story.text for story in generate(4, seed=20_000)]


@pytest.fixture(scope="module")
def draft():
    return load_bundled("drafts/tiny-world")[:2]


def infos(app) -> str:
    return unmarkdown(" ".join(one.value for one in app.info))


def test_the_story_that_the_lesson_opens_with_is_one():
    assert is_story(lesson_words.story_default)
    assert LESSON.linked_first == "chance"


@pytest.mark.parametrize("model", ["", *ALSO, "words-gpt", "tiny-world-char"])
def test_each_model_has_the_loss_of_its_story_in_its_parts(model):
    app = fine_part("errors", "chance", model=model, part_of="dice")
    loaded = load_bundled(model or "tiny-world-gpt")
    divided = divide_loss(*loaded[:2], lesson_words.story_default)
    text = prose_of(app)
    assert f"Of <strong>{divided.loss.mean():.3f} nats</strong>" in text
    assert f"{divided.divergence.mean():.3f} the model's lack" in " ".join(text.split())
    short = "The context of words-gpt holds 64 tokens." in infos(app)
    assert short == (model == "words-gpt")


@pytest.mark.parametrize(
    ("story", "said", "whole"),
    [
        ("", lesson_words.story_empty, False),
        ("Hello world", "so no token of this text has a true", False),
        ("Once there was a zzz", "there is no true probability", True),
        ("Once there was", "", True),
        ("Once there was 🚀 and नमस्ते", "there is no true probability", True),
        (TEXTS[0] + " " + TEXTS[1], "there is no true probability", True),
    ],
)
def test_a_text_that_is_no_story_is_read_as_far_as_it_is_one(story, said, whole):
    app = fine_part("errors", "chance", story=story, model="drafts/tiny-world")
    assert said in infos(app)
    assert ("What you have seen" in str([one.value for one in app.subheader])) == whole


def test_another_story_is_a_new_one_and_leads_back():
    app = fine_part("errors", "chance", model="drafts/tiny-world")
    press(app, "Another story")
    (expected,) = (one.text for one in generate(1, seed=OTHERS + 1))
    assert app.text_area[0].value == expected
    press(app, "The first story")
    assert app.text_area[0].value == lesson_words.story_default


def test_what_is_said_of_a_token_follows_from_its_numbers(draft):
    cases = set()
    for text in TEXTS:
        divided = divide_loss(*draft, text)
        for t in range(len(divided)):
            if not divided.missed[t]:
                cases.add("right")
                assert divided.guess[t] == divided.ids[t]
            elif divided.best_guess[t]:
                cases.add("dice")
                assert divided.guess_true[t] == pytest.approx(divided.best_true[t])
            else:
                cases.add("lack")
                assert divided.guess_true[t] < divided.best_true[t]
    assert cases == {"right", "dice", "lack"}
    assert chance.opened_token(-1, divided) == int(np.argmax(divided.loss))
    assert chance.opened_token(10_000, divided) == int(np.argmax(divided.loss))


@pytest.mark.parametrize("name", ["drafts/tiny-world", "tiny-world-gpt"])
def test_whose_fault_misses_are_is_asked_of_the_true_distributions(name):
    for text in TEXTS:
        divided = divide_loss(*load_bundled(name)[:2], text)
        tokens = range(len(divided))
        missed = [t for t in tokens if divided.guess[t] != divided.ids[t]]
        best = [t for t in missed if divided.best_true[t] - divided.guess_true[t] < 1e-6]
        found = chance.misses(divided)
        assert (found["missed"], found["by_dice"]) == (len(missed), len(best))
        asked = chance.question(divided)
        assert asked.values[asked.right] == (len(best),)
        others = [value for (value,) in asked.values if value != len(best)]
        assert others and all(abs(value - len(best)) > APART * len(missed) for value in others)
        sides = chance.part(divided, "missed")
        assert [int((sides == side).sum()) for side in (-1, 1)] == [
            found["by_dice"],
            found["by_divergence"],
        ]


def test_where_nothing_is_missed_nothing_is_asked(draft):
    divided = divide_loss(*draft, TEXTS[0])
    assert chance.question(replace(divided, guess=divided.ids)) is None


@pytest.mark.parametrize(
    ("missed", "best", "how"), [(0, 0, "none"), (3, 3, "all"), (3, 0, "own"), (3, 1, "some")]
)
def test_none_and_all_misses_have_words_of_their_own(draft, missed, best, how):
    divided = divide_loss(*draft, TEXTS[0])
    places = np.arange(len(divided))
    guess = np.where(places < missed, divided.ids + 1, divided.ids)
    true = np.where(places < best, divided.best_true, divided.best_true - 1)
    line = chance.missed_line(replace(divided, guess=guess, guess_true=true))
    assert line == chance.words.said[how].format(
        missed=missed, by_dice=best, tokens=f"{len(divided)} tokens"
    )


def test_signs_stand_where_a_sum_needs_them():
    assert [chance.added(value) for value in (0.25, -0.25, 0.0, -0.0001)] == [
        "+ 0.250",
        "− 0.250",
        "+ 0.000",
        "+ 0.000",
    ]


KNOWN = recorded()


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_said_of_calibration_follows_from_the_measurement(name):
    measured = KNOWN[name]
    means, rights = sure.points(measured, 1.0, CAME)
    apart = np.array(means) - np.array(rights)
    if (asked := sure.question(name, measured)) is None:
        assert apart.mean() < sure.FAR
    else:
        assert list(asked.values[asked.right]) == rights[1:]
        assert asked.answers[asked.right].startswith("below")
        assert list(asked.values[1]) == means[1:], "who believes a promise draws the diagonal"
    for heat in TEMPERATURES:
        for against in (CAME, TRUE):
            found = measured.reliability(heat, against)
            chances, right = sure.shares(measured, heat, against)
            assert found.overconfident == pytest.approx(chances - right, abs=1e-4)
            assert abs(found.overconfident) <= found.error + 1e-9
            line = sure.caption(measured, heat, against)
            side = sum(
                word in line.lower()
                for word in ("too much", "too little", "on average the model keeps")
            )
            assert side == 1
    hotter = [sure.shares(measured, heat)[0] for heat in TEMPERATURES]
    assert hotter == sorted(hotter, reverse=True), "a higher temperature is never surer"
    assert f"{measured.fitted:.2f}" in sure.fit_line(measured)


@pytest.mark.parametrize("link", [{"sure_model": "gone"}, {"heat": "1.23"}, {"story": ""}])
def test_calibration_opens_for_odd_links(link):
    app = fine_part("errors", "calibration", **link)
    assert "expected calibration error" in prose_of(app)


def test_what_is_said_of_moved_answers_follows_from_the_counts():
    measured = moved_answers()
    numbers = asked.over_numbers(measured)
    moved = {
        words: way.moved
        for words, way in zip(asked_words.ways.values(), measured.ways.values(), strict=True)
    }
    del moved[asked_words.ways["plain"]]
    assert moved[numbers["most"]] == max(moved.values()) == numbers["moved"]
    assert moved[numbers["least"]] == min(moved.values()) == numbers["few"]
    question = asked.question(measured)
    way = measured.ways["wrong first"]
    values = [value for (value,) in question.values]
    assert values[question.right] == way.right / way.stories
    assert values[1] == measured.ways["right first"].right / way.stories
    assert min(abs(value - values[question.right]) for value in values[:2]) > 0.1
    places = measured.places
    even = [Place(one.before, 500, 400, 0.8) for one in places]
    assert asked_words.place_verdict["tie"] in asked.place_line(even)
    apart = [Place(one.before, 500, 300 + 40 * i, 0.8) for i, one in enumerate(places)]
    assert asked_words.place_verdict["apart"] in asked.place_line(apart)


@pytest.mark.parametrize(
    ("right", "dips"), [((400, 300, 400), True), ((400, 390, 400), False), ((200, 300, 400), False)]
)
def test_a_fact_is_lost_in_the_middle_only_where_both_ends_are_clearly_better(right, dips):
    line = asked.dip_line([Place(3 * i, 500, count, 0.8) for i, count in enumerate(right)])
    assert ("clearly worse than both ends" in line and "not clearly" not in line) == dips


def test_any_sentence_may_stand_before_the_question():
    app = fine_part("errors", "asked", askedstory="2")
    for sentence in ("", "   ", "🚀 " * 90, "Nobody had anything.", "word " * 39):
        put(app, errors__askedbefore=sentence)
        assert "With your own sentence before the" in prose_of(app)


def test_counting_is_asked_where_reading_whole_words_is_of_no_use():
    scores = LETTER_SCORES.scores["count"]
    new = {way: scores[way]["unknown"] for way in SPELLINGS}
    asked = letters.question(scores["whole"])
    assert asked.values[asked.right] == (new["whole"].mean,)
    assert new["whole"].mean < min(new["whole"].guess)  # not even as good as the most frequent
    assert all(new[way].above(new["whole"]) for way in ("pieces", "letters"))
    assert letters.asked_before(letters.EXAMPLE, "a") == "unknown"


def test_a_run_is_measured_when_asked_for(monkeypatch):
    """In both chapters: nothing is known of the model, then a job has measured it."""
    for module in (chance, sure):
        monkeypatch.setattr(module, "known_errors", dict)
    monkeypatch.setattr(sure.kit, "offered", lambda fits, asked: ["words-gpt"])
    found = KNOWN["words-gpt"]
    app = fine_part("errors", "chance", model="words-gpt")
    assert "was not measured before" in prose_of(app)
    assert "Measure this model" in [one.label for one in app.button]
    monkeypatch.setattr(measured, "_job", lambda *given: FakeJob([1, 2, found]))
    app = fine_part("errors", "chance", model="words-gpt", measured="1")
    assert f"evens out: of {found.corpus.loss.value:.3f} nats" in prose_of(app)
    app = fine_part("errors", "calibration", sure_model="words-gpt", sure_measured="1")
    assert f"T = {found.fitted:.2f}" in prose_of(app)
    monkeypatch.setattr(measured, "_job", lambda *given: FakeJob([3], "running"))
    app = fine_part("errors", "calibration", sure_model="words-gpt", sure_measured="1")
    assert f"T = {found.fitted:.2f}" not in prose_of(app)


def test_a_job_measures_a_model_by_its_name(monkeypatch):
    monkeypatch.setattr(model_errors, "STORIES", 2)
    monkeypatch.setattr(model_errors, "TO_FIT", 1)
    *counted, found = model_errors.measure_named("drafts/tiny-world")
    assert counted == [1, 2, 3]
    assert found.corpus.stories == 2


def test_a_model_without_a_known_floor_is_said_to_have_none_and_the_rest_goes_on():
    app = fine_part("errors", "chance", model="names-gpt", part_of="dice")
    said = unmarkdown(" ".join(one.value for one in app.warning))
    assert "names-gpt cannot be used here: it was not trained on stories of tiny-world" in said
    assert "known. This part works with these models: tiny-world-gpt" in said
    divided = divide_loss(*load_bundled("tiny-world-gpt")[:2], lesson_words.story_default)
    assert f"{divided.loss.mean():.3f} nats" in prose_of(app)


def names_oracle(text: str):
    """The calibration of names-gpt on a text, and its temperature, each computed otherwise."""
    model, tokenizer, _ = load_bundled("names-gpt")
    ids = tokenizer.encode(text)[: model.context_length]
    with torch.inference_mode():
        logits = model(torch.tensor([tokenizer.behind_start(ids)[:-1]]))[0][0].double()
    chances, guesses = logits.softmax(-1).max(-1)
    right = guesses == torch.tensor(ids)
    error = 0.0
    for low in range(10):
        inside = (chances > low / 10) & (chances <= (low + 1) / 10)
        if inside.any():
            gap = chances[inside].mean() - right[inside].double().mean()
            error += float(gap.abs() * inside.double().mean())
    heats = np.exp(np.linspace(np.log(0.05), np.log(20), 4_000))
    losses = [
        float(torch.nn.functional.cross_entropy(logits / heat, torch.tensor(ids))) for heat in heats
    ]
    return len(ids), error, float(right.double().mean()), float(heats[int(np.argmin(losses))])


@pytest.mark.parametrize("text", ["emma", "an anna and a 🚀 of emma", "🚀"])
def test_a_model_without_a_known_floor_is_held_against_what_came_alone(text):
    app = fine_part("errors", "calibration", model="names-gpt", story=text, show="1")
    tokens, error, right, heat = names_oracle(text)
    line = prose_of(app)
    assert "what truly comes next nobody knows" in " ".join(line.split())
    line = " ".join(line.split())
    assert f"On your {tokens} token" in line
    assert f"error is {100 * error:.2f} points" in line
    assert f"and {percent(right).replace(chr(160), ' ')} were right" in line
    assert f"would be {heat:.2f}" in line
    assert "What you have seen" in str([one.value for one in app.subheader])


def test_an_empty_story_is_said_in_every_chapter_that_reads_one():
    for part, model in (("chance", ""), ("sure", ""), ("sure", "names-gpt")):
        app = fine_part("errors", part, model=model, story="")
        assert lesson_words.story_empty in infos(app)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"askedown": "", "askedquestion": "Who?"}, "must not be empty"),
        ({"askedown": "Hugo came.", "askedquestion": " "}, "must not be empty"),
        ({"askedown": "Somebody came.", "askedfact": ""}, "must name somebody"),
        ({"askedown": "🚀", "askedfact": "<b>Anna</b> came", "askedquestion": "?"}, ""),
        ({"askedown": "Anna met Hugo. " * 80}, "longer than the model's context"),
        ({"askedfact": ""}, ""),
        ({"askedquestion": "The kettle stayed with"}, "So the rows with options are left out."),
        ({"askedreworded": "", "askedbefore": ""}, ""),
    ],
)
def test_a_learners_question_is_answered_or_said_why_not(link, said):
    app = fine_part("errors", "asked", **link)
    shown = unmarkdown(" ".join(one.value for one in (*app.info, *app.error)))
    assert said in shown
    assert not app.exception
    assert ("likeliest person" in prose_of(app)) == (
        said == "" or said.startswith(("longer", "So the rows"))
    )
    assert asked_words.place.title in [one.value for one in app.header]


def test_the_line_on_the_learners_question_holds_for_all_answers():
    bundled = engine.load("drafts/tiny-world")
    token = bundled.tokenizer.encode(" Anna")[0]
    one = OwnAnswer("Anna", 0.4, 0.6, token, 0.4)
    keys = [(place, way) for place in asked_words.own_places for way in asked_words.own_ways]
    same = own.read_line(dict.fromkeys(keys, one), bundled)
    assert (
        f"in all {len(keys)} rows" in same
        and "no person" not in same
        and "not a person" not in same
    )
    other = OwnAnswer("Hugo", 0.2, 0.3, bundled.tokenizer.encode(" the")[0], 0.5)
    mixed = own.read_line({**dict.fromkeys(keys, one), keys[4]: other}, bundled)
    assert f"Anna {len(keys) - 1} times and Hugo once" in mixed and "In 1 of the rows" in mixed
    assert len(own.rows(dict.fromkeys(keys, one))) == len(keys) == 18


LETTER_SCORES = letter_scores()


@pytest.mark.parametrize("task", TASKS)
def test_what_is_said_of_spellings_follows_from_all_trainings(task):
    scores = LETTER_SCORES.scores[task]
    line = letters.trained_read(task)
    new = scores["whole"]["unknown"]
    lucky = all(r > g for r, g in zip(new.right, new.guess, strict=True))
    assert ("might as well" in line) != lucky
    failed = [way for way in SPELLINGS if scores[way]["read"].mean < 0.5]
    assert ("did not learn" in line) == bool(failed)
    rows = letters.task_rows(task)
    assert [row.value for row in rows[1::2]] == [scores[w]["unknown"].mean for w in SPELLINGS]


COUNTED = [
    ("dadada", "a", "3 times"),
    ("dadada", "b", "nobody ever asked about this letter"),
    ("", "a", letters_words.no_counted),
    ("🚀", "a", "is no such word"),
    ("abcde", "f", "is no such word"),
    ("ABCDEF", "f", "1 time"),
    ("<b>", "a", "is no such word"),
    ("ffffff", "f", "6 times"),
    ("x" * 60, "a", "is no such word"),
]


def test_any_word_has_three_spellings_and_its_letters_are_counted_or_it_is_said_why_not():
    app = fine_part("errors", "letters")
    for word in ("garage", "", "🚀", "old house", "x" * 40, "<b>a</b>", "a"):
        put(app, errors__spelledword=word)
        assert "What you have seen" in [one.value for one in app.subheader]
    for word, letter, said in COUNTED:
        put(app, errors__countedword=word, errors__countedletter=letter)
        assert unmarkdown(said) in unmarkdown(prose_of(app)) + infos(app)
        assert "What you have seen" in [one.value for one in app.subheader]


def test_what_the_chapter_says_of_training_is_what_was_measured():
    errors = {name: found.reliability(1.0).error for name, found in KNOWN.items()}
    far = {"errors/by-heart", "errors/by-heart-smoothed", "instructions-alone"}
    assert min(errors[name] for name in far) > 2 * max(errors[name] for name in set(KNOWN) - far)
    by_heart, gentler = errors["errors/by-heart"], errors["errors/by-heart-smoothed"]
    assert abs(by_heart - gentler) < 0.01  # "about as far off"
    promised, kept = sure.points(KNOWN["errors/by-heart-smoothed"], 1.0, CAME)
    assert kept[-1] > promised[-1] + 0.03  # "promises too little where it is surest"


def test_what_is_said_of_label_smoothing_follows_from_all_runs():
    known = smoothed_recorded()
    plain, smooth = (known.mean(share, "apart")[0] for share in SMOOTHING)
    assert smooth < plain
    for name in ("true_error", "loss"):
        before, after = (known.values(share, name) for share in SMOOTHING)
        verdict = sure.verdict(known, name)
        assert (verdict == "lower") == (after.max() < before.min())
        assert (verdict == "higher") == (after.min() > before.max())


@pytest.mark.parametrize("front", [True, False])
def test_a_text_is_read_with_and_without_a_token_in_front_of_it(bundle, front):
    """A published model may put nothing there: the first token of a text then has no chance."""
    tokenizer = copy.copy(bundle.tokenizer)
    if not front:
        tokenizer.front = ()
    reader = replace(bundle, name=f"in front {front}", tokenizer=tokenizer)
    text = "The cat sat on the mat."
    ids = tokenizer.encode(text)
    count, tops, right, fitted = sure.read_without_truth(reader, text)
    assert count == len(ids) and len(tops) == len(right) == len(ids) - (not front)
    with torch.no_grad():
        logits = bundle.model(torch.tensor([tokenizer.behind_start(ids)]))[0][0, :-1]
    best = logits.double().softmax(-1).max(-1)
    assert np.allclose(tops, best.values) and fitted > 0
    assert right.tolist() == (best.indices == torch.tensor(ids[-len(tops) :])).tolist()
    if not front:
        with pytest.raises(ValueError, match="two tokens"):
            sure.read_without_truth(reader, tokenizer.decode(ids[:1]))
